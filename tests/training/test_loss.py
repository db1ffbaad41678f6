"""The gradients that are summed in place are those of autograd, whatever the network."""

import pytest
import torch
from tiny_models import neox

from blankfill.networks.sizes import hidden_states, output_layer, split_output_layer
from mlm_vs_clm.training.loss import PredictedLoss
from mlm_vs_clm.training.noise import IGNORE

NAMES = ["bert", "roberta", "modernbert", "gpt2", "llama", "t5", "bart"]


def make_batch(name, tokenizer):
    ids = torch.randint(5, len(tokenizer) - 12, (2, 7), generator=torch.Generator().manual_seed(0))
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids.clone()}
    batch["labels"][:, ::3] = IGNORE
    return batch | ({"decoder_input_ids": ids.roll(1)} if name in ("t5", "bart") else {})


@pytest.mark.parametrize("name", NAMES)
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


def test_a_network_that_nobody_listed_learns_through_autograd():
    model, batch = neox(50), {"input_ids": torch.arange(6)[None], "labels": torch.arange(6)[None]}
    assert split_output_layer(model) is None
    assert hidden_states(model, {"input_ids": batch["input_ids"]}).shape[-1] == 50
    learner = PredictedLoss(model)
    assert learner.learn(share=1.0, **batch) == pytest.approx(learner(**batch).item(), rel=1e-5)
