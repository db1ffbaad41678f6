"""The table of a benchmark for people."""

from typing import Any

import pandas as pd

from mlm_vs_clm.report.tables import DASH, Entry, Table, enter_number

BENCH_COLUMNS = ("name", "ratio", "ours", "theirs", "unit", "n", "precision", "device", "threads")
BENCH = (
    "Ratio is the speed-up over a plain loop over the same model, the median over rounds in one process; for training at "
    "the same precision, batches and optimiser, with losses within 0.01 at each step. The share of the peak is of the "
    "best matrix product that this machine makes, be it torch's own or the one with laid-out weights, and counts the model's "
    "FLOPs (every layer at every token, the output layer at the slots). The computed share counts those FLOPs that were "
    "computed, since what no slot needs is left out. – where a row compares nothing."
)


def bench_table(bench: pd.DataFrame) -> Table:
    """Return the table of a benchmark."""
    names = [name for name in BENCH_COLUMNS if name in bench]
    return Table(
        name="bench",
        title="Speed of filling and training",
        caption=BENCH,
        header=names,
        rows=[[enter_speed(row[name]) for name in names] for row in bench.to_dict(orient="records")],
        command="make bench",
    )


def enter_speed(value: Any) -> Entry:
    """Return a word or a number; a dash where the row has none."""
    return Entry(value.replace("_", " ")) if isinstance(value, str) else enter_number(value, "{:,.4g}", DASH)


def describe_device(bench: pd.DataFrame) -> str:
    """Return on what the benchmark was run, and whether a GPU was."""
    devices = sorted(set(bench["device"].dropna())) if "device" in bench else []
    has_gpu = any(name.startswith("cuda") for name in devices)
    return (
        f"Measured on {', '.join(devices) or 'an unrecorded device'}."
        f"{'' if has_gpu else ' GPU not benchmarked.'}"
    )
