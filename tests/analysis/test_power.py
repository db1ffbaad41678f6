"""What a study could detect, against statsmodels, and by hand on Fisher's scale."""

import numpy as np
import pytest
from statsmodels.stats.power import TTestPower

from mlm_vs_clm.analysis.power import (
    count_cells_needed,
    smallest_detectable_correlation,
    smallest_detectable_effect,
)
from mlm_vs_clm.stats import Estimate


@pytest.mark.parametrize("n", [20, 150])
def test_detectable_effect_agrees_with_statsmodels(n):
    theirs = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    assert smallest_detectable_effect(1 / np.sqrt(n), n) == pytest.approx(theirs, rel=0.02)
    assert np.isnan(smallest_detectable_effect(0.1, 1))


def test_a_detectable_correlation_follows_from_the_width_of_an_interval():
    assert smallest_detectable_correlation(-0.2, 0.2, 50) == pytest.approx(
        smallest_detectable_effect(0.2 / 1.959964, 50)
    )


def test_cells_needed_by_hand():
    ends = np.tanh([-0.2, 0.4])  # around 0.1 on Fisher's scale, arms of 0.3
    found = count_cells_needed(
        Estimate(float(np.tanh(0.1)), *map(float, ends), 43), bound=float(np.tanh(0.25))
    )
    assert (found[0].value, found[1]) == (3 + 40 * 4, True)
    ends = np.tanh([0.8, 1.2])
    found = count_cells_needed(
        Estimate(float(np.tanh(1.0)), *map(float, ends), 43), bound=float(np.tanh(0.6))
    )
    assert (found[0].value, found[1]) == (3 + 10, False)


def test_no_number_of_cells_decides_an_estimate_on_the_bound():
    needed, _ = count_cells_needed(Estimate(0.5, 0.3, 0.7, 40), bound=0.5)
    assert np.isnan(needed.value) and "on the bound" in needed.reason
