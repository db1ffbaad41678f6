"""Authorship problems: balanced, and authors and texts kept apart."""

import numpy as np
import pytest
from authors import write_many

from mlm_vs_clm.documents import Document
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.tasks.problems import draw_problems

TRAIN = write_many(12, 100)


def test_problems_are_balanced_and_keep_authors_apart():
    problems, skipped = draw_problems(TRAIN, np.random.default_rng(0))
    assert len(problems) == 2 * len(TRAIN) and not skipped
    for problem in problems:
        authors = {TRAIN[i].author for i in problem.known}
        assert authors == {problem.author} and problem.unknown not in problem.known
        assert (TRAIN[problem.unknown].author == problem.author) == problem.same


def test_windows_of_one_text_or_equal_texts_are_never_paired():
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


def test_labels_in_another_order_are_the_same_and_an_unknown_date_is_far():
    ours = [Document(f"x{i}", f"speech {i}", ("R", "sea"), author="a", date="2013-01-01") for i in range(2)]
    near = [Document(f"n{i}", f"near {i}", ("sea", "R"), author="b", date="2013-01-05") for i in range(5)]
    undated = [Document(f"u{i}", f"undated {i}", ("R", "sea"), author="c") for i in range(5)]
    documents = ours + undated + near
    problems, _ = draw_problems(documents, np.random.default_rng(0))
    assert {documents[p.unknown].author for p in problems if p.author == "a" and not p.same} == {"b"}
