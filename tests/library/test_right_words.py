"""A masked model that sees some words behind each blank fills as a plain loop over texts that are cut off there."""

import pytest
import torch
from plain_loops import next_logits
from tiny_models import blank, ids_shown

from blankfill import Filler, Sampling, fill_masked, score
from blankfill.errors import BlankfillError
from blankfill.networks.layouts import RUNWAY
from blankfill.slots.rows import to_rows
from blankfill.slots.vocabulary import Speller, slot_bias
from mlm_vs_clm.arms.settings import check_arm

LEFT = {"order": "left_to_right"}


@torch.no_grad()
def fill_cut(model, tokenizer, text, n_words):
    """Return the fills of a text, word by word, and the nats of its originals; what follows is tokenized word by word."""
    mask, bias = tokenizer.mask_token_id, slot_bias(tokenizer, len(tokenizer))
    pieces = [
        tokenizer(text.text[slice(*word)], add_special_tokens=False)["input_ids"] for word in text.words
    ]
    hidden, nats = {*text.blanks}, 0.0
    row = to_rows([text], tokenizer, None)[0]
    originals = [row.ids[place] for place in row.slots]
    for follows in (True, False):
        row.mask(mask)
        for slot, place in enumerate(row.slots):
            word = text.blanks[row.blank_of[slot]]
            behind = range(word + 1, min(word + 1 + n_words, len(pieces)))
            right = [
                token for n in behind for token in ([mask] * len(pieces[n]) if n in hidden else pieces[n])
            ]
            end = max(row.slots[other] for other in row.slots_of(row.blank_of[slot])) if right else place
            logits = next_logits(model, row.ids[: end + 1] + right + [mask] * RUNWAY, place, "masked")
            best = int((logits[: len(tokenizer)] + bias[row.kinds[slot]]).argmax())
            nats -= float(logits.log_softmax(-1)[originals[slot]]) * follows
            row.ids[place] = originals[slot] if follows else best
    return Speller(tokenizer).fills(row, len(text.blanks)), nats


@pytest.mark.parametrize("n_words", [0, 1, 500])
def test_fills_and_likelihoods_are_those_of_a_plain_loop(start, tokenizer, blanked, n_words):
    plain = [
        text for text in blanked if not text.id.startswith("odd")
    ]  # words that the tokenizer takes one by one
    filled, cost = fill_masked(start, tokenizer, plain, right_words=n_words, **LEFT)
    for text, made in zip(plain, filled, strict=True):
        fills, nats = fill_cut(start, tokenizer, text, n_words)
        assert made.fills == fills
        spans = [text.words[n] for n in text.blanks]
        told = score([text.text], [spans], start, tokenizer, right_words=n_words, **LEFT)[0]
        assert told.nats == pytest.approx(nats, abs=1e-3)
    assert cost.passes == cost.tokens_filled


@pytest.mark.parametrize("length", ["known", "one"])
def test_no_word_to_the_right_is_the_left_context(start, tokenizer, blanked, length):
    axes = {"sampling": Sampling(1.0, seed=5), "length": length, **LEFT}
    left, none = (
        fill_masked(start, tokenizer, blanked, **axes, **more)
        for more in ({"context": "left"}, {"right_words": 0})
    )
    assert left == none
    seen = fill_masked(start, tokenizer, blanked, **axes, right_words=2)
    assert seen[0] != none[0] and seen[1].token_forwards > none[1].token_forwards


def test_each_blank_sees_as_many_words_and_nothing_behind_them(start, tokenizer):
    text = blank("the captain saw the doctor and the people", [1, 4])
    people = tokenizer.convert_tokens_to_ids("people")
    for n_words, is_seen in ((2, [False, False]), (3, [False, True]), (6, [True, True])):
        shown = ids_shown(lambda n=n_words: fill_masked(start, tokenizer, [text], right_words=n, **LEFT))
        assert [people in ids for ids in shown] == is_seen
        assert all(ids[-RUNWAY:] == [tokenizer.mask_token_id] * RUNWAY for ids in shown)


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ({"context": "left"}, "right_words=2 needs context=both"),
        ({"context": "leaky"}, "right_words=2 needs context=both"),
        ({"order": "random"}, "right_words=2 needs order=left_to_right"),
        ({"per_pass": 2}, "right_words=2 needs order=left_to_right, per_pass=1"),
        ({"length": "free"}, "right_words=2 needs .* length=known or one"),
        ({"right_words": -2}, "right_words=-2: give -1 or more|right_words=-2: give -1 to"),
    ],
)
def test_what_does_not_go_together_is_refused(start, tokenizer, axes, told):
    settings = {"right_words": 2, **LEFT} | axes
    with pytest.raises(BlankfillError, match=told):
        Filler(start, tokenizer)("Take it now", [(5, 7)], **settings)
    with pytest.raises(BlankfillError, match=f"arm.({told})"):
        check_arm({"writer": "masked", "context": "both", "right_words": 2, **LEFT} | axes)


def test_other_ways_of_filling_have_no_right_words(start, causal_model, tokenizer):
    with pytest.raises(BlankfillError, match="right_words"):
        Filler(causal_model, tokenizer)(["Take ___ now"], "___", length="one", right_words=2)
    with pytest.raises(BlankfillError, match="right_words is not supported for candidates"):
        Filler(start, tokenizer).candidates("Take it now", right_words=2, blanks=[(5, 7)], **LEFT)
    with pytest.raises(BlankfillError, match="right_words"):
        score("Take it now", [(5, 7)], start, tokenizer, method="pseudo", right_words=2)
