"""Similarity relative to impostors."""

import numpy as np

from mlm_vs_clm.tasks.similarity import measure_deviation


def test_deviation_by_hand():
    impostors = np.array([[0.0, 2.0], [1.0, 1.0], [0.0, 0.0002]])
    assert measure_deviation(np.array([3.0, 5.0, 9.0]), impostors).tolist() == [2.0, 0.0, 10.0]
