"""The tables that people read: built once from the tidy rows, rendered in Markdown and HTML elsewhere."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..evidence.tables import over_seeds
from ..masking import list_overrides
from . import style
from .style import ordered

ABSENT = "not run"
INTERVALS = "Value [95 % interval]; of several draws or trainings their mean, from the lowest to the highest end of their intervals."


@dataclass(frozen=True)
class Entry:
    """One place of a table: its text, the number to sort it by, and why it is missing."""

    text: str
    number: float | None = None
    reason: str = ""


MISSING = Entry("missing", reason=ABSENT)
DASH = Entry("–")


@dataclass(frozen=True)
class Table:
    """A table with its name (a file name), title, how to read it, and the command that makes its rows."""

    name: str
    title: str
    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Entry]]
    command: str


def enter(cell: Any, digits: int) -> Entry:
    """Return the entry of a cell with value, low, high, reason; `cell` is None where there is no row."""
    if cell is None:
        return MISSING
    if pd.isna(cell.value):
        return Entry("missing", reason=cell.reason)
    text = f"{cell.value:.{digits}f}"
    if pd.notna(cell.low) and pd.notna(cell.high):
        text += f" [{cell.low:.{digits}f}, {cell.high:.{digits}f}]"
    return Entry(text, float(cell.value), cell.reason)


def enter_number(value: float, form: str = "{:,.0f}", absent: Entry = MISSING) -> Entry:
    """Return the entry of a plain number, `absent` where there is none."""
    return Entry(form.format(value), float(value)) if pd.notna(value) else absent


def enter_words(value: Any) -> Entry:
    """Return the entry of words, a dash where there are none."""
    return Entry(value) if isinstance(value, str) and value else DASH


def enter_key(key: str, value: Any) -> Entry:
    """Return the entry of one of the values that name a row."""
    if not isinstance(value, str):
        return enter_number(value, "{:,.0f}" if key == "budget" else "{:g}")
    if key == "metric":
        return Entry(style.name_metric(value))
    return Entry(style.REFERENCES.get(value, value) if key in ("arm", "trained_on") else value)


def cross(
    rows: pd.DataFrame,
    keys: Sequence[str],
    across: str,
    columns: Sequence,
    adapt: Callable[[Entry, tuple, Any], Entry] = lambda entry, line, column: entry,
) -> list[tuple[Entry, ...]]:
    """Return a row of entries per line of `keys`: the keys, then the mean over seeds at each of `columns` of `across`.

    `adapt` may replace an entry, given its line and column.
    """
    cells = over_seeds(rows, [*keys, across])
    by_place = {}
    for cell, digits in zip(cells.itertuples(index=False), style.digits_of(cells), strict=True):
        by_place[(*(getattr(cell, key) for key in (*keys, across)),)] = enter(cell, digits)
    return [
        (
            *map(enter_key, keys, line),
            *(adapt(by_place.get((*line, column), MISSING), line, column) for column in columns),
        )
        for line in order_lines(rows, keys)
    ]


def order_lines(rows: pd.DataFrame, keys: Sequence[str], **preferred: Iterable) -> list[tuple]:
    """Return the distinct keys present, each in its reading order (of `style.ORDER` or `preferred`), numbers rising."""
    orders: dict[str, Iterable] = {**style.ORDER, **preferred}
    ranks = [{value: i for i, value in enumerate(ordered(rows[key], orders.get(key, ())))} for key in keys]
    lines = set(rows[[*keys]].itertuples(index=False, name=None))
    return sorted(lines, key=lambda line: [rank[value] for rank, value in zip(ranks, line, strict=True)])


def describe_count(rows: pd.DataFrame) -> str:
    """Return the number of documents behind the rows that have a value, as a range where rows differ."""
    counts = sorted({int(n) for n in rows.loc[rows["value"].notna(), "n"].dropna()})
    if not counts:
        return "an unrecorded number of"
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def command_for_cells(stage: str, scale: str, rows: pd.DataFrame) -> str:
    """Return the lines that make the cells of the rows: strategies at the same ratios share one; with variants, the report."""
    if "arm" in rows and rows["arm"].astype(str).str.contains(" ").any():
        return command_for_report(scale)
    named = [list_choices(group, rows[group]) for group in ("corpus", "arm") if group in rows]
    start = " ".join([f"python experiments/{stage}.py -m scale={scale}", *named])
    strategies: dict[str, list[str]] = {}
    for strategy, of_strategy in rows.dropna(subset="strategy").groupby("strategy"):
        ratios = list_choices("masking.ratio", of_strategy["ratio"].map("{:g}".format))
        strategies.setdefault(ratios, []).append(str(strategy))
    lines = [
        f"{start} {chosen} {ratios}" for ratios, names in strategies.items() for chosen in _choose(names)
    ]
    return "\n".join(lines or [start])


def _choose(names: list[str]) -> list[str]:
    """Return the settings that choose maskings: all strategies without tags or types at once, the others one by one."""
    plain = [name for name in names if " " not in name]
    overrides = [" ".join(list_overrides(name)) for name in names if name not in plain]
    return [f"masking={','.join(plain)}"] * bool(plain) + overrides


def command_for_training(scale: str, rows: pd.DataFrame) -> str:
    """Return the lines for downstream rows: training on the text of arms, then on the references."""
    of_arms = rows[rows["strategy"].notna()].rename(columns={"trained_on": "arm"})
    beside = rows[rows["strategy"].isna()]
    lines = [command_for_cells("downstream", scale, of_arms)] if len(of_arms) else []
    if len(beside):
        references = list_choices("trained_on", beside["trained_on"])
        lines.append(f"{command_for_cells('downstream', scale, beside)} {references}")
    return "\n".join(lines)


def command_for_report(scale: str) -> str:
    """Return the line that makes the report."""
    return f"python experiments/report.py scale={scale}"


def list_choices(option: str, values: pd.Series) -> str:
    """Return `option=a,b` with every distinct value."""
    return f"{option}={','.join(sorted(set(values.dropna())))}"


def markdown_table(header: Sequence[str], rows: Iterable[Iterable[str]], numbers: int = 0) -> str:
    """Return a Markdown table of words, of which the last `numbers` columns are set to the right."""
    rule = ["---"] * (len(header) - numbers) + ["---:"] * numbers
    return "\n".join(map(markdown_row, [header, rule, *rows]))


def markdown_row(texts: Iterable[str]) -> str:
    """Return one row of a Markdown table."""
    return "| " + " | ".join(text.replace("|", "\\|").replace("\n", " ") for text in texts) + " |"
