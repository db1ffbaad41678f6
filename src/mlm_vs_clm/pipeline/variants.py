"""Variants of arms: the combinations of settings that a part of the grid varies, each an arm of its own."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from ..errors import StudyError
from .config import CellConfig, Config, GridConfig, MaskingConfig

OF_TASK = ("label_policy",)  # settings of the task model that learns from a text, and not of the text


@dataclass(frozen=True)
class Variant:
    """An arm of a grid: its name, the arm that it is of, and the settings (by Hydra key) in which it differs."""

    name: str
    base: str
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def is_of_task(self) -> bool:
        """Return whether it has a setting of the task model, so that its text is that of another arm."""
        return any(key in OF_TASK for key in self.settings)

    @property
    def choices(self) -> dict[str, str]:
        """Return the overrides that compose it, by key; variants that only teach a task otherwise share one text."""
        name = _name(self.base, {key: value for key, value in self.settings.items() if key not in OF_TASK})
        named = {"arm.name": name} if self.name != self.base else {}
        return {"arm": self.base} | {key: json.dumps(value) for key, value in (self.settings | named).items()}


def list_variants(cell: CellConfig) -> list[Variant]:
    """Return the arms of a part of the grid: of each, every combination of the values in `vary`.

    A name has the arm and the last part of each key: "mlm temperature=0.3". Raises StudyError for a key without values.
    """
    if empty := [key for key, values in cell.vary.items() if not values]:
        raise StudyError(f"scale.grid.also: vary.{empty[0]} has no value: list one or more")
    combinations = [dict(zip(cell.vary, values, strict=True)) for values in product(*cell.vary.values())]
    return [
        Variant(_name(arm, combination), arm, combination)
        for arm in cell.arms
        for combination in combinations
    ]


def _name(arm: str, settings: dict[str, Any]) -> str:
    words = [
        f"{key.rpartition('.')[2]}={value if isinstance(value, str) else json.dumps(value)}"
        for key, value in settings.items()
    ]
    return " ".join([arm, *words])


def list_arms(grid: GridConfig) -> dict[str, Variant]:
    """Return every arm of a grid by name; raises StudyError where two that differ share a name."""
    by_name: dict[str, Variant] = {}
    for variant in [
        *(Variant(arm, arm) for arm in grid.arms),
        *(v for c in grid.also for v in list_variants(c)),
    ]:
        if by_name.setdefault(variant.name, variant) != variant:
            raise StudyError(
                f"scale.grid.also: two arms are called {variant.name}: vary one of {', '.join(variant.settings)} elsewhere"
            )
    return by_name


def list_settings(grid: GridConfig) -> list[dict]:
    """Return the table `variants`: one row (arm, base, setting, level) per variant and setting."""
    return [
        {"arm": variant.name, "base": variant.base, "setting": setting, "level": value}
        for variant in list_arms(grid).values()
        for setting, value in variant.settings.items()
    ]


def list_maskings(cell: CellConfig, grid: GridConfig) -> list[MaskingConfig]:
    """Return the maskings of a part of the grid."""
    kinds = {"tags": cell.tags, "types": cell.types}
    return [MaskingConfig(cell.strategy, cell.ratio, **kinds)] if cell.strategy else grid.maskings


def list_cells(grid: GridConfig, corpus: str) -> list[CellConfig]:
    """Return the parts of `also` that a corpus has; StudyError for a part that varies task models and trains none."""
    for cell in grid.also:
        if not cell.train and (key := next((key for key in OF_TASK if key in cell.vary), "")):
            raise StudyError(f"scale.grid.also: vary.{key} needs task models: remove train=false")
    return [cell for cell in grid.also if corpus in (cell.corpora or grid.corpora)]


def fill_with(arm: Config, cell: Config) -> Config:
    """Return the settings of a cell with how an arm fills, its objectives, its model and how that is trained."""
    scale = replace(cell.scale, training=arm.scale.training)
    filled = replace(cell, objective=arm.objective, second_objective=arm.second_objective)
    return replace(filled, arm=arm.arm, model=arm.model, scale=scale, label_policy=arm.label_policy)


def refuse_unused(
    grid: GridConfig, corpus: Config, choose: Callable[..., Config], identify: Callable[[Config], str]
) -> None:
    """Raise StudyError for a key of `vary` that changes settings of an arm, but nothing of what it writes.

    `identify` returns the id of the texts that settings make.
    """
    for cell in list_cells(grid, corpus.corpus.name):
        for arm, key, masking in product(cell.arms, cell.vary, list_maskings(cell, grid)[:1]):
            of_arm = [variant.settings for variant in list_variants(cell) if variant.base == arm]
            pairs = _pair_without(key, arm, of_arm, choose)
            at = replace(corpus, masking=masking)
            filled = (
                (fill_with(with_key, at), fill_with(without_key, at)) for with_key, without_key in pairs
            )
            if _is_unused(filled, identify):
                raise StudyError(
                    f"scale.grid.also: vary.{key} changes nothing for arm {arm}: correct the key, or remove it"
                )


def _pair_without(
    key: str, arm: str, of_arm: list[dict[str, Any]], choose: Callable[..., Config]
) -> Iterator[tuple[Config, Config]]:
    """Yield the settings of the variants of an arm with a key and without it, where they differ."""
    for settings in of_arm:
        without = {name: value for name, value in settings.items() if name != key}
        with_key, without_key = (
            choose(**Variant(arm, arm, chosen).choices) for chosen in (settings, without)
        )
        if with_key != without_key:
            yield with_key, without_key


def _is_unused(pairs: Iterator[tuple[Config, Config]], identify: Callable[[Config], str]) -> bool:
    """Return whether settings that differ all make the same texts; not where the others make none."""
    ids = []
    for config, other_config in pairs:
        ids.append(identify(config))
        try:
            if identify(other_config) != ids[-1]:
                return False
        except StudyError:
            return False
    return bool(ids)
