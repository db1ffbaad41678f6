"""Several processes that train one model, as `torchrun` or `accelerate launch` starts them: who writes, who lends a hand."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
from accelerate.state import PartialState

from ...errors import StudyError

TRAIN, STORED = 1, 0


def count_launched() -> int:
    """Return how many processes the launcher started; 1 without a launcher."""
    return int(os.environ.get("WORLD_SIZE", 1))


def is_main() -> bool:
    """Tell whether this is the process that writes and prints."""
    return int(os.environ.get("RANK", 0)) == 0


def join(device: str) -> PartialState:
    """Join the other processes (at once if there are none); the device of this one is in what is returned.

    The wait is long, as the main process may first make a corpus, or wait for another job's model. Raises
    StudyError for a launcher that tells its processes apart in another way than torchrun does (MPI).
    """
    place = PartialState(cpu=device == "cpu", timeout=timedelta(days=7))
    if place.num_processes != count_launched():
        raise StudyError(
            "this launcher sets no WORLD_SIZE and RANK: use torchrun --nproc_per_node <processes>"
        )
    return place


@contextmanager
def training_threads(device: str, threads: int) -> Iterator[None]:
    """Train with one thread on the CPU unless `threads` says more: their number moves the last bits of a model."""
    before = torch.get_num_threads()
    if device == "cpu":
        torch.set_num_threads(threads or 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def add_up(values: torch.Tensor) -> torch.Tensor:
    """Add a tensor over all processes, in place, and return it."""
    if count_launched() > 1:
        torch.distributed.all_reduce(values)
    return values


def add_up_gradients(parameters: list[torch.nn.Parameter]) -> None:
    """Add gradients over all processes; a parameter that none used keeps none, as the optimiser passes over it."""
    if count_launched() == 1:
        return
    used = add_up(torch.tensor([p.grad is not None for p in parameters], device=parameters[0].device).int())
    for parameter, n_users in zip(parameters, used.tolist(), strict=True):
        if n_users and parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        if n_users:
            add_up(parameter.grad)


def call_helpers(device: str) -> None:
    """Call the other processes to the training that the main one is about to begin."""
    if count_launched() > 1 and is_main():
        _say(TRAIN, device)


def _say(word: int, device: str) -> None:
    spoken = torch.tensor(word, device=join(device).device)
    torch.distributed.broadcast(spoken, 0)


def _hear(device: str) -> int:
    heard = torch.tensor(STORED, device=join(device).device)
    torch.distributed.broadcast(heard, 0)
    return int(heard)
