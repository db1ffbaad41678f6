"""How each kind of claim is measured: from the cells of a study to differences with intervals."""

from collections.abc import Callable, Iterator
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

Measured = Iterator[tuple[dict, "Found"]]


@dataclass(frozen=True)
class Found:
    """A difference that speaks to a claim where it is positive, with its 95 % interval.

    `effect` is NaN where it could not be measured; `reason` explains that, or an interval that cannot be relied on.
    `p` is NaN where nothing was drawn: a count, or an interval against a bound.
    """

    effect: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    p: float = float("nan")
    detectable: float = float("nan")
    n: int = 0
    reason: str = ""
    evidence: tuple[str, ...] = ()


def measure_paired(claim: dict, corpus: str, study: Study) -> Measured:
    """Yield every comparison of two cells over the documents that both filled."""
    for test in list_tests(claim):
        cells = [claim["cells"] | test[side] for side in SIDES]
        yield test, compare_cells(test, cells, corpus, study)


def measure_trend(claim: dict, corpus: str, study: Study) -> Measured:
    """Yield, for every arm, its score at the lowest random ratio minus that at the highest."""
    for arm, measure in product(claim["arms"], claim["measures"]):
        ratios = sorted(set(study.rows("scores", corpus, arm=arm, strategy="random")["ratio"]))
        test = measure | {"name": f"{arm}, lowest above highest ratio"}
        if len(ratios) < 2:
            yield test, Found(reason=f"{arm}: {len(ratios)} random ratios, two are needed")
            continue
        cells = [{"arm": arm, "strategy": "random", "ratio": ratio} for ratio in (ratios[0], ratios[-1])]
        yield test, compare_cells(test, cells, corpus, study)


def list_tests(claim: dict) -> list[dict]:
    """Return every comparison under every measure."""
    return [measure | comparison for comparison, measure in product(claim["comparisons"], claim["measures"])]


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
        p, reason = float("nan"), "the score is not defined on some resamples"
    elif made.standard_error < 1e-12:
        reason = "the difference does not vary over units: it has no interval"
    elif made.n < FEWEST_UNITS:
        reason = explain_few(made.n, "units")
    detectable = smallest_detectable_effect(made.standard_error, made.n)
    return Found(made.difference, made.low, made.high, p, detectable, made.n, reason, evidence)


def explain_few(n: int, counted: str) -> str:
    """Return the reason for which so few units or cells decide nothing."""
    return f"{n} {counted}, fewer than {FEWEST_UNITS}: the interval is too narrow to rely on"


def measure_training_data(claim: dict, corpus: str, study: Study) -> Measured:
    """Yield every comparison of two training sets over the test units; task seeds are averaged.

    What was trained on text that is in no cell (real, shuffled, majority) is compared with every cell.
    """
    for test in list_tests(claim):
        first, second = (load_counts(test[side], claim, corpus, study) for side in SIDES)
        if first is None or second is None:
            sides = zip(SIDES, (first, second), strict=True)
            absent = [test[side]["trained_on"] for side, counts in sides if counts is None]
            yield test, Found(reason=f"not run: {' and '.join(absent)}")
        elif list(first.clusters) != list(second.clusters):
            yield test, Found(reason="the two were tested on different units")
        else:
            pair = match_widths(first, second)
            yield test, compare(*pair, average_f1, study, same_blanks=True)


def average_f1(sums: np.ndarray) -> np.ndarray:
    """Return the mean F1 (...) of the counts (..., 3 for each seed); NaN where a seed has nothing to find."""
    counts = sums.reshape(*sums.shape[:-1], -1, 3)
    of_all = 2 * counts[..., 0] + counts[..., 1] + counts[..., 2]
    return (2 * counts[..., 0] / np.where(of_all == 0, np.nan, of_all)).mean(axis=-1)


def measure_cost(claim: dict, corpus: str, study: Study) -> Measured:
    """Yield every comparison of two arms' FLOPs per document: the share that the first takes more.

    The effect is the geometric mean over the cells that both filled, the interval its range over them.
    """
    for test in list_tests(claim):
        first, second = (study.rows("ledger", corpus, **test[side]) for side in SIDES)
        both = first.merge(second, on=["strategy", "ratio", "seed"], suffixes=SIDES)
        spent = [both[f"flops{side}"] / both[f"documents{side}"] for side in SIDES]
        counted = (spent[0] > 0) & (spent[1] > 0)
        if not counted.any():
            yield test, Found(reason="no cell in which the FLOPs of both were counted")
            continue
        logs = np.log(spent[0][counted] / spent[1][counted])
        value, low, high = (float(np.expm1(log)) for log in (logs.mean(), logs.min(), logs.max()))
        evidence = tuple(name for side in SIDES for name in both.loc[counted, f"artifact{side}"])
        yield test, Found(value, low, high, n=len(logs), evidence=evidence)


def measure_correlation(claim: dict, corpus: str, study: Study) -> Measured:
    """Yield every rank correlation of quality and utility; what it could detect follows from its interval."""
    for measure, (role, statistic) in product(claim["measures"], claim["statistics"].items()):
        name = f"{statistic.replace('_', ' ')} with utility"
        test = measure | {"name": name, "role": role, "bound": claim["bound"]}
        wanted = {"quality_metric": measure["metric"], "quality_scope": measure["scope"]}
        rows = study.rows("correlation", corpus, statistic=statistic, **wanted)
        yield test, _read_correlation(rows)


def _read_correlation(rows: pd.DataFrame) -> Found:
    evidence = ("correlation.csv",)
    if rows.empty:
        return Found(reason="no such correlation was computed", evidence=evidence)
    row = rows.iloc[0]
    value, low, high, n = float(row["value"]), float(row["low"]), float(row["high"]), int(row["n_cells"])
    if np.isnan([value, low, high]).any():
        reason = row["reason"] if isinstance(row["reason"], str) and row["reason"] else "no interval"
        return Found(n=n, reason=reason, evidence=evidence)
    detectable = smallest_detectable_correlation(low, high, n)
    reason = explain_few(n, "cells") if n < FEWEST_UNITS else ""
    return Found(value, low, high, detectable=detectable, n=n, reason=reason, evidence=evidence)


def measure_ratings(claim: dict, corpus: str, study: Study) -> Measured:
    """Yield every comparison of two arms over the documents that raters saw of both, raters averaged."""
    for test in list_tests(claim):
        sides = []
        for side in SIDES:
            rows = study.rows("ratings", corpus, question=test["metric"], **test[side])
            sides.append(rows.groupby("document")["rating"].mean())
        both = pd.concat(sides, axis=1, join="inner", keys=SIDES)
        if both.empty:
            yield test, Found(reason="no document was rated for both arms")
            continue
        rated = [np.stack([both[side], np.ones(len(both))], axis=1) for side in SIDES]
        first, second = (UnitStatistics(values, list(both.index), ("ratings.csv",)) for values in rated)
        yield test, compare(first, second, ratio_of_sums, study, same_blanks=True)


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
    """A kind of claim: the table that names its corpora, how it is measured, and how an interval is judged."""

    table: str
    measure: Callable[[dict, str, Study], Measured]
    judge: Callable[[dict, Found, float], str]


RULES = {
    "paired": Rule("scores", measure_paired, judge_gain),
    "trend": Rule("scores", measure_trend, judge_gain),
    "no_gain": Rule("scores", measure_paired, judge_no_gain),
    "no_correlation": Rule("correlation", measure_correlation, judge_no_correlation),
    "utility": Rule("downstream", measure_training_data, judge_gain),
    "ratings": Rule("ratings", measure_ratings, judge_gain),
    "cost": Rule("ledger", measure_cost, judge_gain),
}
