"""Products with weights laid out once: the layer's own, up to rounding, and nothing left behind."""

import pytest
import torch
from tiny_models import NETWORKS
from torch import nn
from torch.nn import functional
from torch.nn.utils import prune

from blankfill.networks import linear as products
from blankfill.networks.linear import (
    WORTH,
    Prepacked,
    can_prepack,
    multiply_add,
    multiply_gelu,
    packing_if_worth,
    prepack,
    prepacked_products,
)

CLOSE = {torch.float32: 1e-5, torch.bfloat16: 0.05}
needs_onednn = pytest.mark.skipif(
    not can_prepack(nn.Linear(2, 2)), reason="this processor's products are torch's own"
)
needs_bf16 = pytest.mark.skipif(
    not can_prepack(nn.Linear(2, 2, dtype=torch.bfloat16)), reason="this processor packs no bf16 weights"
)


def make_layer(dtype=torch.float32, bias=True):
    torch.manual_seed(0)
    return nn.Linear(24, 40, bias=bias, dtype=dtype).requires_grad_(False)


@needs_onednn
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, pytest.param(torch.bfloat16, marks=needs_bf16)])
@pytest.mark.parametrize("shape", [(1, 24), (7, 24), (3, 1100, 24), (0, 24), (2, 0, 24)])
def test_a_packed_layer_multiplies_as_its_own(shape, dtype, bias):
    layer, rows = make_layer(dtype, bias), torch.randn(shape, dtype=dtype)
    other = torch.randn(*shape[:-1], 40, dtype=dtype)
    exact = functional.linear(
        rows.float(), layer.weight.float(), None if layer.bias is None else layer.bias.float()
    )
    wanted = [exact, exact + other.float(), functional.gelu(exact)]
    for _ in range(2):  # first torch's own, then packed
        found = [layer(rows), multiply_add(layer, rows, other), multiply_gelu(layer, rows)]
        for ours, theirs in zip(found, wanted, strict=True):
            assert ours.dtype == dtype and ours.shape == theirs.shape
            assert torch.allclose(ours.float(), theirs, atol=CLOSE[dtype])
        prepack(layer)
    assert isinstance(layer.forward, Prepacked)


@needs_bf16
def test_rows_that_are_not_contiguous_and_of_a_wider_type_are_multiplied():
    layer, rows = make_layer(torch.bfloat16), torch.randn(24, 6).t()
    wanted = layer(rows.bfloat16())
    assert torch.allclose(prepack(layer)(rows).float(), wanted.float(), atol=0.05)


@needs_onednn
def test_a_row_is_the_same_in_any_company():
    layer, rows = prepack(make_layer()), torch.randn(600, 24)
    whole = layer(rows)
    for n in (1, 5, 64, 333):
        assert torch.allclose(layer(rows[:n]), whole[:n], atol=1e-6)


@needs_onednn
def test_layers_are_their_own_again_afterwards_even_after_an_error():
    model = nn.Sequential(make_layer(), nn.GELU(), nn.Linear(40, 3))
    with pytest.raises(ZeroDivisionError), prepacked_products(model):
        assert isinstance(model[0].forward, Prepacked) and isinstance(model[2].forward, Prepacked)
        with prepacked_products(model):  # a call within a call
            pass
        assert isinstance(model[0].forward, Prepacked)
        raise ZeroDivisionError
    assert not any("forward" in vars(part) for part in model)
    model(torch.randn(2, 24)).sum().backward()
    assert model[2].weight.grad is not None


@needs_onednn
@pytest.mark.parametrize("dtype", [torch.float32, pytest.param(torch.bfloat16, marks=needs_bf16)])
def test_weights_are_packed_after_so_many_rows_over_all_calls_and_in_bf16_at_once(dtype):
    layer, rows = make_layer(dtype), torch.randn(1 + WORTH // 3, 24, dtype=dtype)
    wanted = layer(rows)
    with packing_if_worth(True), prepacked_products(layer):
        for n_before, is_packed in enumerate([False, False, True, True]):
            found = [layer(rows), multiply_add(layer, rows[:0], wanted[:0]), multiply_gelu(layer, rows[:0])]
            assert (layer.forward.packed is not None) == (is_packed or dtype == torch.bfloat16), n_before
            assert torch.allclose(found[0], wanted, atol=CLOSE[dtype])


@needs_onednn
def test_of_a_large_model_no_second_copy_is_made(monkeypatch):
    layer = make_layer()
    monkeypatch.setattr(products, "LARGEST", layer.weight.nbytes - 1)
    with prepacked_products(layer):
        assert "forward" not in vars(layer)
    monkeypatch.setattr(products, "LARGEST", layer.weight.nbytes)
    with prepacked_products(layer):
        assert "forward" in vars(layer)


def test_what_is_not_a_plain_layer_of_a_known_type_is_left_alone(monkeypatch):
    class Special(nn.Linear):
        pass

    hooked = nn.Linear(2, 2)
    hooked.forward = lambda rows: rows
    for layer in (
        Special(2, 2),
        nn.Linear(2, 2, dtype=torch.float64),
        nn.Linear(2, 2, device="meta"),
        hooked,
    ):
        assert not can_prepack(layer)
    monkeypatch.setattr(products.platform, "machine", lambda: "arm64")
    layer = make_layer()
    with prepacked_products(layer):
        assert "forward" not in vars(layer)


def test_a_layer_whose_weights_are_set_before_each_pass_keeps_its_own_product():
    layer, rows = nn.Linear(6, 4), torch.randn(3, 6)
    prune.l1_unstructured(layer, "weight", 0.5)
    assert not can_prepack(layer)
    with torch.no_grad():
        layer.weight_orig.add_(1)
        with prepacked_products(layer):
            made = layer(rows)
        assert torch.allclose(made, rows @ (layer.weight_orig * layer.weight_mask).T + layer.bias, atol=1e-6)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_class_computes_the_same_states(networks, name):
    network, tokenizer = networks[name]
    ids = torch.randint(5, len(tokenizer), (2, 9), generator=torch.Generator().manual_seed(1))
    inputs = {"input_ids": ids}
    if network.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = ids
    with torch.inference_mode():
        wanted = network(**inputs).logits
        with prepacked_products(network):
            found = network(**inputs).logits
    assert torch.allclose(found, wanted, atol=1e-5)
