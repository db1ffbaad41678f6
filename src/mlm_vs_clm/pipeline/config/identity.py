"""Which settings are in the id of a result."""

from dataclasses import asdict
from typing import Any


def set_settings(config: Any, later: tuple[str, ...]) -> dict:
    """Return all settings, a `later` one only if it differs from its default: results made before it keep their ids."""
    defaults = asdict(type(config)())
    return {k: v for k, v in asdict(config).items() if k not in later or v != defaults[k]}
