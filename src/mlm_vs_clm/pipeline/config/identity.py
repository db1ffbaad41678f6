"""Which settings are in the id of a result."""

from dataclasses import MISSING as REQUIRED
from dataclasses import Field, asdict, fields
from typing import Any


def set_settings(config: Any, later: tuple[str, ...]) -> dict:
    """Return all settings, a `later` one only if it differs from its default: results made before it keep their ids."""
    defaults = {setting.name: _default_of(setting) for setting in fields(config)}
    return {k: v for k, v in asdict(config).items() if k not in later or v != defaults[k]}


def _default_of(setting: Field) -> Any:
    return setting.default if setting.default_factory is REQUIRED else setting.default_factory()
