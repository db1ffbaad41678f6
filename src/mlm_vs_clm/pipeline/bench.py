"""How fast blanks are filled, against a plain fill-mask loop, in one process.

Both ways take turns on the same documents, and a ratio is the median over rounds, so that a machine that slows down
slows both. The last lines are JSON objects, one per ratio.
"""

import argparse
import json
import math
import platform
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd
import torch
from transformers import pipeline
from transformers.utils import logging

from ..corpora import packages
from ..documents import find_words
from ..files import read_lines, write_atomically
from ..fill import BlankedText, fill_causal, fill_lookahead, fill_masked
from ..fill.axes import AXIS
from ..fill.rows import to_rows
from ..fill.vocabulary import slot_bias
from ..hardware import reuse_freed_memory, torch_dtype
from ..models.checkpoints import load_tokenizer
from ..models.kernels.linear import prepacked_products
from ..models.sizes import count_parameters
from ..models.sources import start_from_encoder
from ..models.starts import as_kind
from ..report.build import show_bench

WORDS, SHARE = 254, 0.3
BATCH, GPU_BATCH = 4096, 131072  # tokens per batch
GPU_DOCUMENTS, GPU_WIDTH = 512, 8192  # texts to fill; rows and columns of the product that measures the peak
CPU = ("cpu family", "model")  # the entries of /proc/cpuinfo that identify a generation
T = TypeVar("T")


def write_documents(tokenizer, n: int, words: int = WORDS, share: float = SHARE) -> list[BlankedText]:
    """Return `n` documents of `words` words of one token each, a `share` of them blank."""
    tokens = sorted(t for t in tokenizer.get_vocab() if t.isascii() and t.isalpha() and len(t) > 2)
    made = []
    for number in range(n):
        rng = np.random.default_rng(number)
        text = " ".join(rng.choice(tokens, size=words))
        blanks = sorted(int(i) for i in rng.choice(words, size=round(share * words), replace=False))
        made.append(BlankedText(f"d{number}", text, find_words(text), blanks))
    return made


def fill_by_loop(pipe, tokenizer, texts: list[BlankedText], bias: torch.Tensor) -> list[list[int]]:
    """Fill from left to right with the fill-mask pipeline: one text, one mask, one pass at a time."""
    filled = []
    for row in to_rows(texts, tokenizer, 512):
        ids = list(row.ids)
        for place in row.slots:
            ids[place] = tokenizer.mask_token_id
        for place, kind in zip(row.slots, row.kinds, strict=True):
            inputs = pipe.preprocess(tokenizer.decode(ids[1:-1], clean_up_tokenization_spaces=False))
            logits = pipe.forward(inputs)["logits"][0, place].float()
            ids[place] = int((logits + bias[kind]).argmax())
        filled.append([ids[place] for place in row.slots])
    return filled


@torch.inference_mode()
def fill_by_generate(model, tokenizer, texts: list[BlankedText]) -> list[list[int]]:
    """Fill each blank by running `generate` on all that is to its left."""
    filled = []
    for row in to_rows(texts, tokenizer, 512):
        ids = list(row.ids)
        for place in row.slots:
            seen = torch.tensor([ids[:place]])
            made = model.generate(
                seen, attention_mask=torch.ones_like(seen), max_new_tokens=1, do_sample=False
            )
            ids[place] = int(made[0, place])
        filled.append([ids[place] for place in row.slots])
    return filled


@torch.inference_mode()
def fill_by_rereading(model, tokenizer, texts: list[BlankedText], candidates: int) -> list[list[int]]:
    """Look ahead by reading the whole text up to the next blank again, for all candidates of a blank at once."""
    filled = []
    for row in to_rows(texts, tokenizer, 512):
        ids = torch.tensor(row.ids)
        for place, end in zip(row.slots, [*row.slots[1:], len(ids)], strict=True):
            tried = ids[:end].repeat(candidates, 1)
            tried[:, place] = model(ids[None, :place]).logits[0, -1].topk(candidates).indices
            likely = model(tried).logits[:, place - 1 : -1].log_softmax(-1)
            ids[place] = tried[likely.gather(2, tried[:, place:, None]).sum((1, 2)).argmax(), place]
        filled.append(ids[row.slots].tolist())
    return filled


def timed(run: Callable[..., T], *arguments, **settings) -> tuple[float, T]:
    """Return the seconds that a call took, and what it returned."""
    started = time.perf_counter()
    result = run(*arguments, **settings)
    return time.perf_counter() - started, result


@torch.inference_mode()
def matrix_peaks(dtype: torch.dtype) -> tuple[float, float]:
    """Return the FLOP/s of a product of the size of the model's: with prepacked weights, and with torch's own."""
    rows, layer = torch.randn(4096, 1536, dtype=dtype), torch.nn.Linear(1536, 1536, bias=False, dtype=dtype)
    flops, other = 2 * 4096 * 1536 * 1536, layer.weight.clone()
    with prepacked_products(layer):
        ours = max(flops / timed(layer, rows)[0] for _ in range(15))
    return ours, max(flops / timed(torch.matmul, rows, other)[0] for _ in range(15))


def model_flops(model, ledger, tokens: int) -> float:
    """Return the FLOPs of a network as it is defined, over texts of `tokens` tokens.

    All layers with their attention products at every token, the output layer at the slots: what model FLOPs
    utilisation divides by the peak (Chowdhery et al., 2022).
    """
    config, sizes = model.config, count_parameters(model)
    attention = 4 * config.num_hidden_layers * config.hidden_size * tokens
    return (2 * sizes["body"] + attention) * ledger.token_forwards + 2 * sizes["head"] * ledger.tokens_filled


def computed_flops(model, ledger, tokens: int) -> float:
    """Return the model FLOPs that are computed: the last layer attends from the slots alone, which is left out."""
    attending = model.config.num_hidden_layers - 1
    return ledger.flops + 4 * attending * model.config.hidden_size * tokens * ledger.token_forwards


def compare_masked(model, tokenizer, texts: list[BlankedText], precision: str, rounds: int) -> list[dict]:
    """Compare with the pipeline loop in fp32, one token per pass and in 16 passes, and with the machine's peak."""
    pipe = pipeline("fill-mask", model=model.float(), tokenizer=tokenizer, device="cpu")
    dtype = torch_dtype(precision)
    table = pd.DataFrame([_take_round(pipe, tokenizer, texts, 2 * number, dtype) for number in range(rounds)])
    taken = {name: list(table[name]) for name in table}
    n = sum(len(text.blanks) for text in texts) * rounds
    print(f"{precision}: {np.mean(taken['same']):.4f} of the fills equal those of the fp32 loop")
    print(
        f"{precision}: {statistics.median(taken['share_of_plain']):.3f} of the speed of torch's own product"
    )
    return [
        result(f"fill_{precision}", taken["one"], taken["loop"], "blanks/s", n),
        result(f"fill_16_passes_{precision}", taken["sixteen"], taken["loop"], "blanks/s", n),
        share(f"peak_share_{precision}", taken["share"], "model FLOPs, of the best matrix product's", n),
        share(f"computed_share_{precision}", taken["computed"], "FLOPs computed, of the best product's", n),
        result(
            f"product_{precision}", taken["prepacked"], taken["plain"], "GFLOP/s, theirs torch's own", n=15
        ),
    ]


def _take_round(
    pipe, tokenizer, texts: list[BlankedText], first: int, dtype: torch.dtype
) -> dict[str, float]:
    """Return the speeds of one round; the loop fills two of the texts, from `first` on."""
    model, few = pipe.model, slice(first, first + 2)
    bias = slot_bias(tokenizer, model.config.vocab_size)
    loop_seconds, looped = timed(fill_by_loop, pipe, tokenizer, texts[few], bias)
    model.to(dtype)
    before = matrix_peaks(dtype)
    seconds, (filled, ledger) = timed(fill_passes, model, tokenizer, texts, 1)
    prepacked, plain = map(max, zip(before, matrix_peaks(dtype), strict=True))
    per_pass = math.ceil(len(texts[0].blanks) / 16)
    seconds_of_16, (_, ledger_of_16) = timed(fill_passes, model, tokenizer, texts, per_pass)
    reached, computed = (f(model, ledger, WORDS + 2) / seconds for f in (model_flops, computed_flops))
    model.float()
    return {
        "loop": sum(map(len, looped)) / loop_seconds,
        "one": ledger.tokens_filled / seconds,
        "sixteen": ledger_of_16.tokens_filled / seconds_of_16,
        "prepacked": prepacked / 1e9,
        "plain": plain / 1e9,
        "share": reached / max(prepacked, plain),
        "computed": computed / max(prepacked, plain),
        "share_of_plain": reached / plain,
        "same": _same(tokenizer, looped, filled[few]),
    }


def fill_passes(model, tokenizer, texts: list[BlankedText], per_pass: int, batch_tokens: int = BATCH):
    """Fill from left to right, `per_pass` tokens in each pass."""
    return fill_masked(
        model, tokenizer, texts, order="left_to_right", per_pass=per_pass, batch_tokens=batch_tokens
    )


def _same(tokenizer, looped: list[list[int]], filled) -> float:
    """Return the share of slots in which both ways chose the same token."""
    chosen = [tokenizer.convert_tokens_to_ids(fill) for made in filled for fill in made.fills]
    return float(np.mean(np.equal(chosen, sum(looped, []))))


def compare_causal(model, tokenizer, texts: list[BlankedText], rounds: int) -> list[dict]:
    """Compare filling with a cache against reading all again for every blank: `generate`, and look-ahead."""
    ahead = partial(fill_by_rereading, candidates=AXIS["candidates"].default)
    rows, n = [], sum(len(text.blanks) for text in texts) * rounds
    for name, fill, loop in (
        ("causal_fill", fill_causal, fill_by_generate),
        ("lookahead_fill", fill_lookahead, ahead),
    ):
        ours, theirs = [], []
        for number in range(rounds):
            seconds, made = timed(loop, model, tokenizer, texts[number : number + 1])
            theirs.append(sum(map(len, made)) / seconds)
            seconds, (_, ledger) = timed(fill, model, tokenizer, texts)
            ours.append(ledger.tokens_filled / seconds)
        rows.append(result(name, ours, theirs, "blanks/s", n))
    return rows


def measure_growth(model, tokenizer) -> list[dict]:
    """Return the growth of the time with 4 times the documents, and the blanks, over linear growth."""

    def fill(texts: list[BlankedText]) -> float:
        return timed(fill_masked, model, tokenizer, texts, batch_tokens=BATCH)[0]

    rows = []
    few, many = (write_documents(tokenizer, n, WORDS // 2, 0.05) for n in (16, 64))
    dense = write_documents(tokenizer, 16, WORDS // 2, 0.2)
    for name, large in (("growth_documents", many), ("growth_blanks", dense)):
        pairs = [(fill(few), fill(large)) for _ in range(3)]
        work = sum(len(t.blanks) for t in large) / sum(len(t.blanks) for t in few)
        rows.append(
            {
                "name": name,
                "ratio": round(statistics.median(b / a for a, b in pairs) / work, 3),
                "ours": round(statistics.median(b for _, b in pairs), 3),
                "theirs": round(statistics.median(a for a, _ in pairs), 3),
                "unit": f"s for {work:.2f}x the work; ratio 1 is linear",
                "n": len(pairs),
            }
        )
    return rows


def measure_on(device: str, model, tokenizer, texts: list[BlankedText]) -> list[dict]:
    """Return how many tokens a GPU reads per second in bf16, in 16 passes per document, and the share of its peak."""
    model = model.to(device, torch.bfloat16)
    per_pass, n = math.ceil(len(texts[0].blanks) / 16), sum(len(text.blanks) for text in texts)
    fill_passes(model, tokenizer, texts, per_pass, GPU_BATCH)
    seconds, (_, ledger) = timed(fill_passes, model, tokenizer, texts, per_pass, GPU_BATCH)
    rows = torch.randn(GPU_WIDTH, GPU_WIDTH, dtype=torch.bfloat16, device=device)

    def multiply() -> float:
        return (rows @ rows)[0, 0].item()  # the number arrives when the product is made

    peak = max(2 * GPU_WIDTH**3 / timed(multiply)[0] for _ in range(10))
    where = {"n": n, "device": name_device(device), "threads": None}
    speed, reached = (
        work / seconds for work in (ledger.token_forwards, model_flops(model, ledger, WORDS + 2))
    )
    read = {
        "name": "gpu_fill_bf16",
        "ratio": None,
        "ours": round(speed),
        "theirs": None,
        "unit": "tokens read/s",
    }
    shared = share("gpu_peak_share_bf16", [reached / peak], "model FLOPs, of the GPU's product's", n)
    return [read | where, shared | where]


def name_device(device: str) -> str:
    """Return the kind of a device and its product name."""
    own = torch.cuda.get_device_name(device) if device.startswith("cuda") else name_processor()
    return f"{device.partition(':')[0]} ({own})"


def result(name: str, ours: list[float], theirs: list[float], unit: str, n: int) -> dict:
    """Return one line of the benchmark: the median of the ratios round by round."""
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    medians = {"ours": round(statistics.median(ours), 2), "theirs": round(statistics.median(theirs), 2)}
    return {"name": name, "ratio": round(ratio, 2)} | medians | {"unit": unit, "n": n}


def share(name: str, shares: list[float], unit: str, n: int) -> dict:
    """Return one line of the benchmark without a comparison: the median of the shares."""
    ratio = round(statistics.median(shares), 3)
    return {"name": name, "ratio": ratio, "ours": None, "theirs": None, "unit": unit, "n": n}


def save_rows(rows: list[dict], path: Path) -> None:
    """Write the lines for the report, each with its device; without a date, so that equal lines are equal bytes."""
    place = {"device": name_device("cpu"), "threads": torch.get_num_threads()}
    lines = [place | row | {"precision": "bf16" if row["name"].endswith("bf16") else "fp32"} for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "".join(json.dumps(line) + "\n" for line in lines))


def name_processor() -> str:
    """Return the processor's name, family and model on Linux, else the kind of machine.

    The name of a rented processor may be its maker's alone, and two generations differ twofold in speed.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    entries = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    found = [entries.get("model name", ""), *(f"{name} {entries[name]}" for name in CPU if name in entries)]
    return ", ".join(filter(None, found)) or platform.machine()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm bench`."""
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--documents", type=int, default=8)
    parser.add_argument("--out", type=Path, default=Path("results/bench/bench.jsonl"))


def run(chosen: argparse.Namespace) -> None:
    """Print every ratio, write them to `chosen.out` and show them in the reports beside it."""
    reuse_freed_memory()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    encoder = packages.locate("package:minilm", chosen.data_dir)
    tokenizer, start = load_tokenizer(encoder), start_from_encoder(encoder, 0).eval()
    texts = write_documents(tokenizer, chosen.documents)
    print(
        f"{torch.get_num_threads()} threads, {len(texts)} documents of {WORDS + 2} tokens, {SHARE:.0%} blank"
    )
    if not torch.cuda.is_available():
        print("no GPU found; GPU benchmark skipped")
    rows = []
    for precision in ("fp32", "bf16"):
        rows += compare_masked(start, tokenizer, texts, precision, chosen.rounds)
    texts = write_documents(tokenizer, 4 * chosen.documents)
    rows += compare_causal(as_kind(start, "causal", tokenizer).eval(), tokenizer, texts, chosen.rounds)
    rows += measure_growth(start.float(), tokenizer)
    if torch.cuda.is_available():
        rows += measure_on("cuda", start, tokenizer, write_documents(tokenizer, GPU_DOCUMENTS))
    save_rows(rows, chosen.out)
    for page in show_bench(pd.DataFrame(read_lines(chosen.out)), chosen.out.parents[1]):
        print(f"shown in {page}")
    print("\n".join(json.dumps(row) for row in rows))
