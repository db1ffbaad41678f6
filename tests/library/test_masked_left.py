"""The masked model that sees the left side alone: one layout for training and filling."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from refusals import assert_refused
from tiny_models import blank
from tokenizers.processors import TemplateProcessing
from transformers import BloomConfig, BloomForCausalLM

from blankfill import fill_masked_left, score
from blankfill.draws import keyed_rng
from blankfill.networks.layouts import lay_out_masks
from blankfill.slots.rows import to_rows
from blankfill.slots.sampling import Sampling
from blankfill.slots.vocabulary import Speller, slot_bias
from mlm_vs_clm.training import masked_examples
from mlm_vs_clm.training.batches import tokenize
from mlm_vs_clm.training.noise import IGNORE, Noise, TargetTokens, TokenizedDocument
from mlm_vs_clm.training.objectives import OBJECTIVES

LEFT, MASK, RIGHT = 1, 9, 2


def test_layout_by_hand():
    sources, is_mask = lay_out_masks(np.array([False, True, True, False]))
    assert sources.tolist() == [0, 1, 1, 2, 2, 3]
    assert is_mask.tolist() == [False, True, False, True, False, False]
    assert [part.tolist() for part in lay_out_masks(np.array([], dtype=bool))] == [[], []]


def test_objective_by_hand(monkeypatch):
    """[CLS] un ##able to [SEP] with `##able` and `to` masked: each is read again behind its mask."""
    document = TokenizedDocument(np.array([LEFT, 10, 11, 12, RIGHT]), np.array([-1, 0, 0, 1, -1]))
    hidden = np.array([False, False, True, True, False])
    monkeypatch.setattr(masked_examples, "choose_masked", lambda *_: hidden)
    noise = Noise(0.5, "token", 0.8, 0.1)
    made = OBJECTIVES["mlm_left"].make_example(document, noise, TargetTokens(MASK, 100), None)
    assert made["input_ids"].tolist() == [LEFT, 10, MASK, 11, MASK, 12, RIGHT]
    assert made["position_ids"].tolist() == [0, 1, 2, 2, 3, 3, 4]
    assert made["labels"].tolist() == [IGNORE, IGNORE, 11, IGNORE, 12, IGNORE, IGNORE]


@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_it_masks_what_the_masked_objective_masks(ratio, texts, tokenizer):
    noise, tokens = Noise(ratio, "token", 1.0, 0.0), TargetTokens(MASK, 400)
    for number, document in enumerate(tokenize(texts, tokenizer, 64)):
        both, left = (
            OBJECTIVES[name].make_example(document, noise, tokens, keyed_rng(number))
            for name in ("mlm", "mlm_left")
        )
        predicted, masked = (made["labels"] != IGNORE for made in (left, both))
        assert left["position_ids"][predicted].tolist() == np.flatnonzero(masked).tolist()
        assert left["labels"][predicted].tolist() == both["labels"][masked].tolist()
        assert (left["input_ids"][predicted] == MASK).all()
        assert left["input_ids"][~predicted].tolist() == document.ids.tolist()


def logits_at(model, tokenizer, row, place):
    """Return the logits (vocabulary) at a slot of a row, by a pass over its left side and a mask."""
    ids, where = [], []
    for i, id in enumerate(row.ids[:place]):
        shown = [tokenizer.mask_token_id, id] if i in row.slots else [id]
        ids, where = ids + shown, where + [i] * len(shown)
    ids, where = torch.tensor([[*ids, tokenizer.mask_token_id]]), torch.tensor([[*where, place]])
    with torch.no_grad():
        read = model(input_ids=ids, position_ids=where, attention_mask=torch.ones_like(ids))
    return read.logits[0, -1]


def test_filling_equals_a_loop_without_a_cache(causal_model, tokenizer, blanked):
    filled, ledger = fill_masked_left(causal_model, tokenizer, blanked)
    bias, rows = slot_bias(tokenizer, causal_model.config.vocab_size), to_rows(blanked, tokenizer, 128)
    for text, row, made in zip(blanked, rows, filled, strict=True):
        for number, place in enumerate(row.slots):
            logits = logits_at(causal_model, tokenizer, row, place)
            row.ids[place] = int((logits + bias[row.kinds[number]]).argmax())
        assert made.fills == Speller(tokenizer).fills(row, len(text.blanks))
    assert ledger.tokens_filled == sum(len(row.slots) for row in rows)


def test_likelihood_equals_a_loop_without_a_cache(causal_model, tokenizer, texts):
    texts = texts[:3]
    blanks = [[blank(text, [0]).words[w] for w in (0, 2, 3)] for text in texts]
    made = score(texts, blanks, causal_model, tokenizer, context="masked_left")
    rows = to_rows([blank(text, [0, 2, 3]) for text in texts], tokenizer, 128)
    for one, row in zip(made, rows, strict=True):
        found = [(logits_at(causal_model, tokenizer, row, place), row.ids[place]) for place in row.slots]
        nats = -sum(float(logits.log_softmax(-1)[id]) for logits, id in found)
        assert one.nats == pytest.approx(nats, rel=1e-5) and one.tokens == len(row.slots)


def test_neither_the_original_nor_what_follows_is_seen(causal_model, tokenizer):
    texts = [blank(f"the {words} the state", [1]) for words in ("captain saw", "doctor heard", "people left")]
    for seed in range(5):
        sampling = Sampling(1.0, seed=seed)
        filled, _ = fill_masked_left(causal_model, tokenizer, texts, length="one", sampling=sampling)
        assert len({made.fills[0] for made in filled}) == 1


def test_cost_by_hand(causal_model, tokenizer):
    """[CLS] the [MASK] x s ##a ##w the [MASK]: what follows the last mask is never read."""
    text = blank("the captain saw the people", [1, 4])
    assert to_rows([text], tokenizer, 128)[0].slots == [2, 7]
    ledger = fill_masked_left(causal_model, tokenizer, [text])[1]
    assert (ledger.token_forwards, ledger.passes, ledger.tokens_filled) == (9, 2, 2)


def test_a_text_that_begins_with_a_blank_is_filled(causal_model, tokenizer):
    """A mask stands for the first token: no token before it is needed."""
    bare = deepcopy(tokenizer)
    bare.cls_token = bare.sep_token = None
    bare.backend_tokenizer.post_processor = TemplateProcessing(single="$A", special_tokens=[])
    text = blank("the captain saw", [0])
    assert to_rows([text], bare, 128)[0].slots[0] == 0
    assert fill_masked_left(causal_model, bare, [text])[0][0].fills[0]


def test_what_cannot_be_filled_is_one_line(causal_model, tokenizer, texts):
    bare, text = deepcopy(tokenizer), blank(texts[0], [0])
    bare.mask_token = None
    assert_refused("objective=mlm_left", fill_masked_left, causal_model, bare, [text])
    bloom = BloomForCausalLM(BloomConfig(vocab_size=400, hidden_size=8, n_layer=1, n_head=1))
    assert_refused("bloom", fill_masked_left, bloom, tokenizer, [text])
    assert_refused("length=free", fill_masked_left, causal_model, tokenizer, [text], length="free")
