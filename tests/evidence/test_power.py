"""What a study could detect, against statsmodels; what would settle a comparison, by hand and by doing it."""

import math

import numpy as np
import pytest
from scipy.stats import t as student
from statsmodels.stats.power import TTestPower

from mlm_vs_clm.evidence.power import UNITS, describe_needs, smallest_detectable_effect
from mlm_vs_clm.stats import PairedDifference


@pytest.mark.parametrize("n", [20, 150])
def test_detectable_effect_agrees_with_statsmodels(n):
    theirs = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    assert smallest_detectable_effect(1 / np.sqrt(n), n - 1) == pytest.approx(theirs, rel=0.02)
    assert np.isnan(smallest_detectable_effect(0.1, 0))


def over_runs(difference, deviation, shared=0.0, runs=3):
    error = math.sqrt(deviation**2 / runs + shared**2)
    return PairedDifference(difference, 0, 0, 0.2, error, 100, runs, deviation, runs - 1)


def test_runs_needed_are_those_at_which_the_interval_leaves_zero():
    needed = int(describe_needs(over_runs(1.0, 1.2), 0.1).split()[1])
    half = [student.ppf(0.975, runs - 1) * 1.2 / math.sqrt(runs) for runs in (needed - 1, needed)]
    assert half[0] > 1.0 > half[1]
    assert describe_needs(over_runs(1.0, 0.1), 0.1) == "about 5 runs"  # fewer never settle
    corrected = int(describe_needs(over_runs(1.0, 1.2), 0.1, tests=20).split()[1])
    assert corrected > needed


def test_equality_needs_the_interval_inside_the_margin():
    needed = int(describe_needs(over_runs(0.1, 1.2), 1.1).split()[1])
    assert student.ppf(0.975, needed - 1) * 1.2 / math.sqrt(needed) < 1.0


def test_noise_of_documents_is_told_in_documents():
    assert "documents" in describe_needs(over_runs(0.5, 0.3, shared=0.5), 0.1)
    one = PairedDifference(0.5, -0.1, 1.1, 0.1, 0.3, 100, degrees=99.0)
    n = math.ceil(100 * (0.3 * student.ppf(0.975, 99) / 0.5) ** 2)
    told = f"5 runs of about {n} {UNITS} (training noise is unknown with one run)"
    assert describe_needs(one, 0.1) == told
    assert describe_needs(over_runs(0.001, 3.0), 0.002) == "more than 100 runs"
    far = PairedDifference(0.001, -0.6, 0.6, 1.0, 0.3, 100, degrees=99.0)
    assert f"more than 100 times as many {UNITS}" in describe_needs(far, 0.002)
