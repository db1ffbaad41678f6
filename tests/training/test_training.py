"""Objectives differ in what they predict and in nothing else."""

import json
from copy import deepcopy
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch
from tiny_texts import SHAPE
from tiny_trainings import NOISE, TRAINING, make_model, prepare_tiny, train_from_scratch, train_tiny

from blankfill.networks.checkpoints import AUTO_CLASSES, load_model, make_switchable
from blankfill.networks.sizes import hidden_states, output_layer
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.training import loss
from mlm_vs_clm.training.batches import (
    Batches,
    choose_unique,
    find_target_tokens,
    order_batches,
    pad_examples,
    tokenize,
)
from mlm_vs_clm.training.budgets import choose_budget
from mlm_vs_clm.training.loss import PredictedLoss
from mlm_vs_clm.training.noise import IGNORE, Neighbours, TrainedObjective
from mlm_vs_clm.training.objectives import OBJECTIVES, objective_of_batch
from mlm_vs_clm.training.preparation import prepare
from mlm_vs_clm.training.settings import TrainingTexts
from mlm_vs_clm.training.starts import as_kind, see_both_sides, set_output_bias, start_from_scratch


@pytest.fixture(scope="module")
def trained(tokenizer, documents, tmp_path_factory):
    """Train an objective once: its folder, its curve and what `training.json` says; not to be changed."""

    @cache
    def train(name):
        folder = tmp_path_factory.mktemp(name)
        return folder, *train_from_scratch(name, tokenizer, documents, folder)

    return train


def test_objectives_start_from_the_same_parameters(start, tokenizer):
    masked, causal = start.state_dict(), as_kind(start, "causal", tokenizer).state_dict()
    assert masked.keys() == causal.keys()
    assert all(torch.equal(masked[name], causal[name]) for name in masked)


def test_seq2seq_is_of_comparable_size(start, tokenizer):
    size = sum(p.numel() for p in start.parameters())
    assert sum(p.numel() for p in as_kind(start, "seq2seq", tokenizer).parameters()) < 2 * size


@pytest.mark.parametrize("rows", [3, 1000])
@pytest.mark.parametrize("name", OBJECTIVES)
def test_loss_at_predicted_positions_is_the_full_one_and_its_gradients_are_those_of_autograd(
    name, rows, tokenizer, documents, monkeypatch
):
    monkeypatch.setattr(loss, "HEAD_ROWS", rows)
    objective = OBJECTIVES[name]
    model = as_kind(start_from_scratch(SHAPE, tokenizer, 1), objective.kind, tokenizer).eval()
    neighbours = Neighbours(documents)
    marks = replace(find_target_tokens(tokenizer, model), neighbours=neighbours)
    rng = np.random.default_rng(0)
    batch = pad_examples([objective.make_example(d, NOISE, marks, rng) for d in documents], 0)
    bare = PredictedLoss(model)
    with torch.no_grad():
        fast = bare(**batch).item()
    (bare(**batch) * 0.25).backward()
    expected = {key: p.grad.clone() for key, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    assert bare.learn(share=0.25, **batch) == pytest.approx(fast * 0.25, rel=1e-5)
    for key, slope in expected.items():
        assert torch.allclose(dict(model.named_parameters())[key].grad, slope, atol=1e-6), key
    labels, _ = batch.pop("labels"), batch.pop("is_next", None)
    weights = batch.pop("weights", labels != IGNORE).flatten()
    with torch.no_grad():
        logits = model(**batch).logits
    full = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    assert fast == pytest.approx(((full * weights).sum() / weights.sum()).item(), rel=1e-5)


def test_losses_are_not_rounded_in_low_precision(start, tokenizer, documents):
    rng, marks = np.random.default_rng(0), find_target_tokens(tokenizer, start)
    batch = pad_examples([OBJECTIVES["mlm"].make_example(d, NOISE, marks, rng) for d in documents], 0)
    with torch.autocast("cpu", torch.bfloat16):
        measured = PredictedLoss(start)(**batch)
        learned = PredictedLoss(start).learn(share=1.0, **batch)
    assert measured.dtype is torch.float64 and measured.item() != measured.bfloat16().item()
    assert learned == pytest.approx(measured.item(), rel=1e-5)


def test_unused_weights_of_a_kind_are_the_same_each_time(start, tokenizer):
    first, second = (as_kind(start, "seq2seq", tokenizer).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_order_of_data_is_one_for_all_and_takes_corpora_in_turn():
    lengths, corpora = [10] * 8, ["a"] * 6 + ["b"] * 2
    order = order_batches(lengths, corpora, 1100, 4, 0)
    assert order == order_batches(lengths, corpora, 1100, 4, 0)
    seen = [document for batch in order for document in batch]
    assert len(seen) * 10 >= TRAINING.token_budget > (len(seen) - 1) * 10
    assert sum(corpora[i] == "a" for i in seen) == sum(corpora[i] == "b" for i in seen)


def test_fewer_unique_tokens_are_a_part_of_more():
    lengths = [7, 3, 9, 4, 8, 5]
    few, more = (choose_unique(lengths, n, 0, "a") for n in (10, 20))
    assert set(few) < set(more) < set(choose_unique(lengths, 0, 0, "a"))
    assert sum(lengths[i] for i in few) >= 10 and len(few) < 4
    assert few != choose_unique(lengths, 10, 1, "a") or more != choose_unique(lengths, 20, 1, "a")
    assert choose_unique(lengths, 10**6, 0, "a") == list(range(6))


def test_dropout_and_micro_batches_are_refused_together(tokenizer, documents, tmp_path):
    with pytest.raises(StudyError, match="micro_batch_documents"):
        train_from_scratch("mlm", tokenizer, documents, tmp_path, dropout=0.1, micro_batch_documents=2)


@pytest.mark.parametrize(("name", "objective"), [("llama", "clm"), ("bart", "denoise")])
def test_dropout_of_a_network_without_such_layers_is_refused(name, objective, networks, texts, tmp_path):
    model, each = networks[name]
    training, documents = replace(TRAINING, dropout=0.1), tokenize(texts, each, 64)
    with pytest.raises(StudyError, match=f"dropout=0.1 changes nothing, as {name} has no dropout layers"):
        train_tiny(model, each, documents, tmp_path, objective, training)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_model_of_a_budget_reloads_in_its_auto_class(name, trained, documents):
    folder, _, _ = trained(name)
    model = load_model(folder / "550", OBJECTIVES[name].kind)
    assert type(model).__name__ in str(AUTO_CLASSES[OBJECTIVES[name].kind]._model_mapping.values())
    batch = pad_examples([{"input_ids": documents[0].ids}], 0)
    if OBJECTIVES[name].kind == "seq2seq":
        batch["decoder_input_ids"] = batch["input_ids"]
    with torch.no_grad():
        states = hidden_states(model, batch)
        assert torch.allclose(output_layer(model)(states), model(**batch).logits, atol=1e-5)
    suffixes = {path.suffix for path in folder.rglob("*") if path.is_file()}
    assert suffixes <= {".safetensors", ".json", ".csv", ".txt"}  # no pickle


def test_models_kept_on_the_way_change_nothing(trained, tokenizer, documents, tmp_path):
    """The last of three models is that of a training that keeps no other, and the curve has every budget."""
    three, curve, _ = trained("mlm")
    train_from_scratch("mlm", tokenizer, documents, tmp_path, budgets=1)
    assert list(curve["budget"]) == [0, 0, 275, 275, 550, 550, 1100, 1100]
    loaded = [load_model(folder / "1100", "masked").state_dict() for folder in (three, tmp_path)]
    assert all(torch.equal(loaded[0][name], value) for name, value in loaded[1].items())


def test_passes_count_how_often_each_corpus_was_read(trained, documents):
    _, curve, about = trained("clm")
    last = about["budgets"][-1]
    lengths = {"a": [len(d.ids) for d in documents[:3]], "b": [len(d.ids) for d in documents[3:]]}
    seen = sum(last["passes"][name] * sum(lengths[name]) for name in lengths)
    assert seen == pytest.approx(last["tokens_seen"])
    assert curve["passes"].iloc[-1] == pytest.approx(last["passes"]["b"], rel=1e-5)


def test_the_budget_that_fills_a_corpus_has_its_lowest_dev_loss(tmp_path):
    curve = [
        {"budget": 10, "dev_loss": {"a": 2.0, "b": 3.0}},
        {"budget": 20, "dev_loss": {"a": 1.5, "b": 3.5}},
    ]
    about = {"budgets": curve, "stopped_early": False}
    (tmp_path / "training.json").write_text(json.dumps(about))
    for corpus, asked, budget in (("a", 0, 20), ("b", 0, 10), ("c", 0, 20), ("b", 20, 20)):
        assert choose_budget(tmp_path, corpus, asked) == (tmp_path / str(budget), curve[budget // 10 - 1])
    with pytest.raises(StudyError, match="arm.budget=15: no model was kept there; choose one of 10, 20"):
        choose_budget(tmp_path, "a", 15)
    (tmp_path / "training.json").write_text(json.dumps(about | {"stopped_early": True}))
    assert choose_budget(tmp_path, "a", 40) == (tmp_path / "20", curve[1])


def test_early_stopping_ends_the_curve(tokenizer, documents, tmp_path):
    """A far too large learning rate gets worse at once: the training stops after the budgets that it has."""
    way = {"patience": 1, "body_learning_rate": 3.0, "token_budget": 4000, "budgets": 5}
    curve, about = train_from_scratch("mlm", tokenizer, documents, tmp_path, **way)
    losses = [max(point.values()) for point in (one["dev_loss"] for one in about["budgets"])]
    assert about["stopped_early"] and len(losses) < 5 and len(curve) == 2 * (1 + len(losses))


def test_a_new_output_layer_starts_from_the_unigram_distribution(tokenizer, documents):
    model = start_from_scratch(SHAPE, tokenizer, 1)
    set_output_bias(model, documents)
    counts = np.bincount(np.concatenate([d.ids for d in documents]), minlength=len(tokenizer)) + 1
    bias = model.get_output_embeddings().bias.detach().exp().numpy()
    assert bias == pytest.approx(counts / counts.sum(), rel=1e-4)


# One of each form of batch.
@pytest.mark.parametrize("name", "mlm clm infill prefix_lm masked_diffusion hybrid mlm_nsp seq2seq".split())
def test_micro_batches_make_the_same_steps(name, trained, tokenizer, documents, tmp_path):
    _, plain, _ = trained(name)
    smaller, _ = train_from_scratch(name, tokenizer, documents, tmp_path, micro_batch_documents=3)
    for column in ("train_loss", "dev_loss"):
        assert smaller[column].tolist() == pytest.approx(plain[column].tolist(), abs=1e-5, nan_ok=True)


@pytest.mark.parametrize(
    ("name", "objective"), [("t5", "span_corruption"), ("bart", "denoise"), ("t5", "sentinel")]
)
def test_published_objectives_train_their_own_classes(name, objective, networks, texts, tmp_path):
    start, each = networks[name]
    model = type(start)(start.config)
    train_tiny(model, each, tokenize(texts, each, 64), tmp_path / "run", objective)
    told = json.loads((tmp_path / "run" / "training.json").read_text())
    assert ("mean_span" in told["noise"]) == (objective != "sentinel")
    assert 0 < told["budgets"][-1]["tokens_predicted"] < 3 * told["budgets"][-1]["tokens_seen"]


@pytest.mark.parametrize(("share", "name"), [(0.0, "clm"), (1.0, "mlm")])
def test_hybrid_of_one_kind_alone_is_that_objective_bit_for_bit(
    share, name, trained, tokenizer, documents, tmp_path
):
    noise = replace(NOISE, masked_share=share)
    hybrid, _ = train_from_scratch("hybrid", tokenizer, documents, tmp_path, noise)
    folder, curve, _ = trained(name)
    pd.testing.assert_frame_equal(hybrid, curve, check_exact=True)
    kind = OBJECTIVES[name].kind
    loaded = [load_model(place / "1100", kind).state_dict() for place in (tmp_path, folder)]
    assert all(torch.equal(loaded[0][key], value) for key, value in loaded[1].items())


def see_ahead(model, ids):
    """Return whether the first logits change with the last token."""
    other = ids.clone()
    other[0, -1] += 1
    with torch.no_grad():
        return not torch.equal(model(input_ids=ids).logits[0, 0], model(input_ids=other).logits[0, 0])


def test_a_hybrid_is_stored_as_masked_and_causal_and_its_dev_loss_is_the_mean(tokenizer, documents, tmp_path):
    noise = replace(NOISE, masked_share=0.25)
    _, about = train_from_scratch("hybrid", tokenizer, documents, tmp_path, noise)
    assert about["noise"]["masked_share"] == 0.25
    expected = 0.0
    for kind, name, share in (("masked", "mlm", 0.25), ("causal", "clm", 0.75)):
        model = load_model(tmp_path / "1100", kind)
        assert see_ahead(model, torch.tensor(documents[0].ids)[None]) == (kind == "masked")
        dev = Batches(
            documents[:2], [[0, 1]], TrainedObjective(name, noise), find_target_tokens(tokenizer, model), 0, 1
        )
        with torch.no_grad():
            expected += share * PredictedLoss(model)(**dev[0]).item()
    assert about["budgets"][-1]["dev_loss"]["a"] == pytest.approx(expected, rel=1e-5)


def test_budgets_count_a_document_once_and_work_as_done(trained):
    """All objectives see the same sub-words; infilling reads more of them and says so in its FLOPs."""
    last = {name: trained(name)[2]["budgets"][-1] for name in OBJECTIVES}
    assert len({about["tokens_seen"] for about in last.values()}) == 1
    assert last["infill"]["tokens_predicted"] == last["mlm"]["tokens_predicted"]
    assert last["infill"]["flops"] > 1.4 * last["mlm"]["flops"]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objective_learns_more_than_how_often_tokens_occur(name, tokenizer, documents, tmp_path):
    counts = np.bincount(np.concatenate([d.ids for d in documents]))
    shares = counts[counts > 0] / counts.sum()
    way = {"token_budget": 10_000, "budgets": 1, "body_learning_rate": 5e-3, "batch_documents": 8}
    curve, _ = train_from_scratch(name, tokenizer, documents, tmp_path, **way)
    assert curve["dev_loss"].iloc[-2:].mean() < -(shares * np.log(shares)).sum()


def test_pairs_are_learned_beside_the_masks_and_their_head_is_no_part_of_the_model(
    trained, tokenizer, documents, tmp_path
):
    """The gradients of both add up; the stored model has the parameters of any masked one."""
    model = start_from_scratch(SHAPE, tokenizer, 1)
    examples = [
        {"input_ids": d.ids, "labels": d.ids, "is_next": np.array([i % 2])} for i, d in enumerate(documents)
    ]
    batch, learner = pad_examples(examples, 0), PredictedLoss(model, judges_pairs=True)
    weight = model.bert.embeddings.word_embeddings.weight
    learner.learn(share=1.0, n_pairs=len(documents), **batch)
    together, weight.grad = weight.grad, None
    states = hidden_states(model, {key: batch[key] for key in ("input_ids", "attention_mask")})
    verdicts = learner.judge(states[:, 0])
    (learner(**batch) + torch.nn.functional.cross_entropy(verdicts, batch["is_next"][:, 0])).backward()
    assert torch.allclose(together, weight.grad, atol=1e-6)
    stored = load_model(trained("mlm_nsp")[0] / "1100", "masked")
    assert stored.state_dict().keys() == model.state_dict().keys()
    model.config.type_vocab_size = 1
    with pytest.raises(StudyError, match="objective mlm_nsp needs a model with two segment types"):
        train_tiny(model, tokenizer, documents, tmp_path, "mlm_nsp")


@pytest.mark.parametrize("name", ["clm", "masked_diffusion"])
def test_a_loss_that_bounds_the_text_is_told_per_character(name, trained, texts, documents):
    """The whole of the first two texts is predicted: each token, and by the causal model its end too."""
    last = trained(name)[2]["budgets"][-1]
    n_predicted = sum(len(d.ids) - (1 if name == "clm" else 2) for d in documents[:2])
    n_characters = sum(map(len, texts[:2]))
    found = last["nats_per_character"]["a"]
    assert found == pytest.approx(last["dev_loss"]["a"] * n_predicted / n_characters)


@pytest.mark.parametrize(
    ("schedule", "share", "kinds"),
    [
        ("batches", 0.25, "cccmcccm"),
        ("phases", 0.5, "ccmmmmcc"),
        ("causal_first", 0.25, "ccccccmm"),
        ("phases", 0.0, "cccccccc"),
    ],
)
def test_a_hybrid_has_its_kinds_as_its_schedule_says(schedule, share, kinds):
    noise = replace(NOISE, masked_share=share, schedule=schedule)
    made = [objective_of_batch(n, len(kinds), "hybrid", noise) for n in range(len(kinds))]
    assert "".join(name[0] for name in made) == kinds


def test_a_causal_start_that_sees_both_sides_can_be_a_hybrid(networks, texts, tmp_path):
    start, each = deepcopy(networks["llama"])
    with pytest.raises(StudyError, match="objective hybrid needs a bert or .* this one is llama"):
        make_switchable(start)
    see_both_sides(start, each)
    documents = tokenize(texts, each, 64, "causal")
    train_tiny(start, each, documents, tmp_path / "run", "hybrid")
    for kind in ("masked", "causal"):
        model = load_model(tmp_path / "run" / "1100", kind)
        assert see_ahead(model, torch.tensor(documents[0].ids)[None]) == (kind == "masked")


@pytest.mark.parametrize(("name", "times"), [("clm", 1), ("hybrid", 2)])
def test_a_dev_loss_reads_the_held_out_documents_of_all_corpora_once_for_each_kind(
    name, times, tokenizer, documents, tmp_path
):
    trainer = prepare_tiny(make_model(name, tokenizer), tokenizer, documents, tmp_path, name)
    held_out = [*documents[:2], *documents[3:5]]
    assert trainer.reading.count_dev_tokens() == times * sum(len(document.ids) for document in held_out)


def test_a_corpus_without_dev_documents_is_refused(start, tokenizer, documents, tmp_path):
    texts = TrainingTexts({"a": documents}, {"a": []})
    with pytest.raises(StudyError, match="corpus a has no document to measure the dev loss on"):
        prepare(start, tokenizer, texts, TrainedObjective("mlm", NOISE), TRAINING, tmp_path)


def test_training_does_not_begin_from_weights_that_are_no_numbers(start, tokenizer, documents, tmp_path):
    model = deepcopy(start)
    with torch.no_grad():
        output_layer(model)(torch.zeros(1, model.config.hidden_size))
        model.get_output_embeddings().bias.fill_(float("nan"))
    told = "step 0 of .* dev loss on a is not finite: the weights that it starts"
    with pytest.raises(StudyError, match=told):
        train_tiny(model, tokenizer, documents, tmp_path, "mlm")


def test_documents_longer_than_the_model_s_positions_are_one_line(tokenizer, documents, tmp_path):
    model = as_kind(
        start_from_scratch(SHAPE | {"positions": max(len(one.ids) for one in documents)}, tokenizer, 1),
        "causal",
        tokenizer,
    )
    train_tiny(model, tokenizer, documents, tmp_path / "fits", "clm", replace(TRAINING, token_budget=100))
    with pytest.raises(
        StudyError, match="objective kept reads a document of .* lower scale.training.max_subwords"
    ):
        train_tiny(model, tokenizer, documents, tmp_path / "kept", "kept")
