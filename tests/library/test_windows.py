"""Windows of long texts: what stands to the left of each, and time in proportion to the text."""

import pytest

from blankfill import DocumentError, Filler, Ledger
from blankfill.text import BlankedText, assemble_text, blank_out, find_words
from blankfill.windows import Windows, cut_originals, fill_in_windows


def write(fill):
    """Return a way to fill texts with a word, and the list of the texts that it reads."""
    read = []

    def fill_texts(*arguments, **settings):
        read.extend(arguments[-1])
        return [assemble_text(text, [fill] * len(text.blanks)) for text in arguments[-1]], Ledger()

    return fill_texts, read


@pytest.fixture
def long(texts):
    return " ".join(texts * 4)


@pytest.mark.parametrize("fill", ["zz", ""])
def test_a_window_begins_behind_the_fills_of_those_before(fill, start, tokenizer, long):
    """Each window is a part of the text with the blanks filled that come before its own."""
    text = blank_out("d", long, find_words(long)[::3])
    fill_texts, read = write(fill)
    (made,), _ = fill_in_windows(fill_texts, Windows(start, tokenizer, None), False, [text])
    assert made == assemble_text(text, [fill] * len(text.blanks)) and len(read) > 3
    n_done = 0
    for window in read:
        fills = [fill] * n_done + text.originals()[n_done:]
        assert window.text in assemble_text(text, fills).text
        assert window.originals() == text.originals()[n_done : n_done + len(window.blanks)]
        before = window.text[: window.words[window.blanks[0]][0]]
        assert n_done == 0 or len(find_words(before)) > 20
        n_done += len(window.blanks)
    assert n_done == len(text.blanks)


def test_with_the_true_left_side_a_window_begins_behind_originals(causal_model, tokenizer, long, monkeypatch):
    for context, sees_fills in (("true_left", False), ("left", True)):
        fill_texts, read = write("zz")
        monkeypatch.setattr("blankfill.filler.fill_with", fill_texts)
        made = Filler(causal_model, tokenizer, context=context)(long, [find_words(long)[::3]])
        assert len(read) > 3 and {*made.fills[0]} == {"zz"}
        assert any("zz" in window.text for window in read) == sees_fills
        assert all(window.text in long for window in read) != sees_fills


def test_the_time_of_windows_is_in_proportion_to_the_text(start, tokenizer, texts, monkeypatch):
    n_words = []
    monkeypatch.setattr(BlankedText, "__post_init__", lambda text: n_words.append(len(text.words)))
    windows, sums = Windows(start, tokenizer, None), []
    for n in (4, 16):
        long = " ".join(texts * n)
        text = blank_out("d", long, find_words(long)[::3])
        for run in (
            cut_originals,
            lambda *about: fill_in_windows(write("zz")[0], windows, False, [about[1]]),
        ):
            n_words.clear()
            run(windows, text)
            sums.append(sum(n_words))
    assert sums[2] < 5 * sums[0] and sums[3] < 5 * sums[1]


@pytest.mark.parametrize("name", ["gpt2", "llama", "roberta"])
def test_signs_that_a_normaliser_shortens_are_counted_as_they_stand(name, networks):
    text = " ".join(["１２３ＡＢ"] * 22)  # three bytes a sign; a letter is one
    filler = Filler(*networks[name])
    assert filler([text], [[(0, 5), (60, 63)]]).fills[0] and filler.score(text).tokens > 300


def test_a_special_token_that_only_a_later_window_reads_names_the_text(networks):
    """Where a blank ends inside of `</s>`, the window behind it has both parts as one."""
    windows = Windows(networks["roberta"][0], networks["t5"][1], None)
    with pytest.raises(DocumentError, match="^document d: it contains </s>"):
        windows.cut(blank_out("d", "The </s> end.", [(9, 12)]), 2)
