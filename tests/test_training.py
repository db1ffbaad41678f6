"""Objectives differ in what they predict and in nothing else; a killed run ends with the same bytes."""

import filecmp

import numpy as np
import pytest
import torch

from mlm_vs_clm.batches import order_batches, pad_examples, tokenize
from mlm_vs_clm.models import (
    AUTO_CLASSES,
    as_kind,
    hidden_states,
    load_model,
    output_layer,
    start_from_scratch,
)
from mlm_vs_clm.objectives import IGNORE, OBJECTIVES, Noise, Subwords
from mlm_vs_clm.training import Run, Training, train

SHAPE = {"layers": 2, "width": 32, "heads": 2, "positions": 128}
NOISE = Noise(ratio=0.5, unit="token", mask_share=0.8, random_share=0.1)
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


@pytest.fixture
def documents(texts, tokenizer):
    return tokenize(texts, tokenizer, 64)


def run_training(name, tokenizer, documents, folder):
    folder.mkdir(exist_ok=True)
    model = as_kind(start_from_scratch(SHAPE, tokenizer, 1), OBJECTIVES[name].kind, tokenizer)
    corpora = ["a", "a", "a", "b", "b", "b"]
    return train(
        model, tokenizer, documents, corpora, documents[:2], name, NOISE, TRAINING, 0, folder, "cpu", False
    )


def test_objectives_start_from_the_same_parameters(start, tokenizer):
    masked, causal = start.state_dict(), as_kind(start, "causal", tokenizer).state_dict()
    assert masked.keys() == causal.keys()
    assert all(torch.equal(masked[name], causal[name]) for name in masked)


def test_seq2seq_is_of_comparable_size(start, tokenizer):
    size = sum(p.numel() for p in start.parameters())
    assert sum(p.numel() for p in as_kind(start, "seq2seq", tokenizer).parameters()) < 2 * size


def test_masked_objective_by_hand():
    document = Subwords(np.arange(10, 30), np.array([-1, *range(18), -1]))
    noise = Noise(0.5, "token", mask_share=1.0, random_share=0.0)
    made = OBJECTIVES["mlm"].make_example(document, noise, 3, 100, np.random.default_rng(0))
    hidden = made["labels"] != IGNORE
    assert hidden.sum() == 9 and not hidden[0] and not hidden[-1]
    assert (made["input_ids"][hidden] == 3).all()
    assert (made["input_ids"][~hidden] == document.ids[~hidden]).all()
    assert (made["labels"][hidden] == document.ids[hidden]).all()


def test_masking_splits_80_10_10():
    document = Subwords(np.full(10002, 7), np.array([-1, *range(10000), -1]))
    made = OBJECTIVES["mlm"].make_example(document, NOISE, 3, 1000, np.random.default_rng(0))
    hidden = made["labels"] != IGNORE
    shares = [(made["input_ids"][hidden] == value).mean() for value in (3, 7)]
    assert shares == pytest.approx([0.8, 0.1], abs=0.02)


def test_causal_objective_predicts_the_next():
    document = Subwords(np.array([1, 5, 6, 2]), np.array([-1, 0, 1, -1]))
    made = OBJECTIVES["clm"].make_example(document, NOISE, 3, 100, np.random.default_rng(0))
    assert made["labels"].tolist() == [5, 6, 2, IGNORE]


def test_kept_objective_hides_whole_words_and_leaves_no_mark():
    document = Subwords(np.array([1, 5, 6, 7, 8, 2]), np.array([-1, 0, 0, 1, 1, -1]))
    noise = Noise(0.5, "word", 0.8, 0.1)
    made = OBJECTIVES["seq2seq"].make_example(document, noise, 3, 100, np.random.default_rng(0))
    assert made["input_ids"].tolist() in ([1, 5, 6, 2], [1, 7, 8, 2])
    assert made["decoder_input_ids"].tolist() == [1, 5, 6, 7, 8, 2]
    assert made["labels"].tolist() == [5, 6, 7, 8, 2, IGNORE]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_loss_on_predicted_positions_equals_the_full_one(name, start, tokenizer, documents):
    from mlm_vs_clm.training import PredictedLoss

    objective = OBJECTIVES[name]
    model = as_kind(start_from_scratch(SHAPE, tokenizer, 1), objective.kind, tokenizer).eval()
    rng = np.random.default_rng(0)
    batch = pad_examples([objective.make_example(d, NOISE, 4, len(tokenizer), rng) for d in documents], 0)
    labels = batch.pop("labels")
    with torch.no_grad():
        fast = PredictedLoss(model)(labels, **batch)
        logits = model(**batch).logits
    full = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    assert fast.item() == pytest.approx(full.item(), rel=1e-5)


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
    if name == "seq2seq":
        batch["decoder_input_ids"] = batch["input_ids"]
    with torch.no_grad():
        assert torch.allclose(
            output_layer(model)(hidden_states(model, batch)), model(**batch).logits, atol=1e-5
        )


class Killed(Exception):
    pass


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("at", [1, 4, 7])
def test_killed_training_goes_on_to_the_same_bytes(name, at, tokenizer, documents, tmp_path, monkeypatch):
    run_training(name, tokenizer, documents, tmp_path / "whole")
    step = Run._step

    def killed_step(self, batch):
        if self.state["step"] == at:
            raise Killed
        return step(self, batch)

    monkeypatch.setattr(Run, "_step", killed_step)
    with pytest.raises(Killed):
        run_training(name, tokenizer, documents, tmp_path / "killed")
    monkeypatch.undo()
    assert (tmp_path / "killed" / "checkpoint").exists() == (at > 1)
    run_training(name, tokenizer, documents, tmp_path / "killed")
    files = [path.name for path in (tmp_path / "whole").iterdir() if path.is_file()]
    assert filecmp.cmpfiles(tmp_path / "whole", tmp_path / "killed", files, shallow=False) == (files, [], [])


def test_checkpoints_hold_no_pickle(tokenizer, documents, tmp_path):
    run_training("mlm", tokenizer, documents, tmp_path / "run")
    suffixes = {path.suffix for path in (tmp_path / "run").rglob("*") if path.is_file()}
    assert suffixes <= {".safetensors", ".json", ".csv", ".txt"}
