"""Objectives differ in what they predict and in nothing else; a killed run ends with the same bytes."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_trainings import NOISE, TRAINING, assert_same_files, killed_at, train_tiny

from mlm_vs_clm import hardware
from mlm_vs_clm.models.checkpoints import AUTO_CLASSES, load_model
from mlm_vs_clm.models.objectives import OBJECTIVES
from mlm_vs_clm.models.sizes import hidden_states, output_layer
from mlm_vs_clm.models.starts import as_kind, start_from_scratch
from mlm_vs_clm.models.training import loss
from mlm_vs_clm.models.training.batches import find_target_tokens, order_batches, pad_examples, tokenize
from mlm_vs_clm.models.training.checkpoint import load_checkpoint, save_checkpoint
from mlm_vs_clm.models.training.loss import PredictedLoss

SHAPE = {"layers": 2, "width": 32, "heads": 2, "positions": 128}


@pytest.fixture
def documents(texts, tokenizer):
    return tokenize(texts, tokenizer, 64)


def run_training(name, tokenizer, documents, folder):
    model = as_kind(start_from_scratch(SHAPE, tokenizer, 1), OBJECTIVES[name].kind, tokenizer)
    return train_tiny(model, tokenizer, documents, folder, name)


def test_objectives_start_from_the_same_parameters(start, tokenizer):
    masked, causal = start.state_dict(), as_kind(start, "causal", tokenizer).state_dict()
    assert masked.keys() == causal.keys()
    assert all(torch.equal(masked[name], causal[name]) for name in masked)


def test_seq2seq_is_of_comparable_size(start, tokenizer):
    size = sum(p.numel() for p in start.parameters())
    assert sum(p.numel() for p in as_kind(start, "seq2seq", tokenizer).parameters()) < 2 * size


@pytest.mark.parametrize("name", OBJECTIVES)
def test_loss_on_predicted_positions_equals_the_full_one(name, start, tokenizer, documents):
    objective = OBJECTIVES[name]
    model = as_kind(start_from_scratch(SHAPE, tokenizer, 1), objective.kind, tokenizer).eval()
    rng, marks = np.random.default_rng(0), find_target_tokens(tokenizer, model)
    batch = pad_examples([objective.make_example(d, NOISE, marks, rng) for d in documents], 0)
    labels = batch.pop("labels")
    with torch.no_grad():
        fast = PredictedLoss(model)(labels, **batch)
        logits = model(**batch).logits
    full = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    assert fast.item() == pytest.approx(full.item(), rel=1e-5)


@pytest.mark.parametrize("rows", [3, 1000])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_gradients_of_the_loss_are_those_of_autograd(name, rows, start, tokenizer, documents, monkeypatch):
    monkeypatch.setattr(loss, "HEAD_ROWS", rows)
    objective = OBJECTIVES[name]
    model = as_kind(start_from_scratch(SHAPE, tokenizer, 1), objective.kind, tokenizer).eval()
    rng, marks = np.random.default_rng(0), find_target_tokens(tokenizer, model)
    batch = pad_examples([objective.make_example(d, NOISE, marks, rng) for d in documents], 0)
    bare = PredictedLoss(model)
    wanted = bare(**batch) * 0.25
    wanted.backward()
    expected = {key: p.grad.clone() for key, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    assert bare.learn(share=0.25, **batch) == pytest.approx(wanted.item(), rel=1e-5)
    for key, slope in expected.items():
        assert torch.allclose(dict(model.named_parameters())[key].grad, slope, atol=1e-6), key


def test_order_of_data_is_one_for_all_and_takes_corpora_in_turn():
    lengths, corpora = [10] * 8, ["a"] * 6 + ["b"] * 2
    order = order_batches(lengths, corpora, 1100, 4, 0)
    assert order == order_batches(lengths, corpora, 1100, 4, 0)
    seen = [document for batch in order for document in batch]
    assert len(seen) * 10 >= TRAINING.token_budget > (len(seen) - 1) * 10
    assert sum(corpora[i] == "a" for i in seen) == sum(corpora[i] == "b" for i in seen)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_trained_checkpoint_reloads_in_its_auto_class(name, tokenizer, documents, tmp_path):
    run_training(name, tokenizer, documents, tmp_path / name)
    model = load_model(tmp_path / name, OBJECTIVES[name].kind)
    assert type(model).__name__ in str(AUTO_CLASSES[OBJECTIVES[name].kind]._model_mapping.values())
    batch = pad_examples([{"input_ids": documents[0].ids}], 0)
    if OBJECTIVES[name].kind == "seq2seq":
        batch["decoder_input_ids"] = batch["input_ids"]
    with torch.no_grad():
        assert torch.allclose(
            output_layer(model)(hidden_states(model, batch)), model(**batch).logits, atol=1e-5
        )


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("at", [1, 4, 7])
def test_killed_training_goes_on_to_the_same_bytes(name, at, tokenizer, documents, tmp_path, monkeypatch):
    run_training(name, tokenizer, documents, tmp_path / "whole")
    with killed_at(at, monkeypatch):
        run_training(name, tokenizer, documents, tmp_path / "killed")
    assert (tmp_path / "killed" / "checkpoint").exists() == (at > 1)
    run_training(name, tokenizer, documents, tmp_path / "killed")
    assert_same_files(tmp_path / "whole", tmp_path / "killed")


def test_checkpoints_hold_no_pickle(tokenizer, documents, tmp_path):
    run_training("mlm", tokenizer, documents, tmp_path / "run")
    suffixes = {path.suffix for path in (tmp_path / "run").rglob("*") if path.is_file()}
    assert suffixes <= {".safetensors", ".json", ".csv", ".txt"}


@pytest.mark.parametrize("at", range(5))
def test_a_kill_while_checkpoints_are_exchanged_leaves_a_whole_one_or_none(at, tmp_path, monkeypatch):
    """Killed in the midst of a removal, or before a rename, and then saved again."""
    module = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(module.parameters())
    save_checkpoint(tmp_path, module, optimizer, {}, {"step": 1})
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
        save_checkpoint(tmp_path, module, optimizer, {}, {"step": 2})
    left = tmp_path / "checkpoint"
    assert not left.exists() or sorted(path.name for path in left.iterdir()) == whole
    save_checkpoint(tmp_path, module, optimizer, {}, {"step": 3})
    assert load_checkpoint(tmp_path, module, optimizer)[0] == {"step": 3}
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


def test_freed_memory_is_handed_back_once_a_process_has_grown(monkeypatch):
    sizes, handed_back = iter([1000, 1100, 1151, 900, 1040, 1051]), []
    monkeypatch.setattr(hardware, "resident_memory_mb", lambda: next(sizes))
    monkeypatch.setattr(hardware, "return_freed_memory", lambda: handed_back.append(True))
    keeper, when = hardware.MemoryKeeper(), []
    for _ in range(6):
        keeper.release_if_grown()
        when.append(len(handed_back))
    assert when == [
        0,
        0,
        1,
        1,
        1,
        2,
    ]  # 150 MB over the first look, and over the first look after handing back


def test_what_a_process_holds_is_at_most_what_it_ever_held():
    assert 10 < hardware.resident_memory_mb() <= 1.05 * hardware.peak_memory_mb("cpu")
