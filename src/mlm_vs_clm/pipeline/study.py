"""The whole study: which cells it has, and the results of all of them."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from ..arms.baselines import BOUNDS, COUNTING
from ..errors import StudyError
from ..tasks.projection import PROJECTED
from . import recipes
from .artifacts import Recipe, Store
from .config import Config, GridConfig, ScaleConfig
from .pool import run_in_pool
from .variants import (
    Variant,
    fill_with,
    list_arms,
    list_cells,
    list_maskings,
    list_variants,
    refuse_unused,
)

Choose = Callable[..., Config]
Turn = tuple[int, str, Recipe]  # of a result: 0 is made before 1, and 1 before 2; its name; its recipe


def cells(config: Config, choose: Choose) -> dict[str, Recipe]:
    """Return every result that the report reads, by name; `choose(corpus=..., arm=...)` composes the settings.

    What others depend on comes first: corpora; then models and the bounds of the gain; then the rest.
    """
    turns: tuple[dict[str, Recipe], ...] = ({}, {}, {})
    for turn, name, recipe in _list_turns(config, choose):
        turns[turn][name] = recipe
    return turns[0] | turns[1] | turns[2]


def _list_turns(config: Config, choose: Choose) -> Iterator[Turn]:
    """Yield every result as soon as it is known, a training once for each cell that reads it."""
    grid = config.scale.grid
    variants = list_arms(grid)
    for corpus_name in grid.corpora:
        corpus = choose(corpus=corpus_name)
        refuse_unused(grid, corpus, choose, _identify)
        yield 0, f"corpus/{corpus_name}", recipes.corpus(corpus)
        cells = list(_cells_of(grid, corpus))
        yield from _list_networks(grid, corpus, choose)
        for control in recipes.CONTROLS if any(is_trained_on for *_, is_trained_on in cells) else ():
            control_of = replace(corpus, trained_on=control)
            yield 2, f"downstream/{corpus_name}/{control}", recipes.downstream(control_of)
        for cell_name, arm_name, cell, is_trained_on in cells:
            full = fill_with(choose(**variants[arm_name].choices), cell)
            yield from _list_cell(config.scale, full, cell_name, variants[arm_name], is_trained_on)


def _list_cell(
    scale: ScaleConfig, full: Config, cell_name: str, variant: Variant, is_trained_on: bool
) -> Iterator[Turn]:
    """Yield the results of a cell; `full` has the settings of its corpus, its masking and its arm."""
    grid, arm_name, seed = scale.grid, variant.name, full.seed
    is_main = full.masking == scale.main
    full = replace(full, model=replace(full.model, seed=full.model.seed + seed * grid.retrain))
    is_whole = is_main and (grid.retrain or seed in grid.seeds)
    full = replace(full, likelihood=is_whole and variant.base in grid.likelihood)
    if not is_whole:
        is_shown = is_trained_on or arm_name == "oracle" or variant.settings
        metrics_of_cell = grid.metrics if is_shown else ["bleu"]
        full = replace(full, scoring=replace(full.scoring, metrics=list(metrics_of_cell)))
    yield from _list_models(full, f"{seed}/" if grid.retrain else "")
    if variant.base in grid.disclosure:
        yield 2, f"disclosure/{cell_name}/{arm_name}", recipes.disclosure(full)
    if is_trained_on:
        yield 2, f"downstream/{cell_name}/{arm_name}", recipes.downstream(full)
    if variant.is_of_task:
        return
    turn = 1 if arm_name in BOUNDS else 2
    yield turn, f"score/{cell_name}/{arm_name}", recipes.score(full)
    followed = {*grid.curve, *(COUNTING if grid.curve else ())}
    if is_main and seed in grid.seeds and variant.base in followed:
        yield from _list_curve(full, cell_name)


def _list_models(full: Config, run: str) -> Iterator[Turn]:
    """Yield the trainings of an arm; none of a baseline, and of a checkpoint as it comes."""
    if not full.arm.objective or full.arm.training == "general":
        return
    for recipe in recipes.models(full):
        objective = recipe.settings["objective"]["name"]
        yield 1, f"pretrain/{full.corpus.name}/{objective}/{run}{full.model.name}/{recipe.id}", recipe


def _identify(full: Config) -> str:
    """Return the id of the text of a cell, and where its labels are not projected that of what learns from it."""
    learned = recipes.downstream(full).id if full.label_policy != PROJECTED else ""
    return f"{recipes.generate(full).id}{learned}"


def _list_networks(grid: GridConfig, corpus: Config, choose: Choose) -> Iterator[Turn]:
    """Yield the trainings of the networks that are fine-tuned on the tasks of a corpus, and those task models.

    Beside these stands the majority answer of each task, by as many examples.
    """
    task_models: dict[str, Recipe] = {}
    for cell in (network_cell for network_cell in grid.networks if network_cell.corpus == corpus.corpus.name):
        place = f"{recipes.UNDERSTANDING}{cell.corpus}/{cell.task}"
        side = f" sides={cell.sides}" if cell.sides != "own" else ""
        for name, n in product(cell.networks, cell.examples):
            full = corpus
            if name != recipes.START:
                full = choose(corpus=cell.corpus, objective=name)
                trained = recipes.pretrain(full)
                yield 1, f"pretrain/{cell.corpus}/{name}/{full.model.name}/{trained.id}", trained
            how = replace(full.finetuning, sides=cell.sides, words=cell.words, examples=n)
            how = replace(how, steps=cell.steps or how.steps)
            how = replace(how, network=recipes.START if name == recipes.START else recipes.TRAINED)
            full = replace(full, corpus=replace(full.corpus, task=cell.task), finetuning=how)
            full = replace(full, task_model=recipes.FINETUNED, trained_on="real")
            of_majority = replace(full, trained_on="majority")
            for key, settings in ((f"{name}{side}", full), ("majority", of_majority)):
                recipe = recipes.downstream(settings)
                if task_models.setdefault(f"{place}/{key}/{n}", recipe).id != recipe.id:
                    raise StudyError(
                        f"scale.grid.networks: {name} of {cell.task} on {cell.corpus} has {n} examples twice, with other words or "
                        "steps: give each a number of examples of its own"
                    )
                yield 2, f"{place}/{key}/{n}", recipe


def results(config: Config, choose: Choose) -> Iterator[Recipe]:
    """Yield what a setting of a study can reach: the settings of the report, every cell, and the examples.

    Raises StudyError as `check_main` does.
    """
    check_main(config)
    yield recipes.report(config, {}, [], [])
    yield from (recipe for _, _, recipe in _list_turns(config, choose))
    yield recipes.report(config, {}, shown_corpora(config, choose), [])


def list_trainings(config: Config, choose: Choose) -> list[Recipe]:
    """Return the trainings of a study, each once."""
    named = cells(config, choose).items()
    return list({training.id: training for name, training in named if name.startswith("pretrain/")}.values())


def _list_curve(full: Config, cell_name: str) -> Iterator[Turn]:
    """Yield the scores of a cell's arm at every budget of its training; in words that overlap and blanks that match."""
    full = replace(full, scoring=replace(full.scoring, metrics=["bleu"]), likelihood=False)
    for budget in recipes.budgets_of(full):
        at_budget = replace(full, arm=replace(full.arm, budget=budget))
        yield 2, f"curve/{cell_name}/{full.arm.name}/{budget}", recipes.score(at_budget)


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
    for reason in dict.fromkeys(failed.values()):
        first, *others = (name for name in failed if failed[name] == reason)
        more = f" (and {len(others)} more)" if others else ""
        print(f"failed: {first}{more}: {reason}", file=sys.stderr)
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
