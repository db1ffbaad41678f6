"""Correlation coefficients over cells, each on every bootstrap resample at once.

A measure takes weights (r, n), how often each cell was drawn in each of r resamples, and columns (n,) of values;
it returns (r,) coefficients, NaN where a variable does not vary.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ..stats import NOT_DEFINED, Estimate, draw_weights, percentile_interval


def correlations(
    x: Sequence[float],
    y: Sequence[float],
    given: Sequence[float] | None = None,
    n_resamples: int = 1000,
    seed: int = 0,
    clusters: Sequence | None = None,
) -> dict[str, Estimate]:
    """Return Pearson, Spearman, Kendall (tau-b) and, `given` a third variable, partial Spearman, over cells.

    Cells with a NaN are left out; resamples in which a variable does not vary are left out and counted. Cells of a
    cluster are drawn together.
    """
    columns = np.array([x, y] if given is None else [x, y, given], dtype=float)
    defined = ~np.isnan(columns).any(axis=0)
    names = (
        None if clusters is None else [name for name, is_in in zip(clusters, defined, strict=True) if is_in]
    )
    measures = CORRELATIONS if given is None else CORRELATIONS | {"partial_spearman": partial_spearman}
    return {
        name: estimate(measure, columns[:, defined], n_resamples, seed, names)
        for name, measure in measures.items()
    }


def estimate(
    measure: Callable,
    columns: Sequence[np.ndarray],
    n_resamples: int = 1000,
    seed: int = 0,
    clusters: Sequence | None = None,
) -> Estimate:
    """Return a measure of columns without NaN, with its percentile interval; rows of a cluster are drawn together."""
    n = len(columns[0])
    if n < 3:
        return Estimate(float("nan"), *NOT_DEFINED, n, "fewer than three cells")
    value = float(measure(np.ones((1, n)), *columns)[0])
    if np.isnan(value):
        return Estimate(value, *NOT_DEFINED, n, "a variable does not vary")
    resampled = measure(draw_cells(n, n_resamples, seed, clusters), *columns)
    return Estimate(value, *percentile_interval(resampled), n, n_degenerate=int(np.isnan(resampled).sum()))


def draw_cells(n: int, n_resamples: int, seed: int, clusters: Sequence | None = None) -> np.ndarray:
    """Return how often each of n cells is drawn in each resample, (n_resamples, n)."""
    if clusters is None:
        return draw_weights(n, n_resamples, seed)
    place = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    return draw_weights(len(place), n_resamples, seed)[:, [place[name] for name in clusters]]


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
    return values - (weights * values).sum(axis=1, keepdims=True) / weights.sum(axis=1, keepdims=True)


def spearman(weights: np.ndarray, x: np.ndarray, y: np.ndarray, *_) -> np.ndarray:
    """Return the correlation of ranks (r,); ties share their mean rank, within each resample."""
    return pearson(weights, _rank(weights, x), _rank(weights, y))


def _rank(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    below = (values[:, None] > values).astype(float) + 0.5 * (values[:, None] == values)
    return weights @ below.T


def kendall(weights: np.ndarray, x: np.ndarray, y: np.ndarray, *_) -> np.ndarray:
    """Return Kendall's tau-b (r,): concordant minus discordant pairs over the pairs not tied."""
    signs_x, signs_y = (np.sign(values[:, None] - values) for values in (x, y))
    both, only_x, only_y = (
        ((weights @ pairs) * weights).sum(axis=1) for pairs in (signs_x * signs_y, signs_x**2, signs_y**2)
    )
    untied = only_x * only_y
    return both / np.sqrt(np.where(untied == 0, np.nan, untied))


def partial_spearman(weights: np.ndarray, x: np.ndarray, y: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Return the rank correlation (r,) of x and y with the ranks of a third variable held fixed."""
    xy, xz, yz = (spearman(weights, *pair) for pair in ((x, y), (x, given), (y, given)))
    left = (1 - xz**2) * (1 - yz**2)
    return np.clip((xy - xz * yz) / np.sqrt(np.where(left <= 1e-12, np.nan, left)), -1, 1)


def raw_less_partial(weights: np.ndarray, x: np.ndarray, y: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Return how much of the rank correlation (r,) goes once a third variable is held fixed."""
    return spearman(weights, x, y) - partial_spearman(weights, x, y, given)


CORRELATIONS = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
