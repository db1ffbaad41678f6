"""Sentences and windows: slices of the text, whole sentences where they fit, no entity cut."""

import numpy as np
import pytest

from blankfill.text import split_words
from mlm_vs_clm.corpora.windows import Cutting, cut
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


@pytest.mark.parametrize(
    "text, entities, most, least, windows, dropped",
    [
        ("One two. Three four. Five six.", (), 6, 1, ["One two. Three four.", "Five six."], []),
        ("One two. Three four. Five six.", (), 6, 4, ["One two. Three four."], ["d-1: window below 4 words"]),
        ("a b c d e", (Entity(0, 9, "X"),), 2, 1, ["a b", "c d", "e"], ["d-0: entity longer than a window"]),
    ],
)
def test_windows_hold_as_many_whole_sentences_as_fit_and_what_does_not_is_recorded(
    text, entities, most, least, windows, dropped
):
    result = cut([Document("d", text, entities=entities)], Cutting(most, least, seed=0))
    assert [(one.id, one.text) for one in result.documents] == [(f"d-{n}", w) for n, w in enumerate(windows)]
    assert [f"{row['id']}: {row['reason']}" for row in result.dropped] == dropped


def test_no_border_inside_an_entity_and_offsets_follow():
    text = "He took B. Subtilis today again."
    document = Document("d", text, entities=(Entity(8, 19, "Thing"),))
    first, second, third = cut([document], Cutting(3, 1, seed=0)).documents
    assert [first.text, second.text, third.text] == ["He took", "B. Subtilis", "today again."]
    assert second.entities == (Entity(0, 11, "Thing"),) and not first.entities + third.entities


def test_any_text_is_cut_into_slices_that_together_hold_every_word_and_entity():
    rng = np.random.default_rng(0)
    for _ in range(200):
        parts = rng.choice(["Ann", "ran", ".", "U.S.", "5", "é", "\n\n", "(x)", "_"], size=60)
        text = " ".join(parts)
        starts = [match for match in range(len(text)) if text.startswith("ran", match)]
        ends = [len(text[: start + 5].rstrip()) for start in starts]
        entities = tuple(Entity(start, end, "X") for start, end in zip(starts, ends, strict=True))
        windows = cut([Document("d", text, entities=entities)], Cutting(12, 1, seed=0)).documents
        position = 0
        for window in windows:
            position = text.index(window.text, position) + len(window.text)
            assert len(split_words(window.text)) <= 12
        assert [word for window in windows for word in split_words(window.text)] == split_words(text)
        kept = [window.text[e.start : e.end] for window in windows for e in window.entities]
        whole = [text[e.start : e.end] for e in entities]
        assert kept == whole
