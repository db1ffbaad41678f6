"""Sentences and windows: slices of the text, whole sentences where they fit, no entity cut."""

import numpy as np
import pytest

from blankfill.text import split_words
from mlm_vs_clm.corpora.windows import cut
from mlm_vs_clm.documents import Document, Entity, find_sentence_starts


@pytest.mark.parametrize(
    "text",
    [
        "He left.|She stayed.",
        'He said "Go."|She went (home).|Then what?!|Nothing.',
        "Dr. Smith met John F. Kennedy of the U.S. Army vs. Rome.|It was No. 5.|He said no.|Five men came.",
        "The dose was 0.5 mg/kg i.v. in rats.|P < 0.05.|IL-2 fell... and rose.",
        "A title\n\n|the text",
    ],
)
def test_sentences_worked_by_hand(text):
    pieces = text.split("|")
    joined = " ".join(pieces)
    expected = [joined.index(piece) for piece in pieces[1:]]
    assert find_sentence_starts(joined) == expected


def test_windows_hold_as_many_whole_sentences_as_fit():
    document = Document("d", "One two. Three four. Five six.")
    result = cut([document], max_words=6, min_words=1)
    assert [(window.id, window.text) for window in result.documents] == [
        ("d-0", "One two. Three four."),
        ("d-1", "Five six."),
    ]


def test_short_windows_are_dropped_and_recorded():
    result = cut([Document("d", "One two. Three four. Five six.")], max_words=6, min_words=4)
    assert [window.id for window in result.documents] == ["d-0"]
    assert result.dropped == [{"id": "d-1", "reason": "window below 4 words"}]


def test_no_border_inside_an_entity_and_offsets_follow():
    text = "He took B. Subtilis today again."
    document = Document("d", text, entities=(Entity(8, 19, "Thing"),))
    first, second, third = cut([document], max_words=3, min_words=1).documents
    assert [first.text, second.text, third.text] == ["He took", "B. Subtilis", "today again."]
    assert second.entities == (Entity(0, 11, "Thing"),) and not first.entities + third.entities


def test_entity_longer_than_a_window_is_left_out_and_recorded():
    result = cut([Document("d", "a b c d e", entities=(Entity(0, 9, "X"),))], max_words=2, min_words=1)
    assert [window.text for window in result.documents] == ["a b", "c d", "e"]
    assert result.dropped == [{"id": "d-0", "reason": "entity longer than a window"}]


def test_any_text_is_cut_into_slices_that_together_hold_every_word_and_entity():
    rng = np.random.default_rng(0)
    for _ in range(200):
        parts = rng.choice(["Ann", "ran", ".", "U.S.", "5", "é", "\n\n", "(x)", "_"], size=60)
        text = " ".join(parts)
        starts = [match for match in range(len(text)) if text.startswith("ran", match)]
        ends = [len(text[: start + 5].rstrip()) for start in starts]
        entities = tuple(Entity(start, end, "X") for start, end in zip(starts, ends, strict=True))
        windows = cut([Document("d", text, entities=entities)], max_words=12, min_words=1).documents
        position = 0
        for window in windows:
            position = text.index(window.text, position) + len(window.text)
            assert len(split_words(window.text)) <= 12
        assert [word for window in windows for word in split_words(window.text)] == split_words(text)
        kept = [window.text[e.start : e.end] for window in windows for e in window.entities]
        whole = [text[e.start : e.end] for e in entities]
        assert kept == whole
