"""All corpora together: a pooled rank correlation, each corpus left out, and a mixed model."""

import warnings
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pandas as pd

from ..correlations import partial_spearman, spearman
from ..stats import FEWEST_CELLS, Estimate, percentile_interval, undefined

MEASURES = {"pooled_spearman": spearman, "pooled_partial_spearman": partial_spearman}
FORMULAS = {"mixed_slope": "utility ~ quality", "mixed_slope_given_share": "utility ~ quality + share"}
MEASURED = ["quality", "utility", "share"]
SLOPES, LEVELS = "slopes of corpora", "levels of strategies"  # that may vary
AT_ZERO = 1e-6  # a variance below it
SEARCHES = ["powell", "nm"]  # those by gradients stop short of the best fit where a variance is near zero


def draw_cells(cells: pd.DataFrame, n_resamples: int) -> np.ndarray:
    """Return how often each cell is drawn in each resample, (1 + n_resamples, cells); the first row has each once.

    Arms and maskings are drawn, each as a whole, and a cell as often as its arm times its masking: cells of one arm or
    one masking are no new evidence (the pigeonhole bootstrap of Owen, 2007, doi:10.1214/07-AOAS122).
    """
    rng = np.random.default_rng(0)
    weights = np.ones((1 + n_resamples, len(cells)))
    for names in (["arm"], ["strategy", "ratio"]):
        codes = cells.groupby(names).ngroup().to_numpy()
        n = max(1, len(set(codes)))
        weights[1:] *= rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)[:, codes]
    return weights


def pool(measure: Callable, cells: dict[str, pd.DataFrame], n_resamples: int) -> Estimate:
    """Return the mean of the corpora's coefficients by their numbers of cells, with its percentile interval.

    It is the correlation of what is ranked and standardised within corpus. `cells` has for each corpus a table of arm,
    strategy, ratio, quality, utility and share. An arm or a masking is drawn in every corpus at once. A corpus without
    a coefficient is named and left out.
    """
    few = "fewer than two corpora with a correlation"
    if not cells:
        return undefined(0, few)
    weights = draw_cells(pd.concat(cells.values()), n_resamples)
    ends = np.cumsum([len(table) for table in cells.values()])
    of_corpora = zip(cells.items(), np.split(weights, ends[:-1], axis=1), strict=True)
    coefficients = {
        corpus: measure(drawn, *table[MEASURED].to_numpy(dtype=float).T)
        for (corpus, table), drawn in of_corpora
        if len(table) >= 3
    }
    defined = {corpus: values for corpus, values in coefficients.items() if not np.isnan(values[0])}
    sizes = [len(cells[corpus]) for corpus in defined]
    if len(defined) < 2:
        return undefined(sum(sizes), few)
    pooled = np.average(np.stack(list(defined.values())), axis=0, weights=sizes)
    left_out = sorted(set(cells) - set(defined))
    reason = f"without {', '.join(left_out)}: not defined there" if left_out else ""
    return Estimate(float(pooled[0]), *percentile_interval(pooled[1:]), sum(sizes), reason)


def leave_each_out(cells: dict[str, pd.DataFrame], n_resamples: int) -> dict[str, Estimate]:
    """Return the pooled rank correlation without each corpus, by the corpus left out."""
    return {
        left_out: pool(spearman, {name: cells[name] for name in cells if name != left_out}, n_resamples)
        for left_out in cells
    }


def fit_mixed_model(formula: str, cells: dict[str, pd.DataFrame]) -> Estimate:
    """Return the slope of utility on quality, in standard deviations within corpus, with a normal 95 % interval.

    Groups are corpora, each with a slope of its own (standardising removed their levels), and within them strategies,
    each with a level of its own. A model that does not converge is NaN with its reason; with a variance at zero the slope
    stands and the reason starts with `singular`. Such a variance is left out and the rest is fitted again: the likelihood
    has no curvature there, so that an interval would depend on the last bits of a processor.
    """
    import statsmodels.formula.api as smf

    used = [name for name in MEASURED if name in formula]
    varied = {
        corpus: of_corpus
        for corpus, of_corpus in cells.items()
        if len(of_corpus) >= FEWEST_CELLS and (of_corpus[used].std() > 0).all()
    }
    if len(varied) < 2:
        reason = f"fewer than two corpora with {FEWEST_CELLS} cells that vary"
        return undefined(sum(map(len, cells.values())), reason)
    tables = [standardise(of_corpus).assign(corpus=corpus) for corpus, of_corpus in varied.items()]
    table = pd.concat(tables, ignore_index=True)
    explaining = [name for name in used if name != "utility"]
    if np.linalg.matrix_rank(table[explaining]) < len(explaining):
        return undefined(
            len(table), f"{' and '.join(explaining)} cannot be told apart: one follows from the other"
        )
    kept, at_zero = [SLOPES, LEVELS], [SLOPES]
    try:
        while kept and at_zero:
            fit, at_zero = fit_model(formula, table, kept)
            kept = [name for name in kept if name not in at_zero]
        if not kept:
            fit = smf.ols(formula, table).fit(use_t=False)
    except ValueError as error:
        return undefined(len(table), f"the model could not be fitted: {error}")
    return describe_fit(fit, [name for name in (SLOPES, LEVELS) if name not in kept], len(table))


def fit_model(formula: str, table: pd.DataFrame, kept: Collection[str]) -> tuple[Any, list[str]]:
    """Return the fit of a mixed model (statsmodels, REML) with the variances of `kept`, and which of these are at zero."""
    import statsmodels.formula.api as smf

    model = smf.mixedlm(
        formula,
        table,
        groups="corpus",
        re_formula="0 + quality" if SLOPES in kept else None,
        vc_formula={"strategy": "0 + C(strategy)"} if LEVELS in kept else None,
        use_sparse=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # describe_fit reports both
        try:
            fit = model.fit(reml=True, method=SEARCHES)
        except np.linalg.LinAlgError:  # of a variance of exactly zero
            return None, [next(iter(kept))]
    variances = {SLOPES: float(fit.cov_re.iloc[0, 0])} if SLOPES in kept else {}
    variances |= {LEVELS: float(fit.vcomp[0])} if LEVELS in kept else {}
    return fit, [name for name, variance in variances.items() if variance < AT_ZERO]


def describe_fit(fit: Any, at_zero: Collection[str], n: int) -> Estimate:
    """Return the slope of a fitted model, or why there is none; `at_zero` are the variances that were left out."""
    if not getattr(fit, "converged", True):  # least squares always do
        return undefined(n, "the model did not converge")
    # Where the search ends within its tolerance depends on the processor.
    slope, low, high = (
        round(float(number), 5) for number in (fit.params["quality"], *fit.conf_int().loc["quality"])
    )
    if np.isnan([low, high]).any():
        return undefined(n, "the model is singular: its slope has no interval")
    reason = f"singular: no variance between {' and '.join(at_zero)}" if at_zero else ""
    return Estimate(slope, low, high, n, reason)


def standardise(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with quality, utility and share at mean 0 and standard deviation 1."""
    values = cells[MEASURED]
    return cells.assign(**((values - values.mean()) / values.std()))
