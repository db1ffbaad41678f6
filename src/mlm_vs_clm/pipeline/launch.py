"""Several processes that train one model: which stages may be launched so, and who writes."""

import os
from pathlib import Path

from ..errors import StudyError
from ..models.training.distributed import (
    STORED,
    TRAIN,
    _hear,
    _say,
    count_launched,
    is_main,
)
from .artifacts import Recipe, Store


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
