"""A test whose units all have one answer measures nothing, and says so instead of a perfect score."""

import math

import pytest

from mlm_vs_clm.corpora.building import _list_without_room
from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.pipeline.downstream import _score
from mlm_vs_clm.tasks import genres, ner, verification
from mlm_vs_clm.tasks.outcome import NO_ROOM

TEXTS = ["the sea", "a town", "the boat", "a road", "the net", "a school"]


def write(labels):
    return [Document(f"d{n}", text, labels=labels[n % len(labels)]) for n, text in enumerate(TEXTS)]


ONE_LABEL, TWO_LABELS = write([("a",)]), write([("a",), ("b",)])
NO_ENTITY = [Document(one.id, one.text) for one in ONE_LABEL]
ONE_TYPE = [Document(one.id, one.text, entities=(Entity(0, 3, "Thing"),)) for one in ONE_LABEL]
SAME = [{"id": "p1", "known": ["d0"], "unknown": "d1", "same": True}]
BOTH = [*SAME, {"id": "p2", "known": ["d0"], "unknown": "d2", "same": False}]


@pytest.mark.parametrize(
    "make",
    [
        lambda: genres.majority(TWO_LABELS, ONE_LABEL),
        lambda: genres.evaluate(ONE_LABEL, ONE_LABEL, ONE_LABEL, TWO_LABELS * 20, 0),
        lambda: genres.majority(ONE_LABEL, write([("a", "b"), ("b", "a")])),
        lambda: genres.majority(NO_ENTITY, NO_ENTITY),
        lambda: ner.majority(ONE_TYPE, NO_ENTITY),
        lambda: verification.majority(NO_ENTITY, NO_ENTITY, given=SAME),
    ],
)
def test_units_that_all_have_one_answer_have_no_score_and_a_reason(make):
    rows = _score([make()], 20)
    assert rows and all(math.isnan(row[key]) for row in rows for key in ("value", "low", "high"))
    assert all(row["reason"].startswith(NO_ROOM) for row in rows)


@pytest.mark.parametrize(
    "make",
    [
        lambda: genres.majority(TWO_LABELS, TWO_LABELS),
        lambda: genres.majority(TWO_LABELS, write([("a",), ()])),
        lambda: ner.majority(ONE_TYPE, ONE_TYPE),
        lambda: verification.majority(NO_ENTITY, NO_ENTITY, given=BOTH),
    ],
)
def test_one_type_of_entity_or_two_answers_are_a_test(make):
    outcome = make()
    rows = _score([outcome], 20)
    assert outcome.no_room == "" and not math.isnan(rows[0]["value"]) and rows[0]["reason"] == ""


def test_texts_without_labels_are_not_said_to_have_the_same():
    assert genres.majority(NO_ENTITY, NO_ENTITY).no_room.endswith("all 6 documents are without a label")


def test_the_check_of_a_corpus_says_that_all_documents_have_the_same_labels():
    assert "all documents have the same labels" in _list_without_room("genres", ONE_LABEL)[0]
    assert "no document has labels" in _list_without_room("genres", NO_ENTITY)[0]
    assert not _list_without_room("genres", TWO_LABELS) and not _list_without_room("ner", ONE_LABEL)
    one_author = [Document(one.id, one.text, author="x") for one in ONE_LABEL]
    assert "the same author" in _list_without_room("verification", one_author)[0]
