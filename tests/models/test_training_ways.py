"""Micro-batches, early stopping, bf16, full memory: other ways to one and the same training."""

import json
from dataclasses import replace

import pandas as pd
import pytest
import torch
from tiny_models import NETWORKS
from tiny_trainings import TRAINING, assert_same_files, killed_at, train_tiny

from mlm_vs_clm.draws import keyed_rng
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.hardware import advise_smaller_steps, explain_out_of_memory, training_threads
from mlm_vs_clm.models.checkpoints import load_model
from mlm_vs_clm.models.objectives import OBJECTIVES, Noise
from mlm_vs_clm.models.starts import as_kind, start_from_scratch
from mlm_vs_clm.models.training.batches import find_target_tokens, pad_examples, tokenize
from mlm_vs_clm.models.training.loop import best_evaluation, describe_stopping, is_out_of_patience
from mlm_vs_clm.models.training.loss import PredictedLoss
from mlm_vs_clm.pipeline import stages
from mlm_vs_clm.pipeline.artifacts import Runtime

SHAPE = {"layers": 2, "width": 32, "heads": 2, "positions": 128}
NOISE = Noise(0.5, "token", 0.8, 0.1)
WAYS = {
    "micro batches": {"micro_batch_documents": 3},
    "patience": {"patience": 2},
    "bf16": {"precision": "bf16"},
    "all": {"micro_batch_documents": 2, "patience": 3, "precision": "bf16"},
}
KIND_OF = {"masked": "mlm", "causal": "clm", "seq2seq": "seq2seq"}


def run_training(name, tokenizer, texts, folder, dropout=0.0, **ways):
    model = start_from_scratch(SHAPE, tokenizer, 1)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    model = as_kind(model, OBJECTIVES[name].kind, tokenizer)
    documents = tokenize(texts, tokenizer, 64, OBJECTIVES[name].kind)
    train_tiny(model, tokenizer, documents, folder, name, replace(TRAINING, **ways))
    return pd.read_csv(folder / "curves.csv"), json.loads((folder / "training.json").read_text())


@pytest.mark.parametrize(("way", "name"), [*((way, "mlm") for way in WAYS), ("all", "seq2seq")])
def test_killed_training_goes_on_to_the_same_bytes(way, name, tokenizer, texts, tmp_path, monkeypatch):
    run_training(name, tokenizer, texts, tmp_path / "whole", **WAYS[way])
    with killed_at(5, monkeypatch):
        run_training(name, tokenizer, texts, tmp_path / "killed", **WAYS[way])
    assert (tmp_path / "killed" / "checkpoint").exists()
    run_training(name, tokenizer, texts, tmp_path / "killed", **WAYS[way])
    assert_same_files(tmp_path / "whole", tmp_path / "killed")


def test_dropout_of_a_killed_training_is_that_of_a_whole_one(tokenizer, texts, tmp_path, monkeypatch):
    run_training("mlm", tokenizer, texts, tmp_path / "whole", dropout=0.2)
    with killed_at(4, monkeypatch):
        run_training("mlm", tokenizer, texts, tmp_path / "killed", dropout=0.2)
    run_training("mlm", tokenizer, texts, tmp_path / "killed", dropout=0.2)
    assert_same_files(tmp_path / "whole", tmp_path / "killed")


@pytest.mark.parametrize("name", OBJECTIVES)
def test_micro_batches_make_the_same_steps(name, tokenizer, texts, tmp_path):
    plain, about = run_training(name, tokenizer, texts, tmp_path / "plain")
    smaller, told = run_training(name, tokenizer, texts, tmp_path / "smaller", **WAYS["micro batches"])
    for column in ("train_loss", "dev_loss"):
        assert smaller[column].tolist() == pytest.approx(plain[column].tolist(), abs=1e-5, nan_ok=True)
    assert told == about


@pytest.mark.parametrize("name", [name for name in NETWORKS if NETWORKS[name][2] in KIND_OF])
def test_every_class_learns_and_reloads(name, networks, texts, tmp_path):
    """Trained on three texts a while, the loss on them falls; the stored model has the same loss."""
    kind = NETWORKS[name][2]
    start, each = networks[name]
    model = type(start)(start.config)
    model.load_state_dict(start.state_dict())
    documents = tokenize(texts, each, 64, kind)
    way = replace(TRAINING, token_budget=4000, body_learning_rate=1e-2, evaluations=2)
    train_tiny(model, each, documents, tmp_path / "run", KIND_OF[kind], way)
    curve = pd.read_csv(tmp_path / "run" / "curves.csv")
    assert curve["dev_loss"].iloc[-1] < curve["dev_loss"].iloc[0]
    stored = load_model(tmp_path / "run", kind)
    assert stored.state_dict().keys() == start.state_dict().keys()
    made = [
        OBJECTIVES[KIND_OF[kind]].make_example(
            d, NOISE, find_target_tokens(each, stored), keyed_rng(1, "noise", 0, i)
        )
        for i, d in enumerate(documents[:2])
    ]
    batch = pad_examples(made, each.pad_token_id or 0)
    with torch.no_grad():
        assert PredictedLoss(stored)(**batch).item() == pytest.approx(curve["dev_loss"].iloc[-1], rel=1e-4)


@pytest.mark.parametrize(
    ("name", "objective"), [("t5", "span_corruption"), ("bart", "denoise"), ("t5", "sentinel")]
)
def test_published_objectives_train_their_own_classes(name, objective, networks, texts, tmp_path):
    start, each = networks[name]
    model = type(start)(start.config)
    train_tiny(model, each, tokenize(texts, each, 64), tmp_path / "run", objective)
    told = json.loads((tmp_path / "run" / "training.json").read_text())
    assert ("mean_span" in told["noise"]) == (objective != "sentinel")
    assert 0 < told["tokens_predicted"] < 3 * told["tokens_seen"]


def test_patience_without_a_dev_loss_is_told():
    curve = [{"step": 0, "dev_loss": None}]
    assert not is_out_of_patience(curve, 0)
    with pytest.raises(StudyError, match="patience needs a dev loss"):
        is_out_of_patience(curve, 2)


def test_patience_by_hand():
    curve = [{"step": i, "dev_loss": loss} for i, loss in enumerate([5.0, 3.0, 4.0, 3.0])]
    assert best_evaluation(curve) == 1
    assert (
        not is_out_of_patience(curve, 3) and is_out_of_patience(curve, 2) and not is_out_of_patience(curve, 0)
    )
    best = {"step": 1, "dev_loss": 3.0}
    assert describe_stopping(curve, 2, False) == {"patience": 2, "stopped_early": True, "best": best}


def test_early_stopping_keeps_the_best_weights(tokenizer, texts, tmp_path):
    """A far too large learning rate gets worse at once: it stops, and what is stored is the evaluation that was best."""
    way = {
        "patience": 1,
        "body_learning_rate": 3.0,
        "warmup_share": 0.5,
        "token_budget": 3000,
        "evaluations": 8,
    }
    curve, told = run_training("mlm", tokenizer, texts, tmp_path / "run", **way)
    assert told["stopped_early"] and told["step"] == curve["step"].iloc[-1] < 40
    best = curve.loc[curve["dev_loss"].idxmin()]
    assert told["best"] == {"step": best["step"], "dev_loss": pytest.approx(best["dev_loss"])}
    assert len(curve) - 1 == curve["dev_loss"].idxmin() + 1
    stored, documents = load_model(tmp_path / "run", "masked"), tokenize(texts[:2], tokenizer, 64)
    made = [
        OBJECTIVES["mlm"].make_example(
            d, NOISE, find_target_tokens(tokenizer, stored), keyed_rng(1, "noise", 0, i)
        )
        for i, d in enumerate(documents)
    ]
    with torch.no_grad():
        loss = PredictedLoss(stored)(**pad_examples(made, tokenizer.pad_token_id)).item()
    assert loss == pytest.approx(best["dev_loss"], rel=1e-5)


def test_patience_needs_documents_to_evaluate_on(start, tokenizer, texts, tmp_path):
    from mlm_vs_clm.models.training.loop import train

    way, documents = replace(TRAINING, patience=1), tokenize(texts, tokenizer, 64)
    with pytest.raises(StudyError, match="scale.training.patience needs documents"):
        train(start, tokenizer, documents, ["a"] * 6, [], "mlm", NOISE, way, 0, tmp_path, "cpu", False)


def test_full_memory_is_one_line_with_the_setting_to_lower():
    for error in (
        torch.OutOfMemoryError("CUDA out of memory. Tried"),
        RuntimeError("not enough memory: you"),
    ):
        with pytest.raises(StudyError) as told, explain_out_of_memory("training", advise_smaller_steps(16)):
            raise error
        assert "set scale.training.micro_batch_documents below 16" in str(told.value)
        assert "finished cells are kept" in str(told.value) and "\n" not in str(told.value)
    with pytest.raises(RuntimeError, match="shapes"), explain_out_of_memory("training", "x"):
        raise RuntimeError("shapes differ")


def test_full_memory_while_writing_is_one_line(monkeypatch, tmp_path):
    def write(*_):
        raise torch.OutOfMemoryError

    monkeypatch.setattr("mlm_vs_clm.pipeline.arms.write_with_model", write)
    monkeypatch.setattr("mlm_vs_clm.pipeline.cells.load_blanked_texts", lambda _: ([], []))
    inputs = dict.fromkeys(("corpus", "corruption", "model"), tmp_path)
    with pytest.raises(StudyError, match="out of memory while writing: set workers=1"):
        stages.make_generation({"name": "mlm"}, inputs, tmp_path, Runtime())


def test_training_takes_one_thread_unless_told_and_puts_the_number_back():
    before = torch.get_num_threads()
    for asked, used in ((0, 1), (2, 2)):
        with training_threads("cpu", asked):
            assert torch.get_num_threads() == used
    assert torch.get_num_threads() == before
