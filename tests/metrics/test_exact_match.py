"""Exact match, worked by hand."""

import numpy as np
import pytest

from mlm_vs_clm.metrics import EXACT_MATCH
from mlm_vs_clm.stats import point


def test_exact_match_pools_blanks_and_ignores_case():
    fills = [["Aspirin", "the", ""], ["fever"], []]
    originals = [["aspirin", "a", "of"], ["fever"], []]
    rows = EXACT_MATCH.statistics(fills, originals)
    assert rows[:2].tolist() == [[1, 3], [1, 1]] and np.isnan(rows[2]).all()
    assert point(rows, EXACT_MATCH.aggregate) == 2 / 4


def test_exact_match_needs_a_fill_for_every_blank():
    with pytest.raises(ValueError):
        EXACT_MATCH.statistics([["a"]], [["a", "b"]])
