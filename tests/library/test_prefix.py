"""Filling with a prefix LM: what precedes the first blank is read from both sides, and the rest from the left."""

from copy import deepcopy

import pytest
import torch
from tiny_models import blank, spans_of
from torch.nn.functional import log_softmax

from blankfill import fill, fill_causal, score
from blankfill.errors import BlankfillError
from blankfill.slots.rows import to_rows
from blankfill.slots.vocabulary import Speller, slot_bias
from mlm_vs_clm.training.starts import as_kind


@pytest.fixture(scope="module")
def sharp(start):
    """A network of random weights whose attention tells tokens apart: what a token sees changes its logits."""
    model = deepcopy(start)
    with torch.no_grad():
        for name, weight in model.bert.named_parameters():
            if name.endswith("weight") and "LayerNorm" not in name:
                weight.mul_(10)
    return model.eval()


@pytest.fixture(scope="module")
def prefix_lm(sharp, tokenizer):
    return as_kind(sharp, "causal", tokenizer).eval()


def read_whole(model, ids, prefix):
    """Return the logits (length, vocabulary) of one text whose first `prefix` tokens see each other, by transformers' own attention."""
    places = torch.arange(len(ids))
    visible = (places <= places[:, None]) | (places < prefix)
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids]), attention_mask=visible[None, None]).logits[0]


def test_each_slot_is_filled_by_what_the_whole_text_with_its_prefix_expects(prefix_lm, tokenizer, blanked):
    filled, _ = fill_causal(prefix_lm, tokenizer, blanked, context="prefix")
    assert [f.fills for f in filled] != [f.fills for f in fill_causal(prefix_lm, tokenizer, blanked)[0]]
    bias = slot_bias(tokenizer, prefix_lm.config.vocab_size)
    for text, made in zip(blanked, filled, strict=True):
        row = to_rows([text], tokenizer, 128)[0]
        for place, kind in zip(row.slots, row.kinds, strict=True):
            logits = read_whole(prefix_lm, row.ids[:place], row.slots[0])[-1]
            row.ids[place] = int((logits + bias[kind]).argmax())
        assert made.fills == Speller(tokenizer).fills(row, len(text.blanks))


def test_the_likelihood_is_that_of_the_whole_text_with_its_prefix(prefix_lm, tokenizer, blanked):
    found = score(*spans_of(blanked), prefix_lm, tokenizer, context="prefix")
    for text, one in zip(blanked, found, strict=True):
        row = to_rows([text], tokenizer, 128)[0]
        nats = 0.0
        if row.slots:
            odds = log_softmax(read_whole(prefix_lm, row.ids, row.slots[0]), -1)
            nats = -sum(float(odds[place - 1, row.ids[place]]) for place in row.slots)
        assert one.nats == pytest.approx(nats, abs=1e-3)


def test_the_ends_of_the_dial_are_the_causal_and_the_bidirectional_network(prefix_lm, sharp):
    """Without a prefix the logits are those of the causal network; where all is prefix, those of the same weights seeing both sides."""
    ids = [2, 30, 41, 52, 63, 74, 3]
    with torch.no_grad():
        plain = [model(input_ids=torch.tensor([ids])).logits[0] for model in (prefix_lm, sharp)]
    ends = [read_whole(prefix_lm, ids, prefix) for prefix in (0, len(ids))]
    assert torch.allclose(torch.stack(ends), torch.stack(plain), atol=1e-4)
    assert (plain[0] - plain[1]).abs().max() > 0.5


@pytest.mark.parametrize("length", ["one", "free"])
def test_other_lengths_read_the_prefix_too(prefix_lm, tokenizer, blanked, length):
    """A text whose first blank is its last token: the fill is the likeliest after the whole prefix."""
    one = [blank("The doctor read the letter", [4])]
    filled = fill_causal(prefix_lm, tokenizer, one, context="prefix", length=length, max_length=1)[0]
    row = to_rows(one, tokenizer, 128, [[1]])[0]
    logits = read_whole(prefix_lm, row.ids[: row.slots[0]], row.slots[0])[-1]
    row.ids[row.slots[0]] = int((logits + slot_bias(tokenizer, len(logits))[row.kinds[0]]).argmax())
    assert filled[0].fills == Speller(tokenizer).fills(row, 1)


def test_a_network_that_reads_no_prefix_is_refused(networks):
    model, tokenizer = networks["gpt2"]
    with pytest.raises(BlankfillError, match="context=prefix needs a BERT decoder"):
        fill("A long word.", [(2, 6)], model, tokenizer, context="prefix")
