"""The last layer is computed at the slots alone: the same states as of the whole network, and counted as such."""

from copy import deepcopy
from itertools import product

import pytest
import torch
from tiny_models import SMALL
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

from blankfill import Filler
from blankfill.decoding.readers import can_pack
from blankfill.networks import trimming
from blankfill.networks.families import BERT_LIKE
from blankfill.networks.linear import packing_if_worth
from blankfill.networks.sizes import hidden_states, output_layer
from blankfill.networks.trimming import are_few, can_trim, states_at, states_where, trim_sizes
from blankfill.text import find_words


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


def test_threads_read_side_by_side_only_where_which_rows_come_first_does_not_matter(start, monkeypatch):
    calls, read = [], trimming._read_side_by_side
    monkeypatch.setattr(trimming, "_read_side_by_side", lambda *given: calls.append(1) or read(*given))
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    ids = torch.full((4, 9), 7)
    with torch.no_grad():
        beside = states_at(start, ids, None, [[3]] * 4)
        with packing_if_worth(True):
            assert torch.allclose(states_at(start, ids, None, [[3]] * 4), beside)
    assert len(calls) == 1


def test_what_the_last_layer_spends_by_hand(start):
    # of 2 layers 32 wide, the last: query, key, value, output; two norms; the feed-forward block
    layer = 4 * (32 * 32 + 32) + 2 * 64 + (128 * 32 + 128) + (128 * 32 + 32)
    assert trim_sizes(start, {"body": layer, "head": 7}, 1) == {"body": 0, "head": 7 + layer}
    keys_and_values = 2 * (32 * 32 + 32)
    assert trim_sizes(start, {"body": layer, "head": 7}, 99)["body"] == keys_and_values


@pytest.mark.parametrize("kind", BERT_LIKE)
def test_every_kind_that_is_trimmed_equals_the_whole_network(kind, monkeypatch):
    model = make_network(kind, False)
    ids = torch.randint(5, model.config.vocab_size, (2, 14), generator=torch.Generator().manual_seed(0))
    seen, slots = torch.arange(14) < torch.tensor([14, 9])[:, None], [[3, 13], [0]]
    ids[~seen] = model.config.pad_token_id
    with torch.no_grad():
        assert can_trim(model)
        trimmed = states_at(model, ids, seen, slots)
        monkeypatch.setattr(trimming, "parts_of", lambda model: None)
        assert not can_trim(model)
        whole = states_at(model, ids, seen, slots)
        logits = model(input_ids=ids, attention_mask=seen.long()).logits[[0, 0, 1], [3, 13, 0]]
    assert torch.allclose(output_layer(model)(trimmed), logits, atol=1e-5)
    assert torch.allclose(trimmed, whole, atol=1e-5)


class Adapted(nn.Linear):
    """A linear layer with something beside its product, as an adapter makes of it."""

    def forward(self, rows):
        return super().forward(rows) + rows.roll(1, -1)[..., : self.out_features]


def adapt(layer, name):
    old = getattr(layer, name)
    new = Adapted(old.in_features, old.out_features)
    new.load_state_dict(old.state_dict())
    setattr(layer, name, new)
    return lambda: setattr(layer, name, old)


def hook(module):
    return module.register_forward_hook(lambda _, __, made: made + made.roll(1, -1)).remove


def hook_before(module):
    return module.register_forward_pre_hook(lambda _, given: (given[0].roll(1, -1), *given[1:])).remove


def patch(module):
    """Give a module a `forward` of its own, as accelerate and others do."""
    run = module.forward
    module.forward = lambda *given, **settings: (made := run(*given, **settings)) + made.roll(1, -1)
    return lambda: delattr(module, "forward")


# Each changes a network and returns what changes it back.
CHANGES = {
    "hook": lambda base: hook(base.encoder.layer[0]),
    "hook of a product": lambda base: hook(base.encoder.layer[-1].attention.self.key),
    "hook of a block": lambda base: hook(base.encoder.layer[-1].intermediate),
    "patch": lambda base: patch(base.encoder.layer[0].output),
    "patch of a product": lambda base: patch(base.encoder.layer[-1].attention.self.key),
    "hook before": lambda base: hook_before(base.encoder.layer[0]),
    "query": lambda base: adapt(base.encoder.layer[-1].attention.self, "query"),
    "value": lambda base: adapt(base.encoder.layer[-1].attention.self, "value"),
    "dense": lambda base: adapt(base.encoder.layer[-1].output, "dense"),
}
SHORT, LONG = "The captain sailed.", "After the storm the crew mended the sail and rowed the small boat home."


@torch.no_grad()
def plain_nats(model, tokenizer, place):
    """Return what `score` gives for one blank of one token, from a pass over the whole network."""
    ids = tokenizer(SHORT, return_tensors="pt")["input_ids"]
    token, is_causal = int(ids[0, place]), model.config.is_decoder
    if not is_causal:
        ids[0, place] = tokenizer.mask_token_id
    return -float(model(input_ids=ids).logits[0, place - is_causal].log_softmax(-1)[token])


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_a_network_that_is_changed_after_a_call_is_read_as_it_is(
    kind, change, start, causal_model, tokenizer
):
    model = deepcopy(start if kind == "masked" else causal_model)
    can = can_trim if kind == "masked" else can_pack
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(torch.randn(weights.shape, generator=torch.Generator().manual_seed(0)), alpha=0.3)
    place = len(tokenizer.tokenize(SHORT))  # of the last token, the full stop
    span = (len(SHORT) - 1, len(SHORT))
    filler = Filler(model, tokenizer)
    first = filler.score(SHORT, [span]).nats
    assert can(model) and first == pytest.approx(plain_nats(model, tokenizer, place), rel=1e-4)
    change_back = CHANGES[change](model.base_model)
    changed = plain_nats(model, tokenizer, place)
    assert not can(model) and abs(changed - first) > 0.01
    assert filler.score(SHORT, [span]).nats == pytest.approx(changed, rel=1e-4)
    beside = filler.score([SHORT, LONG], [[span], find_words(LONG)])[0]
    assert beside.nats == pytest.approx(changed, rel=1e-4)
    change_back()
    assert can(model) and filler.score(SHORT, [span]).nats == pytest.approx(first, rel=1e-4)


def turn_by_hook(model):
    return model.register_forward_hook(lambda _, __, made: setattr(made, "logits", -made.logits)).remove


def turn_by_patch(model):
    def forward(*given, **settings):
        made = type(model).forward(model, *given, **settings)
        made.logits = -made.logits
        return made

    model.forward = forward
    return lambda: vars(model).pop("forward")


@pytest.mark.parametrize("turn", [turn_by_hook, turn_by_patch])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_a_hook_of_the_whole_network_is_called_and_its_patch_too(name, dtype, turn, networks):
    model, tokenizer = deepcopy(networks[name][0]).to(dtype), networks[name][1]
    filler = Filler(model, tokenizer)
    first = filler.score(SHORT).nats
    turn_back = turn(model)
    turned = filler.score(SHORT).nats
    assert abs(turned - first) > 0.002 * first
    turn_back()
    assert filler.score(SHORT).nats == first


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
