"""Two cells on the same documents: their difference over documents and runs, or why there is none."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..metrics.bleu import score_counts
from ..stats import Aggregate, PairedDifference, compare_runs, gain_of_sums, point, ratio_of_sums
from .cells import ScoredCell

GAIN = "_gain"
BySeed = Mapping[int, ScoredCell]


def find_aggregate(metric: str) -> Aggregate:
    """Return the function from summed statistics to the score; a gain's statistics are those of arm, unfilled, oracle."""
    if metric.endswith(GAIN):
        aggregate = find_aggregate(metric.removesuffix(GAIN))
        return lambda sums: gain_of_sums(sums, aggregate)
    return score_counts if metric == "bleu" else ratio_of_sums


def by_seed(cells: Sequence[ScoredCell]) -> dict[int, ScoredCell]:
    """Return the cells of one arm at one masking by their seed."""
    return {one.cell.seed: one for one in cells}


def compare_cells(
    first: BySeed, second: BySeed, measure: tuple[str, str], resamples: int, names: tuple[str, str]
) -> PairedDifference:
    """Return first minus second of two arms' cells by seed; `reason` says why there is no difference.

    `runs` counts trainings: seeds that share their models are other blanks for one training.
    """
    sides = [
        {seed: one for seed, one in side.items() if measure in one.statistics} for side in (first, second)
    ]
    if absent := [name for name, side in zip(names, sides, strict=True) if not side]:
        return PairedDifference(reason=f"not run: {' and '.join(absent)}")
    pairs = [(sides[0][seed], sides[1][seed]) for seed in sorted(sides[0].keys() & sides[1].keys())]
    if not pairs:
        return PairedDifference(reason="the two arms share no seed")
    rows = [(a.statistics[measure], b.statistics[measure]) for a, b in pairs]
    if any(len(a) != len(b) for a, b in rows):
        return PairedDifference(reason="the two were not run on the same documents")
    made = compare_runs(
        rows, find_aggregate(measure[1]), resamples, clusters=[list(one.units) for one, _ in pairs]
    )
    if np.isnan(made.difference):
        return replace(made, reason=f"defined for {made.n} of the units, two are needed")
    trainings = len({(a.training, b.training) for a, b in pairs})
    deviation = made.run_deviation if trainings > 1 else math.nan
    return replace(made, runs=trainings, run_deviation=deviation)


def score_cells(cells: BySeed, measure: tuple[str, str]) -> float:
    """Return the mean over seeds of a score; NaN where a seed does not have it."""
    empty, aggregate = np.empty((0, 1)), find_aggregate(measure[1])
    values = [point(one.statistics.get(measure, empty), aggregate) for one in cells.values()]
    return float(np.mean(values)) if values else math.nan
