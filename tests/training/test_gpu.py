"""A GPU fills, scores and trains as the processor does; skipped where torch sees none."""

from dataclasses import replace

import pandas as pd
import pytest
import torch
from tiny_models import NETWORKS
from tiny_texts import SHAPE
from tiny_trainings import TRAINING, assert_same_files, killed_at, train_tiny

from blankfill import fill, score
from blankfill.text import find_words
from mlm_vs_clm.training.batches import tokenize
from mlm_vs_clm.training.objectives import OBJECTIVES
from mlm_vs_clm.training.starts import as_kind, start_from_scratch

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
def test_a_gpu_learns_the_same(tokenizer, texts, tmp_path, name, precision, apart):
    documents, losses = tokenize(texts, tokenizer, 64), []
    for device in DEVICES:
        model = as_kind(start_from_scratch(SHAPE, tokenizer, 1), OBJECTIVES[name].kind, tokenizer)
        training = replace(TRAINING, device=device, precision=precision)
        train_tiny(model, tokenizer, documents, tmp_path / device, name, training)
        losses.append(pd.read_csv(tmp_path / device / "curves.csv").dev_loss)
    assert losses[1].tolist() == pytest.approx(losses[0].tolist(), rel=apart)


@pytest.mark.parametrize("name", ["mlm", "clm", "infill", "seq2seq"])
def test_a_killed_training_on_a_gpu_ends_with_the_same_bytes(tokenizer, texts, tmp_path, monkeypatch, name):
    documents, training = tokenize(texts, tokenizer, 64), replace(TRAINING, device="cuda")

    def train(folder):
        model = as_kind(start_from_scratch(SHAPE, tokenizer, 1), OBJECTIVES[name].kind, tokenizer)
        train_tiny(model, tokenizer, documents, folder, name, training)

    train(tmp_path / "whole")
    with killed_at(3, monkeypatch):
        train(tmp_path / "killed")
    train(tmp_path / "killed")
    assert_same_files(tmp_path / "whole", tmp_path / "killed")
