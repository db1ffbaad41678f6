"""Differences along the training curve: which trainings are matched, and what a difference is there."""

from dataclasses import replace

import numpy as np
import pytest

from mlm_vs_clm.evidence.cells import Cell, Comparison, ScoredCell
from mlm_vs_clm.evidence.curve import compare_along, exclude_along, list_learning

COMPARISONS = [Comparison("known length", "mlm", "clm")]
N = 40


def cell(arm, budget, hits, predicted, seed=0):
    rows = np.random.default_rng([budget, hits, seed]).binomial(10, hits / 100, N)
    place = {"budget": budget, "tokens_seen": budget + 3, "tokens_predicted": predicted}
    place |= {"passes": {"plots": budget / 1e4}}
    return ScoredCell(
        Cell("plots", arm, "random", 0.5, seed, budget),
        statistics={("fills", "exact_match"): np.stack([rows, np.full(N, 10)], axis=1).astype(float)},
        place=place,
        context={"mlm": "both", "clm": "left", "bigram_both": "both", "bigram_left": "left"}.get(arm, "none"),
    )


CELLS = [
    *(cell("mlm", budget, hits, budget // 2) for budget, hits in ((1000, 20), (2000, 40), (4000, 60))),
    *(cell("clm", budget, hits, budget) for budget, hits in ((1000, 30), (2000, 40), (4000, 45))),
]


def test_trainings_are_matched_by_tokens_seen_and_by_tokens_predicted():
    curve = compare_along(CELLS, COMPARISONS, 200).set_index(["at", "budget"])
    seen, predicted = (curve.loc[f"tokens {how}", "budget_second"].to_dict() for how in ("seen", "predicted"))
    assert seen == {1000: 1000, 2000: 2000, 4000: 4000}
    assert predicted == {2000: 1000, 4000: 2000}  # nothing of clm predicted as few as mlm's first 500


def test_a_sign_that_turns_along_the_curve_is_seen():
    rows = compare_along(CELLS, COMPARISONS, 500)
    seen = rows[rows["at"] == "tokens seen"].set_index("budget")
    assert seen.loc[1000, "high"] < 0 < seen.loc[4000, "low"]
    assert list(seen["passes"]) == [0.1, 0.2, 0.4] and set(seen["n"]) == {N}


def test_scores_have_their_place_on_the_curve():
    learning = list_learning(CELLS, 200).set_index(["arm", "budget"])
    assert learning.loc[("mlm", 4000), "tokens_predicted"] == 2000
    assert learning.loc[("clm", 2000), "tokens_seen"] == 2003
    assert learning.loc[("mlm", 4000), "value"] == pytest.approx(0.6, abs=0.08)
    assert (learning["low"] < learning["value"]).all() and (learning["value"] < learning["high"]).all()


def test_a_difference_is_pale_at_the_budgets_at_which_an_arm_is_not_above_its_floors():
    floors = [cell(arm, 0, 35, 0) for arm in ("bigram_both", "bigram_left", "constant")]
    curve = compare_along(CELLS, COMPARISONS, 200)
    learning, curve = exclude_along(list_learning(CELLS, 200), curve, CELLS, floors, 200)
    arms = learning.set_index(["arm", "budget"])["excluded_because"]
    assert arms["mlm", 4000] == "" and "clm is not above" in arms["clm", 1000]
    rows = curve.set_index(["at", "budget"])["excluded_because"]
    assert "mlm is not above" in rows["tokens seen", 1000] and "clm is not above" in rows["tokens seen", 1000]
    assert rows["tokens seen", 4000] == "" and rows["tokens predicted", 2000].startswith("clm is not above")


def test_the_floors_of_a_budget_have_read_as_much_as_the_arms():
    final = [cell(arm, 0, 35, 0) for arm in ("bigram_both", "bigram_left", "constant")]
    early = [replace(cell(arm, 1000, 5, 0), place={}) for arm in ("bigram_both", "bigram_left", "constant")]
    learning = list_learning([*CELLS, *early], 200)
    assert set(learning["arm"]) == {"mlm", "clm"}
    curve = compare_along([*CELLS, *early], COMPARISONS, 200)
    marked, _ = exclude_along(learning, curve, [*CELLS, *early], final, 200)
    by_final, _ = exclude_along(learning, curve, CELLS, final, 200)
    why = [rows.set_index(["arm", "budget"])["excluded_because"]["clm", 1000] for rows in (marked, by_final)]
    assert why[0] == "" and "clm is not above" in why[1]


def test_a_training_that_stopped_early_has_no_later_budget():
    stopped = replace(cell("clm", 8000, 45, 4000), place=cell("clm", 4000, 45, 4000).place)
    assert list_learning([*CELLS, stopped], 200)["budget"].max() == 4000
    rows = compare_along([*CELLS, cell("mlm", 8000, 60, 4000), stopped], COMPARISONS, 200)
    assert rows["budget_second"].max() == 4000
