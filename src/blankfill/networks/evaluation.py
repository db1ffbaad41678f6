"""Evaluation mode for the time of a call: a network that a caller trains is given back as it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from torch import nn

P = ParamSpec("P")
T = TypeVar("T")


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


def in_evaluation_mode(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function with every network among its arguments in evaluation mode while it runs."""

    @wraps(function)
    def call(*args: P.args, **settings: P.kwargs) -> T:
        with evaluating(*(value for value in (*args, *settings.values()) if isinstance(value, nn.Module))):
            return function(*args, **settings)

    return call
