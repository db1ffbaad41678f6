"""Committed studies as parameters of a test: all of them where the slow tests run, a few where only the fast ones do."""

from collections.abc import Iterable

import pytest


def mark_slow(studies: Iterable[str], *fast: str) -> list:
    """Return the names of studies; those that are not among `fast` are marked slow."""
    return [name if name in fast else pytest.param(name, marks=pytest.mark.slow) for name in sorted(studies)]
