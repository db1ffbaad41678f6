"""The whole study: which cells it has, and how two processes share them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from joblib import Parallel, delayed
from tqdm import tqdm

from . import recipes
from .artifacts import Recipe, Runtime, Store
from .config import Config

Choose = Callable[..., Config]


def cells(config: Config, choose: Choose) -> dict[str, Recipe]:
    """Return every result that the report reads, by name; `choose(corpus=..., arm=...)` composes the settings."""
    return {name: recipe for wave in waves(config, choose) for name, recipe in wave.items()}


def waves(config: Config, choose: Choose) -> Iterator[dict[str, Recipe]]:
    """Yield results that can be made side by side: models, then the bounds of the gain, then the rest."""
    arms = {name: choose(arm=name) for name in config.scale.grid.arms}
    models, bounds, rest = {}, {}, {}
    for corpus_name in config.scale.grid.corpora:
        corpus = choose(corpus=corpus_name)
        models[f"corpus/{corpus_name}"] = recipes.corpus(corpus)
        for control in recipes.CONTROLS:
            rest[f"downstream/{corpus_name}/{control}"] = recipes.downstream(replace(corpus, trained_on=control))
        for cell_name, cell in _cells_of(config, corpus):
            for arm_name, arm in arms.items():
                full = replace(cell, arm=arm.arm, objective=arm.objective)
                if arm.arm.objective:
                    models[f"pretrain/{corpus_name}/{arm.objective.name}"] = recipes.pretrain(full)
                made = bounds if arm_name in ("unfilled", "oracle") else rest
                made[f"score/{cell_name}/{arm_name}"] = recipes.score(full)
                if arm_name != "oracle":
                    rest[f"downstream/{cell_name}/{arm_name}"] = recipes.downstream(full)
    yield models
    yield bounds
    yield rest


def _cells_of(config: Config, corpus: Config) -> Iterator[tuple[str, Config]]:
    for masking in config.scale.grid.maskings:
        for seed in config.scale.grid.seeds:
            name = f"{corpus.corpus.name}/{masking.strategy}-{masking.ratio}/{seed}"
            yield name, replace(corpus, masking=masking, seed=seed)


def make_all(store: Store, config: Config, choose: Choose) -> dict[str, Recipe]:
    """Make every cell that is not stored, `config.workers` at a time, and return all of them."""
    for number, wave in enumerate(waves(config, choose)):
        needed = {recipe.id: recipe for recipe in wave.values() if not store.has(recipe)}
        if number == 0:
            for recipe in needed.values():
                store.ensure(recipe)
        else:
            _share_out(store, list(needed.values()), config.workers)
    return cells(config, choose)


def _share_out(store: Store, needed: list[Recipe], workers: int) -> None:
    """Make the results in several processes of one thread each, with one bar over all of them.

    Results that read the same text go to the same process, or one would wait for the other to write it.
    """
    groups: dict[str, list[Recipe]] = {}
    for recipe in needed:
        text = recipe.inputs.get("generation", recipe)
        groups.setdefault(text.id, []).append(recipe)
    runtime = replace(store.runtime, threads=1, show_progress=False)
    jobs = (delayed(_ensure)(store.root, runtime, group) for group in groups.values())
    workers = max(1, min(workers, len(groups)))
    done = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1)(jobs) if groups else []
    bar = tqdm(total=len(needed), desc="cells", unit="cell", disable=not store.runtime.show_progress or not needed)
    with bar:
        for n_made in done:
            bar.update(n_made)


def _ensure(root: Path, runtime: Runtime, group: list[Recipe]) -> int:
    from .stages import open_store

    store = open_store(root, runtime)
    for recipe in group:
        store.ensure(recipe)
    return len(group)
