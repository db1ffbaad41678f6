"""How several processes share the work of a study, with one bar over all of it."""

import os
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
    work = {recipe.id: expect_work(recipe) for recipe in needed}
    not_made = set(work)
    left = [(group, _list_needs(group) & not_made) for group in _group_by_text(needed)]
    running: dict[Future, int] = {}  # and the line of its bar
    while True:
        left = [(group, needs) for group, needs in left if not needs & failed.keys()]
        ready = [(group, needs) for group, needs in left if not needs & not_made]
        lines = [line for line in range(1, workers + 1) if line not in running.values()]
        for (group, needs), line in zip(ready, lines, strict=False):
            left.remove((group, needs))
            running[pool.submit(_ensure, store.root, _runtime_of(store, group, line), group)] = line
        if not running:
            return failed
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            del running[future]
            reasons = future.result()
            not_made -= reasons.keys()
            failed |= {id: reason for id, reason in reasons.items() if reason}
            bar.set_description_str(describe_progress(len(work) - len(not_made), len(work)), refresh=False)
            bar.update(sum(work[id] for id in reasons))


def _list_needs(group: list[Recipe]) -> set[str]:
    """Return the ids of what a group depends on, directly or through others, but for those that it makes itself."""

    def below(recipe: Recipe) -> set[str]:
        return {recipe.id}.union(*map(below, recipe.needs.values()))

    return set().union(*map(below, group)) - {recipe.id for recipe in group}


def _runtime_of(store: Store, group: list[Recipe], line: int) -> Runtime:
    """Return one thread per process; training, which takes minutes, draws its own bar on a line below."""
    is_long = group[0].stage == "pretrain" and store.runtime.show_progress
    return replace(store.runtime, threads=1, show_progress=is_long, line=line)


def _group_by_text(needed: list[Recipe]) -> list[list[Recipe]]:
    """Put results that read the same text together, or one process would wait while another makes it."""
    groups: dict[str, list[Recipe]] = {}
    for recipe in needed:
        groups.setdefault(recipe.inputs.get("generation", recipe).id, []).append(recipe)
    return list(groups.values())


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
