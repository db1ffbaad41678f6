"""Named entities: words and spans, the tagger, the majority and the shuffled control."""

import math
from dataclasses import replace

import numpy as np
import pytest
from seqeval.metrics import f1_score
from seqeval.scheme import IOB2
from task_scores import score

from blankfill.text import find_words
from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.tasks import ner
from mlm_vs_clm.tasks.word_spans import list_spans

DRUGS = ["aspirin", "morphine", "atropine", "clonidine", "lidocaine", "caffeine"]
ILLS = ["hepatitis", "nephritis", "arthritis", "neuritis", "colitis", "gastritis"]


def write(i, drug, ill):
    text = f"The dose of {drug} given ({i} mg) caused severe {ill} in rats."
    spans = [(text.index(name), text.index(name) + len(name)) for name in (drug, ill)]
    entities = (Entity(*spans[0], "Chemical"), Entity(*spans[1], "Disease"))
    return Document(f"d{i}", text, entities=entities)


def write_many(n):
    return [write(i, DRUGS[i % 6], ILLS[(i // 2) % 6]) for i in range(n)]


TRAIN, TEST = write_many(20), [write(90, "naloxone", "dermatitis"), write(91, "morphine", "colitis")]


def test_tags_of_words():
    entities = (Entity(6, 19, "Disease"), Entity(6, 11, "Disease"))
    document = Document("a", "acute renal failure", entities=entities)
    tags, skipped = ner.tag_documents([document])
    assert tags == [["O", "B-Disease", "I-Disease"]]
    assert skipped == {"overlapping entity": 1}


def test_an_entity_whose_words_are_gone_is_counted():
    document = Document("a", "a b", entities=(Entity(1, 1, "Chemical"), Entity(50, 60, "Chemical")))
    assert ner.find_spans(document) == ([], {"entity without words": 2})


def test_tagger_learns_names_it_has_not_seen():
    outcome = ner.evaluate(TRAIN, [], TEST, [], 0)
    assert set(score(outcome).values()) == {1.0} and len(score(outcome)) == 8
    assert len(outcome.units) == 2 and outcome.notes == ()


def test_texts_of_an_author_are_drawn_together():
    test = [
        replace(document, author=author) for document, author in zip([*TEST, TEST[0]], "xyx", strict=True)
    ]
    assert [unit["cluster"] for unit in ner.evaluate(TRAIN, [], test, [], 0).units] == ["x", "y", "x"]


def test_evaluation_is_the_same_twice():
    noisy = ner.shuffle_labels(TRAIN, np.random.default_rng(0))
    first, second = (ner.evaluate(noisy, [], TEST, [], 1) for _ in range(2))
    assert first.units == second.units


def test_f1_equals_seqeval_strict():
    gold = [["B-X", "I-X", "O", "B-Y"], ["O", "B-X"], ["O"]]
    answers = [["B-X", "I-X", "O", "B-X"], ["I-X", "B-X"], ["B-Y"]]
    spans = [(list_spans(true), list_spans(answer)) for true, answer in zip(gold, answers, strict=True)]
    table = [list(ner.count_spans(*pair, ["X", "Y"]).values()) for pair in spans]
    units = (np.array(table), np.ones((1, 3)))
    for measure, average in {"f1": "micro", "macro_f1": "macro"}.items():
        theirs = f1_score(gold, answers, mode="strict", scheme=IOB2, average=average)
        assert ner.MEASURES[measure](*units) == pytest.approx(theirs)


def test_majority_knows_only_words_it_has_seen():
    outcome = ner.majority(TRAIN, TEST)
    assert [unit["tp"] for unit in outcome.units] == [0, 2]
    assert score(outcome)["precision"] == 1.0 and score(outcome)["recall"] == 0.5


def test_shuffled_entities_keep_text_number_and_types():
    for document in TRAIN:
        moved = ner.move_entities(document, np.random.default_rng(3))
        assert moved.text == document.text
        assert sorted(e.type for e in moved.entities) == ["Chemical", "Disease"]
        assert len(ner.find_spans(moved)[0]) == 2
        starts = {start for start, _ in find_words(document.text)}
        assert all(entity.start in starts for entity in moved.entities)


def test_shuffled_long_entities_never_overlap():
    text = " ".join("abcdefgh")
    document = Document("a", text, entities=(Entity(0, 5, "X"), Entity(6, 9, "Y"), Entity(10, 15, "X")))
    for seed in range(50):
        spans, skipped = ner.find_spans(ner.move_entities(document, np.random.default_rng(seed)))
        assert sorted(after - first for first, after, _ in spans) == [2, 3, 3] and not skipped


@pytest.mark.parametrize("train", [[], [Document("a", "")], [Document("b", "no entity here")] * 3])
def test_without_entities_the_answer_is_the_majority(train):
    outcome = ner.evaluate(train, [], TEST, [], 0)
    assert score(outcome)["f1"] == 0 and math.isnan(score(outcome)["precision"])
    assert "majority" in outcome.notes[0]


def test_test_without_entities_or_documents_has_no_score():
    for test in ([], [Document("t", "plain words"), Document("u", "")]):
        assert math.isnan(score(ner.majority([], test))["f1"])


def test_repeated_and_empty_training_documents_and_one_type_do_not_stop_it():
    one = Document("x", "The dose of aspirin", entities=(Entity(12, 19, "Chemical"),))
    outcome = ner.evaluate([one, one, Document("e", " "), one], [], TEST, [], 0)
    assert len(outcome.units) == 2 and outcome.skipped["training document without words"] == 1
