"""A line with one break: found where there is one, and not where there is none."""

import numpy as np
import pytest

from mlm_vs_clm.evidence.threshold import find_threshold, list_places

QUALITY = np.linspace(0, 1, 33)
NOISE = np.random.default_rng(0).normal(0, 0.02, 33)


def test_a_break_is_found_with_the_slopes_on_both_sides_of_it():
    made = find_threshold(QUALITY, 0.2 * QUALITY + 1.5 * np.maximum(0, QUALITY - 0.6) + NOISE, 500)
    assert made.place == pytest.approx(0.6, abs=0.1) and made.p < 0.01
    assert made.slope_below == pytest.approx(0.2, abs=0.15)
    assert made.slope_above == pytest.approx(1.7, abs=0.3)


def test_p_is_about_even_where_there_is_no_break():
    rng = np.random.default_rng(1)
    p = [find_threshold(QUALITY, QUALITY + rng.normal(0, 0.2, 33), 99).p for _ in range(60)]
    assert 0.3 < np.mean(p) < 0.7 and np.mean(np.array(p) < 0.05) <= 0.15


def test_no_break_is_looked_for_at_the_ends_nor_without_cells():
    places = list_places(QUALITY)
    assert places.min() >= 0.15 and places.max() <= 0.85
    assert find_threshold(QUALITY[:5], QUALITY[:5]).reason.startswith("fewer than")
    assert find_threshold(QUALITY, 2 * QUALITY).reason == "utility is an exact line of quality"
    assert find_threshold(QUALITY, np.ones(33)).reason == "utility does not vary"


def test_the_unit_of_quality_does_not_change_the_test():
    utility = QUALITY**2 + NOISE
    one, other = find_threshold(QUALITY, utility, 200), find_threshold(100 * QUALITY, utility, 200)
    assert one.p == other.p and other.place == pytest.approx(100 * one.place)
