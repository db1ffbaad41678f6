"""How tables are paired, and the degree of reproduction, worked by hand."""

import numpy as np
import pandas as pd
import pytest

from mlm_vs_clm.evidence.reproduction import compare_tables, rank_agreement, vary


def test_measured_columns_are_left_out_and_counts_may_move_by_a_hundredth():
    row = {"corpus": "plots", "arm": "mlm", "strategy": "random", "ratio": 0.5, "seed": 0}
    first = pd.DataFrame([row | {"flops": 1000, "seconds": 1.0, "peak_memory_mb": 10, "blanks": 7}])
    second = pd.DataFrame([row | {"flops": 1009, "seconds": 9.0, "peak_memory_mb": 90, "blanks": 7}])
    compared = compare_tables("ledger", second, first).set_index("measure")
    assert compared["status"].to_dict() == {"flops": "near", "blanks": "OK"}


def test_a_table_unknown_here_is_paired_by_its_words_ratio_and_seed():
    first = pd.DataFrame({"axis": ["order", "order"], "ratio": [0.15, 0.5], "value": [0.1, 0.2]})
    compared = compare_tables("later", first.iloc[::-1], first)
    assert list(compared["cell"]) == ["order 0.15", "order 0.5"]
    assert set(compared["status"]) == {"OK"}


def test_the_coefficient_of_variation_is_worked_by_hand():
    """10 and 12: s = 2 / sqrt 2, unbiased s / sqrt(2 / pi) = 1.7725, times 1.125 over 11 is 18.13 %."""
    assert vary(np.array([10.0, 5.0]), np.array([12.0, 5.0])) == pytest.approx([18.127, 0], abs=1e-3)
    assert np.isnan(vary(np.array([0.0]), np.array([0.0])))


def test_rank_agreement_is_kendalls_and_needs_three_arms():
    group = pd.DataFrame({"value_fresh": [1.0, 2, 3], "value_committed": [1.0, 3, 2]})
    assert rank_agreement(group) == pytest.approx(1 / 3)
    assert np.isnan(rank_agreement(group.iloc[:2]))
    assert np.isnan(rank_agreement(group.assign(value_fresh=1.0)))
