"""A GPU fills, scores and trains as the processor does; skipped where torch sees none."""

import pytest
import torch
from tiny_models import NETWORKS
from tiny_trainings import assert_same_files, killed_at, train_from_scratch

from blankfill import fill, score
from blankfill.text import find_words
from mlm_vs_clm.training.objectives import OBJECTIVES

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU is visible to torch")
DEVICES = ("cpu", "cuda")
SETTINGS = {
    "masked": [
        {"order": "left_to_right"},
        {"order": "confidence", "per_pass": 4},
        {"context": "left", "order": "left_to_right"},
        {"length": "free"},
    ],
    "causal": [{}, {"context": "true_left"}, {"context": "both", "candidates": 4}, {"length": "free"}],
    "seq2seq": [{"source": "kept", "max_new_tokens": 12}],
}
WAYS = [(name, settings) for name, (_, _, kind, _) in NETWORKS.items() for settings in SETTINGS[kind]]
PLACES = [(2, 4, 5), (0,), (1, 2, 7)]


@pytest.mark.parametrize(("name", "settings"), WAYS)
def test_a_gpu_writes_the_same_words(networks, texts, name, settings):
    network, tokenizer = networks[name]
    blanks = [[find_words(text)[i] for i in chosen] for text, chosen in zip(texts, PLACES, strict=False)]
    asked = (texts[: len(PLACES)], blanks, network, tokenizer)
    filled = [fill(*asked, device=device, **settings) for device in DEVICES]
    assert filled[0].texts == filled[1].texts


@pytest.mark.parametrize("name", ["bert", "modernbert", "gpt2", "llama"])
def test_a_gpu_gives_the_same_likelihood(networks, texts, name):
    network, tokenizer = networks[name]
    blanks = [[find_words(text)[i] for i in chosen] for text, chosen in zip(texts, PLACES, strict=False)]
    asked = (texts[: len(PLACES)], blanks, network, tokenizer)
    nats = [[told.nats for told in score(*asked, device=device)] for device in DEVICES]
    assert nats[1] == pytest.approx(nats[0], rel=1e-4)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize(("precision", "apart"), [("fp32", 1e-4), ("bf16", 0.02)])
def test_a_gpu_learns_the_same(tokenizer, documents, tmp_path, name, precision, apart):
    losses = []
    for device in DEVICES:
        ways = {"device": device, "precision": precision}
        curve, _ = train_from_scratch(name, tokenizer, documents, tmp_path / device, **ways)
        losses.append(curve["dev_loss"].tolist())
    assert losses[1] == pytest.approx(losses[0], rel=apart)


@pytest.mark.parametrize("name", ["mlm", "clm", "infill", "seq2seq"])
def test_a_killed_training_on_a_gpu_ends_with_the_same_bytes(
    tokenizer, documents, tmp_path, monkeypatch, name
):
    def train(folder):
        ways = {"device": "cuda", "checkpoint_seconds": 0.0}
        train_from_scratch(name, tokenizer, documents, folder, **ways)

    train(tmp_path / "whole")
    with killed_at(3, monkeypatch):
        train(tmp_path / "killed")
    train(tmp_path / "killed")
    assert_same_files(tmp_path / "whole", tmp_path / "killed")
