"""What texts that were trained on have beyond held-out ones, with intervals of 95 %."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from ..draws import keyed_rng

LEVEL = 0.95
N_RESAMPLES = 1_000
BLOCK = 1_000_000  # values that are drawn at a time
Z = 1.959963984540054  # of the normal distribution, at (1 + LEVEL) / 2


@dataclass(frozen=True)
class Contrast:
    """A mean, that of the held-out control, and their difference with its interval; n and n_control are the units.

    `exceeds_control`: whether the whole interval of the difference is above 0.
    """

    value: float
    control: float
    difference: float
    low: float
    high: float
    n: int
    n_control: int
    exceeds_control: bool


@dataclass(frozen=True)
class Auc:
    """How often a text that was trained on has the lower loss of a pair with a held-out one (0.5: no better than chance).

    `exceeds_control`: whether the whole interval is above 0.5.
    """

    value: float
    low: float
    high: float
    n: int
    n_control: int
    exceeds_control: bool


def contrast_means(values: Sequence[float], control: Sequence[float], *key: object) -> Contrast | None:
    """Return the difference of two means with a bootstrap interval over both samples; None for fewer than two values.

    Not-a-number is left out. `key` names the draws.
    """
    samples = [np.asarray(side, dtype=float) for side in (values, control)]
    sides = [side[~np.isnan(side)] for side in samples]
    if min(map(len, sides)) < 2:
        return None
    rng = keyed_rng("contrast", *key)
    drawn = [np.concatenate([rows.mean(1) for rows in _resample(side, rng)]) for side in sides]
    low, high = _percentiles(drawn[0] - drawn[1])
    means = [float(side.mean()) for side in sides]
    return Contrast(means[0], means[1], means[0] - means[1], low, high, len(sides[0]), len(sides[1]), low > 0)


def contrast_shares(hits: int, n: int, control_hits: int, n_control: int) -> Contrast:
    """Return the difference of two shares with Newcombe's interval, which holds for few units and for shares of 0 and 1."""
    share, control = hits / n, control_hits / n_control
    (low, high), (other_low, other_high) = _wilson(hits, n), _wilson(control_hits, n_control)
    difference = share - control
    least = difference - sqrt((share - low) ** 2 + (other_high - control) ** 2)
    most = difference + sqrt((high - share) ** 2 + (control - other_low) ** 2)
    return Contrast(share, control, difference, least, most, n, n_control, least > 0)


def area_under_curve(losses: Sequence[float], control: Sequence[float], *key: object) -> Auc | None:
    """Return the AUC of `the lower loss was trained on`, with a bootstrap interval; None for fewer than two losses."""
    sides = [np.asarray(side, dtype=float) for side in (losses, control)]
    if min(map(len, sides)) < 2:
        return None
    rng = keyed_rng("auc", *key)
    rows = zip(*([row for block in _resample(side, rng) for row in block] for side in sides), strict=True)
    drawn = [_auc(*pair) for pair in rows]
    low, high = _percentiles(np.array(drawn))
    return Auc(_auc(*sides), low, high, len(sides[0]), len(sides[1]), low > 0.5)


def _resample(values: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield N_RESAMPLES rows of len(values) values, drawn with replacement, a block of rows at a time."""
    n_rows = max(1, BLOCK // len(values))
    for first in range(0, N_RESAMPLES, n_rows):
        yield values[rng.integers(len(values), size=(min(n_rows, N_RESAMPLES - first), len(values)))]


def _auc(losses: np.ndarray, control: np.ndarray) -> float:
    ordered = np.sort(control)
    higher = len(control) - np.searchsorted(ordered, losses, side="right")
    equal = np.searchsorted(ordered, losses, side="right") - np.searchsorted(ordered, losses, side="left")
    return float((higher + equal / 2).sum() / (len(losses) * len(control)))


def _percentiles(drawn: np.ndarray) -> tuple[float, float]:
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def _wilson(hits: int, n: int) -> tuple[float, float]:
    share, spread = hits / n, Z * Z / n
    middle = share + spread / 2
    half = Z * sqrt(share * (1 - share) / n + spread / (4 * n))
    return (middle - half) / (1 + spread), (middle + half) / (1 + spread)
