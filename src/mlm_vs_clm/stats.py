"""Intervals and paired tests, over documents or cells, or over clusters of them.

A score is `aggregate(sum of statistics over documents)`, so a bootstrap is one product of a matrix of weights
(how often each document was drawn) with the statistics. Rows that hold a NaN are documents for which the score
is not defined: they are left out, never counted as zero. Draws are the same for all cells of a size.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

Aggregate = Callable[[np.ndarray], np.ndarray]
NOT_DEFINED = (math.nan, math.nan)
ALPHA = 0.05  # of every test
FEWEST_CELLS = 8  # below, no curve and no mixed model is fitted to cells
NORMAL = 1.959964  # half the width of a 95 % interval in standard errors
FEWEST_UNITS = 10  # below, an interval over documents, test units or cells is too narrow to rely on


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; `n` counts documents, clusters or cells; `reason`: why it is NaN."""

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    reason: str = ""


def undefined(n: int, reason: str) -> Estimate:
    """Return an estimate that could not be made."""
    return Estimate(math.nan, n=n, reason=reason)


@dataclass(frozen=True)
class PairedDifference:
    """A paired difference (first minus second) with its 95 % interval, two-sided p and standard error.

    `n` counts units and `runs` trainings. `run_deviation` is the standard deviation between runs, NaN for one run: its
    interval then holds for this one training. `degrees` are those of t; `reason`: why there is no difference.
    """

    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    standard_error: float = math.nan
    n: int = 0
    runs: int = 1
    run_deviation: float = math.nan
    degrees: float = math.nan
    reason: str = ""


def ratio_of_sums(sums: np.ndarray) -> np.ndarray:
    """Turn sums (..., 2) of a count and its total into their ratio (...); NaN where the total is zero."""
    sums = np.asarray(sums, dtype=float)
    total = np.where(sums[..., 1] == 0, np.nan, sums[..., 1])
    return sums[..., 0] / total


def point(statistics: np.ndarray, aggregate: Aggregate) -> float:
    """Return the score over the documents for which it is defined; NaN if there is none."""
    units = gather_units(statistics)
    return float(aggregate(units.sum(axis=0))) if len(units) else math.nan


def gather_units(statistics: np.ndarray, clusters: Sequence | None = None) -> np.ndarray:
    """Drop the rows with a NaN, then sum the rows (n, k) of each cluster; without clusters a row is a unit."""
    statistics = np.asarray(statistics, dtype=float)
    defined = ~np.isnan(statistics).any(axis=1)
    rows = statistics[defined]
    if clusters is None or not len(rows):
        return rows
    names, index = np.unique(np.asarray(clusters)[defined], return_inverse=True)
    units = np.zeros((len(names), rows.shape[1]))
    np.add.at(units, index, rows)
    return units


@lru_cache(maxsize=4)
def draw_weights(n_units: int, n_resamples: int, seed: int = 0, with_whole: bool = False) -> np.ndarray:
    """Return how often each unit is drawn in each resample, (n_resamples, n_units); cells of a size share it.

    `with_whole` puts a row before them in which each unit counts once.
    """
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=n_resamples).astype(float)
    weights = np.vstack([np.ones((1, n_units)), weights]) if with_whole else weights
    weights.flags.writeable = False
    return weights


def bootstrap(
    statistics: np.ndarray,
    aggregate: Aggregate,
    n_resamples: int = 1000,
    clusters: Sequence | None = None,
) -> tuple[float, float]:
    """Return the percentile 95 % interval of a score; NaN for fewer than two defined documents or clusters."""
    units = gather_units(statistics, clusters)
    if len(units) < 2:
        return NOT_DEFINED
    return percentile_interval(aggregate(draw_weights(len(units), n_resamples) @ units))


def percentile_interval(values: np.ndarray) -> tuple[float, float]:
    """Return the 2.5 and 97.5 percentiles of the defined values; NaN if none is."""
    defined = values[~np.isnan(values)]
    if not defined.size:
        return NOT_DEFINED
    low, high = np.percentile(defined, [2.5, 97.5])
    return float(low), float(high)


def normalised_gain(
    score: np.ndarray,
    unfilled: np.ndarray | None,
    oracle: np.ndarray | None,
    aggregate: Aggregate,
    n_resamples: int = 1000,
    clusters: Sequence | None = None,
) -> Estimate:
    """Return (score - unfilled) / (oracle - unfilled) from the statistics of the three on the same documents.

    0 is leaving the blanks out, 1 is the original. NaN, with the reason, if a baseline is missing (None) or
    if filling every blank with the original would gain nothing.
    """
    if unfilled is None or oracle is None:
        missing = [name for name, rows in (("unfilled", unfilled), ("oracle", oracle)) if rows is None]
        return undefined(0, " and ".join(missing) + " missing")
    units = gather_units(np.hstack([score, unfilled, oracle]), clusters)
    if not len(units):
        return undefined(0, "no document has arm, unfilled and oracle all scored")
    value = float(gain_of_sums(units.sum(axis=0), aggregate))
    if np.isnan(value):
        return undefined(len(units), "oracle equals unfilled")
    if len(units) < 2:
        return Estimate(value, n=len(units), reason="one unit has no interval")
    gains = gain_of_sums(draw_weights(len(units), n_resamples) @ units, aggregate)
    return Estimate(value, *percentile_interval(gains), len(units))


def gain_of_sums(sums: np.ndarray, aggregate: Aggregate) -> np.ndarray:
    """Return (score - unfilled) / (oracle - unfilled) of sums (..., 3k); NaN where the last two score the same."""
    score, unfilled, oracle = (aggregate(third) for third in np.split(sums, 3, axis=-1))
    headroom = np.where(np.isclose(oracle, unfilled, rtol=0, atol=1e-9), np.nan, oracle - unfilled)
    return (score - unfilled) / headroom


def difference_of_sums(sums: np.ndarray, aggregate: Aggregate) -> np.ndarray:
    """Return the score of the first half of sums (..., 2k) minus that of the second."""
    first, second = (aggregate(half) for half in np.split(sums, 2, axis=-1))
    return first - second


def compare_runs(
    pairs: Sequence[tuple[np.ndarray, np.ndarray]],
    aggregate: Aggregate,
    n_resamples: int = 1000,
    clusters: Sequence[Sequence] | None = None,
) -> PairedDifference:
    """Compare two systems, each run several times on the same documents; `pairs` has the statistics (n, k) of both by run."""
    contrast = partial(difference_of_sums, aggregate=aggregate)
    return contrast_runs([np.hstack(pair) for pair in pairs], contrast, n_resamples, clusters)


def contrast_runs(
    statistics: Sequence[np.ndarray],
    contrast: Aggregate,
    n_resamples: int = 1000,
    clusters: Sequence[Sequence] | None = None,
) -> PairedDifference:
    """Return a contrast of the summed statistics (n, k) of each run; see `average_runs`.

    `clusters` has what is drawn together, run by run. A draw of documents is the same in every run. One run: a paired
    bootstrap over its documents.
    """
    statistics = [np.asarray(rows, dtype=float) for rows in statistics]
    sums = _sum_runs(statistics, clusters or [range(len(rows)) for rows in statistics])
    n = sums.shape[1]
    if n < 2:
        return PairedDifference(n=n, runs=len(statistics))
    return average_runs(contrast(draw_weights(n, n_resamples, with_whole=True) @ sums), n)


def _sum_runs(statistics: Sequence[np.ndarray], clusters: Sequence[Sequence]) -> np.ndarray:
    """Return the sums (runs, units, k) of every cluster that has a defined row in some run; zero where a run has none."""
    defined = [~np.isnan(rows).any(axis=1) for rows in statistics]
    pairs = zip(clusters, defined, strict=True)
    names = [
        [name for name, is_in in zip(run, is_defined, strict=True) if is_in] for run, is_defined in pairs
    ]
    place = {name: number for number, name in enumerate(sorted({name for run in names for name in run}))}
    sums = np.zeros((len(statistics), len(place), statistics[0].shape[1]))
    for run, rows, is_defined, clusters_of_run in zip(sums, statistics, defined, names, strict=True):
        np.add.at(run, np.array([place[name] for name in clusters_of_run], dtype=int), rows[is_defined])
    return sums


def average_runs(by_run: np.ndarray, n: int, of_seeds: float = 0.0, seeds: int = 2) -> PairedDifference:
    """Return the mean over runs of differences (runs, 1 + resamples) of n units; the first column is the measured one.

    Interval and p are those of t. The variance is that between runs, divided by their number, plus that of the units
    which the runs share, and `of_seeds`, of a number of seeds that they share; what units add in each run anew is in the
    first. Its degrees of freedom are Satterthwaite's.
    Of one run: the percentile interval over its units. NaN where a run has no difference; one unit has no interval.
    """
    from scipy.special import stdtr, stdtrit

    runs, value = len(by_run), float(by_run[:, 0].mean())
    drawn = by_run[:, 1:][:, ~np.isnan(by_run[:, 1:]).any(axis=0)]
    if np.isnan(value) or drawn.shape[1] < 2 or n < 2:
        return PairedDifference(value, n=n, runs=runs)
    mean = drawn.mean(axis=0)
    of_units, between = float(mean.var(ddof=1)), math.nan
    error, degrees = math.sqrt(of_units), float(n - 1)
    low, high = percentile_interval(mean)
    if runs > 1:
        between = float(by_run[:, 0].var(ddof=1))
        shared = max(0.0, (runs * of_units - float(drawn.var(axis=1, ddof=1).mean())) / (runs - 1))
        variances = np.array([between / runs, shared, of_seeds])
        error, weight = math.sqrt(variances.sum()), variances**2 / np.array([runs - 1, n - 1, seeds - 1])
        degrees = float(variances.sum() ** 2 / weight.sum()) if error else runs - 1.0
        half = float(stdtrit(degrees, 1 - ALPHA / 2)) * error
        low, high = value - half, value + half
    p = float(2 * stdtr(degrees, -abs(value) / error)) if error else float(value == 0)
    return PairedDifference(value, low, high, p, error, n, runs, math.sqrt(between), degrees)


def average_crossed(differences: np.ndarray, n: int) -> PairedDifference:
    """Return the mean of differences (runs, seeds, 1 + resamples) of n units, all runs of which have the same seeds; see `average_runs`.

    A single run has its seeds as runs. Of several, what a seed adds in every run alike varies no less with more of them.
    """
    runs, seeds, _ = differences.shape
    if runs == 1:
        return average_runs(differences[0], n)
    of_seeds = vary_seeds(differences[..., 0]) if seeds > 1 else 0.0
    return average_runs(differences.mean(axis=1), n, of_seeds, max(seeds, 2))


def vary_seeds(differences: np.ndarray) -> float:
    """Return the variance that seeds which all runs share add to the mean of differences (runs, seeds), as in a crossed design of random effects."""
    runs, seeds = differences.shape
    of_seeds = differences.mean(axis=0)
    left = differences - differences.mean(axis=1, keepdims=True) - of_seeds + differences.mean()
    residual = float((left**2).sum()) / ((runs - 1) * (seeds - 1))
    return max(0.0, float(of_seeds.var(ddof=1)) - residual / runs) / seeds


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return Holm's step-down adjusted p-values of a family; a NaN (not tested) stays NaN and does not count."""
    p = np.asarray(p_values, dtype=float)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
