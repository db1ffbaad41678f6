"""Pairs of training sets, on test units small enough to count by hand."""

import pytest

from mlm_vs_clm.analysis.cells import Trained
from mlm_vs_clm.analysis.gap import compare_utility


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
    first = Trained("mlm", 0, answers([(2, 0, 0), (1, 1, 0)], seeds=3))
    second = Trained("clm", 0, answers([(1, 1, 1), (0, 0, 1)], seeds=3))
    rows = {row["step"]: row for row in compare_utility("c", "ner", [first, second], 200)}
    found = rows["known length"]
    assert found["value"] == pytest.approx(6 / 7 - 2 / 5)
    assert found["low"] <= found["value"] <= found["high"] and found["n"] == 2
    assert rows["left context"]["value"] is None and rows["left context"]["reason"] == "not made: mlm_left"


def test_the_same_answers_differ_by_nothing():
    same = answers([(2, 0, 1), (1, 1, 0), (0, 1, 1)])
    found = compare_utility("c", "ner", [Trained("mlm", 0, same), Trained("clm", 0, same)], 50)[2]
    assert (found["value"], found["low"], found["high"], found["p"]) == (0, 0, 0, 1)


def test_a_training_set_that_taught_nothing_is_missing_and_not_zero():
    units = answers([(1, 0, 0), (1, 0, 0)])
    found = compare_utility(
        "c", "ner", [Trained("mlm", 0, units), Trained("clm", 0, units, "no model could be trained")], 50
    )
    assert found[2]["value"] is None and found[2]["reason"] == "clm: no model could be trained"


def test_task_seeds_that_disagree_widen_the_interval():
    good, bad = [(2, 0, 0)] * 6, [(1, 1, 1)] * 6
    steady = Trained("mlm", 0, answers(bad, seeds=3))
    mixed = [dict(unit, task_seed=seed) for seed in range(3) for unit in answers(bad if seed else good)]
    found = compare_utility("c", "ner", [Trained("clm", 0, mixed), steady], 500)[2]
    assert found["value"] == pytest.approx(-0.5 / 3)  # F1 of 1 in one seed of three, else of 0.5
    assert found["low"] < -0.3 and found["high"] == 0 and found["p"] > 0.05


def test_other_numbers_of_task_seeds_are_not_compared():
    pair = [Trained(arm, 0, answers([(1, 0, 0)] * 3, seeds=n)) for arm, n in (("mlm", 1), ("clm", 3))]
    found = compare_utility("c", "ner", pair, 50)[2]
    assert found["value"] is None and found["reason"] == "not trained with as many task seeds"
