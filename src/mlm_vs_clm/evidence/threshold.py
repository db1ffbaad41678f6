"""Is there a quality from which text becomes useful? A line with one break against a straight line."""

from dataclasses import dataclass

import numpy as np

from ..stats import FEWEST_CELLS

TRIMMED = 0.15  # share of the cells at either end at which no break is looked for (Andrews 1993)


@dataclass(frozen=True)
class Threshold:
    """The best break of a line: where it is, the slopes on both sides of it, and its test.

    `statistic` is the largest F over all places of the break, `p` the share of permutations with as large a one.
    `reason`: why there is none.
    """

    place: float = np.nan
    slope_below: float = np.nan
    slope_above: float = np.nan
    statistic: float = np.nan
    p: float = np.nan
    reason: str = ""


def find_threshold(quality: np.ndarray, utility: np.ndarray, permutations: int = 2000) -> Threshold:
    """Return the best continuous line with one break through cells (n,), and whether it beats the straight line.

    sup-F: the largest F, of one more parameter, over breaks at the cells between the TRIMMED ends. Its p permutes the residuals of the
    straight line, which would be exchangeable without a break (Freedman and Lane 1983), since a break that is looked for has no
    F distribution.
    """
    places = list_places(quality)
    if len(quality) < FEWEST_CELLS or len(places) < 2:
        return Threshold(reason=f"fewer than {FEWEST_CELLS} cells of different quality")
    if np.ptp(utility) == 0:
        return Threshold(reason="utility does not vary")
    line = np.stack([np.ones_like(quality), quality], axis=1)
    left = _project_out(line, utility[:, None])[:, 0]
    if left @ left <= 1e-12 * np.ptp(utility) ** 2:
        return Threshold(reason="utility is an exact line of quality")
    rng = np.random.default_rng(0)
    drawn = np.stack([left, *(rng.permutation(left) for _ in range(permutations))], axis=1)
    # (places, 1 + permutations).
    f_values = np.stack([_measure_f(line, quality, place, drawn) for place in places])
    largest, best = f_values.max(axis=0), places[int(f_values[:, 0].argmax())]
    _, below, change = np.linalg.lstsq(_bend(line, quality, best), utility, rcond=None)[0]
    p = (1 + (largest[1:] >= largest[0] - 1e-12).sum()) / (1 + permutations)
    return Threshold(float(best), float(below), float(below + change), float(largest[0]), float(p))


def list_places(quality: np.ndarray) -> np.ndarray:
    """Return the distinct qualities at which a break may be, in order: not those of the TRIMMED ends."""
    low, high = np.quantile(quality, [TRIMMED, 1 - TRIMMED])
    qualities = np.unique(quality)
    return qualities[
        (qualities > qualities[0]) & (qualities < qualities[-1]) & (low <= qualities) & (qualities <= high)
    ]


def _bend(line: np.ndarray, quality: np.ndarray, place: float) -> np.ndarray:
    return np.column_stack([line, np.maximum(0, quality - place)])


def _project_out(columns: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return what columns (n, k) leave of values (n, r)."""
    basis = np.linalg.qr(columns)[0]
    return values - basis @ (basis.T @ values)


def _measure_f(line: np.ndarray, quality: np.ndarray, place: float, values: np.ndarray) -> np.ndarray:
    """Return F (r,) of a break at a place over the straight line, of values (n, r)."""
    straight, bent = (_project_out(design, values) for design in (line, _bend(line, quality, place)))
    before, after = (straight**2).sum(axis=0), (bent**2).sum(axis=0)
    return (before - after) / (after / (len(quality) - 3))
