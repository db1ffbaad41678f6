"""Splines and breaks: equal to other implementations, found where they are, and not found where they are not."""

import numpy as np
import patsy
import pytest
import statsmodels.api as sm

from mlm_vs_clm.analysis.correlation_shapes import (
    SHAPES,
    explain,
    find_crossings,
    find_places,
    find_sufficient_quality,
    find_threshold,
    fit_curve,
    why_not,
)
from mlm_vs_clm.stats import draw_cells

QUALITY = np.random.default_rng(0).uniform(0, 1, 60)
TRUTHS = {
    "plateau": lambda quality: np.minimum(quality, 0.4),
    "floor": lambda quality: np.maximum(quality, 0.6),
    "step": lambda quality: 0.5 * (quality > 0.5),
}
PLACES = {"plateau": 0.4, "floor": 0.6, "step": 0.5}


def test_the_spline_is_patsys_natural_cubic_spline():
    utility = np.sin(5 * QUALITY) + np.random.default_rng(1).normal(0, 0.2, 60)
    curve = fit_curve(QUALITY, utility)
    columns = patsy.dmatrix("cr(x, df=4) - 1", {"x": QUALITY})
    theirs = sm.OLS(utility, np.asarray(columns)).fit()
    mean, low, high = curve.predict(QUALITY)
    assert mean == pytest.approx(theirs.fittedvalues)
    assert curve.fit.aic == pytest.approx(theirs.aic) and (low < mean).all() and (mean < high).all()
    assert curve.p < 0.001 and curve.aic_gain > 10


def test_what_a_break_explains_is_that_of_least_squares_on_every_resample():
    rng = np.random.default_rng(2)
    utility, weights = rng.normal(size=12), draw_cells(12, 5, 0)
    columns = rng.normal(size=(12, 3))
    ours = explain(columns, utility, weights)
    for row, values in zip(weights.astype(int), ours, strict=True):
        drawn = np.repeat(utility, row)
        for column, value in zip(columns.T, values, strict=True):
            fit = sm.OLS(drawn, sm.add_constant(np.repeat(column, row))).fit()
            assert value == pytest.approx(fit.ess)


def test_places_leave_three_cells_on_each_side():
    assert list(find_places(np.array([8.0, 1, 2, 3, 4, 5, 6, 7]))) == [3.5, 4.5, 5.5]


def test_every_shape_has_a_truth():
    assert set(TRUTHS) == set(SHAPES)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_break_is_found_near_its_place_in_its_shape(shape):
    rng, found = np.random.default_rng(3), []
    for _ in range(10):
        found.append(find_threshold(QUALITY, TRUTHS[shape](QUALITY) + rng.normal(0, 0.03, 60), 200, 0))
    assert [one.shape for one in found].count(shape) >= 9
    assert np.median([one.place.value for one in found]) == pytest.approx(PLACES[shape], abs=0.05)
    covered = [one.place.low - 0.03 <= PLACES[shape] <= one.place.high + 0.03 for one in found]
    assert sum(covered) >= 8 and all(one.p < 0.05 for one in found)


def test_a_straight_line_is_refused_no_more_often_than_stated():
    rng = np.random.default_rng(4)
    p = [find_threshold(QUALITY, QUALITY + rng.normal(0, 0.3, 60), 200, 0).p for _ in range(60)]
    assert np.mean(np.array(p) < 0.05) <= 0.13 and 0.3 < np.mean(p) < 0.7


def test_the_quality_that_suffices_is_where_the_line_reaches_the_goal():
    utility = QUALITY + np.random.default_rng(5).normal(0, 0.02, 60)
    found = find_sufficient_quality(QUALITY, utility, 0.7, 200, 0)
    assert found.value == pytest.approx(0.7, abs=0.03) and found.low < found.value < found.high
    assert "ends below" in find_sufficient_quality(QUALITY, utility, 2.0, 50, 0).reason
    assert "lowest" in find_sufficient_quality(QUALITY, utility, -1.0, 50, 0).reason
    assert "no interval" in find_sufficient_quality(QUALITY, utility, float(QUALITY.max()), 200, 0).reason


def test_crossings_by_hand():
    grid, curves = np.arange(4.0), np.array([[0, 1, 2, 3], [2, 0, 2, 2], [3, 3, 3, 3], [0, 3, 3, 0]])
    found = find_crossings(curves, grid, 2)
    assert list(found[:3]) == [2, 2, 0] and np.isnan(found[3])


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
def test_what_no_shape_can_be_fitted_to_is_told(quality, utility, reason):
    told = why_not(quality, utility)
    assert reason in told and bool(told) == bool(reason)


def test_a_unit_of_measure_changes_no_place():
    utility = TRUTHS["plateau"](QUALITY) + np.random.default_rng(6).normal(0, 0.03, 60)
    ours = find_threshold(100 * QUALITY, utility, 100, 0)
    tiny = find_threshold(0.001 * QUALITY + 5, utility, 100, 0)
    assert (tiny.shape, tiny.p) == (ours.shape, ours.p)
    assert (tiny.place.value - 5) * 1e5 == pytest.approx(ours.place.value, abs=1e-6)
