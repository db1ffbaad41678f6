"""Is utility a straight line of quality? A smooth curve and three thresholds, each tested against the line.

Quality and utility are (n,) without NaN, an independent cell each (seeds averaged before), in the units of their metrics.
Few cells, or cells that do
not vary, are told by `why_not`, which callers ask first.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import statsmodels.api as sm
from scipy.interpolate import CubicSpline
from statsmodels.regression.linear_model import RegressionResultsWrapper

from ..stats import NOT_DEFINED, Estimate, draw_cells, percentile_interval

N_KNOTS = 4
FEWEST_CELLS = 8
MARGIN = 3  # cells that stand on each side of a threshold
GRID_POINTS = 201
TRIALS = 10  # permutations a resample: a small p needs more of them than an interval
REACHED_SHARE = 0.95  # of the resamples in which a quality must be reached for an interval to be told
SHAPES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "plateau": lambda quality, place: np.minimum(quality, place),  # rises to the place, level after it
    "floor": lambda quality, place: np.maximum(quality, place),  # level up to the place, rises after it
    "step": lambda quality, place: (quality > place).astype(float),  # jumps at the place
}


@dataclass(frozen=True)
class Curve:
    """A natural cubic spline: its test against the line, and the fit itself for drawing."""

    p: float
    aic_gain: float
    fit: RegressionResultsWrapper
    knots: np.ndarray

    def predict(self, quality: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the curve and its pointwise 95 % band at these qualities."""
        frame = self.fit.get_prediction(spread(quality, self.knots)).summary_frame(alpha=0.05)
        return tuple(frame[name].to_numpy() for name in ("mean", "mean_ci_lower", "mean_ci_upper"))


@dataclass(frozen=True)
class Threshold:
    """The best single break: its shape, its place in units of quality with an interval, its test against the line."""

    shape: str
    place: Estimate
    p: float


def why_not(quality: np.ndarray, utility: np.ndarray) -> str:
    """Return why no shape can be fitted to these cells; nothing where one can."""
    if len(quality) < FEWEST_CELLS or len(np.unique(quality)) < FEWEST_CELLS:
        return f"fewer than {FEWEST_CELLS} cells of different quality"
    line = fit_line(quality, utility)
    if np.ptp(utility) == 0:
        return "utility does not vary"
    return "utility is an exact line of quality" if line.ssr <= 1e-12 * line.centered_tss else ""


def fit_line(quality: np.ndarray, utility: np.ndarray) -> RegressionResultsWrapper:
    """Return the least-squares line."""
    return sm.OLS(utility, np.stack([np.ones(len(quality)), quality], axis=1)).fit()


def fit_curve(quality: np.ndarray, utility: np.ndarray) -> Curve:
    """Return the natural cubic spline with knots at the ends and thirds; it contains every straight line."""
    knots = np.quantile(np.unique(quality), np.linspace(0, 1, N_KNOTS))
    line, fit = fit_line(quality, utility), sm.OLS(utility, spread(quality, knots)).fit()
    _, p, _ = fit.compare_f_test(line)
    return Curve(float(p), float(line.aic - fit.aic), fit, knots)


def spread(quality: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return the natural splines (n, knots) that are 1 at one knot and 0 at the others."""
    return CubicSpline(knots, np.eye(len(knots)), bc_type="natural")(quality)


def find_threshold(quality: np.ndarray, utility: np.ndarray, n_resamples: int, seed: int) -> Threshold:
    """Return the break that leaves the least squares, of all shapes and all places between two cells.

    The interval of its place resamples cells under that shape. p permutes the residuals of the straight line and
    searches again each time, so that the search itself is paid for.
    """
    middle = quality.mean()
    centred = quality - middle  # without it, small spreads drown in large means
    places = find_places(centred)
    breaks = {name: shape(centred[:, None], places) for name, shape in SHAPES.items()}
    explained = {name: explain(columns, utility)[0] for name, columns in breaks.items()}
    best = max(SHAPES, key=lambda name: explained[name].max())
    weights = draw_cells(len(quality), n_resamples, seed)
    drawn = places[explain(breaks[best], utility, weights).argmax(axis=1)] + middle
    place = float(places[explained[best].argmax()] + middle)
    p = judge_line(centred, utility, np.hstack(list(breaks.values())), TRIALS * n_resamples, seed)
    return Threshold(best, Estimate(place, *percentile_interval(drawn), len(quality)), p)


def find_places(quality: np.ndarray) -> np.ndarray:
    """Return the middles between neighbouring qualities that leave MARGIN cells on each side."""
    ordered = np.sort(quality)
    middles = (ordered[MARGIN - 1 : -MARGIN] + ordered[MARGIN : len(ordered) - MARGIN + 1]) / 2
    return np.unique(middles)


def explain(columns: np.ndarray, utility: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the squares (r, k) that each of the columns (n, k) explains of utility (n,) or (r, n), under weights."""
    utility = np.atleast_2d(utility)
    weights = np.ones((1, utility.shape[1])) if weights is None else weights
    total = weights.sum(axis=1, keepdims=True)
    mean = weights @ columns / total
    spread_of = np.maximum(weights @ columns**2 - total * mean**2, 0)
    weighted = weights * utility
    product = weighted @ columns - weighted.sum(axis=1, keepdims=True) * mean
    flat = spread_of <= 1e-9 * (weights @ columns**2)
    return np.where(flat, 0.0, product**2 / np.where(flat, 1.0, spread_of))


def judge_line(
    quality: np.ndarray, utility: np.ndarray, breaks: np.ndarray, n_trials: int, seed: int
) -> float:
    """Return p of a straight line, by how much more the best break explains, over permuted residuals of the line."""
    line, rng = fit_line(quality, utility), np.random.default_rng(seed)
    permuted = rng.permuted(np.tile(line.resid, (n_trials, 1)), axis=1)
    drawn = np.vstack([utility, line.fittedvalues + permuted])
    squares = ((drawn - drawn.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    left = squares - explain(breaks, drawn).max(axis=1)
    gains = (squares - explain(quality[:, None], drawn)[:, 0] - left) / np.maximum(left, 1e-300)
    return float(np.mean(gains >= gains[0] - 1e-12))


def find_sufficient_quality(
    quality: np.ndarray, utility: np.ndarray, wanted: float, n_resamples: int, seed: int
) -> Estimate:
    """Return the quality from which on the spline stays at the wanted utility or above; NaN where it never does."""
    n, knots = len(quality), fit_curve(quality, utility).knots
    grid = np.linspace(quality.min(), quality.max(), GRID_POINTS)
    weights = np.vstack([np.ones((1, n)), draw_cells(n, n_resamples, seed)])
    found = find_crossings(refit(quality, utility, knots, weights) @ spread(grid, knots).T, grid, wanted)
    if np.isnan(found[0]):
        return Estimate(float("nan"), *NOT_DEFINED, n, "not reached: the fitted curve ends below the goal")
    if found[0] == grid[0]:
        return Estimate(float("nan"), *NOT_DEFINED, n, "reached by the lowest quality")
    reached = np.mean(~np.isnan(found[1:]))
    if reached < REACHED_SHARE:
        reason = f"no interval: reached in {100 * reached:.1f} % of the resamples"
        return Estimate(float(found[0]), *NOT_DEFINED, n, reason)
    return Estimate(float(found[0]), *percentile_interval(found[1:]), n)


def refit(quality: np.ndarray, utility: np.ndarray, knots: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the spline's coefficients (r, knots) under each row of weights."""
    columns = spread(quality, knots)
    products = np.einsum("rn,nj,nk->rjk", weights, columns, columns, optimize=True)
    targets = (weights * utility) @ columns
    return (np.linalg.pinv(products, hermitian=True) @ targets[:, :, None])[:, :, 0]


def find_crossings(curves: np.ndarray, grid: np.ndarray, wanted: float) -> np.ndarray:
    """Return (r,) the first point of the grid (g,) from which on each curve (r, g) is not below the wanted utility."""
    below = curves < wanted
    last = below.shape[1] - below[:, ::-1].argmax(axis=1)
    first = np.where(below.any(axis=1), last, 0)
    return np.where(first < len(grid), grid[np.minimum(first, len(grid) - 1)], np.nan)
