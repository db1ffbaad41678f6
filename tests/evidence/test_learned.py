"""What trainings show by themselves: the price of a nat, and pairs told right, worked by hand."""

import math

import pandas as pd
import pytest

from mlm_vs_clm.evidence.learned import compare_learning, compare_negatives, compare_with_chance


def curve(fall, flops):
    return pd.DataFrame({"budget": [10, 0], "dev_loss": [8.0 - fall, 8.0], "flops": [flops, 0.0]})


def test_the_price_of_a_nat_is_compared_as_a_ratio():
    """4 nats for 200 FLOPs against 2 nats for 50: twice the price."""
    made = compare_learning(curve(4.0, 200.0), curve(2.0, 50.0), noise=0.1)
    assert made.difference == pytest.approx(math.log(2))
    assert made.high - made.difference == pytest.approx(2.776445 * math.hypot(0.1 / 4, 0.1 / 2))
    assert made.low + made.high == pytest.approx(2 * made.difference)


@pytest.mark.parametrize(
    ("first", "told"), [(curve(1.0, 5.0).iloc[:0], "not run"), (curve(-0.1, 5.0), "did not fall")]
)
def test_a_training_without_a_fall_has_no_price(first, told):
    assert told in compare_learning(first, curve(2.0, 50.0), 0.1).reason


def pairs(right, n=4):
    return pd.DataFrame({"document": range(len(right)), "right": right, "n": n})


def test_pairs_told_right_are_compared_with_chance_and_with_other_negatives():
    easy, hard = pairs([4, 4, 3, 4] * 5), pairs([2, 1, 3, 2] * 5)
    above = compare_with_chance(easy, 500)
    assert above.difference == pytest.approx(15 / 16 - 0.5) and 0 < above.low < above.high and above.n == 20
    between = compare_negatives(easy, hard.iloc[:-4], 500)  # over documents that have both
    assert between.difference == pytest.approx(15 / 16 - 8 / 16) and between.n == 16
    assert "not run" in compare_negatives(easy, hard.iloc[:0], 500).reason
