"""How each kind of claim is measured: from the cells of a study to differences with intervals."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from ..errors import StudyError
from ..metrics.bleu import score_counts
from ..stats import (
    ALPHA,
    FEWEST_UNITS,
    Aggregate,
    equivalence,
    gain_of_sums,
    paired_bootstrap,
    paired_randomisation,
    ratio_of_sums,
)
from .claim_evidence import GAIN, Study, UnitStatistics, join, load_counts, load_statistics, match_widths
from .power import smallest_detectable_correlation, smallest_detectable_effect

SWAPS_PER_RESAMPLE = 10
SIDES = ("first", "second")
MEANS = ("exact_match", "rouge1", "rouge2", "rougeL", "meteor", "bertscore")
AGGREGATES: dict[str, Aggregate] = {"bleu": score_counts} | dict.fromkeys(MEANS, ratio_of_sums)


@dataclass(frozen=True)
class Found:
    """A difference that speaks to a claim where it is positive, with its 95 % interval.

    `effect` is NaN where it could not be measured; `reason` explains that, or an interval that cannot be relied on.
    `p` is NaN where nothing was drawn: a count, or an interval against a bound.
    """

    effect: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    detectable: float = math.nan
    n: int = 0
    reason: str = ""
    evidence: tuple[str, ...] = ()


def list_tests(claim: dict) -> list[dict]:
    """Return every comparison under every measure."""
    return [measure | comparison for comparison, measure in product(claim["comparisons"], claim["measures"])]


def measure_paired(test: dict, claim: dict, corpus: str, study: Study) -> Found:
    """Compare two cells over the documents that both filled."""
    return compare_cells(test, [claim["cells"] | test[side] for side in SIDES], corpus, study)


def list_trends(claim: dict) -> list[dict]:
    """Return every arm under every measure."""
    return [
        measure | {"name": f"{arm}, lowest above highest ratio", "arm": arm}
        for arm, measure in product(claim["arms"], claim["measures"])
    ]


def measure_trend(test: dict, claim: dict, corpus: str, study: Study) -> Found:
    """Compare the score of an arm at the lowest random ratio with that at the highest."""
    random = {"arm": test["arm"], "strategy": "random"}
    ratios = sorted(set(study.rows("scores", corpus, **random)["ratio"]))
    if len(ratios) < 2:
        return Found(reason=f"{test['arm']}: {len(ratios)} random ratios, two are needed")
    return compare_cells(
        test, [random | {"ratio": ratio} for ratio in (ratios[0], ratios[-1])], corpus, study
    )


def compare_cells(test: dict, cells: list[dict], corpus: str, study: Study) -> Found:
    """Compare two cells; the seeds of a cell are pooled, document by document.

    Where both filled the same blanks, p is that of swapping the two at random; elsewhere they differ in more than
    the arm (in the number of blanks), and p is the bootstrap's.
    """
    loaded = [load_statistics(test["scope"], test["metric"], cell, corpus, study) for cell in cells]
    absent = [describe_cell(cell) for cell, rows in zip(cells, loaded, strict=True) if not rows]
    if absent:
        return Found(reason=f"not run: {' and '.join(absent)}")
    firsts, seconds = loaded
    pairs = [(firsts[seed], seconds[seed]) for seed in sorted(firsts.keys() & seconds.keys())]
    pairs = [pair for pair in pairs if len(pair[0].values) == len(pair[1].values)]
    if not pairs:
        return Found(reason="the two cells share no seed with the same documents")
    same_blanks = all(cells[0][key] == cells[1][key] for key in ("strategy", "ratio"))
    first, second = (join([pair[side] for pair in pairs], np.vstack) for side in (0, 1))
    return compare(first, second, find_aggregate(test["metric"]), study, same_blanks)


def find_aggregate(metric: str) -> Aggregate:
    """Return the function from summed statistics to the score; raises StudyError for a metric without a paired test."""
    name = metric.removesuffix(GAIN)
    if name not in AGGREGATES:
        raise StudyError(f"the claims name the metric {metric}: choose one of {', '.join(AGGREGATES)}")
    aggregate = AGGREGATES[name]
    return (lambda sums: gain_of_sums(sums, aggregate)) if name != metric else aggregate


def describe_cell(cell: dict) -> str:
    """Return an arm and its masking in words."""
    return f"{cell['arm']} at {cell['strategy']} {cell['ratio']:g}"


def compare(
    first: UnitStatistics, second: UnitStatistics, aggregate: Aggregate, study: Study, same_blanks: bool
) -> Found:
    """Return first minus second; `reason` explains too few units and scores that do not vary."""
    pair, drawn = (first.values, second.values, aggregate), (study.seed, first.clusters)
    made = paired_bootstrap(*pair, study.resamples, *drawn)
    evidence = tuple(dict.fromkeys(first.evidence + second.evidence))
    if np.isnan(made.difference):
        few = f"both scores are defined for {made.n} of the units, two are needed"
        reason = few if made.n < 2 else f"the score is not defined on the {made.n} units"
        return Found(n=made.n, reason=reason, evidence=evidence)
    p, reason = made.p, ""
    if same_blanks:
        p = paired_randomisation(*pair, study.resamples * SWAPS_PER_RESAMPLE, *drawn)
    if np.isnan(made.standard_error):
        p, reason = math.nan, "the score is not defined on some resamples"
    elif made.standard_error < 1e-12:
        reason = "the difference does not vary over units: it has no interval"
    elif made.n < FEWEST_UNITS:
        reason = explain_few(made.n, "units")
    detectable = smallest_detectable_effect(made.standard_error, made.n)
    return Found(made.difference, made.low, made.high, p, detectable, made.n, reason, evidence)


def explain_few(n: int, counted: str) -> str:
    """Return the reason for which so few units or cells decide nothing."""
    return f"{n} {counted}, fewer than {FEWEST_UNITS}: the interval is too narrow to rely on"


def measure_training_data(test: dict, claim: dict, corpus: str, study: Study) -> Found:
    """Compare two training sets over the test units; task seeds are averaged.

    What was trained on text that is in no cell (real, shuffled, majority) is compared with every cell.
    """
    first, second = (load_counts(test[side], claim, corpus, study) for side in SIDES)
    if first is None or second is None:
        sides = zip(SIDES, (first, second), strict=True)
        absent = [test[side]["trained_on"] for side, counts in sides if counts is None]
        return Found(reason=f"not run: {' and '.join(absent)}")
    if list(first.clusters) != list(second.clusters):
        return Found(reason="the two were tested on different units")
    return compare(*match_widths(first, second), average_f1, study, same_blanks=True)


def average_f1(sums: np.ndarray) -> np.ndarray:
    """Return the mean F1 (...) of the counts (..., 3 for each seed); NaN where a seed has nothing to find."""
    counts = sums.reshape(*sums.shape[:-1], -1, 3)
    of_all = 2 * counts[..., 0] + counts[..., 1] + counts[..., 2]
    return (2 * counts[..., 0] / np.where(of_all == 0, np.nan, of_all)).mean(axis=-1)


def measure_cost(test: dict, claim: dict, corpus: str, study: Study) -> Found:
    """Compare two arms' FLOPs per document: the share that the first takes more.

    The effect is the geometric mean over the cells that both filled, the interval its range over them.
    """
    first, second = (study.rows("ledger", corpus, **test[side]) for side in SIDES)
    both = first.merge(second, on=["strategy", "ratio", "seed"], suffixes=SIDES)
    spent = [both[f"flops{side}"] / both[f"documents{side}"] for side in SIDES]
    counted = (spent[0] > 0) & (spent[1] > 0)
    if not counted.any():
        return Found(reason="no cell in which the FLOPs of both were counted")
    logs = np.log(spent[0][counted] / spent[1][counted])
    value, low, high = (float(np.expm1(log)) for log in (logs.mean(), logs.min(), logs.max()))
    evidence = tuple(name for side in SIDES for name in both.loc[counted, f"artifact{side}"])
    return Found(value, low, high, n=len(logs), evidence=evidence)


def list_correlations(claim: dict) -> list[dict]:
    """Return every statistic under every measure of quality."""
    return [
        measure
        | {"name": f"{statistic.replace('_', ' ')} with utility", "statistic": statistic}
        | {"role": role, "bound": claim["bound"]}
        for measure, (role, statistic) in product(claim["measures"], claim["statistics"].items())
    ]


def measure_correlation(test: dict, claim: dict, corpus: str, study: Study) -> Found:
    """Return a rank correlation of quality and utility; what it could detect follows from its interval."""
    asked = {"quality_metric": test["metric"], "quality_scope": test["scope"], "statistic": test["statistic"]}
    rows, evidence = study.rows("correlation", corpus, **asked), ("correlation.csv",)
    if rows.empty:
        return Found(reason="no such correlation was computed", evidence=evidence)
    row = rows.iloc[0]
    value, low, high, n = float(row["value"]), float(row["low"]), float(row["high"]), int(row["n_cells"])
    if np.isnan([value, low, high]).any():
        reason = row["reason"] if isinstance(row["reason"], str) and row["reason"] else "no interval"
        return Found(n=n, reason=reason, evidence=evidence)
    reason = explain_few(n, "cells") if n < FEWEST_UNITS else ""
    detectable = smallest_detectable_correlation(low, high, n)
    return Found(value, low, high, detectable=detectable, n=n, reason=reason, evidence=evidence)


def measure_ratings(test: dict, claim: dict, corpus: str, study: Study) -> Found:
    """Compare two arms over the documents that raters saw of both, raters averaged."""
    sides = [study.rows("ratings", corpus, question=test["metric"], **test[side]) for side in SIDES]
    means = [rows.groupby("document")["rating"].mean() for rows in sides]
    both = pd.concat(means, axis=1, join="inner", keys=SIDES)
    if both.empty:
        return Found(reason="no document was rated for both arms")
    rated = [np.stack([both[side], np.ones(len(both))], axis=1) for side in SIDES]
    first, second = (UnitStatistics(values, list(both.index), ("ratings.csv",)) for values in rated)
    return compare(first, second, ratio_of_sums, study, same_blanks=True)


def judge_gain(test: dict, found: Found, p: float) -> str:
    """Return whether an asserted advantage `holds`, is `gone` (negligible or reversed), or is `unclear`."""
    if found.high < test["negligible"]:
        return "gone"
    return "holds" if found.low > test["at_least"] and not p >= ALPHA else "unclear"


def judge_no_gain(test: dict, found: Found, p: float) -> str:
    """Return the same of the assertion that there is no advantage."""
    return {"holds": "gone", "gone": "holds", "unclear": "unclear"}[judge_gain(test, found, p)]


def judge_no_correlation(test: dict, found: Found, p: float) -> str:
    """Return the same of the assertion that a correlation lies inside the bound."""
    where = equivalence(found.low, found.high, test["bound"])
    return {"inside": "holds", "outside": "gone", "spans": "unclear"}[where]


@dataclass(frozen=True)
class Rule:
    """A kind of claim: the table that names its corpora, how a test is measured and judged, and which tests it has."""

    table: str
    measure: Callable[[dict, dict, str, Study], Found]
    judge: Callable[[dict, Found, float], str]
    list_tests: Callable[[dict], list[dict]] = list_tests


RULES = {
    "paired": Rule("scores", measure_paired, judge_gain),
    "trend": Rule("scores", measure_trend, judge_gain, list_trends),
    "no_gain": Rule("scores", measure_paired, judge_no_gain),
    "no_correlation": Rule("correlation", measure_correlation, judge_no_correlation, list_correlations),
    "utility": Rule("downstream", measure_training_data, judge_gain),
    "ratings": Rule("ratings", measure_ratings, judge_gain),
    "cost": Rule("ledger", measure_cost, judge_gain),
}
