"""The likelihood of the originals is the product of conditionals, computed here by plain forward passes."""

import numpy as np
import pytest
import torch
from tiny_models import blank

from blankfill import Filler, score
from blankfill.axes import why_no_likelihood
from blankfill.decoding.masked import RUNWAY
from blankfill.draws import keyed_rng
from blankfill.errors import BlankfillError
from blankfill.networks.layouts import lay_out_answers
from blankfill.slots.orders import PLANS, Pace
from blankfill.slots.rows import to_rows
from blankfill.slots.vocabulary import slot_bias
from blankfill.text import find_words


@pytest.fixture(scope="module")
def spans(texts):
    """Halves, the edges, all, none; neighbours and words of many tokens among them."""
    odd = "supercalifragilistic well-known reduced hypercholesterolaemia"
    chosen = [
        (texts[0], slice(0, None, 2)),
        (texts[1], slice(0, 3)),
        (odd, slice(None)),
        (texts[2], slice(0, 0)),
    ]
    return [text for text, _ in chosen], [find_words(text)[part] for text, part in chosen]


def rows_of(spans, tokenizer):
    blanked = []
    for i, (text, blanks) in enumerate(zip(*spans, strict=True)):
        words = find_words(text)
        blanked.append(blank(text, [words.index(span) for span in blanks], str(i)))
    return to_rows(blanked, tokenizer, None)


@torch.inference_mode()
def log_probabilities(model, ids, **inputs):
    return model(input_ids=torch.tensor([ids]), **inputs).logits[0].log_softmax(-1)


def follow_plan(model, tokenizer, row, steps, context):
    """Return the nats of a row filled with its originals, the slots of each step at once."""
    truth, mask, total = [row.ids[place] for place in row.slots], tokenizer.mask_token_id, 0.0
    if context != "leaky":
        row.mask(mask)
    for step in steps:
        row.mask(mask, step)
        shown = row.ids
        if context == "left":
            shown = row.ids[: row.slots[step[0]] + 1] + [mask] * RUNWAY
        found = log_probabilities(model, shown)
        total -= sum(float(found[row.slots[slot], truth[slot]]) for slot in step)
        for slot in step:
            row.ids[row.slots[slot]] = truth[slot]
    return total


def plan(order, n, per_pass, id):
    return PLANS[order](n, Pace(per_pass), keyed_rng(5, "order", id))


ONCE = [order for order in PLANS if order != "gibbs"]


@pytest.mark.parametrize(
    ("order", "per_pass"), [(order, n) for order in ONCE for n in (1, 3) if n == 1 or order != "parallel"]
)
@pytest.mark.parametrize("context", ["both", "leaky"])
def test_planned_orders_of_a_masked_model(context, order, per_pass, start, tokenizer, spans):
    pace = {} if order == "parallel" else {"per_pass": per_pass}  # which fills all at once
    made = score(*spans, start, tokenizer, seed=5, context=context, order=order, **pace)
    for one, row in zip(made, rows_of(spans, tokenizer), strict=True):
        units = [[slot] for slot in range(len(row.slots))]
        if context == "leaky":
            units = [row.slots_of(blank) for blank in range(len({*row.blank_of}))]
        steps = [sum((units[n] for n in step), []) for step in plan(order, len(units), per_pass, row.id)]
        assert one.nats == pytest.approx(follow_plan(start, tokenizer, row, steps, context), rel=1e-5)


def test_a_masked_model_from_the_left(start, tokenizer, spans):
    made = score(*spans, start, tokenizer, context="left", order="left_to_right")
    for one, row in zip(made, rows_of(spans, tokenizer), strict=True):
        steps = [[slot] for slot in range(len(row.slots))]
        assert one.nats == pytest.approx(follow_plan(start, tokenizer, row, steps, "left"), rel=1e-5)


def test_an_order_that_the_model_chooses(start, tokenizer, spans):
    bias = slot_bias(tokenizer, start.config.vocab_size)
    made = score(*spans, start, tokenizer, order="confidence")
    for one, row in zip(made, rows_of(spans, tokenizer), strict=True):
        truth, total, left = [row.ids[place] for place in row.slots], 0.0, [*range(len(row.slots))]
        row.mask(tokenizer.mask_token_id)
        while left:
            found = log_probabilities(start, row.ids)
            legal = {
                slot: (found[row.slots[slot]] + bias[row.kinds[slot]]).softmax(-1).max() for slot in left
            }
            best = max(left, key=lambda slot: (round(float(legal[slot]), 6), -slot))
            total -= float(found[row.slots[best], truth[best]])
            row.ids[row.slots[best]] = truth[best]
            left.remove(best)
        assert one.nats == pytest.approx(total, rel=1e-5)


def test_causal_models_from_the_left_and_infilling(causal_model, tokenizer, spans):
    left, both = (score(*spans, causal_model, tokenizer, context=context) for context in ("left", "both"))
    rows = rows_of(spans, tokenizer)
    for one, other, row in zip(left, both, rows, strict=True):
        found = log_probabilities(causal_model, row.ids)
        total = -sum(float(found[place - 1, row.ids[place]]) for place in row.slots)
        assert one.nats == pytest.approx(total, rel=1e-5)
        if not row.slots:
            continue
        truth = [*row.ids]
        row.mask(tokenizer.mask_token_id)
        sources, is_mask = lay_out_answers(row.slots)
        read = np.where(is_mask, tokenizer.mask_token_id, np.array(truth)[sources]).tolist()
        places = torch.tensor([[*range(len(row.ids)), *sources]])
        found = log_probabilities(causal_model, row.ids + read, position_ids=places)[len(row.ids) :: 2]
        total = sum(float(here[truth[place]]) for here, place in zip(found, row.slots, strict=True))
        assert other.nats == pytest.approx(-total, rel=1e-5)


def test_counts_and_batches(start, causal_model, tokenizer, spans):
    for model in (start, causal_model):
        together = score(*spans, model, tokenizer, ids=["a", "b", "c", "d"])
        alone = [
            score([text], [blanks], model, tokenizer, ids=[id])[0]
            for text, blanks, id in zip(*spans, "abcd", strict=True)
        ]
        assert [one.nats for one in together] == pytest.approx([one.nats for one in alone], rel=1e-5)
        assert [one.characters for one in together] == [sum(b - a for a, b in part) for part in spans[1]]
        assert [one.tokens for one in together] == [len(row.slots) for row in rows_of(spans, tokenizer)]
        assert (together[3].nats, together[3].tokens) == (0, 0)


@pytest.mark.parametrize(
    ("arm", "told"),
    [
        ({"writer": "masked", "order": "gibbs"}, "more than once"),
        ({"writer": "masked", "order": "mask_predict"}, "more than once"),
        ({"writer": "causal", "length": "free"}, "length free"),
        ({"writer": "lookahead"}, "look-ahead"),
        ({"writer": "seq2seq"}, "an encoder-decoder"),
    ],
)
def test_what_has_no_likelihood_says_why(arm, told):
    assert told in why_no_likelihood(arm)


def test_the_public_function_refuses_what_has_none(start, seq2seq_model, tokenizer, spans):
    with pytest.raises(BlankfillError, match="no likelihood: order mask_predict"):
        score(*spans, start, tokenizer, order="mask_predict", passes=2)
    with pytest.raises(BlankfillError, match="no likelihood: an encoder-decoder"):
        score(*spans, seq2seq_model, tokenizer)


@pytest.mark.parametrize("space", [" ", "  ", "\n", "\n\n", "\t", " \n "])
@pytest.mark.parametrize("name", ["gpt2", "llama", "roberta"])
def test_a_text_in_windows_has_all_of_its_tokens(name, space, networks):
    """A text longer than the model counts the same tokens as one that fits: those of the spaces too."""
    model, tokenizer = networks[name]
    text = space.join(["The old captain sailed the small boat to the harbour."] * 20)
    settings = {} if name in ("gpt2", "llama") else {"order": "parallel"}
    n = len(tokenizer(text, add_special_tokens=False)["input_ids"])
    assert n > model.config.max_position_embeddings
    assert Filler(model, tokenizer, **settings).score(text).tokens == n
