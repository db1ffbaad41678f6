"""Whether every number of the settings lies in its range, before any work; `config` has the ranges."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from blankfill.ranges import RANGE, Range, check_number, range_of

from ..errors import StudyError
from ..hardware import check_device
from .config import CHANGED, SHAPE, CellConfig, Config, MaskingConfig, ModelConfig

Number = tuple[str, Any, Range]  # its key, value and range


def check_numbers(config: Config) -> None:
    """Raise StudyError, with its key, value and range, for a number of the settings that is outside its range."""
    for name in ("store", "results", "data_dir"):
        if not getattr(config, name).strip():
            raise StudyError(f"{name} is empty: name a folder")
    check_device(config.device)
    ranges = {f"model.training.{name}": allowed for name, allowed in CHANGED.items()}
    ranges |= {f"model.shape.{name}": allowed for name, allowed in SHAPE.items()}
    for key, value, allowed in list_numbers(config):
        ranges[key] = allowed
        if value is not None:
            check_number(key, value, allowed)
    for place, cell in enumerate(config.scale.grid.also):
        if absent := [name for name in cell.corpora if name not in config.scale.grid.corpora]:
            raise StudyError(
                f"scale.grid.also[{place}].corpora: {absent[0]} is not in scale.grid.corpora: add it there"
            )
        _check_cell(f"scale.grid.also[{place}]", cell, ranges)


def _check_cell(key: str, cell: CellConfig, ranges: dict[str, Range]) -> None:
    """Raise StudyError for the masking of a cell's own that is none, and for a value that it varies."""
    if cell.strategy:
        check_number(f"{key}.ratio", cell.ratio, range_of(MaskingConfig, "ratio"))
    for setting in ("ratio", "tags", "types"):
        if getattr(cell, setting) and not cell.strategy:
            raise StudyError(f"{key}.{setting} has no effect without {key}.strategy: name the strategy")
    for setting, values in cell.vary.items():
        for value in values if setting in ranges else ():
            if value is not None:
                check_number(f"{key}.vary.{setting}", value, ranges[setting])


def list_numbers(settings: Any, prefix: str = "") -> Iterator[Number]:
    """Yield every number of a dataclass of settings, and of those below it; its value may be None."""
    for setting in fields(settings):
        yield from _list_below(
            f"{prefix}{setting.name}", getattr(settings, setting.name), setting.metadata.get(RANGE)
        )


def _list_below(key: str, value: Any, allowed: Range | dict[str, Range] | None) -> Iterator[Number]:
    """Yield the numbers of one setting; `allowed` is the range of each, or their ranges by name."""
    if is_dataclass(value):
        yield from list_numbers(value, f"{key}.")
    elif isinstance(value, dict):
        for name, element in value.items():
            of_name = allowed.get(name) if isinstance(allowed, dict) else allowed
            yield from _list_below(f"{key}.{name}", element, of_name)
    elif isinstance(value, list):
        for place, element in enumerate(value):
            yield from _list_below(f"{key}[{place}]", element, allowed)
    elif isinstance(allowed, Range):
        yield key, value, allowed


def check_shape(model: ModelConfig) -> None:
    """Raise StudyError for a new model without a vocabulary, or with a shape that no network has."""
    shape = model.shape
    if unknown := [name for name in shape if name not in SHAPE]:
        raise StudyError(f"model.shape.{unknown[0]} is unknown: choose among {', '.join(SHAPE)}")
    if absent := [name for name in SHAPE if name not in shape]:
        raise StudyError(f"model.shape.{absent[0]} is missing: a new model needs {', '.join(SHAPE)}")
    if model.vocabulary is None:
        raise StudyError("model.vocabulary is missing: give the number of tokens of a new tokenizer")
    for name, allowed in SHAPE.items():
        check_number(f"model.shape.{name}", shape[name], allowed)
    if shape["width"] % shape["heads"]:
        raise StudyError(
            f"model.shape.heads={shape['heads']} does not divide model.shape.width={shape['width']}: change one of them"
        )
