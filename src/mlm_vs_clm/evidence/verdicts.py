"""Who is ahead, and whether it matters: the one place that decides it, for every table of comparisons.

A verdict has two words. *Direction*: which side is ahead by an interval and a p that is corrected over a family.
*Size*: where the interval lies by the margin; inside does not depend on the family, so that an equality is not easier in
a larger one, and outside needs a direction. All other modules read these words.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from ..stats import ALPHA, FEWEST_UNITS, NORMAL, holm
from .tables import COMPUTE, SEED

FIRST, SECOND, NONE_SHOWN = "first", "second", "none shown"
INSIDE, OUTSIDE, NOT_SETTLED = "inside the margin", "outside", "not settled"
MADE, NOT_RUN, NOT_COMPETENT, NO_ROOM = "made", "not run", "not competent", "no room"
DIFFERENCE, AT_LEAST, CORRELATION, COST = "difference", "at least", "spearman", "cost"  # what is judged
SLOPE = "slope_at_same_masking"  # judged as a difference
STATUSES = (MADE, NOT_COMPETENT, NO_ROOM, NOT_RUN)  # from what decides to what is not there
# The scope of differences as training data, which are one family whatever the task's metric.
UTILITY = "utility"
IN_ERRORS = 2 * NORMAL  # the width of a 95 % interval in standard errors
DIGITS = 8  # by which two tables are seen to hold the same difference
Range = tuple[float, float]
Key = tuple[str, str, str, str, str, str]  # corpus, both arms, scope, metric, difference


@dataclass(frozen=True)
class Verdict:
    """What a comparison shows; both words are empty where it was not made or decides nothing.

    `excluded_because`: why a comparison that was run decides nothing.
    """

    status: str = MADE
    direction: str = ""
    size: str = ""
    excluded_because: str = ""


@dataclass(frozen=True)
class Criterion:
    """What a comparison is judged by: its margin, its kind and, of AT_LEAST, the difference that it is asked to exceed."""

    margin: float
    kind: str = DIFFERENCE
    at_least: float = math.nan


def judge(low: float, high: float, p: float, criterion: Criterion, n: float = math.inf) -> Verdict:
    """Return the verdict on an interval of `n` units, of which too few show nothing; p is corrected.

    A correlation has a direction beyond the margin alone, as a range of costs has, in which chance has no part. Of
    AT_LEAST the first side is ahead where the difference is above `at_least`, and inside below that or the margin.
    """
    margin, kind = criterion.margin, criterion.kind
    within, beyond = (-margin, margin), (0.0, 0.0)
    if kind == COST:
        p, n = math.nan, math.inf
    if n < FEWEST_UNITS:
        return Verdict(MADE, NONE_SHOWN, NOT_SETTLED)
    if kind in (COST, CORRELATION):
        beyond = within
    if kind == AT_LEAST:
        within = (-math.inf, max(criterion.at_least, margin))
        beyond = (criterion.at_least, criterion.at_least)
    direction, size = find_direction(low, high, p, beyond), find_size(low, high, within)
    if direction == NONE_SHOWN and size == OUTSIDE:
        size = NOT_SETTLED  # what the family leaves open is not large either
    return Verdict(MADE, direction, size)


def is_open(row: Any) -> bool:
    """Return whether a row that was judged has neither a direction nor a size that says there is none."""
    return row.status == MADE and row.direction == NONE_SHOWN and row.size != INSIDE


def find_direction(low: float, high: float, p: float = math.nan, beyond: Range = (0.0, 0.0)) -> str:
    """Return which side an interval shows to be ahead."""
    if p >= ALPHA:
        return NONE_SHOWN
    return FIRST if low > beyond[1] else SECOND if high < beyond[0] else NONE_SHOWN


def find_size(low: float, high: float, within: Range) -> str:
    """Return where an interval lies; not settled where it crosses an end of `within`, or one of the four is NaN."""
    if within[0] < low and high < within[1]:
        return INSIDE
    return OUTSIDE if high <= within[0] or low >= within[1] else NOT_SETTLED


def correct(p_values: Sequence[float] | pd.Series) -> list[float]:
    """Return Holm's p over a family; NaN, which is no test, stays NaN."""
    return [float(p) for p in holm(p_values)]


def read_p(value: float, low: float, high: float) -> float:
    """Return the two-sided p that follows from the width of a 95 % interval."""
    error = (high - low) / IN_ERRORS
    if not error > 0:
        return math.nan if math.isnan(error) else float(value == 0)
    return math.erfc(abs(value) / error / math.sqrt(2))


def judge_table(
    rows: pd.DataFrame, margins: Mapping[tuple[str, str, str], float], answers: pd.DataFrame
) -> pd.DataFrame:
    """Return comparisons with the columns of a verdict, `margin` and `p_holm`.

    `rows` has `excluded_because` and, where that is not empty, `status`. A comparison that a claim asks for has the
    family, and with it the verdict, of `answers`; the others are one family per kind and measure (and what is matched or
    equal). `margins`: by corpus, scope and metric.
    """
    numbers = ["value", "low", "high", "p", "n"]  # None where a kind was measured nowhere
    rows = rows.assign(**{name: pd.to_numeric(rows[name]) for name in numbers})
    by_name = _index(answers)
    answered = [
        None if row["kind"] == SEED else by_name.get(_name(row))  # an answer is over all draws
        for row in rows.to_dict("records")
    ]
    read = pd.Series(
        list(map(read_p, rows["value"], rows["low"], rows["high"])), index=rows.index, dtype=float
    )
    raw = rows["p"].where(~rows["kind"].isin([SEED, COMPUTE]), read)
    places = zip(rows["corpus"], rows["scope"], rows["metric"], strict=True)
    rows = rows.assign(
        p_holm=raw.astype(float).where(rows["status"] == MADE),
        margin=[
            answered_row[1] if answered_row else margins.get(place, math.nan)
            for answered_row, place in zip(answered, places, strict=True)
        ],
    )
    unasked = rows[
        pd.Series([answered_row is None for answered_row in answered], index=rows.index, dtype=bool)
    ]
    measures = unasked["metric"].where(unasked["scope"] != UTILITY, UTILITY)
    matched = unasked["at"].where(unasked["kind"] != SEED, "")
    for family in unasked.groupby(["kind", "scope", measures, matched]).groups.values():
        rows.loc[family, "p_holm"] = correct(rows.loc[family, "p_holm"])
    for place, answered_row in zip(rows.index, answered, strict=True):
        if answered_row:
            rows.loc[place, "p_holm"] = answered_row[0]
    absent = rows["value"].isna()
    rows = rows.assign(margin=rows["margin"].mask(absent).astype(float), p_holm=rows["p_holm"].mask(absent))
    verdicts = [asdict(_judge_row(row)) for row in rows.to_dict("records")]
    return rows.assign(**pd.DataFrame(verdicts, index=rows.index, columns=list(asdict(Verdict()))))


def _judge_row(row: dict) -> Verdict:
    if pd.isna(row["value"]):
        return Verdict(NOT_RUN)
    if row["excluded_because"]:
        return Verdict(row["status"], excluded_because=row["excluded_because"])
    return judge(row["low"], row["high"], row["p_holm"], Criterion(row["margin"]), row["n"])


def _name(row: Mapping) -> Key:
    names = (row["corpus"], row["first"], row["second"], row["scope"], row["metric"])
    return *names, f"{row['value']:.{DIGITS}g}"


def _index(answers: pd.DataFrame) -> dict[Key, tuple[float, float]]:
    """Return the corrected p and the margin of every difference at one masking that a claim asks for."""
    rows = answers[(answers["kind"] == DIFFERENCE) & answers["effect"].notna()]
    rows = rows.rename(columns={"first_arm": "first", "second_arm": "second", "effect": "value"})
    return {_name(row): (row["p"], row["margin"]) for row in rows.to_dict("records")}


def list_margins(
    scores: pd.DataFrame, downstream: pd.DataFrame, units: Mapping[str, float], share: float
) -> dict[tuple[str, str, str], float]:
    """Return the margin of every corpus, scope and metric.

    That of text is in the unit of its metric, by `units`; that of training data a share of what real text is worth over the
    majority answer.
    """
    named = scores[["corpus", "scope", "metric"]].drop_duplicates().itertuples(index=False, name=None)
    margins = {place: units.get(place[2], math.nan) for place in named}
    if len(downstream):
        worth = downstream.pivot_table("value", ["corpus", "metric"], "trained_on")
        worth = share * worth.reindex(columns=["real", "majority"]).diff(-1, axis=1)["real"]
        margins |= {(corpus, UTILITY, metric): value for (corpus, metric), value in worth.items()}
    return margins
