"""How the cost of filling grows: processor time, FLOPs and memory per document, along four axes, on one thread.

Networks of one shape and random weights fill documents of random words, since neither changes the work. One axis is
varied at a time, the others stand at BASE. An exponent is the slope of the logarithm of a cost over that of the axis.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from blankfill import fill_causal, fill_masked
from blankfill.memory import resident_memory_mb, return_freed_memory
from blankfill.networks.checkpoints import load_tokenizer
from blankfill.networks.sizes import count_parameters
from mlm_vs_clm.corpora import packages
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.files import ROOT, write_atomically
from mlm_vs_clm.hardware import name_device
from mlm_vs_clm.report.drawing import Drawing, add_legend, panels, save, style_context
from mlm_vs_clm.report.rendering import to_markdown, write_between_markers
from mlm_vs_clm.report.tables import DASH, Entry, Table
from mlm_vs_clm.training.starts import as_kind, start_from_scratch

from .bench import write_documents

OUT, PAGE = Path("results/bench"), ROOT / "docs" / "performance.md"
LAYERS, HEAD_WIDTH, POSITIONS = 6, 32, 514
BASE = {"width": 256, "words": 128, "documents": 4, "share": 0.3}
VALUES = {
    "width": (128, 192, 256, 384),
    "words": (64, 128, 256, 512),
    "documents": (2, 4, 8, 16),
    "share": (0.1, 0.2, 0.4, 0.8),
}
AXES = {  # what an axis is told as: a width as the parameters that every token passes
    "width": ("parameters", "parameters of the network"),
    "words": ("words", "words of a document"),
    "documents": ("documents", "documents"),
    "share": ("share", "share of the words that is masked"),
}
COSTS = {
    "seconds": "processor time (s)",
    "flops": "FLOPs",
    "memory_mb": "memory (MB)",
}
LOOKS = {
    "masked, a token a pass": {"color": "#0072B2", "marker": "o"},
    "masked, 8 passes": {"color": "#56B4E9", "marker": "s", "linestyle": "--"},
    "causal": {"color": "#D55E00", "marker": "^"},
}
LEVEL = 0.95
CLEAR_PEAK = Path("/proc/self/clear_refs"), "5"  # Linux: forget the highest memory so far


def make_ways() -> dict[str, tuple[str, Callable]]:
    """Return by name the kind of network that a way of filling needs, and the call."""
    return {
        "masked, a token a pass": ("masked", partial(fill_masked, order="left_to_right")),
        "masked, 8 passes": ("masked", partial(fill_masked, order="left_to_right", passes=8)),
        "causal": ("causal", fill_causal),
    }


def list_points() -> Iterator[tuple[str, dict]]:
    """Yield every axis with the settings of its points."""
    for axis, values in VALUES.items():
        for value in values:
            yield axis, BASE | {axis: value}


def measure_point(tokenizer, settings: dict, way: tuple[str, Callable], rounds: int) -> list[dict]:
    """Return what each round of filling cost: seconds and FLOPs per document, and the memory of network and filling together.

    A round before the first warms up, and is not counted.
    """
    return_freed_memory()
    before, (kind, fill) = resident_memory_mb(), way
    width = settings["width"]
    shape = {"layers": LAYERS, "width": width, "heads": width // HEAD_WIDTH, "positions": POSITIONS}
    model = as_kind(start_from_scratch(shape, tokenizer, 0), kind, tokenizer).eval()
    texts = write_documents(tokenizer, settings["documents"], settings["words"], settings["share"])
    sizes, rows = count_parameters(model), []
    for number in range(rounds + 1):
        has_peak = forget_peak()
        started = time.process_time()
        _, ledger = fill(model, tokenizer, texts)
        seconds = time.process_time() - started
        memory = read_peak_mb() - before if has_peak else np.nan
        cost = {"seconds": seconds / len(texts), "flops": ledger.flops / len(texts), "memory_mb": memory}
        rows.append({"round": number, "parameters": sizes["body"] + sizes["head"]} | settings | cost)
    return rows[1:]


def forget_peak() -> bool:
    """Let the highest memory of this process count from now on; return whether the system can."""
    try:
        CLEAR_PEAK[0].write_text(CLEAR_PEAK[1])
    except OSError:
        return False
    return True


def read_peak_mb() -> float:
    """Return the highest memory (MB) since `forget_peak`."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 2**10 for line in lines if line.startswith("VmHWM"))


def measure_all(tokenizer, rounds: int) -> pd.DataFrame:
    """Return a row per round of every way at every point of every axis."""
    rows, ways = [], make_ways()
    for way in ways.values():  # what a library allocates once is no cost of a point
        measure_point(tokenizer, BASE | {"width": min(VALUES["width"])}, way, 1)
    for name, way in ways.items():
        for axis, settings in list_points():
            rows += [
                {"way": name, "axis": axis} | row for row in measure_point(tokenizer, settings, way, rounds)
            ]
            print(f"{name}: {axis} {settings[axis]:g}: {rows[-1]['seconds']:.3f} s per document", flush=True)
    return pd.DataFrame(rows)


def fit_exponents(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per way, axis and cost: the slope of log cost over log axis by least squares, with its interval of 95 %.

    The points are medians over rounds; an interval is that of the t distribution, and has no width where they lie on a line.
    """
    fits = []
    for (name, axis), measurements in rows.groupby(["way", "axis"], sort=False):
        points = measurements.groupby(AXES[axis][0])[[*COSTS]].median()
        x = points.index.to_numpy(float)
        for cost in COSTS:
            slope = fit_slope(x, points[cost].to_numpy(float))
            fits.append({"way": name, "axis": axis, "cost": cost} | slope)
    return pd.DataFrame(fits)


def fit_slope(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Return exponent, low, high and n of y (n,) over x (n,) on logarithmic axes; points that are not above 0 are left out."""
    from scipy.stats import linregress, t

    is_positive = (x > 0) & (y > 0)
    n = int(is_positive.sum())
    if n < 3 or len({*x[is_positive]}) < 2:
        return {"exponent": np.nan, "low": np.nan, "high": np.nan, "n": n}
    line = linregress(np.log(x[is_positive]), np.log(y[is_positive]))
    reach = t.ppf((1 + LEVEL) / 2, n - 2) * line.stderr
    return {"exponent": line.slope, "low": line.slope - reach, "high": line.slope + reach, "n": n}


def exponent_table(exponents: pd.DataFrame, device: str) -> Table:
    """Return the table of exponents: a row per way and axis, costs across."""
    rows = []
    for (name, axis), fits in exponents.groupby(["way", "axis"], sort=False):
        by_cost = {row["cost"]: row for row in fits.to_dict("records")}
        rows.append((Entry(name), Entry(AXES[axis][1]), *(_enter(by_cost[cost]) for cost in COSTS)))
    caption = (
        "Exponent [95 % interval] of the cost per document over the axis: 0 does not grow, 1 is proportional, 2 quadratic. "
        f"{LAYERS} layers, {BASE['width']} wide, {BASE['documents']} documents of {BASE['words']} words, {BASE['share']:.0%} "
        "masked, but for the axis; memory is that of network and filling together. "
        f"Measured on {device}, one thread, float32."
    )
    header = ["way", "axis", *COSTS.values()]
    return Table(
        "growth", "How the cost of filling grows", caption, header, rows, "python -m mlm_vs_clm growth"
    )


def _enter(row: dict) -> Entry:
    if np.isnan(row["exponent"]):
        return DASH
    if np.isnan(row["low"]):  # no row lies off the line
        return Entry(f"{row['exponent'] + 0.0:.2f}", row["exponent"])
    values = (row[name] + 0.0 for name in ("exponent", "low", "high"))
    return Entry("{:.2f} [{:.2f}, {:.2f}]".format(*values).replace("-0.00", "0.00"), row["exponent"])


def draw_growth(rows: pd.DataFrame, exponents: pd.DataFrame) -> Drawing:
    """Return a figure with a panel per axis: seconds per document on logarithmic axes, a line per way."""
    figure, axes = panels(1, len(VALUES), 3.2, sharey=True)
    for side, axis in zip(axes[0], VALUES, strict=True):
        column, words = AXES[axis]
        of_axis = rows[rows["axis"] == axis]
        for name, look in LOOKS.items():
            medians = of_axis[of_axis["way"] == name].groupby(column)["seconds"].median()
            side.plot(medians.index, medians.to_numpy(), **look)
        side.set(xscale="log", yscale="log", xlabel=words)
        ticks = sorted({*of_axis[column]})
        side.set_xticks(ticks, [f"{tick / 1e6:.0f}M" if tick > 1e6 else f"{tick:g}" for tick in ticks])
        side.minorticks_off()
    axes[0, 0].set_ylabel("processor time per document (s)")
    add_legend(figure, {name: LOOKS[name] for name in LOOKS if name in {*rows["way"]}})
    of_seconds = exponents[exponents["cost"] == "seconds"]
    alt = "; ".join(
        f"{fit.way}, {AXES[fit.axis][1]}: exponent {fit.exponent:.2f}" for fit in of_seconds.itertuples()
    )
    caption = "Medians over rounds, on one thread; both axes are logarithmic."
    return Drawing("growth", "Processor time of filling", caption, f"Lines over four axes. {alt}.", figure)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm growth`."""
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=OUT, help="folder of growth.csv and exponents.csv")


def run(chosen: argparse.Namespace) -> None:
    """Measure on one thread; write the tables, and the figure and the block of docs/performance.md where `out` is the usual one."""
    if chosen.rounds < 1:
        raise StudyError(f"--rounds {chosen.rounds}: give 1 or more")
    torch.set_num_threads(1)
    tokenizer = load_tokenizer(packages.locate("package:minilm", chosen.data_dir))
    rows = measure_all(tokenizer, chosen.rounds)
    device = name_device("cpu")
    chosen.out.mkdir(parents=True, exist_ok=True)
    save_table(rows.assign(device=device, threads=1, precision="fp32"), chosen.out / "growth.csv")
    exponents = fit_exponents(rows)
    save_table(exponents, chosen.out / "exponents.csv")
    if chosen.out.resolve() == ROOT / OUT:
        show(rows, exponents, device)


def save_table(rows: pd.DataFrame, path: Path) -> None:
    """Write a table, its numbers with six digits."""
    write_atomically(path, rows.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def show(rows: pd.DataFrame, exponents: pd.DataFrame, device: str) -> None:
    """Write figure and table into docs/performance.md."""
    with style_context():
        drawing = draw_growth(rows, exponents)
        save(drawing, PAGE.parent)
    text = f"![{drawing.alt}]({drawing.name}.svg)\n\n{drawing.caption}\n\n{to_markdown(exponent_table(exponents, device))}"
    write_atomically(PAGE, write_between_markers(PAGE.read_text(encoding="utf-8"), "growth", text))
