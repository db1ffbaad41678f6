"""Verdicts in words, and the sentences that are made from them: nothing here decides."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from ..evidence.claims import read_rules
from ..evidence.questions import TRAINING
from ..evidence.verdicts import (
    AT_LEAST,
    CORRELATION,
    COST,
    FIRST,
    INSIDE,
    MADE,
    NO_ROOM,
    NONE_SHOWN,
    NOT_COMPETENT,
    NOT_RUN,
    NOT_SETTLED,
    OUTSIDE,
    SECOND,
    SLOPE,
    UTILITY,
)
from ..files import ROOT

CLAIMS = ROOT / "conf" / "claims.yaml"
UNSURE = "an arm is competent mostly by function words and punctuation"
NO_DIFFERENCE = "no difference shown"
SIZES = {INSIDE: "inside the margin", OUTSIDE: "outside the margin", NOT_SETTLED: "size not settled"}
SILENT = {
    NOT_RUN: "not run",
    NOT_COMPETENT: "undecided (arm not competent)",
    NO_ROOM: "undecided (no room in the task)",
}
# By what is judged: the words of the direction, or of the size where that is the answer.
LEADS = {
    AT_LEAST: {FIRST: "yes", SECOND: "no", INSIDE: "no", NOT_SETTLED: NOT_SETTLED},
    CORRELATION: {
        FIRST: "strong correlation",
        SECOND: "strong, reversed",
        INSIDE: "no strong correlation",
        NOT_SETTLED: NOT_SETTLED,
    },
    SLOPE: {FIRST: "rises with quality", SECOND: "reversed", NONE_SHOWN: "no slope shown"},
    COST: {INSIDE: "equal cost", NOT_SETTLED: "depends on the masking"},
}
ONE_WORD = (AT_LEAST, CORRELATION, COST)  # what is judged by one of the two words


def word_verdict(row: Any, value: str = "") -> str:
    """Return a row of differences in words: "mlm ahead, +3.4 [+3.1, +3.8], outside the margin"; `value`: the number."""
    return ", ".join(filter(None, [word_lead(row), value, word_size(row)]))


def word_lead(row: Any) -> str:
    """Return who is ahead, or why nobody is: "mlm ahead", "no difference shown", "undecided (clm not competent)"."""
    first, second = (str(getattr(row, f"{side}_arm", getattr(row, side, ""))) for side in ("first", "second"))
    if row.status != MADE:
        names = getattr(row, "excluded", "") if row.status == NOT_COMPETENT else ""
        return f"undecided ({names.replace(', ', ' and ')} not competent)" if names else SILENT[row.status]
    kind = getattr(row, "kind", "")
    words = LEADS.get(kind, {})
    if kind == COST and row.scope == TRAINING:
        words = words | {NOT_SETTLED: NOT_SETTLED}
    key = row.direction if row.direction != NONE_SHOWN or kind not in ONE_WORD else row.size
    if key in words or key == NONE_SHOWN:
        return words.get(key, NO_DIFFERENCE)
    name = first if key == FIRST else second
    if kind == COST:
        return f"{name} costs more"
    return f"{name} better {_word_masking(row, key)}" if first == second else f"{name} ahead"


def _word_masking(row: Any, side: str) -> str:
    """Return where an arm is better: "on punctuation than on random words", or "at random 0.15"."""
    opposite = SECOND if side == FIRST else FIRST
    here, there = (getattr(row, f"{end}_strategy") for end in (side, opposite))
    if f"random_as_{here}" == there:
        return f"on {here} than on random words"
    if here == f"random_as_{there}":
        return f"on random words than on {there}"
    return f"at {here} {getattr(row, f'{side}_ratio'):g}"


def word_size(row: Any) -> str:
    """Return the size in words; nothing where the lead says all, or where nothing was decided."""
    if row.status != MADE or getattr(row, "kind", "") in ONE_WORD:
        return ""
    return SIZES[row.size]


def join_names(names: Sequence[str]) -> str:
    """Return "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def at_first_measure(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each condition by the first measure of its rule that was measured, in whatever order the rows stand.

    Where the rule names no measure the whole document comes before the fills. Training data has the measure of each corpus's task.
    """
    orders, keys = list_measures(CLAIMS), ["claim", "condition"]
    named = zip(rows["claim"], rows["condition"], rows["metric"], strict=True)
    ranks = [
        order.index(metric) if metric in (order := orders.get((claim, name), [])) else len(order)
        for claim, name, metric in named
    ]
    ranked = rows.assign(rank=ranks).sort_values(["rank", "scope"], kind="stable")
    first = rows[keys].join(ranked.drop_duplicates(keys).set_index(keys)["metric"], on=keys)["metric"]
    return rows[(rows["metric"] == first) | (rows["scope"] == UTILITY)]


@cache
def list_measures(path: Path) -> dict[tuple[str, str], list[str]]:
    """Return the metrics by which the rules of a file ask a condition, by (claim, condition), in their order."""
    return {
        (rule["id"], condition["name"]): [measure["metric"] for measure in measures]
        for rule in read_rules(path)
        for condition in rule["conditions"]
        if (measures := condition.get("measures", rule.get("measures")))
    }
