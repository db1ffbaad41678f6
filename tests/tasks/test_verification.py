"""Authorship verification: the drawing of problems, likenesses, and what is and is not learned."""

from functools import partial

import numpy as np
import pytest

from mlm_vs_clm.documents import Document
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.tasks import TASKS
from mlm_vs_clm.tasks.problems import draw_problems
from mlm_vs_clm.tasks.similarity import measure_deviation

VOCABULARY = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrst"]


def write_author(name, n, seed):
    """Each author has favourite words, so that likeness tells authors apart."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(len(VOCABULARY), 0.15))
    for i in range(n):
        words = rng.choice(VOCABULARY, size=60, p=chances)
        yield Document(f"{name}-{i}", " ".join(words), ("R",), author=name, date=f"2013-0{1 + i}-10")


def write_many(n_authors, start):
    return [d for a in range(n_authors) for d in write_author(f"a{start + a}", 4, start + a)]


BACKGROUND, TRAIN, TEST = write_many(10, 0), write_many(12, 100), write_many(10, 200)


def test_problems_are_balanced_and_keep_authors_and_sources_apart():
    problems, skipped = draw_problems(TRAIN, np.random.default_rng(0))
    assert len(problems) == 2 * len(TRAIN) and not skipped
    for problem in problems:
        authors = {TRAIN[i].author for i in problem.known}
        assert authors == {problem.author} and problem.unknown not in problem.known
        assert (TRAIN[problem.unknown].author == problem.author) == problem.same


def test_windows_of_one_source_or_equal_texts_are_never_paired():
    windows = [Document(f"w{i}", f"text {i}", author="a", origin_id="one") for i in range(3)]
    copies = [Document(f"c{i}", "equal", author="b") for i in range(3)]
    problems, skipped = draw_problems(windows + copies, np.random.default_rng(0))
    assert problems == [] and skipped == {"no other document of the author": 6}


def test_the_other_author_is_of_the_same_party_and_period():
    base = [Document(f"x{i}", f"speech {i}", ("R",), author="a", date="2013-01-01") for i in range(2)]
    near = [Document(f"n{i}", f"near {i}", ("R",), author="b", date="2013-01-05") for i in range(5)]
    far = [Document(f"f{i}", f"far {i}", ("R",), author="c", date="2014-12-01") for i in range(5)]
    party = [Document(f"p{i}", f"party {i}", ("D",), author="d", date="2013-01-01") for i in range(5)]
    documents = base + near + far + party
    problems, _ = draw_problems(documents, np.random.default_rng(0))
    twins = {documents[p.unknown].author for p in problems if p.author == "a" and not p.same}
    assert twins == {"b"}


def test_an_unreadable_date_names_the_document_and_not_its_text():
    documents = [Document("x", "secret", author="a", date="15706"), Document("y", "words", author="a")]
    with pytest.raises(StudyError, match="document x") as error:
        draw_problems(documents, np.random.default_rng(0))
    assert "secret" not in str(error.value)


def test_deviation_by_hand():
    strange = np.array([[0.0, 2.0], [1.0, 1.0], [0.0, 0.0002]])
    assert measure_deviation(np.array([3.0, 5.0, 9.0]), strange).tolist() == [2.0, 0.0, 10.0]


def test_learns_from_pairs_and_seeds_differ_while_test_problems_stay():
    first, again, other = (TASKS["verification"].evaluate(TRAIN, [], TEST, BACKGROUND, s) for s in (0, 0, 1))
    assert first.metrics["auc"] > 0.9 and first.metrics["c_at_1"] > 0.8
    assert first.units == again.units and first.units != other.units
    assert [u["id"] for u in first.units] == [u["id"] for u in other.units]
    assert len({unit["id"] for unit in first.units}) == first.n == 80


def test_shuffled_authors_teach_nothing():
    shuffled = TASKS["verification"].shuffle_labels(TRAIN, np.random.default_rng(0))
    assert [d.text for d in shuffled] == [d.text for d in TRAIN]
    assert sorted(d.author for d in shuffled) == sorted(d.author for d in TRAIN)
    outcome = TASKS["verification"].evaluate(shuffled, [], TEST, BACKGROUND, 0)
    assert outcome.metrics["auc"] == 0.5 and "no answer" in outcome.notes[0]


def test_majority_answers_the_same_author():
    metrics = TASKS["verification"].majority(TRAIN, TEST).metrics
    assert metrics["auc"] == 0.5 and metrics["c_at_1"] == 0.5 and metrics["f1"] == pytest.approx(2 / 3)
    assert metrics["f05u"] == pytest.approx(1.25 / 2.25) and metrics["brier"] == 0.5


@pytest.mark.parametrize("train", [[], TRAIN[:4], [Document(d.id, "", author=d.author) for d in TRAIN]])
def test_too_little_training_leaves_every_problem_open(train):
    outcome = TASKS["verification"].evaluate(train, [], TEST, BACKGROUND, 0)
    assert {unit["score"] for unit in outcome.units} == {0.5} and "no answer" in outcome.notes[0]


def test_identical_training_texts_do_not_stop_it():
    train = [Document(d.id, "the same words", author=d.author, date=d.date) for d in TRAIN]
    outcome = TASKS["verification"].evaluate(train, [], TEST, BACKGROUND, 0)
    assert outcome.skipped == {"training no other document of the author": 44} and outcome.notes


def test_empty_test_and_small_background():
    outcome = TASKS["verification"].evaluate(TRAIN, [], [], BACKGROUND, 0)
    assert outcome.n == 0 and np.isnan(outcome.metrics["auc"])
    with pytest.raises(StudyError, match="background"):
        TASKS["verification"].evaluate(TRAIN, [], TEST, BACKGROUND[:3], 0)


def test_given_problems_are_asked_instead_of_drawn_ones():
    given = [
        {"id": "EN001", "known": ["a200-0", "a200-1"], "unknown": "a200-2", "same": True},
        {"id": "EN002", "known": ["a200-0"], "unknown": "a203-1", "same": False},
    ]
    for ask in (
        partial(TASKS["verification"].evaluate, TRAIN, [], TEST, BACKGROUND, 0),
        partial(TASKS["verification"].majority, TRAIN, TEST),
    ):
        units = ask(given=given).units
        assert [(u["id"], u["same"], u["cluster"]) for u in units] == [
            ("EN001", 1, "a200"),
            ("EN002", 0, "a200"),
        ]
    answers = [
        u["score"] for u in TASKS["verification"].evaluate(TRAIN, [], TEST, BACKGROUND, 0, given).units
    ]
    assert answers[0] > 0.5 > answers[1]


def test_a_given_problem_without_its_document_is_one_line():
    given = [{"id": "EN001", "known": ["a200-0"], "unknown": "gone", "same": True}]
    with pytest.raises(StudyError, match="problem EN001: document gone"):
        TASKS["verification"].majority(TRAIN, TEST, given)
