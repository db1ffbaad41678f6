"""What a study could detect: the smallest true difference, and how many cells would decide a correlation."""

import math

import numpy as np

from ..stats import ALPHA, Estimate, undefined

INTERVAL_IN_ERRORS = 2 * 1.959964  # the width of a 95 % interval in standard errors


def smallest_detectable_effect(standard_error: float, n: int, power: float = 0.8) -> float:
    """Return the true paired difference that a two-sided t test on n units finds with this power; NaN below two."""
    from scipy.special import stdtrit

    if n < 2:
        return math.nan
    return float((stdtrit(n - 1, 1 - ALPHA / 2) + stdtrit(n - 1, power)) * standard_error)


def smallest_detectable_correlation(low: float, high: float, n: int) -> float:
    """Return the coefficient that n cells find with 80 % power, from the 95 % interval of an estimate."""
    return smallest_detectable_effect((high - low) / INTERVAL_IN_ERRORS, n)


def count_cells_needed(one: Estimate, bound: float) -> tuple[Estimate, bool]:
    """Return how many cells would decide, were the estimate to stay and its interval to narrow as 1 / sqrt(n - 3).

    The second value is true where they would decide for a coefficient inside +-bound. Arms of the interval are measured
    on Fisher's scale (atanh). The estimate is NaN, with its reason, where no number of cells decides.
    """
    if np.isnan([one.low, one.high]).any():
        return undefined(one.n, one.reason or "no interval"), False
    value, low, high, limit = np.arctanh(np.clip([one.value, one.low, one.high, bound], -0.9999, 0.9999))
    is_inside = bool(abs(value) < limit)
    if is_inside:
        arms = [(high - value) / (limit - value), (value - low) / (value + limit)]
    else:
        inner = value - low if value > 0 else high - value
        arms = [inner / (abs(value) - limit) if abs(value) > limit else math.inf]
    if not np.isfinite(max(arms)):
        reason = "no number of cells decides: the estimate lies on the bound"
        return undefined(one.n, reason), is_inside
    needed = math.ceil(round(3 + (one.n - 3) * max(arms) ** 2, 6))
    return Estimate(needed, n=one.n), is_inside
