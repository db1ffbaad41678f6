"""Filling from the left while the originals stand there: an upper bound of filling from the left."""

import pytest
import torch
from tiny_models import spans_of

from blankfill import fill, fill_causal, score
from blankfill.errors import BlankfillError
from blankfill.slots.rows import to_rows
from blankfill.slots.vocabulary import Speller, slot_bias


def test_with_the_true_left_side_every_token_is_predicted_from_the_originals(
    causal_model, tokenizer, blanked
):
    """Equal to one reading of the original text, with the likeliest legal token at each slot."""
    filled, cost = fill_causal(causal_model, tokenizer, blanked, context="true_left")
    assert cost == fill_causal(causal_model, tokenizer, blanked)[1]
    bias = slot_bias(tokenizer, causal_model.config.vocab_size)
    for text, made in zip(blanked, filled, strict=True):
        row = to_rows([text], tokenizer, 128)[0]
        with torch.no_grad():
            logits = causal_model(input_ids=torch.tensor([row.ids])).logits[0]
        for place, kind in zip(row.slots, row.kinds, strict=True):
            row.ids[place] = int((logits[place - 1] + bias[kind]).argmax())
        assert made.fills == Speller(tokenizer).fills(row, len(text.blanks))
    with pytest.raises(BlankfillError, match="needs length=known"):
        fill_causal(causal_model, tokenizer, blanked, context="true_left", length="one")
    given = (*spans_of(blanked), causal_model, tokenizer)
    made = fill(*given, context="true_left", ids=[text.id for text in blanked])
    assert made.fills == [one.fills for one in filled]
    left, true_left = (score(*given, context=context) for context in ("left", "true_left"))
    assert left == true_left  # a likelihood reads the originals anyway
