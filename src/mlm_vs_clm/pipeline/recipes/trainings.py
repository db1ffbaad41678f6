"""Recipes of models: what they start from, how they are trained, and on which corpora."""

import os
from dataclasses import fields, replace
from pathlib import Path

from blankfill.errors import BlankfillError
from blankfill.ranges import check_fields

from ...arms.baselines import COUNTING
from ...corpora.packages import locate
from ...errors import StudyError
from ...files import hash_of
from ...hardware import choose_device, choose_precision
from ...training.budgets import list_budgets
from ...training.objectives import OBJECTIVES, check_objective, reset_unread
from ..artifacts import Recipe
from ..checks import check_shape
from ..config import RUNTIME_TRAINING, Config, TrainingConfig
from .corpora import corpus
from .versions import layout_of, make_recipe

UNIT_TOKENS = 1_000_000  # stands for a token budget that is not known yet
STARTS = ("encoder", "scratch", "checkpoint")
MATCHED_START = ("name", "start", "shape", "vocabulary", "corpora", "seed")
CHECKPOINT_ONLY = ("revision", "opening", "bidirectional")


def start(config: Config) -> Recipe:
    """Return the recipe of the initial checkpoint and its tokenizer: one for every objective, or a pretrained model."""
    model = config.model
    if model.start not in STARTS:
        raise StudyError(f"model.start={model.start} is unknown: choose one of {', '.join(STARTS)}")
    # Without a source, the shape and the vocabulary are the settings' own.
    is_new = model.start == "scratch" and model.source is None
    named = {} if is_new else name_source(model.source, config.data_dir)
    for key in ("shape", "vocabulary"):
        if not is_new and getattr(model, key):
            raise StudyError(
                f"model.{key} has no effect beside model.source={model.source}: remove one of them"
            )
    if model.layers and (is_new or model.start == "checkpoint"):
        raise StudyError(
            "model.layers takes the lower layers of an encoder: give its model.source with model.start=encoder or scratch, or "
            "remove it"
        )
    if model.start == "checkpoint":
        return _start_from_checkpoint(config, named)
    for key in CHECKPOINT_ONLY:
        if getattr(model, key):
            raise StudyError(f"model.{key} needs model.start=checkpoint, got {model.start}: remove it")
    if is_new:
        check_shape(model)
    settings = {"encoder": named.pop("source", None)} | named
    settings |= {key: getattr(model, key) for key in MATCHED_START}
    settings |= {"layers": model.layers} if model.layers else {}
    return make_recipe("start", settings, training_corpora(config) if is_new else {})


def _start_from_checkpoint(config: Config, named: dict) -> Recipe:
    """Return the recipe of a pretrained model that is loaded whole; `named` says which its source is."""
    model = config.model
    if model.revision and ("sha256" in named or str(model.source).startswith("package:")):
        raise StudyError(
            f"model.revision has no effect beside model.source={model.source}, which is not on the hub: remove one of them"
        )
    settings = named | {"name": model.name, "start": model.start, "seed": model.seed}
    settings |= {key: value for key in CHECKPOINT_ONLY if (value := getattr(model, key))}
    return make_recipe("start", settings | {"kind": _kind_of(config)})


def _kind_of(config: Config) -> str:
    """Return as what kind a checkpoint is loaded: that of the objective; for a word table, which reads with its tokenizer, its own."""
    model = config.model
    if (
        config.arm.writer in COUNTING
        and model.name == "checkpoint"
        and not str(model.source).startswith("package:")
    ):
        from blankfill.loading import find_kind

        try:
            return find_kind(os.path.expanduser(str(model.source)))
        except BlankfillError:  # as a file of another format, which the reader of the start knows
            pass
    return OBJECTIVES[config.objective.name].kind


def name_source(source: str | None, data_dir: str) -> dict:
    """Return what names the origin of weights: a package or hub id, or a path and the hash of its content."""
    if source is None:
        raise StudyError("model.source is missing: give a hub id, a folder or package:<name>")
    if source.startswith("package:"):
        return {"source": source}
    place = locate(source, Path(data_dir))
    return {"source": source} | ({"sha256": hash_of(place)} if isinstance(place, Path) else {})


def pretrain(config: Config) -> Recipe:
    """Return the recipe of a model trained with one objective."""
    training, objective = training_of(config).to_settings(), reset_unread(**config.objective.to_settings())
    check_objective(**objective)
    inputs = {"start": start(config)} | training_corpora(config)
    training["precision"] = precision_of(config)  # last, as it loads torch
    settings = {"objective": objective, "training": training, "seed": config.model.seed}
    return make_recipe("pretrain", settings | layout_of(objective["name"]), inputs)


def precision_of(config: Config) -> str:
    """Return the precision of the numbers on the device of a job."""
    return choose_precision(config.precision, choose_device(config.device))


def training_of(config: Config) -> TrainingConfig:
    """Return how a model is trained: the settings of the scale, with those that the model changes."""
    changed = dict(config.model.training)
    share = changed.pop("budget_share", 1.0)
    names = [setting.name for setting in fields(TrainingConfig) if setting.name not in RUNTIME_TRAINING]
    for name in changed:
        if name not in names:
            raise StudyError(
                f"model.training.{name} is unknown: choose one of budget_share, {', '.join(names)}"
            )
    merged = replace(config.scale.training, **changed)
    check_fields(merged, "scale.training.")
    if merged.canary_copies != TrainingConfig.canary_copies and not merged.canaries:
        raise StudyError(
            "scale.training.canary_copies has no effect without scale.training.canaries: remove it"
        )
    if "patience" in changed and merged.patience >= merged.budgets:
        raise StudyError(
            f"model.training.patience={merged.patience} has no effect with {merged.budgets} budgets: give a smaller one, or more "
            "budgets (scale.training.budgets)"
        )
    if not merged.body_learning_rate and not merged.head_learning_rate:
        raise StudyError(
            "scale.training.body_learning_rate and head_learning_rate are both 0, so nothing would be learned: raise one"
        )
    merged = replace(merged, token_budget=round(share * (tokens := merged.token_budget)))
    if tokens and merged.token_budget < 2 ** (merged.budgets - 1):
        raise StudyError(
            f"scale.training.budgets={merged.budgets}: each is half of the next, so the first of {merged.token_budget} tokens "
            "would have none: give fewer, or more tokens"
        )
    return merged


def budget(config: Config, trainings: list[Recipe]) -> Recipe:
    """Return the recipe of the token budget that trains all models in `scale.minutes`; theirs is UNIT_TOKENS."""
    inputs = {
        f"{i}/{name}": recipe
        for i, training in enumerate(trainings)
        for name, recipe in training.inputs.items()
    }
    settings = {"minutes": config.scale.minutes, "trainings": [training.settings for training in trainings]}
    return make_recipe("budget", settings, inputs)


def budgets_of(config: Config) -> list[int]:
    """Return the token budgets at which the training of a job keeps a model."""
    training = training_of(config)
    return list_budgets(training.token_budget, training.budgets)


def training_corpora(config: Config) -> dict[str, Recipe]:
    """Return the corpora that a model is trained on: those of the model, or by `arm.training` one alone or the others."""
    corpora, corpus_name = config.model.corpora or [config.corpus.name], config.corpus.name
    chosen = {"only": [corpus_name], "elsewhere": [name for name in corpora if name != corpus_name]}
    names = sorted(chosen.get(config.arm.training, corpora))  # batches follow the order, ids do not
    if not names:
        raise StudyError(
            f"arm={config.arm.name} is trained on the other corpora, and model={config.model.name} names no other: "
            "set model.corpora"
        )
    return {f"corpus/{name}": corpus(config, name) for name in names}
