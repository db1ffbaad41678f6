"""Pairs of training sets, on test units small enough to count by hand."""

import pandas as pd
import pytest
from made_cells import COMPARISONS, trained

from mlm_vs_clm.analysis.gap import compare_utility


def compare(cells, resamples=50):
    """Return the rows by comparison."""
    rows = compare_utility(cells, COMPARISONS, resamples).to_dict("records")
    return {row["comparison"]: row for row in rows}


def answers(counts: list[tuple[int, int, int]], seeds: int = 1) -> list[dict]:
    """Return units with strict counts (tp, fp, fn), the same in each task seed; one type."""
    return [
        {"task_seed": seed, "id": f"d{i}", "cluster": f"d{i}"}
        | dict(zip(("tp", "fp", "fn"), row, strict=True))
        | {f"lenient_{name}": 0 for name in ("tp", "fp", "fn")}
        for seed in range(seeds)
        for i, row in enumerate(counts)
    ]


def test_the_difference_is_that_of_the_scores_and_seeds_are_averaged():
    """F1 of the first: 2*3/(2*3+1) = 6/7; of the second: 2*1/(2*1+3) = 2/5."""
    first = trained("mlm", answers([(2, 0, 0), (1, 1, 0)], seeds=3))
    second = trained("clm", answers([(1, 1, 1), (0, 0, 1)], seeds=3))
    rows = compare([first, second], 200)
    found = rows["known length"]
    assert found["value"] == pytest.approx(6 / 7 - 2 / 5)
    assert found["low"] <= found["value"] <= found["high"] and found["n"] == 2
    assert pd.isna(rows["left context"]["value"]) and rows["left context"]["reason"] == "not run: mlm_left"


def test_the_same_answers_differ_by_nothing():
    same = answers([(2, 0, 1), (1, 1, 0), (0, 1, 1)])
    found = compare([trained("mlm", same), trained("clm", same)])["known length"]
    assert (found["value"], found["low"], found["high"], found["p"]) == (0, 0, 0, 1)


def test_a_training_set_that_taught_nothing_is_missing_and_not_zero():
    units = answers([(1, 0, 0), (1, 0, 0)])
    found = compare([trained("mlm", units), trained("clm", units, reason="no model could be trained")])
    found = found["known length"]
    assert pd.isna(found["value"]) and found["reason"] == "clm: no model could be trained"


def test_task_seeds_that_disagree_widen_the_interval():
    good, bad = [(2, 0, 0)] * 6, [(1, 1, 1)] * 6
    steady = trained("mlm", answers(bad, seeds=3))
    mixed = [dict(unit, task_seed=seed) for seed in range(3) for unit in answers(bad if seed else good)]
    found = compare([trained("clm", mixed), steady], 500)["known length"]
    assert found["value"] == pytest.approx(-0.5 / 3)  # F1 of 1 in one seed of three, else of 0.5
    assert found["low"] < -0.3 and found["high"] == 0 and found["p"] > 0.05


def test_other_numbers_of_task_seeds_are_not_compared():
    pair = [trained(arm, answers([(1, 0, 0)] * 3, seeds=n)) for arm, n in (("mlm", 1), ("clm", 3))]
    found = compare(pair)["known length"]
    assert pd.isna(found["value"]) and found["reason"] == "not trained with as many task seeds"
