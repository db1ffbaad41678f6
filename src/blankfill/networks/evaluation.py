"""Evaluation mode for the time of a call: a network that a caller trains is given back as it was."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from torch import nn

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def evaluating(*models: nn.Module | None) -> Iterator[None]:
    """Put networks into evaluation mode within the `with`; then each module has its own flag again, after an error too."""
    networks = [model for model in models if model is not None]
    flags = [(module, module.training) for network in networks for module in network.modules()]
    try:
        for network in networks:
            network.eval()
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
