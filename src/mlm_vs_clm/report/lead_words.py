"""Words for rows of differences: who is ahead, by how much, on which corpora and over how many trainings."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ..evidence.cells import group_by
from ..evidence.verdicts import FIRST, INSIDE, MADE, NONE_SHOWN, NOT_SETTLED, SECOND

SIDES = {FIRST: "masked", SECOND: "causal"}
EQUAL = "equal"  # inside the margin
UNDECIDED = "undecided"  # an arm may not speak
NO_ANSWER = "no answer"  # not settled, or undecided
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def word_no_lead(row: Any) -> str:
    """Return a verdict that names no side: "equal" (inside the margin), "not settled" or "undecided"; nothing for a lead."""
    if row.status != MADE:
        return UNDECIDED
    return "" if row.direction != NONE_SHOWN else EQUAL if row.size == INSIDE else NOT_SETTLED


def word_short(row: Any) -> str:
    """Return a verdict as a reader of README says it: "masked better", or as `word_no_lead` has it."""
    return word_no_lead(row) or f"{SIDES[row.direction]} better" + ", by little" * (row.size == INSIDE)


def enter_lead(row: Any, digits: int = 1) -> str:
    """Return one outcome with the lead of the better model: "masked +6.0"; without a number where none is better."""
    return word_short(row).replace(" better", f" +{abs(row.effect):.{digits}f}")


def is_ahead(rows: pd.DataFrame, side: str) -> bool:
    """Return whether there are rows, and one side is ahead in all by more than the margin."""
    return len(rows) > 0 and bool(((rows["direction"] == side) & (rows["size"] != INSIDE)).all())


def is_small(rows: pd.DataFrame) -> bool:
    """Return whether there are rows, and all differences are inside the margin."""
    return len(rows) > 0 and bool((rows["size"] == INSIDE).all())


def list_by_corpus(name: str, rows: pd.DataFrame) -> str:
    """Return the outcomes of a step corpus by corpus, for where no headline holds; nothing where it was not run."""
    clauses = [
        f"{words} on {', '.join(row.corpus for row in group)}"
        for words, group in group_by(rows.itertuples(index=False), word_short).items()
    ]
    single = "In one training: " * bool(rows["runs"].max() <= 1)
    return f"{single}**{name}**: {'; '.join(clauses)}." if clauses else ""


def span(values: Iterable[float], digits: int = 1, sign: str = "") -> str:
    """Return the lowest and the highest value: "5.3 to 7.5", or one number where both are written alike; `sign="+"` signs both."""
    values = list(values)
    ends = (round(end, digits) + 0.0 for end in (min(values), max(values)))  # no -0.0
    low, high = (f"{end:{sign}.{digits}f}" for end in ends)
    return low if low == high else f"{low} to {high}"


def word_number(number: int) -> str:
    """Return a small number as a word."""
    return NUMBERS[number] if number < len(NUMBERS) else f"{number:,}"


def join_counts(counts: Iterable[tuple[str, int]], where: str = "") -> str:
    """Return how often each of some outcomes came out: "masked better in two of three comparisons; no answer in one"."""
    counted = [(outcome, number) for outcome, number in counts if number]
    total = sum(number for _, number in counted)
    ends = [f" of {word_number(total)} comparison{'s' * (total > 1)}{where}", *[""] * len(counted)]
    clauses = zip(counted, ends, strict=False)
    return "; ".join(f"{outcome} in {word_number(number)}{end}" for (outcome, number), end in clauses)


def word_runs(rows: pd.DataFrame) -> str:
    """Return "five trainings"."""
    runs = int(rows["runs"].min())
    return f"{word_number(runs)} training{'s' * (runs > 1)}"
