"""Several processes that train one model, as `torchrun` or `accelerate launch` starts them: who writes, who lends a hand."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import torch
from accelerate.state import PartialState

from .artifacts import Recipe, Store
from .errors import StudyError

TRAIN, STORED = 1, 0


def count_launched() -> int:
    """Return how many processes the launcher started; 1 without a launcher."""
    return int(os.environ.get("WORLD_SIZE", 1))


def is_main() -> bool:
    """Tell whether this is the process that writes and prints."""
    return int(os.environ.get("RANK", 0)) == 0


def check_launcher(stage: str, is_sweep: bool = False) -> None:
    """Raise StudyError for a launcher around a sweep or any stage but training, or that started too few processes.

    On the CPU `accelerate launch --num_processes 2` starts one process, and names the place where two would meet.
    """
    if {"ACCELERATE_USE_CPU", "MASTER_ADDR"} <= os.environ.keys() and "RANK" not in os.environ:
        raise StudyError(
            "accelerate launch starts a single process on the CPU, whatever --num_processes says: use "
            f"torchrun --nproc_per_node <processes> experiments/{stage}.py"
        )
    if count_launched() > 1 and stage != "pretrain":
        raise StudyError(
            f"{count_launched()} processes were launched, and {stage} is for one: start experiments/{stage}.py "
            "without the launcher, after experiments/pretrain.py with it"
        )
    if count_launched() > 1 and is_sweep:
        raise StudyError(
            f"{count_launched()} processes were launched for a sweep (-m), and would each run all of it: start one "
            "job at a time with the launcher, or the sweep without it"
        )


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


def make_together(store: Store, recipe: Recipe) -> Path:
    """Make a result with all launched processes: the main one asks the store, the others train when it calls.

    Only the main process takes locks and writes. If one fails, the launcher ends the others.
    """
    if count_launched() == 1:
        return store.ensure(recipe)
    if is_main():
        store.ensure(recipe)
        _say(STORED, store.runtime.device)
    while not is_main() and _hear(store.runtime.device) == TRAIN:
        store.assist(recipe)
    return store.path(recipe)


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
