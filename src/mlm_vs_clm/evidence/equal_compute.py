"""Quality at equal compute: the score of one method read off at the FLOPs of another.

Cost is counted in FLOPs, as in the ledger. The products of attention, which grow with the square of the length and are
a few percent at the lengths of this study, are left out there and here.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from blankfill.axes import PACE

from .cells import Comparison, ScoredCell
from .differences import MEASURES, keep_run, name_comparison
from .paired import (
    BySeed,
    contrast_cells,
    group_arms,
    group_seeds,
    score_cells,
    widen,
    with_measure,
)
from .tables import COLUMNS, COMPUTE, TEXT

NOT_METHOD = ("name", "seed", "precision", *PACE)  # arms that differ in these alone are one method
BASES = ("equal documents", "compute of the second", "compute of the first")
# The columns of two rows that are one difference, and what a verdict adds to them.
SAME = "corpus comparison first second strategy ratio scope metric".split()
JUDGED = "value low high p p_holm margin n runs status direction size excluded_because".split()
Mix = list[tuple[str, float]]  # arms of a method, with weights that add up to 1


def name_method(settings: dict) -> str:
    """Return the settings of an arm but for its name, order and pace: arms that share them are one method."""
    return json.dumps({key: settings[key] for key in sorted(settings) if key not in NOT_METHOD})


def compare_at_equal_compute(
    cells: Iterable[ScoredCell],
    comparisons: Sequence[Comparison],
    resamples: int,
    noise: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return the differences at equal compute: one row per corpus, comparison, measure and basis (`at`); first minus second.

    At equal documents both run as they are. At the compute of one, the other's score is read off the line between the
    two runs of its method, at other orders or paces, whose FLOPs lie nearest below and above (linear in log FLOPs).
    Where both lie on one side, the row has no value and a reason. FLOPs are means over seeds; scores are read off run by
    run, and the interval of several is over runs; that of single trainings has the `noise` between trainings, by metric.
    """
    rows = []
    for corpus, arms in group_arms(cells).items():
        rows += [
            {"kind": COMPUTE, "corpus": corpus, "scope": scope, "metric": metric, "at": basis}
            | name_comparison(comparison)
            | _compare(comparison, basis, (scope, metric), arms, (resamples, (noise or {}).get(metric, 0.0)))
            for comparison in keep_run(comparisons, arms)
            for scope, metric in MEASURES
            for basis in BASES
        ]
    return pd.DataFrame(rows, columns=COLUMNS["comparisons"])


def _compare(
    comparison: Comparison,
    basis: str,
    measure: tuple[str, str],
    arms: Mapping[str, BySeed],
    precision: tuple[int, float],
) -> dict:
    arms = {arm: measured for arm, seeds in arms.items() if (measured := with_measure(seeds, measure))}
    if absent := [arm for arm in comparison.arms if arm not in arms]:
        return {"reason": f"not run: {' and '.join(absent)}"}
    summed = {arm: sum_costs(seeds) for arm, seeds in arms.items()}
    pair = [summed[arm] for arm in comparison.arms]
    about = {"flops_first": pair[0].flops, "flops_second": pair[1].flops}
    sides: list[Mix] = [[(arm, 1.0)] for arm in comparison.arms]
    if basis != BASES[0]:
        moved = BASES.index(basis) - 1  # the side whose cost is changed
        flops = pair[1 - moved].flops
        trained = arms[comparison.arms[moved]]
        family = [summed[arm] for arm, seeds in arms.items() if share_training(trained, seeds)]
        sides[moved], reason = interpolate_runs(pair[moved], flops, family)
        if reason:
            return about | {"reason": reason}
        about = {"flops_first": flops, "flops_second": flops}
    return about | _difference(sides[0], sides[1], measure, arms, precision)


def sum_costs(seeds: BySeed) -> ScoredCell:
    """Return the first cell of an arm with what all its seeds cost."""
    cells = [seeds[seed] for seed in sorted(seeds)]
    ledger = {key: sum(cell.ledger[key] for cell in cells) for key in ("flops", "documents")}
    return replace(cells[0], ledger=ledger)


def share_training(first: BySeed, second: BySeed) -> bool:
    """Return whether two arms fill with the same network at every seed that both have."""
    return all(first[seed].training == second[seed].training for seed in first.keys() & second.keys())


def interpolate_runs(moved: ScoredCell, flops: float, cells: Sequence[ScoredCell]) -> tuple[Mix, str]:
    """Return the runs between which the score of a method is interpolated, with weights, or why there are none."""
    family = sorted(
        (run for run in cells if run.method == moved.method and run.flops > 0),
        key=lambda run: (run.flops, run.cell.arm != moved.cell.arm, run.cell.arm),
    )
    if len({run.flops for run in family}) < 2:
        return [], f"{moved.cell.arm} was run at a single cost ({format_flops(moved.flops)} per document)"
    below = [run for run in family if run.flops <= flops]
    above = [run for run in family if run.flops >= flops]
    if not below or not above:
        span = f"{format_flops(family[0].flops)} to {format_flops(family[-1].flops)}"
        side = "less" if not below else "more"
        return (
            [],
            f"{format_flops(flops)} per document is {side} than any run of {moved.cell.arm}'s method ({span})",
        )
    low = next(run for run in below if run.flops == below[-1].flops)  # of equal cost, the moved arm's own
    high = above[0]
    if low.flops == high.flops:
        return [(high.cell.arm, 1.0)], ""
    share = float(np.log(flops / low.flops) / np.log(high.flops / low.flops))
    return [(low.cell.arm, 1 - share), (high.cell.arm, share)], ""


def format_flops(flops: float) -> str:
    """Return FLOPs for people."""
    return f"{flops / 1e9:.3g} GFLOPs"


def _difference(
    first: Mix,
    second: Mix,
    measure: tuple[str, str],
    arms: Mapping[str, BySeed],
    precision: tuple[int, float],
) -> dict:
    """Return both values and their difference, paired over documents or authors.

    `precision` has the number of resamples and the noise between trainings.
    """
    resamples, noise = precision
    sides = [*((arms[arm], share) for arm, share in first), *((arms[arm], -share) for arm, share in second)]
    estimate = contrast_cells(sides, measure, resamples)
    if estimate.reason:
        return {"reason": estimate.reason, "n": estimate.n or None}
    runs = group_seeds(*(cells for cells, _ in sides))
    values: dict[str, Any] = {
        f"value_{name}": sum(share * score_cells(arms[arm], measure, runs) for arm, share in mix)
        for name, mix in (("first", first), ("second", second))
    }
    values |= {"value": estimate.difference, "n": estimate.n, "runs": estimate.runs, "reason": ""}
    if not estimate.standard_error > 1e-12:
        return values | {"reason": "the difference does not vary over units: it has no interval"}
    estimate = widen(estimate, noise)
    return values | {"low": estimate.low, "high": estimate.high}


def repeat_text(rows: pd.DataFrame) -> pd.DataFrame:
    """Return judged comparisons whose rows at equal documents are those of the texts: one difference has one interval and one verdict."""
    texts = rows[rows["kind"] == TEXT].drop_duplicates(SAME).set_index(SAME)[JUDGED]
    places = rows.index[(rows["kind"] == COMPUTE) & (rows["at"] == BASES[0])]
    found = rows.loc[places, SAME].join(texts, on=SAME)
    found = found[found["value"].notna()]
    rows = rows.copy()
    rows.loc[found.index, JUDGED] = found[JUDGED]
    return rows
