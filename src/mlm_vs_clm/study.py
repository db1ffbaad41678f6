"""The whole study: which cells it has, and how two processes share them."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from . import recipes
from .artifacts import Recipe, Runtime, Store
from .config import Config, GridConfig, MaskingConfig
from .errors import StudyError

Choose = Callable[..., Config]


def cells(config: Config, choose: Choose) -> dict[str, Recipe]:
    """Return every result that the report reads, by name; `choose(corpus=..., arm=...)` composes the settings."""
    return {name: recipe for wave in waves(config, choose) for name, recipe in wave.items()}


def waves(config: Config, choose: Choose) -> Iterator[dict[str, Recipe]]:
    """Yield results that can be made side by side: corpora, models, the bounds of the gain, and the rest."""
    grid = config.scale.grid
    arms = {name: choose(arm=name) for name in [*grid.arms, *(cell.arm for cell in grid.also)]}
    corpora, models, bounds, rest = {}, {}, {}, {}
    for corpus_name in grid.corpora:
        corpus = choose(corpus=corpus_name)
        corpora[f"corpus/{corpus_name}"] = recipes.corpus(corpus)
        for control in recipes.CONTROLS:
            rest[f"downstream/{corpus_name}/{control}"] = recipes.downstream(
                replace(corpus, trained_on=control)
            )
        for cell_name, arm_name, cell in _cells_of(grid, corpus):
            full = replace(cell, arm=arms[arm_name].arm, objective=arms[arm_name].objective)
            if full.arm.objective:
                models[f"pretrain/{corpus_name}/{full.objective.name}"] = recipes.pretrain(full)
            made = bounds if arm_name in ("unfilled", "oracle") else rest
            made[f"score/{cell_name}/{arm_name}"] = recipes.score(full)
            if arm_name != "oracle":
                rest[f"downstream/{cell_name}/{arm_name}"] = recipes.downstream(full)
    yield corpora
    yield models
    yield bounds
    yield rest


def _cells_of(grid: GridConfig, corpus: Config) -> Iterator[tuple[str, str, Config]]:
    """Yield (name, arm, settings) of every cell of a corpus."""
    pairs = [(MaskingConfig(cell.strategy, cell.ratio), cell.arm) for cell in grid.also]
    pairs += [(masking, arm) for masking in grid.maskings for arm in grid.arms]
    for masking, arm in pairs:
        for seed in grid.seeds:
            name = f"{corpus.corpus.name}/{masking.strategy}-{masking.ratio}/{seed}"
            yield name, arm, replace(corpus, masking=masking, seed=seed)


def make_all(store: Store, config: Config, choose: Choose) -> dict[str, Recipe]:
    """Make every cell that is not stored, `config.workers` at a time, and return all of them."""
    needed = [_missing(store, wave) for wave in waves(config, choose)]
    if any(needed):
        _share_out(store, needed, config.workers)
    return cells(config, choose)


def shown_corpora(config: Config, choose: Choose) -> list[str]:
    """Return the corpora of which the report may print a document."""
    return [name for name in config.scale.grid.corpora if choose(corpus=name).corpus.show_examples]


def _missing(store: Store, wave: dict[str, Recipe]) -> list[Recipe]:
    return list({recipe.id: recipe for recipe in wave.values() if not store.has(recipe)}.values())


def _share_out(store: Store, needed: list[list[Recipe]], workers: int) -> None:
    """Make each wave of results in processes of one thread each, with one bar over all of them."""
    bar = tqdm(
        total=sum(map(len, needed)), desc="cells", unit="cell", disable=not store.runtime.show_progress
    )
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool, bar:
        for wave in needed:
            groups = _group_by_text(wave)
            futures = [
                pool.submit(_ensure, store.root, _runtime_of(store, group, 1 + place % workers), group)
                for place, group in enumerate(groups)
            ]
            try:
                for future in as_completed(futures):
                    bar.update(future.result())
            except BrokenProcessPool as error:
                raise StudyError(
                    "a worker process was killed, likely for lack of memory: set workers=1 and run again; "
                    "what was finished stays"
                ) from error
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _runtime_of(store: Store, group: list[Recipe], line: int) -> Runtime:
    """One thread a process; training, which takes minutes, draws its own bar on a line below."""
    is_long = group[0].stage == "pretrain" and store.runtime.show_progress
    return replace(store.runtime, threads=1, show_progress=is_long, line=line)


def _group_by_text(wave: list[Recipe]) -> list[list[Recipe]]:
    """Put results that read the same text together, or one process would wait for another to write it."""
    groups: dict[str, list[Recipe]] = {}
    for recipe in wave:
        groups.setdefault(recipe.inputs.get("generation", recipe).id, []).append(recipe)
    return list(groups.values())


def _ensure(root: Path, runtime: Runtime, group: list[Recipe]) -> int:
    from .stages import open_store

    store = open_store(root, runtime)
    for recipe in group:
        store.ensure(recipe)
    return len(group)
