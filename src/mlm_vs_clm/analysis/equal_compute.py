"""What writing costs: by arm and length of document, how it grows, and quality at equal compute.

Cost is counted in FLOPs, as in the ledger; the products of attention, which grow with the square of the length and are
a few percent at the lengths of this study, are left out there and here.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..fill.axes import PACE
from ..pipeline.document_costs import DocumentCost
from ..stats import draw_weights, gather_units, percentile_interval
from .cells import STEPS, Statistics, Step
from .gap import MEASURES

PARTS = ("all documents", "shortest third", "middle third", "longest third")
COUNTS = ("passes", "token_forwards", "flops")
NOT_METHOD = ("name", "seed", "precision", *PACE)  # two arms that differ in these alone are one method
BASES = ("equal documents", "compute of the second", "compute of the first")
COST_COLUMNS = (
    "corpus arm context length order strategy ratio seed part documents subwords passes token_forwards "
    "flops seconds peak_memory_mb reason"
).split()
GROWTH_COLUMNS = "corpus arm seed measure value low high n reason".split()
EQUAL_COLUMNS = (
    "corpus step first second scope metric basis flops_first flops_second value_first value_second value low high n "
    "reason"
).split()
FEWEST_DOCUMENTS = 10
LEAST_SPREAD = 1.2  # the longest document over the shortest: with less, no growth can be read off


@dataclass(frozen=True)
class Run:
    """What an arm spent and scored at one masking: FLOPs a document, statistics (n, k), whose each document is.

    `family` names all that two runs must share to be one method at another order or pace.
    """

    arm: str
    family: str
    flops: float
    statistics: Statistics
    units: Sequence[str]


def name_family(settings: dict) -> str:
    """Return the settings of an arm but for its name, order and pace: what those who share it have in common."""
    return json.dumps({key: settings[key] for key in sorted(settings) if key not in NOT_METHOD})


def average_costs(costs: Sequence[DocumentCost]) -> list[dict]:
    """Return the mean cost of a document in all of them and in thirds by length; none where there are under three."""
    ranked = sorted(costs, key=lambda cost: (cost.subwords, cost.id))
    thirds = [list(part) for part in np.array_split(np.array(ranked, dtype=object), 3)] if ranked else []
    named = zip(PARTS, [ranked, *thirds], strict=True) if len(ranked) >= 3 else [(PARTS[0], ranked)]
    return [
        {"part": name, "documents": len(part)}
        | {key: float(np.mean([getattr(cost, key) for cost in part])) for key in ("subwords", *COUNTS)}
        for name, part in named
        if part
    ]


def fit_growth(costs: Sequence[DocumentCost], measure: str, resamples: int, seed: int = 0) -> dict:
    """Return the power of a document's length with which its cost grows: the slope of log cost on log sub-words.

    Least squares over documents, with a 95 % bootstrap interval. 1 is linear: twice the length, twice the cost.
    """
    counted = [cost for cost in costs if getattr(cost, measure) > 0]
    nothing = dict.fromkeys(("value", "low", "high"), float("nan")) | {"n": len(counted)}
    if len(counted) < FEWEST_DOCUMENTS:
        return nothing | {
            "reason": f"{len(counted)} documents cost anything, {FEWEST_DOCUMENTS} are needed for a slope"
        }
    x = np.log([cost.subwords for cost in counted])
    y = np.log([getattr(cost, measure) for cost in counted])
    if np.exp(np.ptp(x)) < LEAST_SPREAD:
        return nothing | {"reason": "the documents are all of one length"}
    low, high = percentile_interval(_slope(draw_weights(len(x), resamples, seed), x, y))
    return {
        "value": float(_slope(np.ones((1, len(x))), x, y)[0]),
        "low": low,
        "high": high,
        "n": len(x),
        "reason": "",
    }


def _slope(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the weighted least-squares slope (n draws) of y on x (n,) under weights (n draws, n)."""
    total = weights.sum(axis=1)
    mean_x, mean_y = weights @ x / total, weights @ y / total
    spread = weights @ x**2 / total - mean_x**2
    return (weights @ (x * y) / total - mean_x * mean_y) / np.where(spread < 1e-12, np.nan, spread)


def compare_at_equal_compute(corpus: str, runs: Sequence[Run], resamples: int) -> list[dict]:
    """Return a row of EQUAL_COLUMNS for every step of the gap, measure and basis; a difference is first minus second.

    At equal documents both run as they are. At the compute of one, the other's score is read off the line between the
    two runs of its method, at other orders or paces, whose FLOPs lie nearest below and above (linear in log FLOPs).
    Where they lie on one side, the row says so and has no value.
    """
    by_arm = {run.arm: run for run in runs}
    return [
        {"corpus": corpus, "step": step.name, "first": step.first, "second": step.second}
        | {"scope": scope, "metric": metric, "basis": basis}
        | _compare(step, basis, (scope, metric), by_arm, resamples)
        for step in STEPS
        for scope, metric in MEASURES
        for basis in BASES
    ]


Mix = list[tuple[Run, float]]


def _compare(step: Step, basis: str, measure: tuple[str, str], runs: dict[str, Run], resamples: int) -> dict:
    absent = [
        arm for arm in (step.first, step.second) if arm not in runs or measure not in runs[arm].statistics
    ]
    if absent:
        return _missing(f"not made: {' and '.join(absent)}")
    first, second = runs[step.first], runs[step.second]
    about = {"flops_first": first.flops, "flops_second": second.flops}
    sides: list[Mix] = [[(first, 1.0)], [(second, 1.0)]]
    for side, name, moved, still in ((0, BASES[1], first, second), (1, BASES[2], second, first)):
        if basis == name:
            scored = [run for run in runs.values() if measure in run.statistics]
            mix, reason = find_mix(moved, still.flops, scored)
            if reason:
                return about | _missing(reason)
            sides[side] = mix
            about = {"flops_first": still.flops, "flops_second": still.flops}
    return about | _difference(*sides, measure, resamples)


def find_mix(moved: Run, flops: float, runs: Sequence[Run]) -> tuple[Mix, str]:
    """Return the runs of a method, with weights that add up to 1, that stand for it at this many FLOPs; or why none."""
    family = sorted(
        (run for run in runs if run.family == moved.family and run.flops > 0),
        key=lambda run: (run.flops, run.arm != moved.arm, run.arm),
    )
    if len({run.flops for run in family}) < 2:
        return [], f"{moved.arm} was run at one cost alone ({tell_flops(moved.flops)} a document)"
    below = [run for run in family if run.flops <= flops]
    above = [run for run in family if run.flops >= flops]
    if not below or not above:
        span = f"{tell_flops(family[0].flops)} to {tell_flops(family[-1].flops)}"
        side = "less" if not below else "more"
        return [], f"{tell_flops(flops)} a document is {side} than any run of {moved.arm}'s method ({span})"
    low, high = below[-1], next(run for run in above if run.flops == above[0].flops)
    if low.flops == high.flops:
        return [(high, 1.0)], ""
    share = np.log(flops / low.flops) / np.log(high.flops / low.flops)
    return [(low, float(1 - share)), (high, float(share))], ""


def tell_flops(flops: float) -> str:
    """Return FLOPs for people."""
    return f"{flops / 1e9:.3g} GFLOPs"


def _difference(first: Mix, second: Mix, measure: tuple[str, str], resamples: int) -> dict:
    """Return both values and their difference, paired over documents or authors; equal seeds give equal draws."""
    mixed = [(run, weight, side) for side, mix in enumerate((first, second)) for run, weight in mix]
    lengths = {len(run.statistics[measure]) for run, _, _ in mixed}
    if len(lengths) > 1:
        return _missing("the runs were not made on the same documents")
    stacked = np.hstack([run.statistics[measure] for run, _, _ in mixed])
    units = gather_units(stacked, mixed[0][0].units)
    if len(units) < 2:
        return _missing(f"defined for {len(units)} of the units, two are needed") | {"n": len(units)}
    weights = np.vstack([np.ones((1, len(units))), draw_weights(len(units), resamples, 0)])
    scores = [MEASURES[measure](part) for part in np.split(weights @ units, len(mixed), axis=1)]
    sides = [
        sum(weight * score for score, (_, weight, of) in zip(scores, mixed, strict=True) if of == side)
        for side in (0, 1)
    ]
    drawn, reason = (sides[0] - sides[1])[1:], ""
    low, high = percentile_interval(drawn)
    if np.nanstd(drawn) < 1e-12:
        low, high, reason = None, None, "the difference does not vary over units: it has no interval"
    values = [float(side[0]) for side in sides]
    return {
        "value_first": values[0],
        "value_second": values[1],
        "value": values[0] - values[1],
        "low": low,
        "high": high,
        "n": len(units),
        "reason": reason,
    }


def _missing(reason: str) -> dict:
    return {"reason": reason}


def as_table(rows: list[dict], columns: list[str]) -> pd.DataFrame:
    """Return rows as a table with all columns; what a row does not say is missing."""
    return pd.DataFrame(rows).reindex(columns=columns)
