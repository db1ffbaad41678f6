"""From what is typed to the settings of a job: Hydra composes, the track chooses the model."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import hydra
from omegaconf import DictConfig, OmegaConf

from ..errors import StudyError
from ..files import ROOT
from .config import Config

CONF = ROOT / "conf"
Composed = dict[tuple[str, ...], DictConfig]  # what Hydra made, by overrides


def compose(
    overrides: list[str], composed: Composed | None = None, settings: Mapping[str, Any] | None = None
) -> Config:
    """Compose settings with the model of the arm, else with the one that the track has for the objective.

    A model that is typed wins over the track's, and is none of an arm that has its own. `composed` keeps what Hydra makes, each
    once; `settings` are then set by key.
    """
    cached = {} if composed is None else composed
    raw = _compose(overrides, cached)
    config = to_config(raw)
    typed = {override.split("=")[0].lstrip("+") for override in overrides} | {*(settings or {})}
    model = config.track.models.get(config.objective.name) if "model" not in typed else None
    if config.arm.model:
        model, overrides = config.arm.model, [word for word in overrides if not is_of_model(word)]
        settings = {key: value for key, value in (settings or {}).items() if not is_of_model(key)}
    if model is not None:
        raw = _compose([*overrides, f"model={model}"], cached)
        config = to_config(raw)
    if settings:
        raw = deepcopy(raw)
        for key, value in settings.items():
            OmegaConf.update(raw, key, value)
        config = to_config(raw)
    check_budget(config, typed)
    check_patience(config, typed)
    for name in list(config.model.training):
        if f"scale.training.{name}" in typed and f"model.training.{name}" not in typed:
            del config.model.training[name]  # what is typed wins over a model's own file
    return config


def is_of_model(override: str) -> bool:
    """Return whether an override chooses the model, or changes it."""
    return override.lstrip("+~").split("=")[0].split(".")[0] == "model"


def _compose(overrides: list[str], cached: Composed) -> DictConfig:
    key = tuple(overrides)
    if key not in cached:
        cached[key] = hydra.compose("config", overrides)
    return cached[key]


def check_budget(config: Config, typed: set[str]) -> None:
    """Let a token budget that is typed win over the minutes of a scale; raises StudyError for both, and for neither."""
    scale, has_tokens = config.scale, "scale.training.token_budget" in typed
    if has_tokens and "scale.minutes" in typed:
        raise StudyError(
            "scale.minutes and scale.training.token_budget are both given: leave one of them out"
        )
    if scale.minutes < 0 or not (scale.minutes or scale.training.token_budget > 0):
        raise StudyError(
            f"scale.minutes={scale.minutes:g}, scale.training.token_budget={scale.training.token_budget}: give one above 0"
        )
    if has_tokens:
        scale.minutes = 0.0


def check_patience(config: Config, typed: set[str]) -> None:
    """Raise StudyError for a patience that is typed and that no training can run out of before its end.

    One of a scale's file may be: a track may ask for fewer budgets.
    """
    training = config.scale.training
    if "scale.training.patience" in typed and training.patience >= max(training.budgets, 1):
        raise StudyError(
            f"scale.training.patience={training.patience} has no effect with scale.training.budgets={training.budgets}: "
            "give a smaller one, or more budgets"
        )


def set_tokens(config: Config, tokens: int) -> Config:
    """Set the token budget of settings whose minutes stand for one; return the same settings."""
    if config.scale.minutes:
        config.scale.training.token_budget = tokens
    return config


def to_config(raw: DictConfig) -> Config:
    """Turn what Hydra composed into typed settings; a missing value or wrong type raises."""
    config = OmegaConf.to_object(raw)
    assert isinstance(config, Config)
    return config
