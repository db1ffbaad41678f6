"""What a claim asks of a study: a comparison of two sides with its margin, and how both are read from its rules."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from ..stats import NORMAL, PairedDifference
from .competence import Place
from .paired import LEAD
from .verdicts import IN_ERRORS, read_p

QUALITY = "quality"  # names the sides of a correlation in place of an arm
TRAINING = "training"  # the scope of what trainings show by themselves
UNDERSTANDING = "understanding"  # the scope of differences between networks that are fine-tuned


@dataclass(frozen=True)
class Question:
    """One comparison that a condition asks for on one corpus.

    `first` and `second` are places of cells, `margin` is in the unit of the metric (NaN: unknown), `note` says what a
    reader needs beside the numbers. `at_least`: the question is whether the difference is above it, yes or no.
    `no_room`: why no text could be told apart as training data; "" where it could.
    """

    claim: dict
    condition: dict
    corpus: str
    first: Place
    second: Place
    measure: tuple[str, str]
    estimate: PairedDifference
    margin: float = math.nan
    note: str = ""
    at_least: float = math.nan
    no_room: str = ""


def find_margin(margin: Mapping[str, float] | float, measure: tuple[str, str], extent: float) -> float:
    """Return the margin of a measure: in its unit where the claim gives it by metric (NaN for others), else a share of `extent`."""
    if isinstance(margin, Mapping):
        return float(margin.get(measure[1].removesuffix(LEAD), math.nan))
    return margin * extent


def read_masking(cell: Mapping) -> tuple[str, float]:
    """Return the masking that rules name by its strategy and ratio, in whatever order."""
    return cell["strategy"], cell["ratio"]


def list_measures(claim: dict, condition: dict) -> list[tuple[str, str]]:
    """Return the measures (scope, metric) that a condition asks for: its own, or those of its claim."""
    return [(measure["scope"], measure["metric"]) for measure in condition.get("measures", claim["measures"])]


def find_p(estimate: PairedDifference, bound: float) -> float:
    """Return the two-sided p of a difference that is not `bound`; as it is where there is no bound or no error."""
    from scipy.special import stdtr

    if math.isnan(bound) or not estimate.standard_error > 0:
        return estimate.p
    return float(2 * stdtr(estimate.degrees, -abs(estimate.difference - bound) / estimate.standard_error))


def find_p_beyond(estimate: PairedDifference, bound: float) -> float:
    """Return the two-sided p of a correlation that lies within ±`bound`: 1 where its estimate does, and below 0.05 where
    the interval lies beyond, by the half of it that points there.
    """
    value, excess = estimate.difference, abs(estimate.difference) - bound
    if not excess > 0:
        return math.nan if math.isnan(excess) else 1.0
    error = abs(value - (estimate.low if value > 0 else estimate.high)) / NORMAL
    return math.erfc(excess / error / math.sqrt(2)) if error > 0 else 0.0


def read_interval(row: pd.Series, n: int) -> PairedDifference:
    """Return the value of a row with its interval and the standard error and p that follow from its width."""
    value, low, high = (float(row[name]) for name in ("value", "low", "high"))
    if math.isnan(value) or math.isnan(low):
        return PairedDifference(n=n, reason=f"not run: {row['reason'] or 'no interval'}")
    error, p = (high - low) / IN_ERRORS, read_p(value, low, high)
    return PairedDifference(value, low, high, p, error, n, degrees=n - 1.0)
