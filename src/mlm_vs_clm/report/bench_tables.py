"""How fast blanks were filled where `make bench` was run: its ratios, and on what machine."""

import pandas as pd

from .page import Section
from .tables import Entry, Table, enter_number

COLUMNS = ("name", "ratio", "ours", "theirs", "unit", "n", "precision", "device", "threads")


def speed_section(bench: pd.DataFrame) -> list[Section]:
    """Return the section on speed, none where no benchmark was run."""
    if bench.empty:
        return []
    names, title = [name for name in COLUMNS if name in bench], "Speed of filling"
    table = Table(
        name="bench",
        title=title,
        caption=(
            "Ratio is ours over the loop that people write, the median over rounds in one process. The share of the peak is of "
            "the best matrix product that this machine makes, be it torch's own or the one with laid-out weights, and counts the model's "
            "FLOPs (every layer at every sub-word, the output layer at the slots); the computed share counts those of them that "
            "were computed, since what no slot needs is left out. – where a line compares nothing."
        ),
        header=tuple(names),
        rows=tuple(
            tuple(enter_place(row[name]) for name in names) for row in bench.to_dict(orient="records")
        ),
        command="make bench",
    )
    return [Section("speed", title, (), (table,), "", (tell_device(bench),))]


def enter_place(value: object) -> Entry:
    """Return a word or a number; a dash where the line has none."""
    if isinstance(value, str):
        return Entry(value.replace("_", " "))
    return enter_number(value, "{:,.4g}") if pd.notna(value) else Entry("–")


def tell_device(bench: pd.DataFrame) -> str:
    """Return on what the benchmark was run, and whether a GPU was measured."""
    devices = sorted(set(bench["device"].dropna())) if "device" in bench else []
    is_measured = any(name.startswith("cuda") for name in devices)
    told = f"Measured on {', '.join(devices) or 'an unrecorded device'}. "
    return told + (
        "A GPU was measured." if is_measured else "No GPU was measured: these numbers say nothing of one."
    )
