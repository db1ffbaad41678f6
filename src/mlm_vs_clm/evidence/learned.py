"""What trainings show by themselves: what a nat of loss costs, and how often pairs of segments are told right."""

import math

import numpy as np
import pandas as pd

from ..stats import ALPHA, PairedDifference, compare_runs, ratio_of_sums

CHANCE = 0.5  # of pairs, half of which follow each other
LOSS_DEGREES = 4  # of the noise of a dev loss: five trainings


def compare_learning(first: pd.DataFrame, second: pd.DataFrame, noise: float) -> PairedDifference:
    """Return the logarithm of how many times as many FLOPs a nat of loss costs the first training as the second.

    first, second: the rows of a training's curve on one corpus. A nat is one by which the dev loss per predicted token fell
    from before the first step to the last. noise: the standard deviation of that fall between trainings (nats); the interval
    of t follows from it. `reason` says why there is no difference: no curve, or a loss that did not fall.
    """
    from scipy.special import stdtrit

    if first.empty or second.empty:
        return PairedDifference(reason="not run: a training of each arm")
    falls, costs = zip(*map(_read_curve, (first, second)), strict=True)
    if min(falls) <= 0:
        return PairedDifference(reason="the dev loss of a training did not fall")
    prices = [cost / fall for cost, fall in zip(costs, falls, strict=True)]
    value = math.log(prices[0] / prices[1])
    reach = float(stdtrit(LOSS_DEGREES, 1 - ALPHA / 2)) * math.hypot(*(noise / fall for fall in falls))
    return PairedDifference(value, value - reach, value + reach, n=len(first))


def _read_curve(rows: pd.DataFrame) -> tuple[float, float]:
    """Return by how many nats the dev loss fell, and the FLOPs of the training."""
    ends = rows.sort_values("budget").iloc[[0, -1]]
    return float(ends["dev_loss"].iloc[0] - ends["dev_loss"].iloc[1]), float(ends["flops"].iloc[1])


def compare_with_chance(pairs: pd.DataFrame, resamples: int) -> PairedDifference:
    """Return the share of pairs that were told right, minus one half; the interval is over documents.

    pairs: one row per document, with `right` of `n`.
    """
    right = pairs[["right", "n"]].to_numpy(dtype=float)
    chance = np.stack([CHANCE * right[:, 1], right[:, 1]], axis=1)
    return _compare(right, chance, resamples)


def compare_negatives(first: pd.DataFrame, second: pd.DataFrame, resamples: int) -> PairedDifference:
    """Return by how much more of the pairs is told right with the first kind of negatives, over documents that have both."""
    paired = first.merge(second, on="document", suffixes=("_first", "_second"))
    sides = [paired[[f"right_{side}", f"n_{side}"]].to_numpy(dtype=float) for side in ("first", "second")]
    return _compare(sides[0], sides[1], resamples)


def _compare(first: np.ndarray, second: np.ndarray, resamples: int) -> PairedDifference:
    if not len(first):
        return PairedDifference(reason="not run: an objective that reads pairs")
    return compare_runs([(first, second)], ratio_of_sums, resamples)
