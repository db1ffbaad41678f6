"""Does better text make better training data? Quality against utility over the cells of a corpus.

A decision is a test of equivalence: `no strong correlation` where the whole 95 % interval lies inside the bound
(two one-sided tests at 2.5 % each, stricter than the usual 5 %), `strong correlation` where it lies outside,
`inconclusive` where it spans the bound. Resamples draw cells; the seeds of a cell are drawn together, and averaged
before shapes and mixed models, which have no other way to know that they are one cell.
"""

import math

import numpy as np
import pandas as pd

from ..fill.baselines import BOUNDS
from ..stats import (
    NOT_DEFINED,
    Estimate,
    correlations,
    equivalence,
    estimate,
    holm,
    raw_minus_partial,
    spearman,
)
from ..tasks.outcome import UNTRAINED
from .correlation_shapes import find_sufficient_quality, find_threshold, fit_curve, why_not
from .pooling import FORMULAS, MEASURES, average_seeds, fit_mixed_model, leave_each_out, pool
from .power import MISSING, NOT_STRONG, STRONG, UNDECIDED, _row, count_cells_needed
from .tables import find_utility

QUALITY = [("document", "rougeL"), ("document", "bertscore"), ("fills", "exact_match"), ("fills", "bleu")]
COLUMNS = [
    "corpus",
    "quality_metric",
    "quality_scope",
    "utility_metric",
    "statistic",
    "value",
    "low",
    "high",
    "n_cells",
    "bound",
    "decision",
    "reason",
]
CELL = ["corpus", "strategy", "ratio", "seed"]
OVERALL = "overall"
LEFT_OUT = "left_out_"
DECISIONS = {"inside": NOT_STRONG, "outside": STRONG, "spans": UNDECIDED, "undefined": MISSING}
DRIVES, DRIVES_NOT = "ratio drives both", "no warning"
BENT, STRAIGHT = "beats the straight line", "does not beat the straight line"
DRIVEN_FROM, ALPHA = 0.5, 0.05
CEILING_SHARE = 0.9  # of the way from the majority floor to the ceiling


def correlate_tables(
    scores: pd.DataFrame, downstream: pd.DataFrame, resamples: int, bound: float
) -> list[dict]:
    """Return rows of COLUMNS: for each quality score those of every corpus, then those of all of them (`overall`).

    Cells whose text is the original or lacks the blanks are left out (no arm wrote them), and so are those from which
    no task model could be trained in some task seed. Values are coefficients,
    standardised slopes, p-values (Holm over corpora and scores), counts, or qualities in units of their metric.
    """
    if scores.empty or downstream.empty:
        return []
    rows = []
    for scope, metric in QUALITY:
        cells = {}
        for corpus in sorted(set(scores["corpus"]) | set(downstream["corpus"])):
            utility = find_utility(downstream, corpus)
            paired = pair_cells(scores, downstream, corpus, scope, metric)
            cells[corpus] = paired.dropna(subset=["quality", "utility", "share"])
            wanted = set_goal(downstream, corpus, utility)
            found = describe_corpus(cells[corpus], wanted, len(paired), resamples, bound)
            rows += [_name(corpus, scope, metric, utility) | row for row in found]
        overall = describe_overall(cells, resamples, bound)
        rows += [_name(OVERALL, scope, metric, "standardised") | row for row in overall]
    return correct_shapes(rows)


def _name(corpus: str, scope: str, metric: str, utility: str) -> dict:
    return {
        "corpus": corpus,
        "quality_metric": metric,
        "quality_scope": scope,
        "utility_metric": utility,
    }


def pair_cells(
    scores: pd.DataFrame, downstream: pd.DataFrame, corpus: str, scope: str, metric: str
) -> pd.DataFrame:
    """Return one row a cell that an arm wrote: CELL, arm, share, quality, utility, cluster; NaN where there is no score."""
    of_metric = (scores["scope"] == scope) & (scores["metric"] == metric) & (scores["corpus"] == corpus)
    good = scores[of_metric & ~scores["arm"].isin(BOUNDS)].rename(columns={"value": "quality"})
    useful = downstream[
        (downstream["corpus"] == corpus) & (downstream["metric"] == find_utility(downstream, corpus))
    ]
    useful = useful.rename(columns={"value": "utility", "trained_on": "arm"})
    is_default = useful["reason"].fillna("").astype(str).str.startswith(UNTRAINED)
    useful = useful.assign(utility=useful["utility"].where(~is_default))
    pairs = good.merge(useful[[*CELL, "arm", "utility"]], on=[*CELL, "arm"])
    names = [f"{cell.arm} {cell.strategy} {cell.ratio:g}" for cell in pairs.itertuples(index=False)]
    return pairs[[*CELL, "arm", "share", "quality", "utility"]].assign(cluster=np.array(names, dtype=object))


def set_goal(downstream: pd.DataFrame, corpus: str, utility: str) -> float:
    """Return the utility at CEILING_SHARE of the way from the majority floor to real text; NaN without either."""
    rows = downstream[(downstream["corpus"] == corpus) & (downstream["metric"] == utility)]
    real, floor = (rows.loc[rows["trained_on"] == name, "value"].mean() for name in ("real", "majority"))
    return floor + CEILING_SHARE * (real - floor)


def describe_corpus(
    cells: pd.DataFrame, wanted: float, n_paired: int, resamples: int, bound: float
) -> list[dict]:
    """Return the rows of one corpus and quality score; `cells` has a value everywhere, `n_paired` counts those without."""
    quality, utility, share = (cells[name].to_numpy(dtype=float) for name in ("quality", "utility", "share"))
    clusters = list(cells["cluster"])
    told = _tell_left_out(n_paired, len(cells))
    found = correlations(quality, utility, share, resamples, clusters=clusters)
    with_share = {
        "share_quality": estimate(spearman, [share, quality], resamples, clusters=clusters),
        "share_utility": estimate(spearman, [share, utility], resamples, clusters=clusters),
    }
    lost = estimate(raw_minus_partial, [quality, utility, share], resamples, clusters=clusters)
    left_out = {f"{LEFT_OUT}{arm}": part for arm, part in _leave_arms_out(cells, resamples).items()}
    rows = [_decide(name, one, bound, told) for name, one in (found | with_share | left_out).items()]
    rows.append(warn_of_ratio(found, with_share, lost))
    rows.append(count_cells_needed(found["spearman"], bound))
    return rows + describe_shapes(average_seeds(cells), wanted, resamples)


def _tell_left_out(n_paired: int, n_complete: int) -> str:
    if not n_paired:
        return "no cell has both a quality score and a downstream result"
    n_absent = n_paired - n_complete
    return (
        f"{n_absent} of {n_paired} cells left out: no score, or no task model could be trained"
        if n_absent
        else ""
    )


def _leave_arms_out(cells: pd.DataFrame, resamples: int) -> dict[str, Estimate]:
    found = {}
    for arm in sorted(set(cells["arm"])):
        part = cells[cells["arm"] != arm]
        columns = [part[name].to_numpy(dtype=float) for name in ("quality", "utility")]
        found[arm] = estimate(spearman, columns, resamples, clusters=list(part["cluster"]))
    return found


def _decide(statistic: str, one: Estimate, bound: float, reason: str = "") -> dict:
    return _row(statistic, one, DECISIONS[equivalence(one.low, one.high, bound)], reason, bound)


def warn_of_ratio(found: dict[str, Estimate], with_share: dict[str, Estimate], lost: Estimate) -> dict:
    """Return what the rank correlation loses once share is held, and whether that is a warning.

    The ratio drives both axes where share correlates with each by DRIVEN_FROM or more and, with share held, the
    interval comes to include 0 or more than half of the coefficient goes (or nothing is left to correlate).
    """
    raw, partial = found["spearman"], found["partial_spearman"]
    with_axes = [one.value for one in with_share.values()]
    if np.isnan([raw.value, *with_axes]).any():
        return _row("ratio_drives_both", lost, MISSING)
    follows = all(abs(value) >= DRIVEN_FROM for value in with_axes)
    goes = _includes_zero(partial) and not _includes_zero(raw)
    shrinks = np.isnan(partial.value) or abs(partial.value) < abs(raw.value) / 2
    return _row("ratio_drives_both", lost, DRIVES if follows and (goes or shrinks) else DRIVES_NOT)


def _includes_zero(one: Estimate) -> bool:
    return bool(one.low <= 0 <= one.high)


def describe_shapes(cells: pd.DataFrame, wanted: float, resamples: int) -> list[dict]:
    """Return the rows of the spline, the threshold, and the quality from which on utility is near the ceiling.

    `cells` has one row a cell, its seeds averaged: each counts as one independent observation.
    """
    quality, utility = (cells[name].to_numpy(dtype=float) for name in ("quality", "utility"))
    names = ("spline_aic_gain", "spline_p", "threshold", "threshold_p", "sufficient_quality")
    if reason := why_not(quality, utility):
        nothing = Estimate(math.nan, *NOT_DEFINED, len(quality), reason)
        return [_row(name, nothing, MISSING) for name in names]
    curve = fit_curve(quality, utility)
    threshold = find_threshold(quality, utility, resamples, 0)
    if np.isnan(wanted):
        reason = "no downstream result for real text or for the majority"
        enough = Estimate(math.nan, *NOT_DEFINED, len(quality), reason)
    else:
        enough = find_sufficient_quality(quality, utility, wanted, resamples, 0)
    found = [Estimate(value, *NOT_DEFINED, len(quality)) for value in (curve.aic_gain, curve.p, threshold.p)]
    return [
        _row("spline_aic_gain", found[0]),
        _row("spline_p", found[1]),
        _row("threshold", threshold.place, threshold.shape),
        _row("threshold_p", found[2]),
        _row("sufficient_quality", enough, MISSING if np.isnan(enough.value) else ""),
    ]


def correct_shapes(rows: list[dict]) -> list[dict]:
    """Return the rows with each p of a shape corrected over all of its kind, and what it decides."""
    for statistic in ("spline_p", "threshold_p"):
        tested = [row for row in rows if row["statistic"] == statistic and not np.isnan(row["value"])]
        for row, p in zip(tested, holm([row["value"] for row in tested]), strict=True):
            row |= {"value": float(p), "decision": BENT if p < ALPHA else STRAIGHT}
    return rows


def describe_overall(cells: dict[str, pd.DataFrame], resamples: int, bound: float) -> list[dict]:
    """Return the rows of all corpora together: pooled, with each corpus left out, and of the mixed models."""
    found = {name: pool(measure, cells, resamples, 0) for name, measure in MEASURES.items()}
    found |= {f"{LEFT_OUT}{corpus}": one for corpus, one in leave_each_out(cells, resamples, 0).items()}
    found |= {name: fit_mixed_model(formula, cells) for name, formula in FORMULAS.items()}
    rows = [_decide(name, one, bound) for name, one in found.items()]
    return [*rows, count_cells_needed(found["pooled_spearman"], bound)]
