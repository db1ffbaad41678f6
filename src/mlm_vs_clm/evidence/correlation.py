"""Does better text make better training data? Quality against utility over the cells of a corpus.

A decision is a test of equivalence: `no strong correlation` where the whole 95 % interval lies inside the bound
(two one-sided tests at 2.5 % each, stricter than the usual 5 %), `strong correlation` where it lies outside,
`inconclusive` where it spans the bound. A cell has the means of its seeds, since a cell measured again is not a second
finding; resamples draw arms and maskings.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from ..arms.baselines import BOUNDS
from ..correlations import CORRELATIONS, correlate, partial_spearman
from ..stats import ALPHA, FEWEST_CELLS, Estimate, percentile_interval, undefined
from ..tasks.outcome import NO_ROOM, UNTRAINED
from .competence import COMPETENT
from .pooling import FORMULAS, MEASURES, draw_cells, fit_mixed_model, leave_each_out, pool
from .tables import COLUMNS, OVERALL, find_utility
from .verdicts import INSIDE, NOT_SETTLED, OUTSIDE, SLOPE, correct, find_size

QUALITY = [("document", "bleu"), ("document", "rougeL"), ("fills", "exact_match")]  # measured at every cell
CELL_COLUMNS = ["corpus", "strategy", "ratio", "arm"]
LEFT_OUT = "left_out_"
STRONG, NOT_STRONG = "strong correlation", "no strong correlation"
UNDECIDED, MISSING = "inconclusive", "missing"
DECISIONS = {INSIDE: NOT_STRONG, OUTSIDE: STRONG, NOT_SETTLED: UNDECIDED}
BENT, STRAIGHT = "beats the straight line", "does not beat the straight line"
N_KNOTS = 4
FEWEST_ARMS = 5  # below, one arm alone may make a slope between arms
RESAMPLES = 20_000  # cells are few, so these take a second; with 1,000 an end near the bound changed sides
FEWEST_LEVELS = 2  # maskings, below which there are no levels of corruption to correlate over
SPLINE = ("spline_aic_gain", "spline_p")


def correlate_tables(
    scores: pd.DataFrame, downstream: pd.DataFrame, bound: float, resamples: int = RESAMPLES
) -> list[dict]:
    """Return rows of the table `correlation`: for each quality score those of every corpus, then of all (`overall`).

    Cells whose text is the original or lacks the blanks are left out (no arm filled them), and so are those from which
    no task model could be trained. Values are coefficients, standardised slopes, counts, or p-values (Holm over corpora
    and scores).
    """
    if scores.empty or downstream.empty:
        return []
    rows = []
    for scope, metric in QUALITY:
        cells = {}
        for corpus in sorted(set(scores["corpus"]) | set(downstream["corpus"])):
            paired = pair_cells(scores, downstream, corpus, scope, metric)
            cells[corpus] = paired.dropna(subset=["quality", "utility", "share"])
            about = _name(corpus, scope, metric, find_utility(downstream, corpus))
            statistics = describe_corpus(cells[corpus], len(paired), resamples, bound)
            rows += [about | row for row in statistics]
        overall = describe_overall(cells, resamples, bound)
        rows += [_name(OVERALL, scope, metric, "standardised") | row for row in overall]
    correct_rows(rows, "spline_p", (BENT, STRAIGHT))
    return rows


def _name(corpus: str, scope: str, metric: str, utility: str) -> dict:
    return {"corpus": corpus, "quality_metric": metric, "quality_scope": scope, "utility_metric": utility}


def pair_cells(
    scores: pd.DataFrame, downstream: pd.DataFrame, corpus: str, scope: str, metric: str
) -> pd.DataFrame:
    """Return one row per cell that an arm filled, means over its seeds; NaN where a seed has no score.

    Columns: CELL_COLUMNS, share, quality and utility.
    """
    of_metric = (scores["scope"] == scope) & (scores["metric"] == metric) & (scores["corpus"] == corpus)
    good = scores[of_metric & ~scores["arm"].isin(BOUNDS)].rename(columns={"value": "quality"})
    useful = downstream[
        (downstream["corpus"] == corpus) & (downstream["metric"] == find_utility(downstream, corpus))
    ]
    useful = useful.rename(columns={"value": "utility", "trained_on": "arm"})
    is_default = useful["reason"].fillna("").astype(str).str.startswith((UNTRAINED, NO_ROOM))
    useful = useful.assign(utility=useful["utility"].where(~is_default))
    keys = [*CELL_COLUMNS, "seed"]
    pairs = good.merge(useful[[*keys, "utility"]], on=keys)
    by_cell = pairs.groupby(CELL_COLUMNS, sort=False)[["share", "quality", "utility"]]
    return by_cell.agg(lambda values: values.mean(skipna=False)).reset_index()


def compare_at_same_masking(
    scores: pd.DataFrame, downstream: pd.DataFrame, competence: pd.DataFrame, resamples: int = RESAMPLES
) -> pd.DataFrame:
    """Return rows of the table `correlation`: the slope of utility on quality among competent arms, corruption held fixed.

    `competence` is that table. The value is in points of utility per standard deviation of quality within maskings.
    """
    named = competence[(competence["outcome"] == COMPETENT) & (competence["word_class"] == "all")]
    speaking = set(named[["corpus", "arm", "strategy", "ratio"]].itertuples(index=False, name=None))
    rows = []
    for corpus in sorted(set(downstream["corpus"]) if len(scores) and len(downstream) else ()):
        for scope, metric in QUALITY:
            cells = pair_cells(scores, downstream, corpus, scope, metric).dropna(
                subset=["quality", "utility"]
            )
            keys = cells[["corpus", "arm", "strategy", "ratio"]].itertuples(index=False, name=None)
            cells = cells[np.array([key in speaking for key in keys], dtype=bool)]
            about = _name(corpus, scope, metric, find_utility(downstream, corpus))
            rows.append(about | _row(SLOPE, fit_slope(cells, resamples)))
    return pd.DataFrame(rows, columns=COLUMNS["correlation"])


def fit_slope(cells: pd.DataFrame, resamples: int) -> Estimate:
    """Return the slope of utility on quality with a level of its own for each masking; `cells` as in `pair_cells`.

    The interval is over `draw_cells`. A masking with a single arm says nothing of arms and is left out.
    """
    masking = ["strategy", "ratio"]
    table = cells[cells.groupby(masking)["arm"].transform("size") > 1]
    n_arms, at_masking = table["arm"].nunique(), table.groupby(masking).ngroup().to_numpy()
    n_maskings = len(set(at_masking))
    if n_arms < FEWEST_ARMS or n_maskings < 2:
        return undefined(
            len(table), f"{n_arms} competent arms at {n_maskings} maskings: {FEWEST_ARMS} at two are needed"
        )
    weights = draw_cells(table, resamples)
    within = np.eye(n_maskings)[at_masking]  # (cells, maskings)
    quality, utility = (
        _centre_within(table[name].to_numpy(float), weights, within) for name in ("quality", "utility")
    )
    spread = (weights * quality**2).sum(axis=1)
    slopes = (weights * quality * utility).sum(axis=1) / np.where(spread > 1e-18, spread, np.nan)
    slopes *= math.sqrt(spread[0] / len(table))  # per standard deviation of the cells as they are
    if np.isnan(slopes[0]):
        return undefined(len(table), "quality does not vary within a masking")
    return Estimate(float(slopes[0]), *percentile_interval(slopes[1:]), len(table))


def _centre_within(values: np.ndarray, weights: np.ndarray, within: np.ndarray) -> np.ndarray:
    """Return values (cells,) minus the weighted mean of their masking, (resamples, cells)."""
    total = weights @ within
    means = (weights * values) @ within / np.where(total > 0, total, np.nan)
    return values - np.nan_to_num(means) @ within.T


def describe_corpus(cells: pd.DataFrame, n_paired: int, resamples: int, bound: float) -> list[dict]:
    """Return the rows of one corpus and quality score; `cells` has a value everywhere, `n_paired` counts those without."""
    if has_few_levels(cells):
        return _list_undefined(cells, [*CORRELATIONS, "partial_spearman", *SPLINE])
    columns = cells[["quality", "utility", "share"]].to_numpy(dtype=float).T
    reason = _explain_left_out(n_paired, len(cells))
    weights = draw_cells(cells, resamples)
    measures = CORRELATIONS | {"partial_spearman": partial_spearman}
    rows = [
        _decide(name, correlate(measure, columns, weights), bound, reason)
        for name, measure in measures.items()
    ]
    return [*rows, *describe_curve(cells)]


def has_few_levels(cells: pd.DataFrame) -> bool:
    """Return whether there are cells, but at fewer than FEWEST_LEVELS maskings."""
    return 0 < len(cells[["strategy", "ratio"]].drop_duplicates()) < FEWEST_LEVELS


def _list_undefined(cells: pd.DataFrame, statistics: list[str]) -> list[dict]:
    """Return rows without values: a correlation over levels of corruption needs two of them."""
    nothing = undefined(len(cells), "one masking: there are no levels of corruption to compare")
    return [_row(name, nothing, MISSING) for name in statistics]


def _explain_left_out(n_paired: int, n_complete: int) -> str:
    if not n_paired:
        return "no cell has both a quality score and a downstream result"
    if n_paired == n_complete:
        return ""
    return (
        f"{n_paired - n_complete} of {n_paired} cells left out: no score, or no task model could be trained"
    )


def _row(
    statistic: str, estimate: Estimate, decision: str = "", reason: str = "", bound: float = math.nan
) -> dict:
    about = {"statistic": statistic, "n_cells": estimate.n, "bound": bound, "decision": decision}
    return about | asdict(estimate) | {"reason": "; ".join(filter(None, [estimate.reason, reason]))}


def _decide(statistic: str, estimate: Estimate, bound: float, reason: str = "") -> dict:
    has_interval = not math.isnan(estimate.low) and not math.isnan(estimate.high)
    decision = DECISIONS[find_size(estimate.low, estimate.high, (-bound, bound))] if has_interval else MISSING
    return _row(statistic, estimate, decision, reason, bound)


def reason_not_fitted(quality: np.ndarray, utility: np.ndarray) -> str:
    """Return why no curve can be fitted to these cells; nothing where one can."""
    if len(quality) < FEWEST_CELLS or len(np.unique(quality)) < FEWEST_CELLS:
        return f"fewer than {FEWEST_CELLS} cells of different quality"
    line = fit_line(quality, utility)
    if np.ptp(utility) == 0:
        return "utility does not vary"
    return "utility is an exact line of quality" if line.ssr <= 1e-12 * line.centered_tss else ""


def fit_line(quality: np.ndarray, utility: np.ndarray) -> Any:
    """Return the least-squares line, as fitted by statsmodels."""
    from statsmodels.regression.linear_model import OLS

    return OLS(utility, np.stack([np.ones(len(quality)), quality], axis=1)).fit()


def fit_curve(quality: np.ndarray, utility: np.ndarray) -> tuple[Any, np.ndarray]:
    """Return the natural cubic spline with knots at the ends and thirds, which contains every line, and its knots."""
    from statsmodels.regression.linear_model import OLS

    knots = np.quantile(np.unique(quality), np.linspace(0, 1, N_KNOTS))
    return OLS(utility, spline_basis(quality, knots)).fit(), knots


def spline_basis(quality: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return the natural splines (n, knots) that are 1 at one knot and 0 at the others."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(knots, np.eye(len(knots)), bc_type="natural")(quality)


def describe_curve(cells: pd.DataFrame) -> list[dict]:
    """Return the rows of the spline against the straight line; `cells` as in `pair_cells`."""
    quality, utility = (cells[name].to_numpy(dtype=float) for name in ("quality", "utility"))
    if reason := reason_not_fitted(quality, utility):
        nothing = undefined(len(quality), reason)
        return [_row(name, nothing, MISSING) for name in SPLINE]
    line, (curve, _) = fit_line(quality, utility), fit_curve(quality, utility)
    values = float(line.aic - curve.aic), float(curve.compare_f_test(line)[1])
    return [_row(name, Estimate(value, n=len(quality))) for name, value in zip(SPLINE, values, strict=True)]


def correct_rows(rows: Sequence[dict], statistic: str, decisions: tuple[str, str]) -> None:
    """Correct the p of every row of a statistic by Holm, in place, and say what it decides: shown, not shown."""
    tested = [row for row in rows if row["statistic"] == statistic and not np.isnan(row["value"])]
    for row, p in zip(tested, correct([row["value"] for row in tested]), strict=True):
        row |= {"value": p, "decision": decisions[0] if p < ALPHA else decisions[1]}


def describe_overall(cells: dict[str, pd.DataFrame], resamples: int, bound: float) -> list[dict]:
    """Return the rows of all corpora together: pooled, with each corpus left out, and of the mixed models."""
    whole = pd.concat(cells.values())
    if has_few_levels(whole):
        return _list_undefined(whole, [*MEASURES, *(f"{LEFT_OUT}{corpus}" for corpus in cells), *FORMULAS])
    estimates = {name: pool(measure, cells, resamples) for name, measure in MEASURES.items()}
    left_out = leave_each_out(cells, resamples)
    estimates |= {f"{LEFT_OUT}{corpus}": estimate for corpus, estimate in left_out.items()}
    estimates |= {name: fit_mixed_model(formula, cells) for name, formula in FORMULAS.items()}
    return [_decide(name, estimate, bound) for name, estimate in estimates.items()]
