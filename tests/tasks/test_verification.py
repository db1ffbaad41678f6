"""Authorship verification: what is and is not learned, and given problems."""

import numpy as np
import pytest
from authors import write_many
from refusals import assert_refused
from task_scores import score

from mlm_vs_clm.documents import Document
from mlm_vs_clm.tasks import verification

BACKGROUND, TRAIN, TEST = write_many(10, 0), write_many(12, 100), write_many(10, 200)


def test_learns_from_pairs_and_seeds_differ_while_test_problems_stay():
    first, again, other = (verification.evaluate(TRAIN, [], TEST, BACKGROUND, s) for s in (0, 0, 1))
    assert score(first)["auc"] > 0.9 and score(first)["c_at_1"] > 0.8
    assert first.units == again.units and first.units != other.units
    assert [u["id"] for u in first.units] == [u["id"] for u in other.units]
    assert len({unit["id"] for unit in first.units}) == len(first.units) == 80


def test_shuffled_authors_teach_nothing():
    shuffled = verification.shuffle_labels(TRAIN, np.random.default_rng(0))
    assert [d.text for d in shuffled] == [d.text for d in TRAIN]
    assert sorted(d.author for d in shuffled) == sorted(d.author for d in TRAIN)
    outcome = verification.evaluate(shuffled, [], TEST, BACKGROUND, 0)
    assert score(outcome)["auc"] == 0.5 and "no answer" in outcome.notes[0]


def test_majority_answers_the_same_author():
    metrics = score(verification.majority(TRAIN, TEST))
    assert metrics["auc"] == 0.5 and metrics["c_at_1"] == 0.5 and metrics["f1"] == pytest.approx(2 / 3)
    assert metrics["f05u"] == pytest.approx(1.25 / 2.25) and metrics["brier"] == 0.5


@pytest.mark.parametrize("train", [[], TRAIN[:4], [Document(d.id, "", author=d.author) for d in TRAIN]])
def test_too_little_training_leaves_every_problem_open(train):
    outcome = verification.evaluate(train, [], TEST, BACKGROUND, 0)
    assert {unit["score"] for unit in outcome.units} == {0.5} and "no answer" in outcome.notes[0]


def test_identical_training_texts_do_not_stop_it():
    train = [Document(d.id, "the same words", author=d.author, date=d.date) for d in TRAIN]
    outcome = verification.evaluate(train, [], TEST, BACKGROUND, 0)
    assert outcome.skipped == {"training no other document of the author": 44} and outcome.notes


def test_empty_test_and_small_background():
    outcome = verification.evaluate(TRAIN, [], [], BACKGROUND, 0)
    assert not outcome.units and np.isnan(score(outcome)["auc"])
    assert outcome.no_room.endswith("it has no problem, which takes the documents of two authors")
    assert_refused("background", verification.evaluate, TRAIN, [], TEST, BACKGROUND[:3], 0)
    unlike = [Document(f"b{i}", " ".join(chr(a + i) * 4 for a in range(97, 107))) for i in range(0, 160, 16)]
    assert_refused("too few words in common", verification.evaluate, TRAIN, [], TEST, unlike, 0)


def test_given_problems_are_asked_instead_of_drawn_ones():
    given = [
        {"id": "EN001", "known": ["a200-0", "a200-1"], "unknown": "a200-2", "same": True},
        {"id": "EN002", "known": ["a200-0"], "unknown": "a203-1", "same": False},
    ]
    learned = verification.evaluate(TRAIN, [], TEST, BACKGROUND, 0, given=given).units
    for units in (learned, verification.majority(TRAIN, TEST, given=given).units):
        asked = [(unit["id"], unit["same"], unit["cluster"]) for unit in units]
        assert asked == [("EN001", 1, "a200"), ("EN002", 0, "a200")]
    assert learned[0]["score"] > 0.5 > learned[1]["score"]


def test_a_given_problem_without_its_document_is_one_line():
    given = [{"id": "EN001", "known": ["a200-0"], "unknown": "gone", "same": True}]
    assert_refused("problem EN001: document gone", verification.majority, TRAIN, TEST, given)
