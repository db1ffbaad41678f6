"""The gradients that are summed in place are those of autograd, whatever the network."""

import pytest
import torch
from tiny_models import NETWORKS, neox

from blankfill.networks.attention import attention_of
from blankfill.networks.sizes import hidden_states, output_layer, split_output_layer
from mlm_vs_clm.training import loss, vocabulary_arrays
from mlm_vs_clm.training.loss import PredictedLoss
from mlm_vs_clm.training.noise import IGNORE
from mlm_vs_clm.training.training_attention import NAME as LEARNING


def make_batch(name, tokenizer):
    ids = torch.randint(5, len(tokenizer) - 12, (2, 7), generator=torch.Generator().manual_seed(0))
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids.clone()}
    batch["labels"][:, ::3] = IGNORE
    return batch | ({"decoder_input_ids": ids.roll(1)} if name in ("t5", "bart") else {})


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_of_every_output_layer_are_those_of_autograd(name, networks):
    model, tokenizer = networks[name]
    if name == "bart":
        model.final_logits_bias.normal_(generator=torch.Generator().manual_seed(1))
    batch, learner = make_batch(name, tokenizer), PredictedLoss(model)
    model.zero_grad()
    wanted = learner(**batch)
    wanted.backward()
    expected = {key: p.grad.clone() for key, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    assert learner.learn(share=1.0, **batch) == pytest.approx(wanted.item(), rel=1e-5)
    learned = {key: p.grad for key, p in model.named_parameters() if p.grad is not None}
    assert learned.keys() == expected.keys()
    for key, slope in expected.items():
        assert torch.allclose(learned[key], slope, atol=1e-6), key
    states = torch.randn(3, model.config.hidden_size)
    before, weight, bias = split_output_layer(model)
    logits = before(states) @ weight.T + (0 if bias is None else bias)
    assert torch.allclose(logits, output_layer(model)(states), atol=1e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_learns_in_bf16_what_it_learns_in_float32(name, networks):
    model, tokenizer = networks[name]
    batch, learner, slopes = make_batch(name, tokenizer), PredictedLoss(model), {}
    for dtype in (torch.float32, torch.bfloat16):
        model.zero_grad()
        with torch.autocast("cpu", dtype, enabled=dtype != torch.float32), attention_of(model, LEARNING):
            learner.learn(share=1.0, **batch)
        slopes[dtype] = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
    apart = (slopes[torch.bfloat16] - slopes[torch.float32]).norm() / slopes[torch.float32].norm()
    assert 0 < apart < 0.05


def test_a_network_that_nobody_listed_learns_through_autograd():
    model, batch = neox(50), {"input_ids": torch.arange(6)[None], "labels": torch.arange(6)[None]}
    assert split_output_layer(model) is None
    assert hidden_states(model, {"input_ids": batch["input_ids"]}).shape[-1] == 50
    learner = PredictedLoss(model)
    assert learner.learn(share=1.0, **batch) == pytest.approx(learner(**batch).item(), rel=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", ["bert", "t5", "bart"])
def test_arrays_kept_from_step_to_step_hold_nothing_of_the_step_before(name, dtype, networks, monkeypatch):
    """Two micro-batches with padding, whose rows do not fit at once, three steps long."""
    monkeypatch.setattr(vocabulary_arrays, "SLOPES_MB", 0)
    monkeypatch.setattr(vocabulary_arrays, "HEAD_ROWS", 3)
    monkeypatch.setattr(loss, "HEAD_ROWS", 2)
    model, tokenizer = networks[name]
    first, second = make_batch(name, tokenizer), make_batch(name, tokenizer)
    second["input_ids"] = second["input_ids"].flip(0).clone()
    second["input_ids"][:, -2:] = model.get_input_embeddings().padding_idx or 0
    learner = PredictedLoss(model)

    def step(learn):
        model.zero_grad()
        with torch.autocast("cpu", dtype, enabled=dtype != torch.float32):
            learn()
        return {key: p.grad.clone() for key, p in model.named_parameters() if p.grad is not None}

    wanted = step(lambda: (learner(**first) / 3 + learner(**second) * 2 / 3).backward())
    for _ in range(3):
        learned = step(lambda: [learner.learn(share=1 / 3, **first), learner.learn(share=2 / 3, **second)])
        assert learned.keys() == wanted.keys()
        for key, slope in wanted.items():
            assert torch.allclose(learned[key], slope, atol=1e-6 if dtype == torch.float32 else 2e-2), key
    weight = model.get_input_embeddings().weight
    assert weight.grad is learner.kept.gradient(weight)
