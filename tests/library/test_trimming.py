"""The last layer is computed at the slots alone: the same states as of the whole network, and counted as such."""

from itertools import product

import pytest
import torch
from tiny_models import SMALL
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

from blankfill.networks.sizes import BERT_LIKE, hidden_states, output_layer
from blankfill.networks.trimming import are_few, can_trim, states_at, states_where, trim_sizes


@pytest.mark.parametrize("slots", [[[3], [0, 11], [16]], [[0, 3, 19, 7, 8, 9, 10, 11, 12], [], [2, 16]]])
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_last_layer_at_the_slots_equals_the_whole_network(start, slots, attention, monkeypatch):
    vocabulary = start.config.vocab_size
    ids = torch.randint(5, vocabulary, (3, 20), generator=torch.Generator().manual_seed(0))
    seen = torch.arange(20) < torch.tensor([20, 12, 17])[:, None]
    rows = [row for row, places in enumerate(slots) for _ in places]
    assert are_few(start, 8) and not are_few(start, 9)
    with torch.no_grad():
        for mask in (None, seen):
            inputs = {"input_ids": ids} | ({} if mask is None else {"attention_mask": mask.long()})
            whole = hidden_states(start, inputs)[rows, sum(slots, [])]
            monkeypatch.setattr(start.config, "_attn_implementation", attention)
            assert can_trim(start) == (attention == "sdpa")
            for stretch in (2048, 20):
                monkeypatch.setattr("blankfill.networks.trimming.STRETCH", stretch)
                assert torch.allclose(states_at(start, ids, mask, slots), whole, atol=1e-5)
            monkeypatch.undo()


def test_what_the_last_layer_spends_by_hand(start):
    # of 2 layers 32 wide, the last: query, key, value, output; two norms; the feed-forward block
    layer = 4 * (32 * 32 + 32) + 2 * 64 + (128 * 32 + 128) + (128 * 32 + 32)
    assert trim_sizes(start, {"body": layer, "head": 7}, 1) == {"body": 0, "head": 7 + layer}
    keys_and_values = 2 * (32 * 32 + 32)
    assert trim_sizes(start, {"body": layer, "head": 7}, 99)["body"] == keys_and_values


@pytest.mark.parametrize("kind", BERT_LIKE)
def test_every_kind_that_is_trimmed_equals_the_whole_network(kind, monkeypatch):
    config = AutoConfig.for_model(kind, vocab_size=90, max_position_embeddings=40, pad_token_id=1, **SMALL)
    torch.manual_seed(0)
    model = AutoModelForMaskedLM.from_config(config).eval()
    ids = torch.randint(5, model.config.vocab_size, (2, 14), generator=torch.Generator().manual_seed(0))
    seen, slots = torch.arange(14) < torch.tensor([14, 9])[:, None], [[3, 13], [0]]
    ids[~seen] = model.config.pad_token_id
    with torch.no_grad():
        assert can_trim(model)
        trimmed = states_at(model, ids, seen, slots)
        monkeypatch.setattr("blankfill.networks.trimming.BERT_LIKE", ())
        assert not can_trim(model)
        whole = states_at(model, ids, seen, slots)
        logits = model(input_ids=ids, attention_mask=seen.long()).logits[[0, 0, 1], [3, 13, 0]]
    assert torch.allclose(output_layer(model)(trimmed), logits, atol=1e-5)
    assert torch.allclose(trimmed, whole, atol=1e-5)


def make_network(kind, is_decoder, **settings):
    about = SMALL | settings | {"is_decoder": is_decoder}
    config = AutoConfig.for_model(kind, vocab_size=90, max_position_embeddings=40, pad_token_id=1, **about)
    torch.manual_seed(0)
    return (AutoModelForCausalLM if is_decoder else AutoModelForMaskedLM).from_config(config).eval()


@pytest.mark.parametrize("reads", ["sdpa", "eager", "by place"])
@pytest.mark.parametrize(("kind", "is_decoder"), [*product(BERT_LIKE, (False, True)), ("llama", True)])
def test_states_and_gradients_where_they_are_wanted_are_those_of_the_whole_network(kind, is_decoder, reads):
    model = make_network(kind, is_decoder)
    model.set_attn_implementation("eager" if reads == "eager" else "sdpa")
    ids = torch.randint(5, 90, (2, 14), generator=torch.Generator().manual_seed(0))
    seen = torch.arange(14) < torch.tensor([14, 9])[:, None]
    wanted = seen & (torch.rand(2, 14, generator=torch.Generator().manual_seed(1)) < 0.4)
    inputs = {"input_ids": ids.masked_fill(~seen, 1), "attention_mask": seen.long()}
    if reads == "by place":  # every place has texts of its own to read, as in `infill`
        inputs["attention_mask"] = (torch.rand(2, 1, 14, 14) < 0.5) & seen[:, None, None] | torch.eye(
            14
        ).bool()

    def learn(states):
        model.zero_grad()
        (states**2).sum().backward()
        return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}

    whole = hidden_states(model, inputs)[wanted]
    expected, trimmed = learn(whole), states_where(model, inputs, wanted)
    learned = learn(trimmed)
    assert torch.allclose(trimmed, whole, atol=1e-5)
    assert learned.keys() == expected.keys()
    for name, slope in expected.items():
        assert torch.allclose(learned[name], slope, atol=1e-4), name
    assert torch.equal(hidden_states(model, inputs)[wanted], whole)  # nothing stays behind


def test_the_last_layer_reads_no_other_place_unless_it_must():
    ids = torch.randint(5, 90, (2, 14), generator=torch.Generator().manual_seed(0))
    wanted = torch.zeros(2, 14, dtype=torch.bool)
    wanted[:, [2, 5, 6]] = True
    for settings, n_read in (({}, 12), ({"chunk_size_feed_forward": 7}, 56)):
        model, rows = make_network("bert", False, **settings), []
        last = model.base_model.encoder.layer[-1]
        for block in (last.attention.self.query, last.output.dense):
            block.register_forward_hook(
                lambda _, given, __, rows=rows: rows.append(given[0].shape[:-1].numel())
            )
        states_where(model, {"input_ids": ids}, wanted)
        assert sum(rows) == n_read
    assert states_where(make_network("bert", False), {"input_ids": ids}, wanted & False).shape == (0, 16)
