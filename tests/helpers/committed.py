"""Parameters of a test, such as the committed studies: all where the slow tests run, a few where only the fast ones do."""

from collections.abc import Iterable

import pytest


def mark_slow(names: Iterable[str], *fast: str) -> list:
    """Return names as parameters; those that are not among `fast` are marked slow."""
    return [name if name in fast else pytest.param(name, marks=pytest.mark.slow) for name in sorted(names)]
