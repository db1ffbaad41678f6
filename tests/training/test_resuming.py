"""A training that was killed goes on from its checkpoint to the bytes of a whole one, and stops where it learns nothing."""

import os
import shutil
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
import torch
from tiny_trainings import assert_same_files, killed_at, train_from_scratch

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.training.checkpoint import load_checkpoint, save_checkpoint

AT_EVERY_STEP = {"checkpoint_seconds": 0.0}
WAYS = {
    "dropout": AT_EVERY_STEP | {"dropout": 0.2},
    "all": AT_EVERY_STEP | {"micro_batch_documents": 2, "patience": 3, "precision": "bf16"},
}
HUGE_RATE = AT_EVERY_STEP | {"body_learning_rate": 1e6, "head_learning_rate": 1e6, "weight_decay": 1e6}


@pytest.fixture(scope="module")
def whole(tokenizer, documents, tmp_path_factory):
    """Return the folder of a training that was not killed."""

    @cache
    def train(name, way):
        folder = tmp_path_factory.mktemp("whole")
        train_from_scratch(name, tokenizer, documents, folder, **WAYS[way])
        return folder

    return train


@pytest.mark.parametrize(
    ("name", "way", "at"),
    [
        ("mlm", "dropout", 1),
        ("mlm", "dropout", 3),
        ("clm", "dropout", 6),
        ("infill", "all", 8),
        ("prefix_lm", "all", 4),
        ("seq2seq", "all", 11),
        ("hybrid", "dropout", 6),
        ("masked_diffusion", "all", 6),
        ("mlm_nsp", "all", 6),
    ],
)
def test_killed_training_goes_on_to_the_same_bytes(
    name, way, at, whole, tokenizer, documents, tmp_path, monkeypatch
):
    """Killed on the way to a budget, and while the learning rate falls; dropout draws the same again."""
    with killed_at(at, monkeypatch):
        train_from_scratch(name, tokenizer, documents, tmp_path, **WAYS[way])
    train_from_scratch(name, tokenizer, documents, tmp_path, **WAYS[way])
    assert_same_files(whole(name, way), tmp_path)


@pytest.mark.parametrize("at", range(5))
def test_a_kill_while_checkpoints_are_exchanged_leaves_a_whole_one_or_none(at, tmp_path, monkeypatch):
    """Killed in the midst of a removal, or before a rename, and then saved again."""
    module = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(module.parameters())
    save_checkpoint(tmp_path, module, optimizer, {"step": 1})
    whole = sorted(path.name for path in (tmp_path / "checkpoint").iterdir())
    calls = []

    def die_at(act, harm):
        def do(*given, **settings):
            calls.append(act)
            if len(calls) > at:
                harm(Path(given[0]))
                raise KeyboardInterrupt
            act(*given, **settings)

        return do

    with monkeypatch.context() as patched, suppress(KeyboardInterrupt):
        patched.setattr(
            "shutil.rmtree", die_at(shutil.rmtree, lambda p: (p / "state.json").unlink(missing_ok=True))
        )
        patched.setattr("os.replace", die_at(os.replace, lambda p: None))
        save_checkpoint(tmp_path, module, optimizer, {"step": 2})
    left = tmp_path / "checkpoint"
    assert not left.exists() or sorted(path.name for path in left.iterdir()) == whole
    save_checkpoint(tmp_path, module, optimizer, {"step": 3})
    assert load_checkpoint(tmp_path, module, optimizer) == {"step": 3}
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


@pytest.mark.parametrize("name", ["mlm", "clm", "seq2seq", "mlm_nsp"])
def test_training_stops_at_the_step_whose_loss_is_not_finite(name, tokenizer, documents, tmp_path):
    told = rf"training with objective {name} stopped at step \d+ of \d+: its .* is not finite: lower scale.training"
    for _ in range(2):  # the second goes on from the checkpoint that the first left
        with pytest.raises(StudyError, match=told):
            train_from_scratch(name, tokenizer, documents, tmp_path, **HUGE_RATE)
    assert not (tmp_path / "training.json").exists()
