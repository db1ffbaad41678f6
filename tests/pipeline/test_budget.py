"""Minutes of training become tokens once: measured, rounded, kept, and the same for every later command."""

import threading

import pytest
import torch
from refusals import assert_refused

from mlm_vs_clm.pipeline import command, composing, model_stages, recipes


@pytest.fixture
def ask(choose, toy, tmp_path):
    """Return the job of the toy corpus at scale `own`, of its two models alone, with more settings and a store of its own."""
    path, encoder = f"corpus.path={toy / 'corpus.jsonl'}", f"scoring.encoder={toy / 'encoder'}"
    own = ["scale=own", "corpus=own", path, encoder, "model=tiny", "scale.training.max_subwords=128"]
    own += ["scale.grid.arms=[mlm,clm]", "scale.grid.also=[]", "precision=fp32", "threads=1"]

    def make(*overrides):
        job = command.Job(composing.compose([*own, *overrides]), [*own, *overrides])
        job.config.store = str(tmp_path / "store")  # as an override it would be a composition of its own
        return job

    return make


def trained(job):
    return recipes.pretrain(job.choose(arm="clm"))


def test_minutes_are_measured_once_and_train_the_same_models_ever_after(ask, capsys, monkeypatch):
    first = ask("scale.minutes=0.2")
    first.set_budget()
    tokens = first.config.scale.training.token_budget
    assert tokens >= 1000 and float(f"{tokens:.2g}") == tokens
    assert f"0.2 minutes of training: {tokens:,} tokens" in capsys.readouterr().out
    monkeypatch.setattr(model_stages, "_time_training", lambda *given: pytest.fail("timed again"))
    again = ask("scale.minutes=0.2", "workers=1")
    again.set_budget()
    assert trained(again).settings["training"]["token_budget"] == tokens
    assert trained(again).id == trained(first).id


@pytest.mark.parametrize(
    ("workers", "dev_tokens", "tokens"),
    [(1, 0, 17_000), (2, 0, 25_000), (1, 5_000, 8_400), (2, 5_000, 17_000)],
)
def test_the_minutes_hold_all_trainings_of_the_study_shared_among_workers(
    ask, monkeypatch, workers, dev_tokens, tokens
):
    speeds, before, beside = {"mlm": 1000.0, "clm": 500.0}, threading.active_count(), []

    def time_training(settings, *rest):
        beside.append(threading.active_count() - before)
        return speeds[settings["objective"]["name"]], dev_tokens

    monkeypatch.setattr(model_stages, "_time_training", time_training)
    job = ask("scale.minutes=1", f"workers={workers}")
    # A token costs 1/1000 s + 1/500 s on one worker, 1/500 s on two, and 19 % more for the copies. The dev loss of five
    # budgets and the start costs as much as learning from twice the dev tokens.
    job.set_budget()
    assert job.config.scale.training.token_budget == tokens
    assert (
        beside == [workers - 1] * 2 and threading.active_count() == before
    )  # the other workers are at work meanwhile


def test_minutes_that_the_dev_losses_use_up_are_one_line(ask, monkeypatch):
    monkeypatch.setattr(model_stages, "_time_training", lambda *given: (1000.0, 90_000))
    # Six dev losses of two models, each as long as learning from 30,000 tokens.
    job = ask("scale.minutes=1", "workers=1")
    told = "scale.minutes=1 is not enough for 1,000 tokens a model .* give 6.1 or more"
    assert_refused(told, job.set_budget)


def test_a_training_that_is_timed_and_does_not_fit_into_memory_is_one_line(ask, monkeypatch):
    def fill_up(*given):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(model_stages, "_time_training", fill_up)
    job = ask("scale.minutes=1")
    assert_refused("out of memory while training: set scale.training.micro_batch_doc", job.set_budget)


def test_a_token_budget_that_is_typed_wins_over_the_minutes_of_the_scale(ask):
    typed = ask("scale.training.token_budget=700")
    assert typed.config.scale.minutes == 0 and trained(typed).settings["training"]["token_budget"] == 700


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["scale.minutes=2", "scale.training.token_budget=700"], "are both given: leave one of them out"),
        (["scale.minutes=0"], "give one above 0"),
        (["scale.minutes=-1"], "give one above 0"),
        (
            ["scale.training.patience=5"],
            "scale.training.patience=5 has no effect with scale.training.budgets=[1-5]: give a smaller one",
        ),
    ],
)
def test_a_budget_that_cannot_be_is_one_line(ask, overrides, told):
    assert_refused(told, ask, *overrides)


def test_more_unique_tokens_than_any_corpus_has_are_refused(ask):
    typed = ask("scale.training.token_budget=700", "scale.training.unique_tokens=900000")
    told = "unique_tokens=900000: no corpus has more than .* give fewer, or 0 for all"
    assert_refused(told, typed.store.ensure, trained(typed))
