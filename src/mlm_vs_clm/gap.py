"""What explains the gap between masked and causal text: one advantage after another taken away.

Where there are several seeds, runs are drawn beside documents, or an accident of training would pass for a difference.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from .metrics import exact_match
from .metrics.bleu import score_counts
from .stats import compare_runs, ratio_of_sums

CELL = ("random", 0.5)
COLUMNS = "corpus step first second scope metric value low high p n reason".split()


@dataclass(frozen=True)
class Step:
    """A pair of arms to compare on the same documents; the difference is first minus second."""

    name: str
    first: str
    second: str


STEPS = (  # each takes one more advantage from the masked arm; the last gives the causal arm what it lacked
    Step("as reported", "mlm_leaky", "seq2seq_kept"),
    Step("no leak", "mlm", "seq2seq_kept"),
    Step("known length", "mlm", "clm"),
    Step("left context", "mlm_left", "clm"),
    Step("both contexts", "mlm", "infill"),
)
MEASURES: dict[tuple[str, str], Callable[[np.ndarray], np.ndarray]] = {
    ("fills", "exact_match"): exact_match.aggregate,
    ("document", "bleu"): score_counts,
    ("document", "bertscore"): ratio_of_sums,
}

Statistics = dict[tuple[str, str], np.ndarray]


@dataclass(frozen=True)
class Cell:
    """What an arm scored with one seed: statistics (n documents, k) by (scope, metric), and whose each document is.

    `units` names the author of each document where authors repeat, else the document.
    """

    arm: str
    seed: int
    statistics: Statistics
    units: Sequence[str]


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
