"""A product of a masked and a causal model equals one of them at either end, and plain forward passes in between."""

import pytest
import torch
from refusals import assert_refused
from tiny_models import blank_awkwardly, spans_of
from tiny_texts import SHAPE

from blankfill import Filler, Sampling, fill, fill_causal, fill_masked, fill_product, score
from blankfill.likelihood import WEIGHTS, measure_weights
from blankfill.networks.reading import Reading
from blankfill.slots.ledger import Ledger
from blankfill.slots.rows import to_rows
from blankfill.slots.vocabulary import Speller, slot_bias
from mlm_vs_clm.training.starts import as_kind, start_from_scratch


@pytest.fixture(scope="module")
def causal(tokenizer):
    """A causal model of the same vocabulary with other weights."""
    return as_kind(start_from_scratch(SHAPE, tokenizer, seed=2), "causal", tokenizer).eval()


@pytest.fixture(scope="module")
def blanked(texts):
    return blank_awkwardly(texts)


@torch.inference_mode()
def mix_plainly(masked, causal, row, slot, weight):
    """Return the log-probabilities of the product at a slot, by whole passes of both models."""
    place = row.slots[slot]
    both = masked(input_ids=torch.tensor([row.ids])).logits[0, place].log_softmax(-1)
    left = causal(input_ids=torch.tensor([row.ids[:place]])).logits[0, -1].log_softmax(-1)
    return ((1 - weight) * both + weight * left).log_softmax(-1)


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(1.0, seed=3)])
@pytest.mark.parametrize("length", ["known", "one"])
def test_it_is_one_of_its_parts_at_either_end(length, sampling, start, causal, tokenizer, blanked):
    both, cost = fill_masked(
        start, tokenizer, blanked, order="left_to_right", length=length, sampling=sampling
    )
    left, cost_left = fill_causal(causal, tokenizer, blanked, length=length, sampling=sampling)
    for weight, part in ((0, both), (1, left)):
        made, ledger = fill_product(
            start, tokenizer, blanked, second=causal, weight=weight, length=length, sampling=sampling
        )
        assert made == part
        assert ledger == cost + cost_left + Ledger(-cost.documents, -cost.blanks, -cost.tokens_filled)
    assert both != left


@pytest.mark.parametrize("weight", [0.3, 0.5])
def test_it_equals_whole_passes_of_both_models(weight, start, causal, tokenizer, blanked):
    bias, spell = slot_bias(tokenizer, start.config.vocab_size), Speller(tokenizer)
    made, _ = fill_product(start, tokenizer, blanked, second=causal, weight=weight)
    for one, text, row in zip(made, blanked, to_rows(blanked, tokenizer, None), strict=True):
        row.mask(tokenizer.mask_token_id)
        for slot, place in enumerate(row.slots):
            mixed = mix_plainly(start, causal, row, slot, weight)
            row.ids[place] = int((mixed + bias[row.kinds[slot]]).argmax())
        assert one.fills == spell.fills(row, len(text.blanks))


def test_batches_and_order_of_documents_change_nothing(start, causal, tokenizer, blanked):
    together, cost = fill_product(start, tokenizer, blanked, second=causal)
    alone, cost_alone = fill_product(start, tokenizer, blanked[::-1], second=causal, batch_tokens=1)
    assert together == alone[::-1] and cost == cost_alone


def test_likelihood_of_the_originals_and_of_every_weight(start, causal, tokenizer, blanked):
    found = measure_weights(start, causal, tokenizer, blanked)
    texts = spans_of(blanked)
    made = score(*texts, start, tokenizer, second=causal, weight=0.3)
    for one, row in zip(made, to_rows(blanked, tokenizer, None), strict=True):
        truth, total = [row.ids[place] for place in row.slots], 0.0
        row.mask(tokenizer.mask_token_id)
        for slot, token in enumerate(truth):
            total -= float(mix_plainly(start, causal, row, slot, 0.3)[token])
            row.ids[row.slots[slot]] = token
        assert one.nats == pytest.approx(total, rel=1e-5)
    parts = {
        0.0: score(*texts, start, tokenizer, order="left_to_right"),
        0.3: made,
        1.0: score(*texts, causal, tokenizer),
    }
    assert tuple(found) == WEIGHTS
    for weight, each in parts.items():
        whole = sum(one.nats for one in each) / sum(one.characters for one in each)
        assert found[weight] == pytest.approx(whole, rel=1e-5)


def test_the_public_function_takes_a_second_model_and_says_what_does_not_fit(
    start, causal, networks, tokenizer, blanked
):
    texts = spans_of(blanked)
    made = fill(*texts, start, tokenizer, second=causal, weight=0.3)
    direct, _ = fill_product(start, tokenizer, blanked, second=causal, weight=0.3)
    assert made.fills == [one.fills for one in direct]
    for model, second, axes, told in (
        (start, causal, {"order": "random"}, "masked and causal model has no setting order"),
        (start, causal, {"weight": 1.5}, "weight=1.5"),
        (start, causal, {"weight": "auto"}, "weight=auto: give the causal share"),
        (start, causal, {"length": "free"}, "length=free"),
        (causal, start, {}, "causal and masked: no way of filling has such a pair"),
        (start, networks["gpt2"][0], {}, "one vocabulary"),
    ):
        assert_refused(told, fill, *texts, model, tokenizer, second=second, **axes)
    assert_refused("no document has a blank", measure_weights, start, causal, tokenizer, [blanked[3]])


def test_no_pass_of_either_model_has_more_tokens_than_asked_for(
    start, causal, tokenizer, blanked, monkeypatch
):
    sizes, read = [], Reading.__call__

    def look(self, texts, places):
        sizes.append(sum(map(len, texts)))
        return read(self, texts, places)

    monkeypatch.setattr(Reading, "__call__", look)
    filler = Filler(start, tokenizer, second=causal, batch_tokens=1)
    texts, spans = spans_of(blanked)
    filler(texts, spans)
    filler.score(texts, spans)
    filler.candidates(texts[0], blanks=spans[:1])
    longest = max(len(tokenizer(text).input_ids) for text in texts)
    assert 0 < max(sizes) <= longest
