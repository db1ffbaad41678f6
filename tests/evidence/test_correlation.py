"""Quality against utility: known truths are decided as they should be at stated rates, and what is missing says why."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import patsy
import pytest
import scipy.stats
import statsmodels.api as sm
import statsmodels.formula.api as smf
from correlation_tables import make_tables

from mlm_vs_clm.correlations import correlate, spearman
from mlm_vs_clm.evidence.correlation import (
    BENT,
    MISSING,
    NOT_STRONG,
    STRAIGHT,
    STRONG,
    UNDECIDED,
    compare_at_same_masking,
    correlate_tables,
    describe_corpus,
    describe_overall,
    fit_curve,
    fit_slope,
    pair_cells,
    reason_not_fitted,
)
from mlm_vs_clm.evidence.pooling import (
    FORMULAS,
    describe_fit,
    draw_cells,
    fit_mixed_model,
    leave_each_out,
    pool,
    standardise,
)
from mlm_vs_clm.evidence.tables import OVERALL

REPEATS = 20


def make_cells(quality, utility, share=None):
    """Return cells of 7 arms at 30 maskings."""
    n = len(quality)
    share = np.linspace(0.1, 0.9, n) if share is None else share
    names = {"arm": [f"arm {i % 7}" for i in range(n)], "ratio": [(1 + i % 10) / 10 for i in range(n)]}
    names |= {"strategy": [("random", "stopwords", "entities")[i % 3] for i in range(n)]}
    return pd.DataFrame(names | {"share": share, "quality": quality, "utility": utility})


def describe(quality, utility, share=None):
    cells = make_cells(quality, utility, share)
    rows = describe_corpus(cells, len(cells), resamples=200, bound=0.5)
    return {row["statistic"]: row for row in rows}


def correlated(rng, n, rho):
    x = rng.normal(size=n)
    return x, rho * x + np.sqrt(1 - rho**2) * rng.normal(size=n)


@pytest.mark.parametrize(
    ("rho", "n", "decision", "least"),
    [
        (0.9, 40, STRONG, 0.9),
        (-0.9, 40, STRONG, 0.9),
        (0.0, 150, NOT_STRONG, 0.95),
        (0.5, 40, UNDECIDED, 0.85),
    ],
)
def test_a_known_correlation_is_decided_at_its_rate(rho, n, decision, least):
    rng = np.random.default_rng(1)
    found = [describe(*correlated(rng, n, rho))["spearman"]["decision"] for _ in range(REPEATS)]
    assert found.count(decision) >= least * REPEATS


def draw_effects(rng, levels, rho):
    x, y = correlated(rng, len(np.unique(levels)), rho)
    return np.stack([x, y])[:, levels]


def test_intervals_hold_the_correlation_where_cells_share_arms_and_maskings():
    """With cells drawn as if they were independent, 55 of 100 did."""
    rng = np.random.default_rng(3)
    arms, maskings = np.repeat(np.arange(12), 8), np.tile(np.arange(8), 12)
    cells = make_cells(np.zeros(96), np.zeros(96)).assign(arm=arms, ratio=maskings, strategy="random")
    weights = draw_cells(cells, 400)
    inside = 0
    for _ in range(100):
        parts = [draw_effects(rng, levels, 0) for levels in (arms, maskings, np.arange(96))]
        found = correlate(spearman, 0.5 * parts[0] + parts[1] + 0.3 * parts[2], weights)
        inside += found.low <= 0 <= found.high
    assert inside >= 88


@pytest.mark.parametrize(
    ("quality", "utility", "reason"),
    [
        (np.full(20, 0.3), np.arange(20.0), "a variable does not vary"),
        (np.arange(20.0), np.full(20, 0.3), "a variable does not vary"),
        (np.array([0.2]), np.array([0.4]), "one masking"),
        (np.array([]), np.array([]), "fewer than three cells"),
    ],
)
def test_what_cannot_be_computed_is_missing_with_its_reason(quality, utility, reason):
    for name, row in describe(quality, utility).items():
        assert np.isnan(row["value"]) and row["reason"], name
        assert row["decision"] in (MISSING, ""), name
    assert reason in describe(quality, utility)["spearman"]["reason"]


def test_one_masking_has_no_levels_of_corruption():
    cells = make_cells(np.arange(20.0), np.arange(20.0)).assign(strategy="random", ratio=0.5)
    rows = [*describe_corpus(cells, 20, 0.5, 50), *describe_overall({"a": cells}, 0.5, 50)]
    assert all(np.isnan(row["value"]) and "one masking" in row["reason"] for row in rows)
    assert {row["decision"] for row in rows} == {MISSING}
    statistics = {"spearman", "kendall", "partial_spearman", "spline_p", *FORMULAS}
    assert {row["statistic"] for row in rows} >= statistics


def test_a_share_that_is_constant_leaves_the_raw_correlation_alone():
    rows = describe(np.arange(20.0), np.arange(20.0) ** 2, np.full(20, 0.5))
    assert rows["spearman"]["decision"] == STRONG
    assert rows["partial_spearman"]["decision"] == MISSING


def corpora_of(rng, rhos, n=40):
    return {name: make_cells(*correlated(rng, n, rho)) for name, rho in rhos.items()}


def test_the_pooled_correlation_is_that_of_ranks_standardised_within_corpus():
    cells = corpora_of(np.random.default_rng(5), {"a": 0.8, "b": 0.1, "c": -0.3})
    ranks = [part[["quality", "utility"]].rank().apply(scipy.stats.zscore) for part in cells.values()]
    expected = pd.concat(ranks).corr().iloc[0, 1]
    assert pool(spearman, cells, 50).value == pytest.approx(expected)


def test_the_corpus_that_makes_the_correlation_is_found_by_leaving_it_out():
    rng = np.random.default_rng(6)
    cells = corpora_of(rng, {"a": 0.0, "b": 0.0, "driver": 0.98}, n=120)
    without = leave_each_out(cells, 200)
    assert without["driver"].high < 0.35 < min(without["a"].low, without["b"].low)


def test_a_corpus_without_a_correlation_is_named_and_one_corpus_is_not_pooled():
    cells = corpora_of(np.random.default_rng(7), {"a": 0.5, "b": 0.5, "c": 0.5})
    cells["c"]["quality"] = 1.0
    assert pool(spearman, cells, 50).reason == "without c: not defined there"
    alone = pool(spearman, {"a": cells["a"]}, 50)
    assert np.isnan(alone.value) and "fewer than two corpora" in alone.reason


def test_the_mixed_model_finds_a_slope_through_levels_of_strategies():
    rng = np.random.default_rng(8)
    cells = corpora_of(rng, {"a": 0.7, "b": 0.7, "c": 0.7}, n=90)
    for part in cells.values():
        part["utility"] += part["strategy"].map({"random": 0.0, "stopwords": 2.0, "entities": -2.0})
    for formula in FORMULAS.values():
        found = fit_mixed_model(formula, cells)
        expected = np.mean([0.7 / part["utility"].std() for part in cells.values()])
        assert found.low < expected < found.high and found.n == 270


def test_a_mixed_model_of_too_little_says_so_and_warns_nobody():
    rng, (slope, given_share) = np.random.default_rng(9), FORMULAS.values()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alone = fit_mixed_model(slope, corpora_of(rng, {"a": 0.5}))
        tiny = fit_mixed_model(given_share, corpora_of(rng, {"a": 0.5, "b": 0.5}, n=3))
    assert np.isnan(alone.value) and "fewer than two corpora" in alone.reason
    assert np.isnan(tiny.value) and "8 cells" in tiny.reason


def test_a_fit_that_did_not_converge_is_missing():
    found = describe_fit(SimpleNamespace(converged=False), [], 30)
    assert np.isnan(found.value) and found.reason == "the model did not converge"


def find(rows, statistic, corpus="plots", metric="rougeL"):
    keys = {"statistic": statistic, "corpus": corpus, "quality_metric": metric}
    (row,) = [row for row in rows if all(row[key] == value for key, value in keys.items())]
    return row


@pytest.fixture(scope="module")
def rows_of_two():
    """Return the tables of two corpora in which utility is quality, and the rows made of them."""
    tables = make_tables(lambda quality: quality)
    return tables, correlate_tables(*tables, 0.5, 50)


def test_a_bent_relation_beats_the_straight_line_and_a_straight_one_does_not(rows_of_two):
    assert find(rows_of_two[1], "spline_p")["decision"] == STRAIGHT
    bent = make_tables(lambda quality: 0.3 + 0.4 * (quality > 0.6), ("plots",))
    rows = correlate_tables(*bent, 0.5, 50)
    assert find(rows, "spline_p")["decision"] == BENT and find(rows, "spline_aic_gain")["value"] > 0


def test_nan_scores_are_left_out_and_counted_and_a_metric_without_rows_is_missing():
    scores, downstream = make_tables(lambda quality: quality, ("plots",))
    scores = scores[scores["metric"] == "rougeL"].reset_index(drop=True)
    scores.loc[0, "value"] = np.nan
    rows = correlate_tables(scores, downstream, 0.5, 50)
    row = find(rows, "spearman")
    assert row["n_cells"] == 39 and row["reason"].startswith("1 of 40 cells left out: no score")
    absent = find(rows, "spearman", metric="exact_match")
    assert absent["decision"] == MISSING and "no cell has both" in absent["reason"]


def test_a_corpus_without_downstream_results_is_missing_and_not_dropped(rows_of_two):
    (scores, downstream), _ = rows_of_two
    rows = correlate_tables(scores, downstream[downstream["corpus"] == "abstracts"], 0.5, 50)
    row = find(rows, "spearman")
    assert (row["decision"], row["n_cells"], row["utility_metric"]) == (MISSING, 0, "")
    assert correlate_tables(pd.DataFrame(), downstream, 0.5, 50) == []


def test_every_missing_value_has_a_reason(rows_of_two):
    rows = pd.DataFrame(rows_of_two[1])
    assert (rows.loc[rows["value"].isna(), "reason"] != "").all()
    assert set(rows["corpus"]) == {"abstracts", "plots", OVERALL}


def test_the_spline_is_patsys_natural_cubic_spline():
    quality = np.random.default_rng(0).uniform(0, 1, 60)
    utility = np.sin(5 * quality) + np.random.default_rng(1).normal(0, 0.2, 60)
    curve, _ = fit_curve(quality, utility)
    theirs = sm.OLS(utility, np.asarray(patsy.dmatrix("cr(x, df=4) - 1", {"x": quality}))).fit()
    assert curve.fittedvalues == pytest.approx(theirs.fittedvalues)
    assert curve.aic == pytest.approx(theirs.aic)
    rows = describe(quality, utility)
    assert rows["spline_p"]["value"] < 0.001 and rows["spline_aic_gain"]["value"] > 10


@pytest.mark.parametrize(
    ("quality", "utility", "reason"),
    [
        (np.arange(7.0), np.arange(7.0) ** 2, "fewer than 8 cells"),
        (np.repeat([0.1, 0.2], 10), np.arange(20.0), "fewer than 8 cells of different quality"),
        (np.arange(20.0), np.full(20, 0.5), "does not vary"),
        (np.arange(20.0), 3 * np.arange(20.0), "exact line"),
        (np.arange(20.0), np.arange(20.0) ** 2, ""),
    ],
)
def test_cells_to_which_no_curve_can_be_fitted_have_a_reason(quality, utility, reason):
    found = reason_not_fitted(quality, utility)
    assert reason in found and bool(found) == bool(reason)


def test_a_cell_measured_again_is_not_a_second_finding(rows_of_two):
    once, rows = rows_of_two
    again = [
        pd.concat([table, table[table["arm" if "arm" in table else "trained_on"] == "mlm"].assign(seed=7)])
        for table in once
    ]
    assert len(again[0]) > len(once[0])
    repeated = correlate_tables(*again, 0.5, 50)
    pd.testing.assert_frame_equal(pd.DataFrame(rows), pd.DataFrame(repeated))


def test_a_cell_has_the_means_of_its_seeds_and_none_where_one_is_missing():
    names = {"corpus": "plots", "strategy": "random", "ratio": 0.5}
    cells = pd.DataFrame([names | {"arm": arm, "seed": seed} for arm in ("mlm", "clm") for seed in (0, 1)])
    scores = cells.assign(scope="fills", metric="exact_match", share=0.5, value=[0.25, 0.75, 0.5, np.nan])
    useful = cells.rename(columns={"arm": "trained_on"}).assign(task="genres", metric="micro_f1", reason="")
    found = pair_cells(scores, useful.assign(value=[0.5, 1.0, 0.5, 0.5]), "plots", "fills", "exact_match")
    assert list(found["arm"]) == ["mlm", "clm"]
    assert list(found["quality"])[:1] == [0.5] and np.isnan(found["quality"].iloc[1])
    assert list(found["utility"]) == [0.75, 0.5]


def make_arms(slope, levels, n_arms=6, n_maskings=5, noise=0.01, seed=0):
    """Return cells whose utility follows quality by `slope` between arms, and by `levels` between maskings."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(0, 0.1, n_arms)
    rows = [
        {"arm": f"a{arm}", "strategy": f"s{masking}", "ratio": 1.0, "seed": 0}
        | {"quality": skill[arm] + 0.5 * masking + rng.normal(0, noise)}
        | {"utility": slope * skill[arm] + levels * masking + rng.normal(0, noise)}
        for arm in range(n_arms)
        for masking in range(n_maskings)
    ]
    return pd.DataFrame(rows)


def test_the_slope_at_the_same_masking_is_that_of_dummies():
    cells = make_arms(0.5, 1.0)
    theirs = smf.ols("utility ~ quality + C(strategy)", cells).fit().params["quality"]
    spread = (cells["quality"] - cells.groupby("strategy")["quality"].transform("mean")).std(ddof=0)
    ours = fit_slope(cells, 200)
    assert ours.value == pytest.approx(theirs * spread) and ours.n == 30 and ours.low > 0


@pytest.mark.parametrize(("slope", "sign"), [(-0.5, -1), (0.5, 1)])
def test_levels_of_maskings_do_not_hide_what_arms_do(slope, sign):
    found = fit_slope(make_arms(slope, 1.0), 200)
    assert np.sign([found.low, found.high]).tolist() == [sign, sign]


def test_too_few_arms_have_no_slope():
    assert "2 competent arms" in fit_slope(make_arms(1, 1, n_arms=2), 50).reason


def test_only_competent_arms_have_a_slope():
    cells = make_arms(0.5, 1.0).assign(
        corpus="abstracts", share=0.5, reason="", scope="document", metric="rougeL"
    )
    scores = cells.rename(columns={"quality": "value"}).drop(columns="utility")
    downstream = (
        cells.rename(columns={"utility": "value", "arm": "trained_on"})
        .drop(columns=["quality", "share", "scope"])
        .assign(metric="f1", task="ner")
    )
    competence = cells[["corpus", "arm", "strategy", "ratio"]].assign(word_class="all", outcome="competent")
    competence.loc[competence["arm"] == "a0", "outcome"] = "not competent"
    rows = compare_at_same_masking(scores, downstream, competence, 50).set_index("quality_metric")
    assert rows.loc["rougeL", "n_cells"] == 25 and pd.isna(rows.loc["exact_match", "value"])


def test_where_no_variance_is_left_the_interval_is_that_of_least_squares_and_nobody_is_warned():
    """It must not depend on the last bits of a processor, as the curvature of a likelihood at a variance of zero does."""
    cells = corpora_of(np.random.default_rng(9), {"a": 0.5, "b": 0.5})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit_mixed_model(FORMULAS["mixed_slope"], cells)
    assert found.reason == "singular: no variance between slopes of corpora and levels of strategies"
    table = pd.concat([standardise(of_corpus) for of_corpus in cells.values()])
    fit = smf.ols(FORMULAS["mixed_slope"], table).fit(use_t=False)
    assert 0 < found.value == pytest.approx(fit.params["quality"], abs=1e-5) and found.value < 1
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int().loc["quality"]), abs=1e-5)


def test_a_slope_needs_no_share_that_varies_and_none_that_is_quality_itself():
    rng = np.random.default_rng(3)
    cells = corpora_of(rng, {"a": 0.5, "b": 0.6})
    for share, formula, is_made in (
        (lambda table: 0.5, "utility ~ quality", True),
        (lambda table: 2 * table["quality"], "utility ~ quality + share", False),
    ):
        changed = {name: table.assign(share=share(table)) for name, table in cells.items()}
        estimate = fit_mixed_model(formula, changed)
        assert np.isfinite(estimate.value) == is_made
        assert (
            is_made or estimate.reason == "quality and share cannot be told apart: one follows from the other"
        )
