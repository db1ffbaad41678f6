"""Spans of words: tags and back, repeated names, strict and lenient counts."""

import numpy as np
import pytest
from seqeval.scheme import IOB2, Entities

from mlm_vs_clm.tasks import word_spans

TAGS = ["O", "B-X", "I-X", "B-Y", "I-Y"]


def draw_tags(seed, n=40):
    return [TAGS[i] for i in np.random.default_rng(seed).integers(len(TAGS), size=n)]


@pytest.mark.parametrize("seed", range(20))
def test_spans_of_tags_equal_seqeval_strict(seed):
    tags = draw_tags(seed)
    expected = {(e.start, e.end, e.tag) for e in Entities([tags], scheme=IOB2).entities[0]}
    assert word_spans.list_spans(tags) == expected


@pytest.mark.parametrize("seed", range(20))
def test_marked_edges_come_back(seed):
    spans = word_spans.list_spans(draw_tags(seed))
    tags = word_spans.tag_spans(spans, 40)
    assert word_spans.unmark_edges(word_spans.mark_edges(tags)) == tags
    assert word_spans.list_spans(tags) == spans


def test_edges_by_hand():
    tags = ["B-X", "B-X", "I-X", "I-X", "O"]
    assert word_spans.mark_edges(tags) == ["S-X", "B-X", "I-X", "E-X", "O"]
    assert word_spans.unmark_edges(["E-X", "I-X", "I-Y", "O"]) == ["B-X", "I-X", "B-Y", "O"]


def test_a_name_and_its_abbreviation_are_found_again():
    words = "Renal failure ( ARF ) is grave . ARF and renal failure recur . No failure .".split()
    found = word_spans.repeat_names(words, {(0, 2, "Disease")})
    assert found == {(0, 2, "Disease"), (3, 4, "Disease"), (8, 9, "Disease"), (10, 12, "Disease")}


def test_short_words_and_taken_words_are_not_found_again():
    words = "Na in Na salt and salt".split()
    assert word_spans.repeat_names(words, {(0, 1, "X")}) == {(0, 1, "X")}
    spans = {(3, 4, "X"), (4, 6, "Y")}
    assert word_spans.repeat_names(words, spans) == spans


def test_the_most_frequent_type_of_a_name_wins():
    words = ["zinc"] * 4
    found = word_spans.repeat_names(words, {(0, 1, "X"), (1, 2, "Y"), (2, 3, "Y")})
    assert (3, 4, "Y") in found and len(found) == 4


GOLD = {(0, 3, "Drug"), (5, 6, "Drug"), (8, 10, "Form")}


@pytest.mark.parametrize(
    "found, strict, lenient",
    [
        (GOLD, (3, 0, 0), (3, 0, 0)),
        ({(0, 2, "Drug"), (5, 6, "Form")}, (0, 2, 3), (1, 1, 2)),
        # Two pieces of one gold span: the first is correct, the second is not counted.
        ({(0, 1, "Drug"), (2, 3, "Drug")}, (0, 2, 3), (1, 0, 2)),
        # One span over two gold ones is one correct answer.
        ({(1, 6, "Drug")}, (0, 1, 3), (1, 0, 2)),
        ({(3, 5, "Drug"), (6, 8, "Form")}, (0, 2, 3), (0, 2, 3)),
        (set(), (0, 0, 3), (0, 0, 3)),
    ],
)
def test_counts_by_hand(found, strict, lenient):
    assert word_spans.count_strict(GOLD, found) == strict
    assert word_spans.count_lenient(GOLD, found) == lenient


@pytest.mark.parametrize("seed", range(10))
def test_lenient_never_finds_less_than_strict(seed):
    gold, found = (word_spans.list_spans(draw_tags(seed + shift)) for shift in (0, 100))
    assert word_spans.count_lenient(gold, found)[0] >= word_spans.count_strict(gold, found)[0]
