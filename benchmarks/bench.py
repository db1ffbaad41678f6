"""How fast blanks are filled and models trained, against plain loops (`plain_loops`), in one process.

Both ways take turns on the same documents, and a ratio is the median over rounds, so that a machine that slows down
slows both. The last lines are JSON objects, one per ratio.
"""

import argparse
import json
import math
import statistics
import tempfile
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import pipeline
from transformers.utils import logging

from blankfill import BlankedText, Filler, fill_causal, fill_lookahead, fill_masked
from blankfill.axes import AXIS
from blankfill.memory import reuse_freed_memory
from blankfill.networks.linear import prepacked_products
from blankfill.networks.sizes import count_parameters
from blankfill.slots.vocabulary import slot_bias
from blankfill.text import find_words
from mlm_vs_clm.corpora import packages
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.files import ROOT, read_lines, write_atomically
from mlm_vs_clm.hardware import name_device, torch_dtype
from mlm_vs_clm.pipeline.config import TrainingConfig
from mlm_vs_clm.report.rendering import to_markdown, write_between_markers
from mlm_vs_clm.training.batches import tokenize
from mlm_vs_clm.training.noise import Noise, TrainedObjective
from mlm_vs_clm.training.preparation import prepare
from mlm_vs_clm.training.settings import Training, TrainingTexts
from mlm_vs_clm.training.sources import start_from_encoder
from mlm_vs_clm.training.starts import as_kind

from .plain_loops import fill_by_generate, fill_by_loop, fill_by_rereading, learn_by_loop, learn_by_trainer
from .ratios import result, share, timed
from .table import bench_table, describe_device

OUT, PAGE = Path("results/bench/bench.jsonl"), ROOT / "docs" / "performance.md"
WORDS, SHARE = 254, 0.3
BATCH, GPU_BATCH = 4096, 131072  # tokens per batch
GPU_DOCUMENTS, GPU_WIDTH = 512, 8192  # texts to fill; rows and columns of the product that measures the peak
PRODUCT = 4096, 1536  # rows, and columns of the weights, of the product that measures the peak of a processor
STEPS, LEARNED_WORDS = 6, 118  # of a round of training, of each of its documents
NOISE = Noise(ratio=0.5, unit="token", mask_share=0.8, random_share=0.1)
# Nats per predicted token, at most, between the two ways of training.
LOSSES_APART = {"fp32": 1e-4, "bf16": 1e-2}


def write_documents(tokenizer, n: int, words: int = WORDS, share: float = SHARE) -> list[BlankedText]:
    """Return `n` documents of `words` words of one token each, a `share` of them blank."""
    tokens = sorted(t for t in tokenizer.get_vocab() if t.isascii() and t.isalpha() and len(t) > 2)
    documents = []
    for number in range(n):
        rng = np.random.default_rng(number)
        text = " ".join(rng.choice(tokens, size=words))
        blanks = sorted(int(i) for i in rng.choice(words, size=round(share * words), replace=False))
        documents.append(BlankedText(f"d{number}", text, find_words(text), blanks))
    return documents


@torch.inference_mode()
def matrix_peaks(dtype: torch.dtype) -> tuple[float, float]:
    """Return the FLOP/s of a product of the size of the model's: with prepacked weights, and with torch's own."""
    n_rows, width = PRODUCT
    rows, layer = (
        torch.randn(n_rows, width, dtype=dtype),
        torch.nn.Linear(width, width, bias=False, dtype=dtype),
    )
    flops, copied = 2 * n_rows * width * width, layer.weight.clone()
    with prepacked_products(layer):
        ours = max(flops / timed(layer, rows)[0] for _ in range(15))
    return ours, max(flops / timed(torch.matmul, rows, copied)[0] for _ in range(15))


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
    speeds = pd.DataFrame(
        [_take_round(pipe, tokenizer, texts, 2 * number, dtype) for number in range(rounds)]
    )
    n = sum(len(text.blanks) for text in texts) * rounds
    print(f"{precision}: {speeds['same'].mean():.4f} of the fills equal those of the fp32 loop")
    peak = speeds[["prepacked", "plain"]].max(axis=1)
    shares = {name: speeds[name] / peak for name in ("reached", "computed")}
    return [
        result(f"fill_{precision}", speeds["one"], speeds["loop"], "blanks/s", n),
        result(f"fill_16_passes_{precision}", speeds["sixteen"], speeds["loop"], "blanks/s", n),
        share(f"peak_share_{precision}", shares["reached"], "model FLOPs, of the best matrix product's", n),
        share(f"computed_share_{precision}", shares["computed"], "FLOPs computed, of the best product's", n),
        result(
            f"product_{precision}", speeds["prepacked"], speeds["plain"], "GFLOP/s, theirs torch's own", 15
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
    chosen = [tokenizer.convert_tokens_to_ids(fill) for document in filled[few] for fill in document.fills]
    return {
        **{"loop": sum(map(len, looped)) / loop_seconds, "one": ledger.tokens_filled / seconds},
        **{
            "sixteen": ledger_of_16.tokens_filled / seconds_of_16,
            "same": np.mean(chosen == np.hstack(looped)),
        },
        **{"prepacked": prepacked / 1e9, "plain": plain / 1e9},
        **{"reached": reached / 1e9, "computed": computed / 1e9},
    }


def fill_passes(model, tokenizer, texts: list[BlankedText], per_pass: int, batch_tokens: int = BATCH):
    """Fill from left to right, `per_pass` tokens in each pass."""
    return fill_masked(
        model, tokenizer, texts, order="left_to_right", per_pass=per_pass, batch_tokens=batch_tokens
    )


def compare_short(model, tokenizer, rounds: int) -> list[dict]:
    """Compare one sentence with one blank, given alone, with the pipeline loop."""
    pipe = pipeline("fill-mask", model=model, tokenizer=tokenizer, device="cpu")
    texts, bias = write_documents(tokenizer, 1, 12, 1 / 12), slot_bias(tokenizer, model.config.vocab_size)
    filler, spans = Filler(model, tokenizer), [[texts[0].words[i] for i in texts[0].blanks]]
    ours, theirs = [], []
    for _ in range(10 * rounds):
        theirs.append(1 / timed(fill_by_loop, pipe, tokenizer, texts, bias)[0])
        ours.append(1 / timed(filler, texts[0].text, spans)[0])
    return [result("short_text_fp32", ours, theirs, "sentences/s, one blank", 10 * rounds)]


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
            seconds, fills = timed(loop, model, tokenizer, texts[number : number + 1])
            theirs.append(sum(map(len, fills)) / seconds)
            seconds, (_, ledger) = timed(fill, model, tokenizer, texts)
            ours.append(ledger.tokens_filled / seconds)
        rows.append(result(name, ours, theirs, "blanks/s", n))
    return rows


def compare_training(start, tokenizer, precision: str, rounds: int) -> list[dict]:
    """Compare steps of the masked objective with a plain loop and with the Trainer of transformers: same batches, optimiser and precision.

    Raises StudyError where the losses of a step differ by more than LOSSES_APART.
    """
    chosen = TrainingConfig(
        token_budget=STEPS * TrainingConfig.batch_documents * LEARNED_WORDS,
        budgets=1,
        head_learning_rate=TrainingConfig.body_learning_rate,
        warmup_share=0.0,
    )
    training = Training(**chosen.to_settings(), checkpoint_seconds=math.inf, precision=precision)
    written = [
        text.text for text in write_documents(tokenizer, STEPS * training.batch_documents, LEARNED_WORDS)
    ]
    documents = tokenize(written, tokenizer, training.max_subwords)
    texts = TrainingTexts({"some": documents}, {"some": documents[:1]})
    folder = Path(tempfile.gettempdir())
    ways = {"train": learn_by_loop, "train_by_trainer": partial(learn_by_trainer, folder=folder)}
    ours, apart = [], 0.0
    theirs: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        of_round = replace(training, seed=number)
        fresh, objective = deepcopy(start).train(), TrainedObjective("mlm", NOISE)
        trainer = prepare(fresh, tokenizer, texts, objective, of_round, folder)
        trainer.advance(len(trainer.batches))
        ours.append(trainer.measured()["tokens_per_second"])
        for name, learn in ways.items():
            seconds, losses = timed(learn, deepcopy(start).train(), trainer.batches, training)
            theirs[name].append(trainer.state["tokens_seen"] / seconds)
            apart = max(apart, float(np.abs(np.subtract(trainer.losses, losses)).max()))
    print(f"{precision}: losses of the ways of training differ by {apart:.2g} at most")
    if apart > LOSSES_APART[precision]:
        raise StudyError(f"bench: losses of the ways of training differ by {apart:.2g} in {precision}")
    n = rounds * len(trainer.batches)
    rows = [result(f"{name}_{precision}", ours, theirs[name], "tokens/s", n) for name in ways]
    losses = share(f"train_losses_{precision}", [apart], "nats, largest difference of a step's loss", n)
    return [*rows, losses | {"ratio": float(f"{apart:.2g}")}]


def measure_growth(model, tokenizer) -> list[dict]:
    """Return the growth of the time with 4 times the documents, and the blanks, over linear growth."""

    def fill(texts: list[BlankedText]) -> float:
        return timed(fill_masked, model, tokenizer, texts, batch_tokens=BATCH)[0]

    rows = []
    few, many = (write_documents(tokenizer, n, WORDS // 2, 0.05) for n in (16, 64))
    dense = write_documents(tokenizer, 16, WORDS // 2, 0.2)
    for name, large in (("growth_documents", many), ("growth_blanks", dense)):
        before, after = zip(*[(fill(few), fill(large)) for _ in range(3)], strict=True)
        work = sum(len(t.blanks) for t in large) / sum(len(t.blanks) for t in few)
        row = result(name, after, before, f"s for {work:.2f}x the work; ratio 1 is linear", 3)
        rows.append(row | {"ratio": round(statistics.median(np.divide(after, before)) / work, 3)})
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
    where, reached = {"device": name_device(device), "threads": None}, model_flops(model, ledger, WORDS + 2)
    read = share("gpu_fill_bf16", [math.nan], "tokens read/s", n)
    read |= {"ratio": None, "ours": round(ledger.token_forwards / seconds)}
    shares = [reached / seconds / peak]
    return [
        read | where,
        share("gpu_peak_share_bf16", shares, "model FLOPs, of the GPU's product's", n) | where,
    ]


def save_rows(rows: list[dict], path: Path) -> None:
    """Write the lines for the report, each with its device, in place of those of the same names on it.

    They have no date, so that equal lines are equal bytes.
    """
    place = {"device": name_device("cpu"), "threads": torch.get_num_threads()}
    lines = [place | row | {"precision": "bf16" if row["name"].endswith("bf16") else "fp32"} for row in rows]
    measured = {(line["name"], line["device"]) for line in lines}
    known_lines = read_lines(path) if path.exists() else []
    before = [line for line in known_lines if (line["name"], line["device"]) not in measured]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "".join(json.dumps(line) + "\n" for line in [*before, *lines]))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm bench`."""
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--documents", type=int, help="documents that are filled (default: 8)")
    parser.add_argument("--only", choices=["training"], help="measure training alone; other rows stay")
    parser.add_argument("--out", type=Path, default=OUT)


def run(chosen: argparse.Namespace) -> None:
    """Print every ratio, write them to `chosen.out` and show them in the reports beside it."""
    if chosen.only and chosen.documents is not None:
        raise StudyError("--documents has no effect with --only training: leave one of them out")
    n_documents = 8 if chosen.documents is None else chosen.documents
    for name, number in (("rounds", chosen.rounds), ("documents", n_documents)):
        if number < 1:
            raise StudyError(f"--{name} {number}: give 1 or more")
    reuse_freed_memory()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    encoder = packages.locate("package:minilm", chosen.data_dir)
    start, tokenizer = start_from_encoder(encoder, 0)
    start.eval()
    texts = write_documents(tokenizer, n_documents)
    print(
        f"{torch.get_num_threads()} threads, {len(texts)} documents of {WORDS + 2} tokens, {SHARE:.0%} blank"
    )
    if not torch.cuda.is_available():
        print("no GPU found; GPU benchmark skipped")
    rows = []
    for precision in ("fp32", "bf16"):
        if not chosen.only:
            rows += compare_masked(start, tokenizer, texts, precision, chosen.rounds)
        rows += compare_training(start.float(), tokenizer, precision, chosen.rounds)
    if not chosen.only:
        texts = write_documents(tokenizer, 4 * n_documents)
        rows += compare_causal(as_kind(start, "causal", tokenizer).eval(), tokenizer, texts, chosen.rounds)
        rows += measure_growth(start.float(), tokenizer)
        rows += compare_short(start.float(), tokenizer, chosen.rounds)
    if torch.cuda.is_available() and not chosen.only:
        rows += measure_on("cuda", start, tokenizer, write_documents(tokenizer, GPU_DOCUMENTS))
    save_rows(rows, chosen.out)
    if chosen.out.resolve() == ROOT / OUT:
        show_rows(pd.DataFrame(read_lines(chosen.out)))
    print("\n".join(json.dumps(row) for row in rows))


def show_rows(bench: pd.DataFrame) -> None:
    """Write a benchmark into docs/performance.md."""
    text = f"{to_markdown(bench_table(bench))}\n{describe_device(bench)}"
    write_atomically(PAGE, write_between_markers(PAGE.read_text(encoding="utf-8"), "bench", text))
