"""Agreement, means and differences of arms: worked by hand, by simulation, or as published."""

import numpy as np
import pytest
from simulated_ratings import make_rows

from mlm_vs_clm.ratings.analysis import (
    compare_arms,
    estimate_alpha,
    estimate_mean,
    measure_agreement,
    rate_arms,
)


def test_alpha_equals_krippendorffs_own_example():
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: ordinal alpha = 0.815."""
    rows = """1 2 3 3 2 1 4 1 2 . . .
              1 2 3 3 2 2 4 1 2 5 . 3
              . 3 3 3 2 3 4 2 2 5 1 .
              1 2 3 3 2 4 4 1 2 5 1 ."""
    table = [[float(x) if x != "." else np.nan for x in row.split()] for row in rows.splitlines()]
    found = estimate_alpha(np.array(table).T, np.arange(12))
    assert round(found["value"], 3) == 0.815
    assert found["low"] < 0.815 < found["high"]
    assert (found["n_items"], found["n_raters"], found["n_ratings"]) == (11, 4, 40)


def test_agreement_is_one_for_equal_raters_near_zero_for_random_ones_and_else_not_defined():
    draw = np.random.default_rng(0)
    one = draw.integers(1, 6, size=(200, 1)).astype(float)
    assert estimate_alpha(np.hstack([one, one]), np.arange(200))["value"] == pytest.approx(1)
    assert (
        abs(estimate_alpha(draw.integers(1, 6, size=(400, 3)).astype(float), np.arange(400))["value"]) < 0.08
    )
    alone = estimate_alpha(one, np.arange(200))
    assert "two raters" in alone["reason"] and np.isnan(alone["value"])
    assert estimate_alpha(np.full((5, 3), 4.0), np.arange(5))["reason"] == "the ratings do not vary"
    assert estimate_alpha(np.hstack([one, one]), np.zeros(200))["reason"] == "one document has no interval"


def test_a_mean_is_worked_by_hand_and_its_interval_has_its_reason():
    assert estimate_mean(np.array([[1.0, 3.0], [np.nan, 5.0]]))["value"] == 3
    same = estimate_mean(np.full((4, 3), 2.0))
    assert (same["value"], same["low"], same["high"], same["n"]) == (2, 2, 2, 12)
    assert "one rater" in estimate_mean(np.array([[1.0], [3.0]]))["reason"]
    assert np.isnan(estimate_mean(np.array([[1.0, 2.0]]))["low"])
    assert estimate_mean(np.full((2, 2), np.nan))["reason"] == "nothing was rated"


def test_the_interval_of_a_mean_covers_the_truth_at_its_rate():
    """Items and raters are both drawn anew, so 95 % intervals must cover the mean of the population."""
    draw, covered = np.random.default_rng(1), 0
    for _ in range(100):
        items, raters = draw.normal(0, 0.5, (12, 1)), draw.normal(0, 0.3, (1, 6))
        ratings = 3 + items + raters + draw.normal(0, 0.5, (12, 6))
        found = estimate_mean(ratings)
        covered += found["low"] <= 3 <= found["high"]
    assert 88 <= covered <= 100


def test_the_mixed_model_equals_the_analysis_of_variance_of_a_balanced_design():
    """A difference is that of the means, its variance 2 MS(documents x arms) / (documents x raters)."""
    rows = make_rows(0.7)
    table = compare_arms(rows).set_index(["first", "second"])
    means = rows.groupby("arm")["rating"].mean()
    items = rows.pivot_table(index="document", columns="arm", values="rating").to_numpy()
    rest = items - items.mean(axis=0) - items.mean(axis=1, keepdims=True) + items.mean()
    square = 4 * (rest**2).sum() / (2 * 7)
    row = table.loc[("a", "b")]
    assert row["difference"] == pytest.approx(means["a"] - means["b"], abs=1e-6)
    assert (row["high"] - row["low"]) / 3.92 == pytest.approx((2 * square / 32) ** 0.5, rel=5e-3)
    assert (table["p_holm"] >= table["p"]).all()


def test_the_mixed_model_finds_an_effect_and_rarely_one_that_is_not_there():
    tables = [compare_arms(make_rows(1.2, seed=seed)).set_index(["first", "second"]) for seed in range(12)]
    found = [table.loc[("a", "b"), "p_holm"] < 0.05 for table in tables]
    false = [table.loc[("a", "c"), "p_holm"] < 0.05 for table in tables]
    assert sum(found) >= 10 and sum(false) <= 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rows: rows[rows["rater"] == "r0"], "one rater"),
        (lambda rows: rows.assign(rating=3.0), "do not vary"),
        (lambda rows: rows.assign(rating=rows["rating"].where(rows["arm"] != "b")), "no rating of arm b"),
    ],
)
def test_where_no_model_can_be_fitted_each_row_has_the_reason(change, reason):
    rows = change(make_rows(1.0))
    table = compare_arms(rows)
    assert len(table) == 3 and table["difference"].isna().all()
    assert table["reason"].str.contains(reason).all()
    assert len(rate_arms(rows)) == 6 and len(measure_agreement(rows)) == 2
