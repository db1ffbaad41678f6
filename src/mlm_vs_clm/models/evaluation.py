"""Evaluation mode for the time of a call: a network that a caller trains is given back as it was."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluating(*models: nn.Module) -> Iterator[None]:
    """Put networks into evaluation mode within the `with`; then each module has its own flag again, after an error too."""
    flags = [(module, module.training) for model in models for module in model.modules()]
    try:
        for model in models:
            model.eval()
        yield
    finally:
        for module, is_training in flags:
            module.training = is_training
