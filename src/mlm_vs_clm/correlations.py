"""Correlations with percentile intervals.

A measure of correlation takes weights (r, n), how often each unit was drawn in each of r resamples, and columns (n,)
of values; it returns (r,) coefficients, NaN where a variable does not vary.
"""

from collections.abc import Callable, Sequence

import numpy as np

from .stats import Estimate, draw_weights, percentile_interval, undefined


def correlate_ranks(x: Sequence[float], y: Sequence[float], n_resamples: int = 1000) -> Estimate:
    """Return Spearman's correlation of independent units, those with a NaN left out."""
    columns = np.array([x, y], dtype=float)
    columns = columns[:, ~np.isnan(columns).any(axis=0)]
    n = columns.shape[1]
    weights = draw_weights(max(1, n), n_resamples, with_whole=True)
    return correlate(spearman, columns, weights[:, :n])


def correlate(measure: Callable, columns: np.ndarray, weights: np.ndarray) -> Estimate:
    """Return a measure of columns (k, n) without NaN, with its percentile interval.

    `weights` are (1 + resamples, n); the first row has each unit once. Resamples in which a variable does not vary are left out.
    """
    n = len(columns[0])
    if n < 3:
        return undefined(n, "fewer than three cells")
    value, drawn = np.split(measure(weights, *columns), [1])
    if np.isnan(value[0]):
        return undefined(n, "a variable does not vary or follows from another")
    return Estimate(float(value[0]), *percentile_interval(drawn), n)


def pearson(weights: np.ndarray, x: np.ndarray, y: np.ndarray, *_) -> np.ndarray:
    """Return the weighted correlation (r,) of x and y, (n,) or (r, n), under weights (r, n)."""
    x, y = (_centre(weights, _scale(values)) for values in (x, y))
    product = ((weights * x * x).sum(axis=1)) * ((weights * y * y).sum(axis=1))
    spread = np.sqrt(np.where(product <= 1e-18, np.nan, product))
    return np.clip((weights * x * y).sum(axis=1) / spread, -1, 1)


def _scale(values: np.ndarray) -> np.ndarray:
    """Bring values to order one, so that `does not vary` is one threshold for every unit of measure."""
    values = values - values.mean()
    return values / (np.abs(values).max() or 1.0)


def _centre(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    total = weights.sum(axis=1, keepdims=True)
    return values - (weights * values).sum(axis=1, keepdims=True) / np.where(total > 0, total, np.nan)


def spearman(weights: np.ndarray, x: np.ndarray, y: np.ndarray, *_) -> np.ndarray:
    """Return the correlation of ranks (r,); ties share their mean rank, within each resample."""
    return pearson(weights, _rank(weights, x), _rank(weights, y))


def _rank(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    below = (values[:, None] > values).astype(float) + 0.5 * (values[:, None] == values)
    return weights @ below.T


def kendall(weights: np.ndarray, x: np.ndarray, y: np.ndarray, *_) -> np.ndarray:
    """Return Kendall's tau-b (r,): concordant minus discordant pairs over the pairs not tied."""
    signs_x, signs_y = (np.sign(values[:, None] - values) for values in (x, y))
    joint, only_x, only_y = (
        ((weights @ pairs) * weights).sum(axis=1) for pairs in (signs_x * signs_y, signs_x**2, signs_y**2)
    )
    untied = only_x * only_y
    return joint / np.sqrt(np.where(untied == 0, np.nan, untied))


def partial_spearman(weights: np.ndarray, x: np.ndarray, y: np.ndarray, control: np.ndarray) -> np.ndarray:
    """Return the rank correlation (r,) of x and y with the ranks of a third variable held fixed."""
    xy, xz, yz = (spearman(weights, *pair) for pair in ((x, y), (x, control), (y, control)))
    left = (1 - xz**2) * (1 - yz**2)
    return np.clip((xy - xz * yz) / np.sqrt(np.where(left <= 1e-12, np.nan, left)), -1, 1)


CORRELATIONS = {"spearman": spearman, "kendall": kendall}
