"""Genres: thresholds, the majority, and the behaviour on poor text."""

import math

import numpy as np
import pytest
from refusals import assert_refused
from sklearn.metrics import f1_score
from task_scores import score

from mlm_vs_clm.documents import Document
from mlm_vs_clm.tasks import genres

WORDS = {
    "Horror": ["ghost", "blood", "grave", "scream", "curse", "haunted", "demon", "corpse"],
    "Romance": ["love", "kiss", "wedding", "heart", "bride", "letter", "dance", "flowers"],
    "War": ["soldier", "army", "battle", "general", "rifle", "bomb", "enemy", "trench"],
}


def write(i, names, rng, n_words=25):
    words = [WORDS[names[rng.integers(len(names))]][rng.integers(8)] for _ in range(n_words)]
    return Document(f"d{i}", "The " + " and ".join(words), tuple(names))


def write_many(n, seed):
    rng = np.random.default_rng(seed)
    kinds = [("Horror",), ("Romance",), ("War",), ("Horror", "War")]
    return [write(i, kinds[i % 4], rng) for i in range(n)]


BACKGROUND, TRAIN, DEV, TEST = (write_many(n, seed) for n, seed in ((80, 1), (30, 2), (24, 3), (40, 4)))


def test_learns_genres_from_words_and_the_same_twice():
    first, again = (genres.evaluate(TRAIN, DEV, TEST, BACKGROUND, 0) for _ in range(2))
    metrics = score(first)
    assert first.units == again.units
    assert metrics["micro_f1"] > 0.9 and metrics["macro_f1"] > 0.9


def test_shuffled_labels_teach_less_and_texts_stay():
    shuffled = genres.shuffle_labels(TRAIN, np.random.default_rng(0))
    assert [d.text for d in shuffled] == [d.text for d in TRAIN]
    assert sorted(d.labels for d in shuffled) == sorted(d.labels for d in TRAIN)
    assert score(genres.evaluate(shuffled, DEV, TEST, BACKGROUND, 0))["micro_f1"] < 0.8


def test_scores_equal_scikit_learn():
    rng = np.random.default_rng(0)
    gold, one, each = rng.integers(2, size=(3, 50, 4))
    units = np.hstack([gold, one, each]), np.ones((1, 50))
    assert genres.measure_micro(*units) == pytest.approx(f1_score(gold, one, average="micro"))
    assert genres.measure_macro(*units) == pytest.approx(f1_score(gold, each, average="macro"))


def test_majority_answers_the_set_that_scores_best_on_train():
    train = [Document(str(i), "x", labels) for i, labels in enumerate([("A",), ("A",), ("A",), ("B",)])]
    test = [Document("t", "x", ("A",)), Document("u", "x", ("B",))]
    metrics = score(genres.majority(train, test))
    # Micro: {A} gives 3/4 on train against 2/3 for {A, B}. Macro: {A, B} gives (6/7 + 2/5) / 2 against 3/7.
    assert metrics == {"micro_f1": 0.5, "macro_f1": pytest.approx(2 / 3)}


def test_a_genre_absent_from_training_is_never_answered():
    train = [document for document in TRAIN if "War" not in document.labels]
    outcome = genres.evaluate(train, DEV, TEST, BACKGROUND, 0)
    assert outcome.notes == ("no training document of War",)
    assert not any(unit["micro War"] or unit["macro War"] for unit in outcome.units)


def test_texts_without_words_get_constant_answers():
    train = [Document(d.id, "", d.labels) for d in TRAIN]
    outcome = genres.evaluate(train, DEV, TEST, BACKGROUND, 0)
    assert len({tuple(row) for row in outcome.statistics[:, 3:].tolist()}) == 1
    assert sum(outcome.skipped.values()) == 27


@pytest.mark.parametrize("train", [[], [Document("a", "ghost", ("Western",))] * 3])
def test_without_labels_the_answer_is_the_majority(train):
    outcome = genres.evaluate(train, DEV, TEST, BACKGROUND, 0)
    assert score(outcome) == {"micro_f1": 0.0, "macro_f1": 0.0} and "majority" in outcome.notes[0]


def test_one_label_repeated_document_and_empty_test():
    outcome = genres.evaluate([TRAIN[0]] * 5, DEV, TEST, BACKGROUND, 0)
    assert all(unit["micro Horror"] == 1 for unit in outcome.units)
    assert math.isnan(score(genres.evaluate(TRAIN, DEV, [], BACKGROUND, 0))["micro_f1"])


def test_missing_dev_or_background_is_one_clear_line():
    assert_refused("dev", genres.evaluate, TRAIN, [], TEST, BACKGROUND, 0)
    assert_refused("background", genres.evaluate, TRAIN, DEV, TEST, [], 0)
