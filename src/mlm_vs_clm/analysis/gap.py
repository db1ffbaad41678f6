"""What explains the gap between masked and causal text: one advantage after another taken away.

Where there are several seeds, runs are drawn beside documents, or an accident of training would pass for a difference.
"""

from collections.abc import Callable, Collection

import numpy as np

from ..metrics import exact_match
from ..metrics.bleu import score_counts
from ..stats import compare_runs, ratio_of_sums
from .cells import STEPS, Cell, Step

COLUMNS = "corpus step first second scope metric value low high p n reason".split()


MEASURES: dict[tuple[str, str], Callable[[np.ndarray], np.ndarray]] = {
    ("fills", "exact_match"): exact_match.aggregate,
    ("document", "bleu"): score_counts,
    ("document", "bertscore"): ratio_of_sums,
}


def explain_gap(corpus: str, cells: list[Cell], resamples: int) -> list[dict]:
    """Return a row of COLUMNS for every step and measure of one corpus; p is two-sided and not corrected.

    Of several seeds the value is the mean, and the interval is over documents and seeds. A step that cannot be measured
    is a row with value None and the reason.
    """
    return [
        {"corpus": corpus, "step": step.name, "first": step.first, "second": step.second}
        | {"scope": scope, "metric": metric}
        | _compare(step, cells, (scope, metric), resamples)
        for step in STEPS
        for scope, metric in MEASURES
    ]


def _compare(step: Step, cells: list[Cell], measure: tuple[str, str], resamples: int) -> dict:
    found = {(cell.arm, cell.seed): cell for cell in cells if measure in cell.statistics}
    seeds, reason = share_seeds(step, found)
    if reason:
        return missing(reason)
    pairs = [
        tuple(found[arm, seed].statistics[measure] for arm in (step.first, step.second)) for seed in seeds
    ]
    units = [found[step.first, seed].units for seed in seeds]
    made = compare_runs(pairs, MEASURES[measure], resamples, clusters=units)
    if np.isnan(made.difference):
        return missing(f"defined for {made.n} of the units, two are needed") | {"n": made.n}
    values = {"value": made.difference, "low": made.low, "high": made.high, "p": made.p}
    return values | {"n": made.n, "reason": ""}


def share_seeds(step: Step, found: Collection[tuple[str, int]]) -> tuple[list[int], str]:
    """Return the seeds that both arms of a step have among (arm, seed), or why there is none."""
    seeds = sorted(seed for arm, seed in found if arm == step.first and (step.second, seed) in found)
    arms = [arm for arm in (step.first, step.second) if not any(arm == known for known, _ in found)]
    reason = f"not made: {' and '.join(arms)}" if arms else "the two arms share no seed"
    return seeds, "" if seeds else reason


def missing(reason: str) -> dict:
    """Return what a step that could not be measured has for values: nothing, and the reason."""
    return dict.fromkeys(("value", "low", "high", "p", "n")) | {"reason": reason}
