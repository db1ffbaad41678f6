"""Trainings of a few steps, whole or killed on the way."""

import filecmp
import json
from contextlib import contextmanager
from dataclasses import replace

import pandas as pd
import pytest
from tiny_texts import SHAPE

from mlm_vs_clm.training.loop import Trainer
from mlm_vs_clm.training.noise import Noise, TrainedObjective
from mlm_vs_clm.training.objectives import OBJECTIVES
from mlm_vs_clm.training.preparation import prepare
from mlm_vs_clm.training.settings import Training, TrainingTexts
from mlm_vs_clm.training.starts import as_kind, start_from_scratch

TRAINING = Training(
    token_budget=1100,
    budgets=3,
    batch_documents=4,
    body_learning_rate=1e-3,
    head_learning_rate=1e-3,
    warmup_share=0.1,
    decay_share=0.5,
    weight_decay=0.01,
    max_gradient_norm=1.0,
    max_subwords=64,
    dev_documents=4,
    checkpoint_seconds=3600.0,
    precision="fp32",
)
NOISE = Noise(ratio=0.5, unit="token", mask_share=0.8, random_share=0.1)


def prepare_tiny(model, tokenizer, documents, folder, name, training=TRAINING, noise=NOISE):
    folder.mkdir(exist_ok=True)
    learned = {"a": documents[:3], "b": documents[3:]}
    texts = TrainingTexts(learned, {"a": documents[:2], "b": documents[3:5] or documents[:2]})
    return prepare(model, tokenizer, texts, TrainedObjective(name, noise), training, folder)


def train_tiny(*given, **more):
    return prepare_tiny(*given, **more).train(False)


def make_model(name, tokenizer):
    """Return a network of random weights that learns by an objective."""
    return as_kind(start_from_scratch(SHAPE, tokenizer, 1), OBJECTIVES[name].kind, tokenizer)


def train_from_scratch(name, tokenizer, documents, folder, noise=NOISE, **ways):
    """Train a network of random weights; return the table of its curve and what `training.json` says."""
    model = make_model(name, tokenizer)
    train_tiny(model, tokenizer, documents, folder, name, replace(TRAINING, **ways), noise)
    return pd.read_csv(folder / "curves.csv"), json.loads((folder / "training.json").read_text())


class Killed(Exception):
    pass


@contextmanager
def killed_at(call, monkeypatch):
    """Let a training die just before its n-th step, as `kill -9` would: nothing is written after it."""
    go_on, calls = Trainer._step, []

    def killed_step(self, number):
        calls.append(number)
        if len(calls) == call:
            raise Killed
        return go_on(self, number)

    monkeypatch.setattr(Trainer, "_step", killed_step)
    with pytest.raises(Killed):
        yield
    monkeypatch.setattr(Trainer, "_step", go_on)


def assert_same_files(whole, killed):
    files = [
        str(path.relative_to(whole))
        for path in whole.rglob("*")
        if path.is_file() and "checkpoint" not in path.parts
    ]
    assert len(files) > 6
    assert filecmp.cmpfiles(whole, killed, files, shallow=False) == (files, [], [])
