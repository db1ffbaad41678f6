"""The tables that people read: built once from the tidy rows, rendered in Markdown and HTML elsewhere."""

from dataclasses import dataclass

import pandas as pd

from ..analysis.tables import at_main_cell, main_ratio, over_seeds
from . import commands, style
from .style import ordered

ABSENT = "no such row was made"
INTERVALS = "Value [95 % interval]; with several seeds, their mean and their widest interval."


@dataclass(frozen=True)
class Entry:
    """One place of a table: its text, the number to sort it by, why it is missing, and the table that it links to."""

    text: str
    number: float | None = None
    reason: str = ""
    link: str = ""


@dataclass(frozen=True)
class Table:
    """A table with its name (a file name), title, how to read it, and the command that makes its rows."""

    name: str
    title: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    command: str


def enter(cell, digits: int) -> Entry:
    """Return the entry of a cell with value, low, high, reason; `cell` is None where there is no row."""
    if cell is None:
        return Entry("missing", reason=ABSENT)
    if pd.isna(cell.value):
        return Entry("missing", reason=cell.reason)
    text = f"{cell.value:.{digits}f}"
    if pd.notna(cell.low) and pd.notna(cell.high):
        text += f" [{cell.low:.{digits}f}, {cell.high:.{digits}f}]"
    return Entry(text, float(cell.value), cell.reason)


def enter_number(value: float, form: str = "{:,.0f}") -> Entry:
    """Return the entry of a plain number."""
    return Entry(form.format(value), float(value)) if pd.notna(value) else Entry("missing", reason=ABSENT)


def cross(cells: pd.DataFrame, down: list[str], rows: list[tuple], across: str, columns: list) -> list[list]:
    """Return entries with one list for each of `rows` (keys of `down`) and one place for each of `columns`."""
    digits = {column: style.decimals(values) for column, values in cells.groupby(across)["value"]}
    found = {}
    for cell in cells.itertuples(index=False):
        found[(*(getattr(cell, key) for key in down), getattr(cell, across))] = cell
    return [[enter(found.get((*row, column)), digits.get(column, 3)) for column in columns] for row in rows]


def quality_tables(scores: pd.DataFrame, scale: str) -> list[Table]:
    """Return the main table of every corpus and scope: arms down, overlap metrics across, at the main cell."""
    main = at_main_cell(scores)
    pairs = [(corpus, scope) for corpus in ordered(main["corpus"], style.CORPORA) for scope in style.SCOPES]
    tables = []
    for corpus, scope in pairs:
        rows = main[(main["corpus"] == corpus) & (main["scope"] == scope)]
        if len(rows):
            tables.append(quality_table(rows, corpus, scope, scale))
    return tables


def quality_table(rows: pd.DataFrame, corpus: str, scope: str, scale: str) -> Table:
    """Return one main table."""
    arms = ordered(rows["arm"], style.ARMS)
    metrics = style.order_metrics(rows["metric"], "overlap")
    cells = over_seeds(rows[rows["metric"].isin(metrics)], ["arm", "metric"])
    body = cross(cells, ["arm"], [(arm,) for arm in arms], "metric", metrics)
    return Table(
        name=f"quality_{corpus}_{scope}",
        title=f"{corpus}, {style.SCOPES.get(scope, scope)}: overlap with the original",
        caption=(
            f"Random blanks at ratio {main_ratio(rows):g} (share hidden in fact {rows['share'].mean():.3f}), "
            f"{tell_count(rows)} documents. {INTERVALS}"
        ),
        header=("arm", *(style.name_metric(metric) for metric in metrics)),
        rows=tuple((Entry(arm), *line) for arm, line in zip(arms, body, strict=True)),
        command=commands.for_cells("score", scale, rows),
    )


def tell_count(rows: pd.DataFrame) -> str:
    """Return the number of documents behind the rows, as a range where rows differ."""
    counts = sorted({int(n) for n in rows["n"].dropna()})
    if not counts:
        return "an unrecorded number of"
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def side_tables(scores: pd.DataFrame, scale: str) -> list[Table]:
    """Return the tables of normalised gain and of variety at the main cell, all corpora together."""
    titles = {
        "gain": (
            "Normalised gain",
            "(score - unfilled) / (oracle - unfilled): 0 is leaving the blanks out. ",
        ),
        "variety": ("Variety and repetition", "Greedy text can win overlap and be dull. "),
    }
    main, keys = at_main_cell(scores), ["corpus", "scope", "arm"]
    tables = []
    for kind, (title, how) in titles.items():
        metrics = style.order_metrics(main["metric"], kind)
        rows = main[main["metric"].isin(metrics)]
        if rows.empty:
            continue
        lines = order_lines(rows, keys, [style.CORPORA, style.SCOPES, style.ARMS])
        body = cross(over_seeds(rows, [*keys, "metric"]), keys, lines, "metric", metrics)
        body = [
            [
                dash_undefined(entry, rows, line[1], metric)
                for entry, metric in zip(places, metrics, strict=True)
            ]
            for line, places in zip(lines, body, strict=True)
        ]
        tables.append(
            Table(
                name=kind,
                title=title,
                caption=f"{how}Random blanks at ratio {main_ratio(main):g}. {INTERVALS}",
                header=(
                    *keys,
                    *(style.name_metric(metric).removesuffix(", normalised gain") for metric in metrics),
                ),
                rows=tuple((*map(Entry, line), *places) for line, places in zip(lines, body, strict=True)),
                command=commands.for_cells("score", scale, rows),
            )
        )
    return tables


def dash_undefined(entry: Entry, rows: pd.DataFrame, scope: str, metric: str) -> Entry:
    """Return a dash where a metric is measured for no arm at a scope, the entry itself elsewhere."""
    if entry.reason != ABSENT or ((rows["scope"] == scope) & (rows["metric"] == metric)).any():
        return entry
    return Entry("–")


def order_lines(rows: pd.DataFrame, keys: list[str], preferred: list) -> list[tuple]:
    """Return the distinct keys present, each column in its reading order, numbers rising."""
    ranks = [
        {value: i for i, value in enumerate(ordered(rows[key], names))}
        for key, names in zip(keys, preferred, strict=True)
    ]
    found = set(rows[keys].itertuples(index=False, name=None))
    return sorted(found, key=lambda line: [rank[value] for rank, value in zip(ranks, line, strict=True)])


def strategy_tables(scores: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table a scope: corpus, strategy, ratio and share down, arms across."""
    keys = ["corpus", "strategy", "ratio"]
    tables = []
    for scope, metric in style.main_qualities(scores.dropna(subset="value")):
        rows = scores[(scores["scope"] == scope) & (scores["metric"] == metric)]
        arms = ordered(rows["arm"], style.ARMS)
        lines = order_lines(rows, keys, [style.CORPORA, style.STRATEGIES, ()])
        shares = rows.groupby(keys)["share"].mean()
        body = cross(over_seeds(rows, [*keys, "arm"]), keys, lines, "arm", arms)
        tables.append(
            Table(
                name=f"strategy_{scope}",
                title=f"{style.name_metric(metric)} by strategy, {style.SCOPES.get(scope, scope)}",
                caption=(
                    "Ratio is what was asked for (of its class, for a class strategy); share is what was hidden of "
                    f"all words. {tell_count(rows)} documents. {INTERVALS}"
                ),
                header=(*keys, "share", *arms),
                rows=tuple(
                    (Entry(line[0]), Entry(line[1]), enter_number(line[2], "{:g}"))
                    + (enter_number(shares.get(line), "{:.3f}"), *places)
                    for line, places in zip(lines, body, strict=True)
                ),
                command=commands.for_cells("score", scale, rows),
            )
        )
    return tables


def markdown_row(texts) -> str:
    """Return one row of a Markdown table."""
    return "| " + " | ".join(text.replace("|", "\\|").replace("\n", " ") for text in texts) + " |"
