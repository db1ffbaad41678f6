"""How a table stands on a page: without empty rows and columns, eight columns at most, with notes that all tables share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .rendering import is_numeric
from .tables import DASH, Entry, Table

MOST, LEAST = 8, 6  # columns of a table, of one of many alike
FIRST = {  # the start of a table's name -> columns that stand before others
    "quality": ("arm", "BLEU", "ROUGE-L", "METEOR", "BERTScore", "exact match", "nats per character (lower is better)"),
    "cost": ("corpus", "arm", "order", "passes", "GFLOPs", "seconds", "tokens filled", "peak memory (MB)"),
    "sanity": ("corpus", "metric", "ranks", "oracle above arms", "arm above floor", "floor above unfilled"),
    "training": ("objective", "corpus", "tokens seen", "tokens predicted", "passes", "train loss", "dev loss"),
    "comparisons_seed": ("corpus", "difference", "measure", "mean", "standard deviation"),
    "curve": ("corpus", "difference", "measure"),
    "downstream": ("corpus", "trained on"),
}  # fmt: skip


@dataclass(frozen=True)
class Sheet:
    """A table as the page shows it: which columns hold numbers, what all rows share, and which columns are left out."""

    table: Table
    numeric: Sequence[int]
    shared: Sequence[tuple[str, str]]
    left_out: Sequence[str]


def fit(table: Table) -> Sheet | None:
    """Return a table without rows and columns that hold nothing, None where nothing is left.

    A column of words that are the same in all rows is told once; of the others the first MOST stay, those of FIRST before.
    """
    keys = count_keys(table)
    rows = [row for row in table.rows if not all(map(is_empty, row[keys:])) or keys == len(row)]
    columns = [place for place in range(len(table.header)) if not all(is_empty(row[place]) for row in rows)]
    if not rows or not columns:
        return None
    constant = [
        place
        for place in columns
        if len(rows) > 1 and len({row[place].text for row in rows}) == 1 and not is_numeric(table, place)
    ]
    varied = [place for place in columns if place not in constant] or columns
    first_names = next((names for name, names in FIRST.items() if table.name.startswith(name)), ())
    ranked = sorted(varied, key=lambda place: (_rank(table.header[place], first_names), place))
    columns_left = ranked[: LEAST if table.name.startswith("quality") else MOST]
    body = [tuple(row[place] for place in columns_left) for row in rows]
    narrowed = replace(table, header=[table.header[place] for place in columns_left], rows=body)
    return Sheet(
        narrowed,
        numeric=[n + 1 for n in range(len(columns_left)) if is_numeric(narrowed, n)],
        shared=[
            (table.header[place], rows[0][place].text) for place in constant if place not in columns_left
        ],
        left_out=[table.header[place] for place in ranked[len(columns_left) :]],
    )


def _rank(name: str, first_names: Sequence[str]) -> int:
    return first_names.index(name) if name in first_names else len(first_names)


def count_keys(table: Table) -> int:
    """Return how many columns name a row: the first ones, up to one that holds numbers, missing values or nothing."""
    for place in range(len(table.header)):
        column = [row[place] for row in table.rows]
        if is_numeric(table, place) or any(entry.reason for entry in column) or all(map(is_empty, column)):
            return place
    return len(table.header)


def is_empty(entry: Entry) -> bool:
    """Return whether an entry holds neither a number nor words."""
    return entry == DASH or entry.text in ("", "missing")
