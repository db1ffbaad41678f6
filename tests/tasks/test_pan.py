"""PAN's measures where they have nothing to measure; by hand they are worked on its files."""

import math

import numpy as np
import pytest

from mlm_vs_clm.tasks import pan
from mlm_vs_clm.tasks.verification import MEASURES

SAME = np.array([1, 1, 1, 0, 0])


def value_of(measure, same, scores):
    """Return a measure of problems that count once each."""
    (value,) = measure(same, scores, np.ones((1, len(same))))
    return value


def overall(same, scores):
    """Return the mean of the five measures."""
    (value,) = MEASURES["overall"](np.stack([same, scores], axis=1), np.ones((1, len(same))))
    return value


def test_answering_nothing():
    scores = np.full(5, 0.5)
    values = {name: value_of(measure, SAME, scores) for name, measure in pan.PAN.items()}
    assert values == {"auc": 0.5, "c_at_1": 0, "f05u": 0, "f1": 0, "brier": 0.75}
    assert overall(SAME, scores) == pytest.approx(0.25)


def test_one_kind_of_problem_has_no_auc():
    assert math.isnan(value_of(pan.compute_auc, np.ones(3), np.array([0.1, 0.2, 0.9])))
    assert math.isnan(overall(np.zeros(3), np.array([0.1, 0.2, 0.9])))
