"""Quality at equal compute: the score of one method read off at the FLOPs of another.

Cost is counted in FLOPs, as in the ledger. The products of attention, which grow with the square of the length and are
a few percent at the lengths of this study, are left out there and here.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..fill.axes import PACE
from ..stats import draw_weights, gather_units, percentile_interval
from .cells import Comparison, ScoredCell, group_by
from .gap import MEASURES, name_comparison
from .paired import find_aggregate
from .tables import COLUMNS

NOT_METHOD = ("name", "seed", "precision", *PACE)  # arms that differ in these alone are one method
BASES = ("equal documents", "compute of the second", "compute of the first")
Mix = list[tuple[ScoredCell, float]]  # cells of a method, with weights that add up to 1


def name_method(settings: dict) -> str:
    """Return the settings of an arm but for its name, order and pace: arms that share them are one method."""
    return json.dumps({key: settings[key] for key in sorted(settings) if key not in NOT_METHOD})


def compare_at_equal_compute(
    cells: Iterable[ScoredCell], comparisons: Sequence[Comparison], resamples: int
) -> pd.DataFrame:
    """Return the table `equal_compute`: one row per corpus, comparison, measure and basis; first minus second.

    At equal documents both run as they are. At the compute of one, the other's score is read off the line between the
    two runs of its method, at other orders or paces, whose FLOPs lie nearest below and above (linear in log FLOPs).
    Where both lie on one side, the row has no value and a reason. The seeds of an arm are pooled.
    """
    rows = []
    for corpus, of_corpus in group_by(cells, lambda one: one.cell.corpus).items():
        arms = pool_seeds(of_corpus)
        rows += [
            {"corpus": corpus, "scope": scope, "metric": metric, "basis": basis}
            | name_comparison(one)
            | _compare(one, basis, (scope, metric), arms, resamples)
            for one in comparisons
            for scope, metric in MEASURES
            for basis in BASES
        ]
    return pd.DataFrame(rows).reindex(columns=COLUMNS["equal_compute"])


def pool_seeds(cells: Sequence[ScoredCell]) -> dict[str, ScoredCell]:
    """Return one cell per arm: the statistics of its seeds below each other, the sums of its ledgers."""
    ordered = sorted(cells, key=lambda one: (one.cell.arm, one.cell.seed))
    return {arm: _pool(seeds) for arm, seeds in group_by(ordered, lambda one: one.cell.arm).items()}


def _pool(seeds: list[ScoredCell]) -> ScoredCell:
    shared = set.intersection(*(set(one.statistics) for one in seeds))
    return replace(
        seeds[0],
        statistics={key: np.vstack([one.statistics[key] for one in seeds]) for key in shared},
        clusters=[unit for one in seeds for unit in one.units],
        ledger={key: sum(one.ledger[key] for one in seeds) for key in ("flops", "documents")},
    )


def _compare(
    comparison: Comparison, basis: str, measure: tuple[str, str], arms: dict[str, ScoredCell], resamples: int
) -> dict:
    absent = [arm for arm in comparison.arms if arm not in arms or measure not in arms[arm].statistics]
    if absent:
        return {"reason": f"not run: {' and '.join(absent)}"}
    pair = [arms[arm] for arm in comparison.arms]
    about = {"flops_first": pair[0].flops, "flops_second": pair[1].flops}
    sides: list[Mix] = [[(pair[0], 1.0)], [(pair[1], 1.0)]]
    if basis != BASES[0]:
        moved = BASES.index(basis) - 1  # the side whose cost is changed
        flops = pair[1 - moved].flops
        scored = [one for one in arms.values() if measure in one.statistics]
        sides[moved], reason = interpolate_runs(pair[moved], flops, scored)
        if reason:
            return about | {"reason": reason}
        about = {"flops_first": flops, "flops_second": flops}
    return about | _difference(sides[0], sides[1], measure, resamples)


def interpolate_runs(moved: ScoredCell, flops: float, cells: Sequence[ScoredCell]) -> tuple[Mix, str]:
    """Return the runs between which the score of a method is interpolated, with weights, or why there are none."""
    family = sorted(
        (one for one in cells if one.method == moved.method and one.flops > 0),
        key=lambda one: (one.flops, one.cell.arm != moved.cell.arm, one.cell.arm),
    )
    if len({one.flops for one in family}) < 2:
        return [], f"{moved.cell.arm} was run at a single cost ({format_flops(moved.flops)} per document)"
    below = [one for one in family if one.flops <= flops]
    above = [one for one in family if one.flops >= flops]
    if not below or not above:
        span = f"{format_flops(family[0].flops)} to {format_flops(family[-1].flops)}"
        side = "less" if not below else "more"
        return (
            [],
            f"{format_flops(flops)} per document is {side} than any run of {moved.cell.arm}'s method ({span})",
        )
    low, high = below[-1], above[0]
    if low.flops == high.flops:
        return [(high, 1.0)], ""
    share = float(np.log(flops / low.flops) / np.log(high.flops / low.flops))
    return [(low, 1 - share), (high, share)], ""


def format_flops(flops: float) -> str:
    """Return FLOPs for people."""
    return f"{flops / 1e9:.3g} GFLOPs"


def _difference(first: Mix, second: Mix, measure: tuple[str, str], resamples: int) -> dict:
    """Return both values and their difference, paired over documents or authors; equal seeds give equal draws."""
    mixed = [*first, *second]
    if len({len(one.statistics[measure]) for one, _ in mixed}) > 1:
        return {"reason": "the two were not run on the same documents"}
    units = gather_units(np.hstack([one.statistics[measure] for one, _ in mixed]), mixed[0][0].clusters)
    if len(units) < 2:
        return {"reason": f"defined for {len(units)} of the units, two are needed", "n": len(units)}
    weights = np.vstack([np.ones((1, len(units))), draw_weights(len(units), resamples, 0)])
    parts = np.split(weights @ units, len(mixed), axis=1)
    scores = [share * find_aggregate(measure[1])(part) for part, (_, share) in zip(parts, mixed, strict=True)]
    sides = np.array([sum(scores[: len(first)]), sum(scores[len(first) :])])  # (2, 1 + draws)
    drawn = (sides[0] - sides[1])[1:]
    values = {"value_first": sides[0, 0], "value_second": sides[1, 0], "value": sides[0, 0] - sides[1, 0]}
    if np.nanstd(drawn) < 1e-12:
        reason = "the difference does not vary over units: it has no interval"
        return values | {"low": None, "high": None, "n": len(units), "reason": reason}
    low, high = percentile_interval(drawn)
    return values | {"low": low, "high": high, "n": len(units), "reason": ""}
