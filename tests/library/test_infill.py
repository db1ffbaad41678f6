"""Infilling: one layout for training and writing, and both sides in sight."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from refusals import assert_refused
from tiny_models import blank
from tiny_trainings import train_tiny
from transformers import BloomConfig, BloomForCausalLM, DynamicCache

from blankfill import score
from blankfill.decoding.caches import make_cache
from blankfill.decoding.infill import fill_infill
from blankfill.draws import keyed_rng
from blankfill.networks.checkpoints import load_model, load_tokenizer
from blankfill.networks.layouts import lay_out_answers
from blankfill.slots.rows import to_rows
from blankfill.slots.vocabulary import Speller, slot_bias
from blankfill.writers import with_padding
from mlm_vs_clm.training import masked_examples
from mlm_vs_clm.training.batches import tokenize
from mlm_vs_clm.training.budgets import choose_budget
from mlm_vs_clm.training.noise import IGNORE, Noise, TargetTokens, TokenizedDocument
from mlm_vs_clm.training.objectives import OBJECTIVES

LEFT, MASK, RIGHT = 1, 9, 2
TOKENS = Noise(0.5, "token", 0.8, 0.1)


def test_layout_by_hand():
    sources, is_mask = lay_out_answers([2, 3, 6])
    assert sources.tolist() == [2, 2, 3, 3, 6, 6]
    assert is_mask.tolist() == [True, False] * 3


def test_objective_by_hand(monkeypatch):
    """[CLS] un ##able to go [SEP] with `##able`, `to` and `go` hidden: each at a mask, then itself."""
    document = TokenizedDocument(np.array([LEFT, 10, 11, 12, 13, RIGHT]), np.array([-1, 0, 0, 1, 2, -1]))
    hidden = np.array([False, False, True, True, True, False])
    monkeypatch.setattr(masked_examples, "choose_masked", lambda *_: hidden)
    made = OBJECTIVES["infill"].make_example(document, TOKENS, TargetTokens(MASK, 100), None)
    answers = [MASK, 11, MASK, 12, MASK, 13]
    assert made["input_ids"].tolist() == [LEFT, 10, MASK, MASK, MASK, RIGHT, *answers]
    assert made["position_ids"].tolist() == [0, 1, 2, 3, 4, 5, 2, 2, 3, 3, 4, 4]
    assert made["labels"].tolist() == [*[IGNORE] * 6, 11, IGNORE, 12, IGNORE, 13, IGNORE]


@pytest.mark.parametrize("unit", ["token", "word"])
def test_every_hidden_token_is_predicted_once_at_a_mask_in_its_place(unit, texts, tokenizer):
    for number, document in enumerate(tokenize(texts, tokenizer, 64)):
        noise = Noise(0.5, unit, 0.8, 0.1)
        made = OBJECTIVES["infill"].make_example(document, noise, TargetTokens(MASK, 400), keyed_rng(number))
        n, predicted = len(document.ids), made["labels"] != IGNORE
        hidden = np.flatnonzero(made["input_ids"][:n] == MASK)
        assert made["position_ids"][predicted].tolist() == hidden.tolist()
        assert (made["input_ids"][predicted] == MASK).all()
        assert made["labels"][predicted].tolist() == document.ids[hidden].tolist()
        assert len(made["input_ids"]) == n + 2 * len(hidden) and made["position_ids"].max() < n


def test_it_hides_what_the_masked_objective_hides(texts, tokenizer):
    document = tokenize(texts, tokenizer, 64)[0]
    masked = OBJECTIVES["mlm"].make_example(document, TOKENS, TargetTokens(MASK, 400), keyed_rng(3))
    infill = OBJECTIVES["infill"].make_example(document, TOKENS, TargetTokens(MASK, 400), keyed_rng(3))
    hidden = infill["input_ids"][: len(document.ids)] == MASK
    assert (hidden == (masked["labels"] != IGNORE)).all()


def test_nothing_to_hide_leaves_nothing_to_predict():
    document = TokenizedDocument(np.array([LEFT, RIGHT]), np.array([-1, -1]))
    made = OBJECTIVES["infill"].make_example(document, TOKENS, TargetTokens(MASK, 100), keyed_rng(0))
    assert made["input_ids"].tolist() == [LEFT, RIGHT] and (made["labels"] == IGNORE).all()


def fill_by_layout(model, tokenizer, text):
    """Return the fills that each step of a plain loop chooses, laid out as in training, without a cache."""
    bias, row = slot_bias(tokenizer, model.config.vocab_size), to_rows([text], tokenizer, 128)[0]
    mask = tokenizer.mask_token_id
    marked = [mask if place in row.slots else token for place, token in enumerate(row.ids)]
    sources, is_mask = (numbers.tolist() for numbers in lay_out_answers(row.slots))
    for number, place in enumerate(row.slots):
        end = 2 * number + 1
        read = [
            mask if hidden else row.ids[s] for s, hidden in zip(sources[:end], is_mask[:end], strict=True)
        ]
        ids = torch.tensor([marked + read])
        where = torch.tensor([[*range(len(marked)), *sources[:end]]])
        with torch.no_grad():
            logits = model(input_ids=ids, position_ids=where, attention_mask=torch.ones_like(ids)).logits
        row.ids[place] = int((logits[0, -1] + bias[row.kinds[number]]).argmax())
    return Speller(tokenizer).fills(row, len(text.blanks))


def test_filling_equals_a_loop_over_the_training_layout_without_a_cache(causal_model, tokenizer, blanked):
    filled, ledger = fill_infill(causal_model, tokenizer, blanked)
    assert ledger.tokens_filled == sum(len(row.slots) for row in to_rows(blanked, tokenizer, 128))
    for text, made in zip(blanked, filled, strict=True):
        assert made.fills == fill_by_layout(causal_model, tokenizer, text)


@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_causal_checkpoint_without_a_mask_token_learns_to_infill(name, networks, texts, tmp_path):
    """Training adds the token and stores it."""
    model, tokens = deepcopy(networks[name])
    assert tokens.mask_token is None and tokens.sep_token is None
    tokens = with_padding(tokens)
    n_before = len(tokens)
    train_tiny(model, tokens, tokenize(texts, tokens, 64, "causal"), tmp_path, "infill")
    best, _ = choose_budget(tmp_path, "a")
    trained, tokens = load_model(best, "causal"), load_tokenizer(best)
    assert tokens.mask_token == "<mask>" and len(tokens) == n_before + 1
    assert len(trained.get_input_embeddings().weight) == n_before + 1
    text = blank(texts[0], [1, 2, 5])
    made, _ = fill_infill(trained, tokens, [text])
    assert made[0].fills == fill_by_layout(trained, tokens, text)
    both = [score(t, [text.words[2]], trained, tokens, context="both") for t in (texts[0], texts[0] + " so")]
    assert both[0].nats != both[1].nats  # what follows the blank counts


def test_cost_by_hand(causal_model, tokenizer):
    """[CLS] the [MASK] s ##a ##w the [MASK] [SEP], then [MASK] x [MASK]: the last token is never read."""
    text = blank("the captain saw the people", [1, 4])
    assert to_rows([text], tokenizer, 128)[0].slots == [2, 7]
    ledger = fill_infill(causal_model, tokenizer, [text])[1]
    assert (ledger.token_forwards, ledger.passes, ledger.tokens_filled) == (9 + 3, 2, 2)


def test_tokenizer_without_marks_is_refused(causal_model, tokenizer, texts):
    bare = deepcopy(tokenizer)
    bare.mask_token = None
    assert_refused("mask", fill_infill, causal_model, bare, [blank(texts[0], [0])])


def test_model_without_positions_is_refused(tokenizer, texts):
    bloom = BloomForCausalLM(BloomConfig(vocab_size=400, hidden_size=8, n_layer=1, n_head=1))
    assert_refused("bloom", fill_infill, bloom, tokenizer, [blank(texts[0], [0])])


def test_roomy_cache_equals_the_library_s(causal_model):
    ids = torch.arange(5, 17).reshape(2, 6)
    caches = [make_cache(6), DynamicCache(config=causal_model.config)]
    with torch.inference_mode():
        for chunk in (ids[:, :3], ids[:, 3:4], ids[:, 4:]):
            roomy, plain = (
                causal_model.base_model(input_ids=chunk, past_key_values=cache, use_cache=True)[0]
                for cache in caches
            )
            assert torch.equal(roomy, plain)
    assert caches[0].get_seq_length() == 6
