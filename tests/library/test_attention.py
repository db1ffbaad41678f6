"""Attention on a CPU: the same readings and gradients as torch's own, up to rounding."""

from copy import deepcopy
from types import SimpleNamespace

import pytest
import torch
from tiny_models import NETWORKS
from torch.nn.functional import scaled_dot_product_attention

from blankfill.networks import attention as filling
from blankfill.networks.attention import attention_of, is_padding, read_by_document
from mlm_vs_clm.training import training_attention as attention
from mlm_vs_clm.training.training_attention import NAME

WIDTH = 8


def draw(n_queries, n_keys, heads=4, key_heads=4, dtype=torch.float32):
    torch.manual_seed(n_queries + n_keys + heads)
    sizes = [(2, heads, n_queries, WIDTH), (2, key_heads, n_keys, WIDTH), (2, key_heads, n_keys, WIDTH)]
    return [torch.randn(size).to(dtype).requires_grad_() for size in sizes]


def padding(n_keys):
    return torch.arange(n_keys)[None, None, None] < torch.tensor([n_keys, n_keys - 3])[:, None, None, None]


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()[None, None]


CASES = {
    "nothing hidden": (draw(6, 6), None, False),
    "causal": (draw(6, 6), None, True),
    "padding": (draw(6, 6), padding(6), False),
    "causal by a mask": (draw(6, 6), causal(6), False),
    "keys of another text": (draw(3, 7), padding(7), False),
    "fewer key heads": (draw(5, 5, heads=4, key_heads=2), None, True),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_torch(name):
    (query, key, value), mask, is_causal = CASES[name]
    copies = query.shape[1] // key.shape[1]
    keys, values = (states.repeat_interleave(copies, 1) for states in (key, value))
    wanted = scaled_dot_product_attention(query, keys, values, mask, is_causal=is_causal).transpose(1, 2)
    slope = torch.randn_like(wanted)
    expected = torch.autograd.grad((wanted * slope).sum(), (query, key, value))
    module = SimpleNamespace(is_causal=is_causal, num_key_value_groups=copies)
    read, _ = attention.attend(module, query, key, value, mask)
    found = torch.autograd.grad((read * slope).sum(), (query, key, value))
    assert torch.allclose(read, wanted, atol=1e-6)
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("kept_bytes", [0, attention.KEPT_BYTES])
@pytest.mark.parametrize("name", CASES)
def test_gradients_in_bf16_under_autocast_stay_near_those_of_float32(name, kept_bytes, monkeypatch):
    monkeypatch.setattr(attention, "KEPT_BYTES", kept_bytes)
    (query, key, value), mask, is_causal = CASES[name]
    module = SimpleNamespace(is_causal=is_causal, num_key_value_groups=query.shape[1] // key.shape[1])
    read, _ = attention.attend(module, query, key, value, mask)
    exact = torch.autograd.grad(read.square().sum(), (query, key, value))
    low = [states.detach().bfloat16().requires_grad_() for states in (query, key, value)]
    with torch.autocast("cpu", torch.bfloat16):
        read_low, _ = attention.attend(module, *low, mask)
        read_low.float().square().sum().backward()
    assert torch.allclose(read_low.float(), read, atol=0.03)
    for states, wanted in zip(low, exact, strict=True):
        assert states.grad.dtype == torch.bfloat16
        assert (states.grad.float() - wanted).abs().max() < 0.05 * wanted.abs().max()


def test_weights_are_kept_in_bf16_and_where_they_are_small(monkeypatch):
    query, key, _ = draw(6, 7)
    assert not attention.is_kept(query, key)  # float32: as the committed study was trained
    query, key = query.bfloat16(), key.bfloat16()
    monkeypatch.setattr(attention, "KEPT_BYTES", 2 * 4 * 6 * 7 * 2)
    assert attention.is_kept(query, key)
    monkeypatch.setattr(attention, "KEPT_BYTES", 2 * 4 * 6 * 7 * 2 - 1)
    assert not attention.is_kept(query, key)


def test_a_query_without_any_key_stays_finite():
    """A padded query of a layout may see nothing: its gradients must not become NaN."""
    mask = causal(6).clone()
    mask[0, 0, 2] = False
    for dtype in (torch.float32, torch.bfloat16):
        query, key, value = draw(6, 6, dtype=dtype)
        read, _ = attention.attend(SimpleNamespace(is_causal=False), query, key, value, mask)
        read.float().sum().backward()
        assert all(torch.isfinite(states.grad).all() for states in (query, key, value))


@pytest.mark.parametrize("special", [{"dropout": 0.5}, {"position_bias": torch.ones(1, 4, 6, 6)}])
def test_what_is_special_is_left_to_the_library(special, monkeypatch):
    asked = []
    monkeypatch.setattr(attention, "sdpa_attention_forward", lambda *args, **more: asked.append(more))
    attention.attend(SimpleNamespace(is_causal=False), *draw(6, 6), None, **special)
    assert asked[0].keys() >= special.keys()


@pytest.mark.parametrize("n_queries", [2, 7])
def test_filling_in_bf16_reads_what_torch_reads(n_queries):
    parts = [states.detach() for states in draw(n_queries, 7, dtype=torch.bfloat16)]
    mask = padding(7)
    read, _ = filling.attend(SimpleNamespace(), *parts, mask, is_causal=False)
    wanted = scaled_dot_product_attention(*(states.float() for states in parts), mask).transpose(1, 2)
    if n_queries == 7:  # what pads a text asks nothing
        wanted[1, 4:] = 0
    assert read.dtype == torch.bfloat16
    assert torch.allclose(read.float(), wanted, atol=0.03)


def test_scores_too_large_for_powers_are_read_by_a_softmax_in_their_head_alone():
    query, key, value = (states.detach().bfloat16() for states in draw(7, 7))
    calm = read_by_document(query, key, value, None, 0.3)
    query[:, 1] *= 200
    key[0, 1, :, 0], query[0, 1, :, 0] = 30, -30  # every score far below zero: all powers would vanish
    read = read_by_document(query, key, value, None, 0.3)
    wanted = scaled_dot_product_attention(query.float(), key.float(), value.float(), scale=0.3)
    assert torch.equal(read[:, [0, 2, 3]], calm[:, [0, 2, 3]])
    assert torch.allclose(read.float(), wanted, atol=0.05)


def test_padding_has_no_say_in_what_is_read():
    query, key, value = (states.detach().bfloat16() for states in draw(7, 7))
    whole = read_by_document(query, key, value, padding(7), 0.3)
    alone = read_by_document(query[1:, :, :4], key[1:, :, :4], value[1:, :, :4], None, 0.3)
    assert torch.equal(whole[1, :, :4], alone[0])


def test_only_padding_at_the_end_of_a_document_counts_as_padding():
    assert is_padding(None) and is_padding(padding(5))
    assert not is_padding(padding(5).flip(-1))
    assert not is_padding(causal(5))
    assert not is_padding(padding(5).float())


@pytest.mark.parametrize("name", NETWORKS)
def test_every_class_learns_as_with_the_attention_of_torch(networks, name):
    network, tokenizer = networks[name]
    network = deepcopy(network)
    batch = {"input_ids": torch.tensor([[5, 6, 7, 8, 9, 10], [7, 8, 9, 6, 0, 0]])}
    batch["attention_mask"] = torch.tensor([[1] * 6, [1] * 4 + [0] * 2])
    batch["labels"] = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)

    def learn():
        network.zero_grad()
        network(**batch).loss.backward()
        return {key: p.grad.clone() for key, p in network.named_parameters() if p.grad is not None}

    before, wanted = network.config._attn_implementation, learn()
    with attention_of(network, NAME):
        assert network.config._attn_implementation == (NAME if before == "sdpa" else before)
        found = learn()
    assert network.config._attn_implementation == before
    assert found.keys() == wanted.keys()
    for key, slope in wanted.items():
        assert torch.allclose(found[key], slope, atol=1e-5), key
