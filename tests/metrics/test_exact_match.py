"""Exact match, worked by hand."""

import numpy as np
import pytest

from mlm_vs_clm.documents import WORD_CLASSES
from mlm_vs_clm.metrics import EXACT_MATCH, FILL_METRICS
from mlm_vs_clm.stats import point, ratio_of_sums


def test_exact_match_pools_blanks_and_ignores_case():
    fills = [["Aspirin", "the", ""], ["fever"], []]
    originals = [["aspirin", "a", "of"], ["fever"], []]
    rows = EXACT_MATCH.statistics(fills, originals)
    assert rows[:2].tolist() == [[1, 3], [1, 1]] and np.isnan(rows[2]).all()
    assert point(rows, ratio_of_sums) == 2 / 4


def test_exact_match_needs_a_fill_for_every_blank():
    with pytest.raises(ValueError):
        EXACT_MATCH.statistics([["a"]], [["a", "b"]])


def test_matches_and_shares_by_class_of_the_original():
    originals = [["the", "fever", ",", "of"], ["."], []]
    fills = [["The", "cat", ",", "x"], ["fever"], []]
    found = {name: metric.statistics(fills, originals) for name, metric in FILL_METRICS.items()}
    assert found["exact_match_stopword"][0].tolist() == [1, 2]
    assert found["exact_match_content"][0].tolist() == [0, 1]
    assert found["exact_match_punctuation"][:2].tolist() == [[1, 1], [0, 1]]
    assert np.isnan(found["exact_match_content"][1:]).all()  # no blank of the class
    shares = [point(found[f"share_{name}"], ratio_of_sums) for name in WORD_CLASSES]
    assert shares == [1 / 5, 2 / 5, 2 / 5] and np.isnan(found["share_content"][2]).all()
