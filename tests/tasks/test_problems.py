"""Authorship problems: balanced, and authors and texts kept apart."""

import numpy as np
import pytest
from authors import write_many
from refusals import SECRET, assert_refused

from mlm_vs_clm.documents import Document
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


def speeches(author, date, *labels, n=5):
    return [
        Document(f"{author}{i}", f"{author} speech {i}", labels, author=author, date=date) for i in range(n)
    ]


@pytest.mark.parametrize(
    "others",
    [
        # Far, and of another party.
        speeches("c", "2014-12-01", "R", "sea") + speeches("d", "2013-01-01", "D", "sea"),
        # At an unknown date.
        speeches("c", "", "R", "sea"),
    ],
)
def test_the_other_author_has_the_same_labels_in_whatever_order_and_the_same_period(others):
    ours, near = speeches("a", "2013-01-01", "R", "sea", n=2), speeches("b", "2013-01-05", "sea", "R")
    documents = [*ours, *others, *near]
    problems, _ = draw_problems(documents, np.random.default_rng(0))
    twins = {documents[p.unknown].author for p in problems if p.author == "a" and not p.same}
    assert twins == {"b"}


def test_an_unreadable_date_names_the_document_and_not_its_text():
    documents = [Document("x", SECRET, author="a", date="15706"), Document("y", "words", author="a")]
    assert_refused("document x", draw_problems, documents, np.random.default_rng(0))
