"""Evaluation mode for the time of a call, in which no other thread uses the network; then it is as it was."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from threading import Lock, RLock
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from torch import nn

P = ParamSpec("P")
T = TypeVar("T")
_IN_USE: WeakKeyDictionary[nn.Module, Any] = WeakKeyDictionary()  # a lock for each network
_GUARD = Lock()  # of this dictionary


@contextmanager
def evaluating(*models: nn.Module | None) -> Iterator[None]:
    """Put networks into evaluation mode within the `with`; then each module has its own flag again, after an error too.

    Another thread waits for the same network, whose mode, attention and products are replaced while it is read.
    """
    networks = sorted((model for model in models if model is not None), key=id)
    with ExitStack() as held:
        for network in networks:
            with _GUARD:
                lock = _IN_USE.setdefault(network, RLock())
            held.enter_context(lock)
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
