"""How several processes share the work of a study, with one bar over all of it."""

import os
from collections.abc import Set
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from blankfill.memory import MEMORY

from ..console import describe_error, print_traceback
from ..errors import StudyError
from .artifacts import Recipe, Runtime, Store
from .workers import init_worker

TOKENS_PER_CELL = 4_000  # a training on so many takes about as long as any other cell


def run_in_pool(store: Store, needed: dict[str, Recipe], workers: int) -> dict[str, str]:
    """Make results in processes of one thread each, the first first, with one bar over all of them.

    The bar's estimate counts a training by its tokens, as trainings come first and take most of the time. A result
    waits until those that it depends on are made. Returns the reason of every failed one by its name; what depends on
    one is not tried, and has no reason.
    """
    bar = tqdm(
        total=sum(map(expect_work, needed.values())),
        desc=describe_progress(0, len(needed)),
        bar_format="{desc}: {percentage:3.0f}%|{bar}| [{elapsed}<{remaining}]",
        smoothing=0,  # the mean speed so far, as cells differ
        disable=not store.runtime.show_progress,
    )
    pool = ProcessPoolExecutor(
        workers,
        mp_context=get_context("spawn"),
        initializer=init_worker,
        initargs=(store.runtime.device, os.getpid()),
    )
    with pool, bar:
        try:
            failed = _run(pool, store, list(needed.values()), workers, bar)
        except BrokenProcessPool as error:
            raise StudyError(
                "a worker process was killed, probably out of memory: set workers=1 and run again; "
                "finished results are kept"
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {name: failed[recipe.id] for name, recipe in needed.items() if recipe.id in failed}


def expect_work(recipe: Recipe) -> float:
    """Return what a result adds to the bar: a training as much as other cells of about the same time, any other 1."""
    is_training = recipe.stage == "pretrain"
    return max(1.0, recipe.settings["training"]["token_budget"] / TOKENS_PER_CELL) if is_training else 1.0


def describe_progress(n_made: int, total: int) -> str:
    """Return how many cells of a study are made, as its bar says it."""
    return f"cells {n_made:,} of {total:,}"


def _run(
    pool: ProcessPoolExecutor, store: Store, needed: list[Recipe], workers: int, bar: tqdm
) -> dict[str, str]:
    """Make results, `workers` texts at a time; return the ids of those that failed, and why."""
    failed: dict[str, str] = {}
    work, n_done = {recipe.id: expect_work(recipe) for recipe in needed}, 0
    groups = _group_by_text(needed)
    needs = _list_needs(groups, work.keys())  # of the groups that wait
    lines = [*range(1, workers + 1)]  # of the terminal that no process draws on
    running: dict[Future, int] = {}  # and the line of each
    while True:
        ready = [text for text, ids in needs.items() if not ids]
        for text in ready[: len(lines)]:
            line, group = lines.pop(0), groups[text]
            running[pool.submit(_ensure, store.root, _runtime_of(store, group, line), group)] = line
            del needs[text]
        if not running:
            return failed
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            lines = sorted([*lines, running.pop(future)])
            reasons = future.result()
            failed |= {id: reason for id, reason in reasons.items() if reason}
            needs = {text: ids - reasons.keys() for text, ids in needs.items() if not ids & failed.keys()}
            n_done += len(reasons)
            bar.set_description_str(describe_progress(n_done, len(work)), refresh=False)
            bar.update(sum(work[id] for id in reasons))


def _list_needs(groups: dict[str, list[Recipe]], to_make: Set[str]) -> dict[str, Set[str]]:
    """Return the ids of what each group depends on, directly or through others, and does not make itself."""
    known: dict[str, set[str]] = {}  # the ids of a recipe and of all below it

    def below(recipe: Recipe) -> set[str]:
        if recipe.id not in known:
            known[recipe.id] = {recipe.id}.union(*map(below, recipe.needs.values()))
        return known[recipe.id]

    return {
        text: to_make & set().union(*map(below, group)) - {recipe.id for recipe in group}
        for text, group in groups.items()
    }


def _runtime_of(store: Store, group: list[Recipe], line: int) -> Runtime:
    """Return one thread per process; training, which takes minutes, draws its own bar on a line of the terminal."""
    is_long = group[0].stage == "pretrain" and store.runtime.show_progress
    return replace(store.runtime, threads=1, show_progress=is_long, line=line)


def _group_by_text(needed: list[Recipe]) -> dict[str, list[Recipe]]:
    """Return results by the id of the text that they read, or their own: two processes would wait for each other."""
    groups: dict[str, list[Recipe]] = {}
    for recipe in needed:
        groups.setdefault(recipe.inputs.get("generation", recipe).id, []).append(recipe)
    return groups


def _ensure(root: Path, runtime: Runtime, group: list[Recipe]) -> dict[str, str | None]:
    """Make results that read one text; return why each failed, or None, by id. A text that fails is not tried twice."""
    from .stages import open_store

    store = open_store(root, runtime)
    text = group[0].inputs.get("generation")
    reason = _try(store, text) if text else None
    return {recipe.id: reason or _try(store, recipe) for recipe in group}


def _try(store: Store, recipe: Recipe) -> str | None:
    """Make a result; return the reason if that failed, so that the others go on."""
    try:
        store.ensure(recipe)
    except Exception as error:
        if not isinstance(error, StudyError):
            print_traceback(error)
        return describe_error(error)
    finally:
        MEMORY.release_if_grown()
    return None
