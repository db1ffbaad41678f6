"""The whole study: which cells it has, and how several processes share the work."""

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import product
from multiprocessing import get_context
from pathlib import Path

from tqdm import tqdm

from blankfill.memory import MEMORY
from blankfill.ranges import check_number, range_of

from ..arms.baselines import BOUNDS, COUNTING
from ..console import describe_error, print_traceback
from ..errors import StudyError
from ..tasks.projection import PROJECTED
from . import recipes
from .artifacts import Recipe, Runtime, Store
from .config import Config, GridConfig
from .variants import fill_with, list_arms, list_cells, list_maskings, list_variants, refuse_unused
from .workers import init_worker

Choose = Callable[..., Config]
TOKENS_PER_CELL = 4_000  # a training on so many takes about as long as any other cell


def cells(config: Config, choose: Choose) -> dict[str, Recipe]:
    """Return every result that the report reads, by name; `choose(corpus=..., arm=...)` composes the settings.

    What others depend on comes first: corpora; then models and the bounds of the gain; then the rest.
    """
    grid, main = config.scale.grid, config.scale.main
    variants = list_arms(grid)
    arms = {name: choose(**variant.choices) for name, variant in variants.items()}
    first: dict[str, Recipe] = {}
    second: dict[str, Recipe] = {}
    third: dict[str, Recipe] = {}
    for corpus_name in grid.corpora:
        corpus = choose(corpus=corpus_name)
        refuse_unused(grid, corpus, choose, _identify)
        first[f"corpus/{corpus_name}"] = recipes.corpus(corpus)
        cells = list(_cells_of(grid, corpus))
        trainings, tuned = _list_networks(grid, corpus, choose)
        second |= trainings
        third |= tuned
        for control in recipes.CONTROLS if any(is_trained_on for *_, is_trained_on in cells) else ():
            control_of = replace(corpus, trained_on=control)
            third[f"downstream/{corpus_name}/{control}"] = recipes.downstream(control_of)
        for cell_name, arm_name, cell, is_trained_on in cells:
            base, is_main = variants[arm_name].base, cell.masking == main
            full = fill_with(arms[arm_name], cell)
            seeded = replace(full.model, seed=full.model.seed + cell.seed * grid.retrain)
            is_whole = is_main and (grid.retrain or cell.seed in grid.seeds)
            full = replace(full, model=seeded, likelihood=is_whole and base in grid.likelihood)
            if not is_whole:
                is_shown = is_trained_on or arm_name == "oracle" or variants[arm_name].settings
                metrics_of_cell = grid.metrics if is_shown else ["bleu"]
                full = replace(full, scoring=replace(full.scoring, metrics=list(metrics_of_cell)))
            second |= _name_trainings(full, f"{cell.seed}/" if grid.retrain else "")
            group = second if arm_name in BOUNDS else third
            if base in grid.disclosure:
                third[f"disclosure/{cell_name}/{arm_name}"] = recipes.disclosure(full)
            if is_trained_on:
                third[f"downstream/{cell_name}/{arm_name}"] = recipes.downstream(full)
            if variants[arm_name].is_of_task:
                continue
            group[f"score/{cell_name}/{arm_name}"] = recipes.score(full)
            is_along = is_main and cell.seed in grid.seeds
            if is_along and (base in grid.curve or grid.curve and base in COUNTING):
                third |= _list_curve(full, cell_name)
    return first | second | third


def _name_trainings(full: Config, run: str) -> dict[str, Recipe]:
    """Return the trainings of an arm by name; none for a baseline, and for a checkpoint as it comes."""
    if not full.arm.objective or full.arm.training == "general":
        return {}
    place = f"pretrain/{full.corpus.name}/"
    return {
        f"{place}{recipe.settings['objective']['name']}/{run}{full.model.name}/{recipe.id}": recipe
        for recipe in recipes.models(full)
    }


def _identify(full: Config) -> str:
    """Return the id of the text of a cell, and where its labels are not projected that of what learns from it."""
    learned = recipes.downstream(full).id if full.label_policy != PROJECTED else ""
    return f"{recipes.generate(full).id}{learned}"


def _list_networks(grid: GridConfig, corpus: Config, choose: Choose) -> tuple[dict, dict]:
    """Return the trainings of the networks that are fine-tuned on the tasks of a corpus, and those task models.

    Beside these stands the majority answer of each task, by as many examples.
    """
    trainings, task_models = {}, {}
    for cell in (network_cell for network_cell in grid.networks if network_cell.corpus == corpus.corpus.name):
        place = f"{recipes.UNDERSTANDING}{cell.corpus}/{cell.task}"
        side = f" sides={cell.sides}" if cell.sides != "own" else ""
        for name, n in product(cell.networks, cell.examples):
            full = corpus
            if name != recipes.START:
                full = choose(corpus=cell.corpus, objective=name)
                trained = recipes.pretrain(full)
                trainings[f"pretrain/{cell.corpus}/{name}/{full.model.name}/{trained.id}"] = trained
            how = replace(full.finetuning, sides=cell.sides, words=cell.words, examples=n)
            how = replace(how, steps=cell.steps or how.steps)
            how = replace(how, network=recipes.START if name == recipes.START else recipes.TRAINED)
            full = replace(full, corpus=replace(full.corpus, task=cell.task), finetuning=how)
            full = replace(full, task_model=recipes.FINETUNED, trained_on="real")
            task_models[f"{place}/{name}{side}/{n}"] = recipes.downstream(full)
            task_models[f"{place}/majority/{n}"] = recipes.downstream(replace(full, trained_on="majority"))
    return trainings, task_models


def results(config: Config, choose: Choose) -> Iterator[Recipe]:
    """Yield what a setting of a study can reach: the settings of the report, every cell, and the examples.

    Raises StudyError as `check_main` does.
    """
    check_main(config)
    yield recipes.report(config, {}, [], [])
    yield from cells(config, choose).values()
    yield recipes.report(config, {}, shown_corpora(config, choose), [])


def list_trainings(config: Config, choose: Choose) -> list[Recipe]:
    """Return the trainings of a study, each once."""
    named = cells(config, choose).items()
    return list({training.id: training for name, training in named if name.startswith("pretrain/")}.values())


def _list_curve(full: Config, cell_name: str) -> dict[str, Recipe]:
    """Return the scores of a cell's arm at every budget of its training; in words that overlap and blanks that match."""
    scoring, full = replace(full.scoring, metrics=["bleu"]), replace(full, likelihood=False)
    return {
        f"curve/{cell_name}/{full.arm.name}/{budget}": recipes.score(
            replace(full, arm=replace(full.arm, budget=budget), scoring=scoring)
        )
        for budget in recipes.budgets_of(full)
    }


def _cells_of(grid: GridConfig, corpus: Config) -> Iterator[tuple[str, str, Config, bool]]:
    """Yield (name, arm, settings, whether a task model learns from it) of every cell of a corpus."""
    cells = [
        (masking, arm.name, cell.train and arm.name != "oracle", cell.seeds or grid.seeds)
        for cell in list_cells(grid, corpus.corpus.name)
        for masking in list_maskings(cell, grid)
        for arm in list_variants(cell)
    ]
    cells += [(masking, arm, arm != "oracle", grid.seeds) for masking in grid.maskings for arm in grid.arms]
    for masking, arm, is_trained_on, seeds in cells:
        for seed in seeds:
            name = f"{corpus.corpus.name}/{masking.label}-{masking.ratio}/{seed}"
            yield name, arm, replace(corpus, masking=masking, seed=seed), is_trained_on


def make_all(store: Store, config: Config, choose: Choose) -> dict[str, Recipe]:
    """Make every cell that is not stored, `config.workers` at a time, and return all of them.

    A cell that fails does not stop the others; at the end it raises StudyError.
    """
    check_number("workers", config.workers, range_of(Config, "workers"))
    check_main(config)
    whole = cells(config, choose)
    if needed := _list_missing(store, whole):
        _raise_failures(run_in_pool(store, needed, config.workers))
    return whole


def check_main(config: Config) -> None:
    """Raise StudyError for a grid without the main cell, at which arms are compared, or an arm of a curve without it."""
    main, grid = config.scale.main, config.scale.grid
    at_main = [cell for cell in grid.also if main in list_maskings(cell, grid)]
    if absent := [arm for arm in grid.curve if arm not in sum((cell.arms for cell in at_main), grid.arms)]:
        raise StudyError(
            f"scale.grid.curve: {absent[0]} does not fill the main cell: add it to scale.grid.arms"
        )
    if main not in grid.maskings and not at_main:
        raise StudyError(
            f"scale.grid has no cell at {main.label} {main.ratio:g}, the main cell of the study: add it to "
            "scale.grid.maskings, or set scale.main.strategy and scale.main.ratio"
        )


def _raise_failures(failed: dict[str, str]) -> None:
    """List the cells that failed and raise StudyError: a report on the rest would look whole."""
    for name, reason in failed.items():
        print(f"failed: {name}: {reason}", file=sys.stderr)
    if failed:
        raise StudyError(
            f"{len(failed)} cells failed; no report was written. Fix the errors listed above and rerun the same "
            "command; finished cells are reused."
        )


def shown_corpora(config: Config, choose: Choose) -> list[str]:
    """Return the corpora of which the report may print a document."""
    return [name for name in config.scale.grid.corpora if choose(corpus=name).corpus.show_examples]


def _list_missing(store: Store, named: dict[str, Recipe]) -> dict[str, Recipe]:
    """Return the results that are not stored, each once, by its first name."""
    once = {recipe.id: name for name, recipe in reversed(named.items()) if not store.has(recipe)}
    return {name: recipe for name, recipe in named.items() if once.get(recipe.id) == name}


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
        return {recipe.id}.union(*map(below, recipe.inputs.values()))

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
