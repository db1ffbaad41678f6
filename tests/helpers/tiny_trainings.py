"""Trainings of a few steps, whole or killed on the way."""

import filecmp
from contextlib import contextmanager

import pytest

from mlm_vs_clm.models.objectives import Noise
from mlm_vs_clm.models.training.loop import Trainer, Training, train

TRAINING = Training(
    token_budget=1100,
    batch_documents=4,
    body_learning_rate=1e-3,
    head_learning_rate=1e-3,
    warmup_share=0.1,
    weight_decay=0.01,
    max_gradient_norm=1.0,
    max_subwords=64,
    evaluations=4,
    dev_documents=2,
    checkpoint_seconds=0.0,
    precision="fp32",
)
NOISE = Noise(ratio=0.5, unit="token", mask_share=0.8, random_share=0.1)


def train_tiny(model, tokenizer, documents, folder, name, training=TRAINING, noise=NOISE):
    folder.mkdir(exist_ok=True)
    corpora, dev = ["a", "a", "a", "b", "b", "b"], documents[:2]
    return train(model, tokenizer, documents, corpora, dev, name, noise, training, 0, folder, "cpu", False)


class Killed(Exception):
    pass


@contextmanager
def killed_at(step, monkeypatch):
    """Let a training die just before a step, as `kill -9` would: nothing is written after it."""
    go_on = Trainer._step

    def killed_step(self, number):
        if number == step:
            raise Killed
        return go_on(self, number)

    monkeypatch.setattr(Trainer, "_step", killed_step)
    with pytest.raises(Killed):
        yield
    monkeypatch.setattr(Trainer, "_step", go_on)


def assert_same_files(whole, killed):
    files = [path.name for path in whole.iterdir() if path.is_file()]
    assert filecmp.cmpfiles(whole, killed, files, shallow=False) == (files, [], [])
