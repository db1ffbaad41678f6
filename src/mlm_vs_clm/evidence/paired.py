"""Two cells on the same documents: their difference over documents and runs, or why there is none.

A run is a training. Seeds that share their models are other blanks for one training: what a document counts is summed
over them, so that its interval is over documents, and narrower as more of the words of each were blanks.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..metrics import MEASURES
from ..stats import (
    ALPHA,
    NORMAL,
    Aggregate,
    PairedDifference,
    contrast_runs,
    difference_of_sums,
    gain_of_sums,
    point,
    ratio_of_sums,
)
from .cells import ScoredCell, group_by

GAIN = "_gain"
LEAD = "_lead"  # over the word table of an arm's own context
# Of the noise between trainings: five of each arm, on three corpora; as training data each task is on one.
NOISE_DEGREES, UTILITY_DEGREES = 12, 4
BySeed = Mapping[int, ScoredCell]


def find_aggregate(metric: str) -> Aggregate:
    """Return the function from summed statistics to the score.

    A gain's statistics are those of arm, unfilled and oracle side by side, a lead's those of arm and table.
    """
    if metric.endswith(GAIN):
        aggregate = find_aggregate(metric.removesuffix(GAIN))
        return lambda sums: gain_of_sums(sums, aggregate)
    if metric.endswith(LEAD):
        aggregate = find_aggregate(metric.removesuffix(LEAD))
        return lambda sums: difference_of_sums(sums, aggregate)
    return MEASURES[metric].aggregate if metric in MEASURES else ratio_of_sums


def by_seed(cells: Sequence[ScoredCell]) -> dict[int, ScoredCell]:
    """Return the cells of one arm at one masking by their seed."""
    return {scored.cell.seed: scored for scored in cells}


def group_arms(cells: Iterable[ScoredCell]) -> dict[str, dict[str, BySeed]]:
    """Return the cells by corpus and arm, each by seed; those at one masking are given."""
    return {
        corpus: {
            arm: by_seed(seeds) for arm, seeds in group_by(of_corpus, lambda scored: scored.cell.arm).items()
        }
        for corpus, of_corpus in group_by(cells, lambda scored: scored.cell.corpus).items()
    }


def with_measure(cells: BySeed, measure: tuple[str, str]) -> dict[int, ScoredCell]:
    """Return the cells that were scored by a measure."""
    return {seed: cell for seed, cell in cells.items() if measure in cell.statistics}


def group_seeds(*sides: BySeed) -> list[list[int]]:
    """Return the seeds that all sides have, those together at which no side was trained anew."""
    shared = sorted(set.intersection(*map(set, sides)))
    return list(group_by(shared, lambda seed: tuple(side[seed].training for side in sides)).values())


def stack_seeds(cells: BySeed, seeds: Sequence[int], measure: tuple[str, str]) -> np.ndarray:
    """Return the statistics (seeds x documents, k) of a measure at these seeds, one seed after the other."""
    return np.vstack([cells[seed].statistics[measure] for seed in seeds])


def list_units(cells: BySeed, seeds: Sequence[int], measure: tuple[str, str]) -> list[Hashable]:
    """Return the unit of each row of `stack_seeds`: a document, an author where authors repeat, or a pair of texts."""
    return [unit for seed in seeds for unit in cells[seed].units_of(measure)]


def stack_sides(
    sides: Sequence[BySeed], measure: tuple[str, str], stacked: tuple[str, str]
) -> dict[int, ScoredCell]:
    """Return the cells of the first side with the statistics of a measure of all sides beside each other, named `stacked`."""
    measured = [with_measure(side, measure) for side in sides]
    return {
        seed: replace(
            measured[0][seed],
            statistics={stacked: np.hstack([side[seed].statistics[measure] for side in measured])},
        )
        for seed in measured[0]
        if all(seed in side for side in measured)
    }


def compare_cells(
    first: BySeed, second: BySeed, measure: tuple[str, str], resamples: int, names: tuple[str, str]
) -> PairedDifference:
    """Return first minus second of two arms' cells by seed; `reason` says why there is no difference."""
    sides = [with_measure(side, measure) for side in (first, second)]
    if absent := [name for name, side in zip(names, sides, strict=True) if not side]:
        return PairedDifference(reason=f"not run: {' and '.join(absent)}")
    return contrast_cells([(sides[0], 1.0), (sides[1], -1.0)], measure, resamples)


def contrast_cells(
    sides: Sequence[tuple[BySeed, float]], measure: tuple[str, str], resamples: int
) -> PairedDifference:
    """Return the weighted sum of the scores of arms, each given by its cells and its weight; equal seeds give equal draws."""
    runs = group_seeds(*(cells for cells, _ in sides))
    if not runs:
        return PairedDifference(reason="the arms share no seed")
    rows = [[stack_seeds(cells, seeds, measure) for cells, _ in sides] for seeds in runs]
    if any(len(set(map(len, of_run))) > 1 for of_run in rows):
        return PairedDifference(reason="the two were not run on the same documents")
    aggregate = find_aggregate(measure[1])

    def contrast(sums: np.ndarray) -> np.ndarray:
        of_sides = zip(np.split(sums, len(sides), axis=-1), sides, strict=True)
        return np.sum([weight * aggregate(of_side) for of_side, (_, weight) in of_sides], axis=0)

    units = [list_units(sides[0][0], seeds, measure) for seeds in runs]
    estimate = contrast_runs([np.hstack(of_run) for of_run in rows], contrast, resamples, clusters=units)
    if np.isnan(estimate.difference):
        return replace(estimate, reason=f"defined for {estimate.n} of the units, two are needed")
    return estimate


def widen(estimate: PairedDifference, noise: float, degrees: int = NOISE_DEGREES) -> PairedDifference:
    """Return a difference between single trainings as one between objectives; as it is over several, whose interval has it.

    `noise` is the standard deviation of such a difference between trainings, in the unit of the measure; without any (0)
    the interval holds for these trainings alone. It was measured with so many `degrees`, so that interval and p are those
    of t (Satterthwaite), as is the interval of an estimate over task seeds.
    """
    if estimate.reason or estimate.runs > 1 or not noise > 0:
        return estimate
    from scipy.special import stdtr, stdtrit

    def reach(degrees: float) -> float:
        return float(stdtrit(degrees, 1 - ALPHA / 2))

    value, measured = estimate.difference, estimate.standard_error
    error, is_of_t = math.hypot(measured, noise), not math.isnan(estimate.run_deviation)
    effective = error**4 / (noise**4 / degrees + measured**4 / estimate.degrees)
    reached = reach(estimate.degrees) if is_of_t else NORMAL
    low, high = (
        value + side * reach(effective) * math.hypot((end - value) / reached, noise)
        for side, end in ((-1, estimate.low), (1, estimate.high))
    )
    p = float(2 * stdtr(effective, -abs(value) / error))
    return replace(estimate, low=low, high=high, p=p, standard_error=error, degrees=effective)


def score_cells(cells: BySeed, measure: tuple[str, str], runs: Sequence[Sequence[int]] = ()) -> float:
    """Return the mean over runs (lists of seeds; without any those of the cells) of a score; NaN where it was not run."""
    measured, aggregate = with_measure(cells, measure), find_aggregate(measure[1])
    values = [
        point(stack_seeds(measured, seeds, measure), aggregate) for seeds in runs or group_seeds(measured)
    ]
    return float(np.mean(values)) if values else math.nan
