"""How many cells would decide whether quality and utility correlate."""

import math

import numpy as np

from ..stats import NOT_DEFINED, Estimate

STRONG, NOT_STRONG, UNDECIDED, MISSING = (
    "strong correlation",
    "no strong correlation",
    "inconclusive",
    "missing",
)


def _row(
    statistic: str, one: Estimate, decision: str = "", reason: str = "", bound: float = math.nan
) -> dict:
    values = {"value": one.value, "low": one.low, "high": one.high, "n_cells": one.n}
    told = "; ".join(filter(None, [one.reason, reason]))
    return {"statistic": statistic} | values | {"bound": bound, "decision": decision, "reason": told}


def count_cells_needed(one: Estimate, bound: float) -> dict:
    """Return how many cells would decide, were the estimate to stay and its interval to narrow as 1 / sqrt(n - 3).

    Arms of the interval are measured on Fisher's scale (atanh). `decision` says what would be decided then.
    """
    if np.isnan([one.low, one.high]).any():
        return _row("cells_needed", Estimate(math.nan, *NOT_DEFINED, one.n, one.reason or "no interval"))
    value, low, high, limit = np.arctanh(np.clip([one.value, one.low, one.high, bound], -0.9999, 0.9999))
    if abs(value) < limit:
        decision, arms = NOT_STRONG, [(high - value) / (limit - value), (value - low) / (value + limit)]
    else:
        inner = value - low if value > 0 else high - value
        decision, arms = STRONG, [inner / (abs(value) - limit) if abs(value) > limit else math.inf]
    if not np.isfinite(max(arms)):
        reason = "no number of cells decides: the estimate lies on the bound"
        return _row("cells_needed", Estimate(math.nan, *NOT_DEFINED, one.n, reason), bound=bound)
    needed = math.ceil(round(3 + (one.n - 3) * max(arms) ** 2, 6))
    return _row("cells_needed", Estimate(needed, *NOT_DEFINED, one.n), decision, bound=bound)
