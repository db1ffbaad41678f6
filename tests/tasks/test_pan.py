"""PAN's measures, worked by hand."""

import math

import numpy as np
import pytest

from mlm_vs_clm.tasks import pan

SAME = np.array([1, 1, 1, 0, 0])
SCORES = np.array([0.9, 0.5, 0.2, 0.7, 0.1])


def value_of(measure, same, scores):
    """Return a measure of problems that count once each."""
    (value,) = measure(same, scores, np.ones((1, len(same))))
    return value


def test_measures_by_hand():
    # Right: 0.9 and 0.1. No answer: 0.5. tp = 1, fp = 1 (0.7), fn = 1 (0.2).
    assert value_of(pan.compute_c_at_1, SAME, SCORES) == pytest.approx((2 + 1 * 2 / 5) / 5)
    assert value_of(pan.compute_f05u, SAME, SCORES) == pytest.approx(1.25 / (1.25 + 0.25 * (1 + 1) + 1))
    assert value_of(pan.compute_f1_answered, SAME, SCORES) == pytest.approx(2 / (2 + 1 + 1))
    assert value_of(pan.compute_auc, SAME, SCORES) == pytest.approx(4 / 6)
    squares = 0.1**2 + 0.5**2 + 0.8**2 + 0.7**2 + 0.1**2
    assert value_of(pan.compute_brier, SAME, SCORES) == pytest.approx(1 - squares / 5)


def test_answering_nothing():
    scores = np.full(5, 0.5)
    values = {name: value_of(measure, SAME, scores) for name, measure in pan.PAN.items()}
    assert values == {"auc": 0.5, "c_at_1": 0, "f05u": 0, "f1": 0, "brier": 0.75}
    assert value_of(pan.compute_overall, SAME, scores) == pytest.approx(0.25)


def test_one_kind_of_problem_has_no_auc():
    assert math.isnan(value_of(pan.compute_auc, np.ones(3), np.array([0.1, 0.2, 0.9])))
    assert math.isnan(value_of(pan.compute_overall, np.zeros(3), np.array([0.1, 0.2, 0.9])))
