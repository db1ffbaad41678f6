"""What more training changes: scores, and paired differences, at every token budget at which a model was kept."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..arms.baselines import BASELINES
from ..stats import bootstrap, point
from .cells import Comparison, ScoredCell, group_by
from .competence import Competence, judge_competence, mark
from .gap import MEASURES, name_comparison, to_values
from .paired import by_seed, compare_cells, find_aggregate
from .tables import COLUMNS

MATCHINGS = ("tokens seen", "tokens predicted")
SIDES = {"first": "budget", "second": "budget_second"}
NEAREST = 1.25  # two trainings predicted equally many tokens if neither predicted this many times the other's


def list_learning(cells: Iterable[ScoredCell], resamples: int) -> pd.DataFrame:
    """Return the table `learning`: what an arm scored at every budget of its training, one row per cell and measure.

    `passes` is how often the training had read the corpus that is filled.
    """
    rows = [
        {"corpus": one.cell.corpus, "arm": one.cell.arm, "seed": one.cell.seed}
        | {"scope": scope, "metric": metric}
        | _place(one)
        | _score(one, (scope, metric), resamples)
        for one in keep_reached(cells)
        for scope, metric in one.statistics
        if (scope, metric) in MEASURES
    ]
    return pd.DataFrame(rows, columns=COLUMNS["learning"])


def _score(one: ScoredCell, measure: tuple[str, str], resamples: int) -> dict:
    rows, aggregate = one.statistics[measure], find_aggregate(measure[1])
    low, high = bootstrap(rows, aggregate, resamples, clusters=one.clusters)
    return {"value": point(rows, aggregate), "low": low, "high": high, "n": len(rows)}


def _place(one: ScoredCell) -> dict:
    """Return where the model of a cell stands on its training's curve."""
    place = {name: one.place[name] for name in ("budget", "tokens_seen", "tokens_predicted")}
    return place | {"passes": one.place["passes"].get(one.cell.corpus, np.nan)}


def compare_along(
    cells: Iterable[ScoredCell], comparisons: Sequence[Comparison], resamples: int
) -> pd.DataFrame:
    """Return the table `curve`: one row per corpus, comparison, measure, matching and budget of the first arm.

    Matched are trainings that saw equally many tokens (the same budget), or that predicted about equally many
    (of the second arm's budgets, the nearest). `passes` are those of the first arm over the corpus.
    """
    rows = [
        {"corpus": corpus}
        | name_comparison(one)
        | {"scope": scope, "metric": metric, "matching": matching}
        | _describe_pair(pairs[0])
        | _compare(pairs, (scope, metric), one.arms, resamples)
        for corpus, made in group_by(keep_reached(cells), lambda one: one.cell.corpus).items()
        for one in comparisons
        for matching in MATCHINGS
        for pairs in _match(made, one, matching)
        for scope, metric in MEASURES
        if all((scope, metric) in side.statistics for pair in pairs for side in pair)
    ]
    return pd.DataFrame(rows, columns=COLUMNS["curve"])


def exclude_along(
    learning: pd.DataFrame,
    curve: pd.DataFrame,
    along: Sequence[ScoredCell],
    final: Iterable[ScoredCell],
    resamples: int,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return both tables with `excluded_because`: which arm is not competent with the model of that budget, and why.

    `along` has the cells of the curve, and with them floors that counted as much text as the arms had read; `final`
    those of the study, with the floors that are the same at every budget.
    """
    floors = {_name(one): one for one in final if one.cell.arm.partition(" ")[0] in BASELINES}
    known = {
        budget: Competence(
            judge_competence(
                (floors | {_name(one): _without_budget(one) for one in cells}).values(), resamples
            )
        )
        for budget, cells in group_by(along, lambda one: one.cell.budget).items()
    }
    masking = along[0].cell.masking if along else ("", 0.0)

    def explain(table: pd.DataFrame, side: str, budget: str) -> list[str]:
        places = zip(table["corpus"], table[side], table[budget], strict=True)
        return [known[tokens].explain((corpus, arm, *masking)) for corpus, arm, tokens in places]

    sides = [explain(curve, side, budget) for side, budget in SIDES.items()]
    return learning.assign(excluded_because=explain(learning, "arm", "budget")), mark(curve, sides)


def _name(one: ScoredCell) -> tuple[str, str, int]:
    return one.cell.corpus, one.cell.arm, one.cell.seed


def _without_budget(one: ScoredCell) -> ScoredCell:
    return replace(one, cell=replace(one.cell, budget=0))


def keep_reached(cells: Iterable[ScoredCell]) -> list[ScoredCell]:
    """Return the cells of arms whose training got as far as their budget; floors, which are not trained, are left out."""
    return [one for one in cells if one.place.get("budget") == one.cell.budget]


Pair = tuple[ScoredCell, ScoredCell]


def _compare(pairs: list[Pair], measure: tuple[str, str], arms: tuple[str, str], resamples: int) -> dict:
    first, second = (by_seed([pair[side] for pair in pairs]) for side in (0, 1))
    return to_values(compare_cells(first, second, measure, resamples, arms))


def _describe_pair(pair: Pair) -> dict:
    first, second = pair
    about = {"budget": first.cell.budget, "budget_second": second.cell.budget}
    about |= {"passes": first.place["passes"].get(first.cell.corpus, np.nan)}
    return about


def _match(cells: list[ScoredCell], comparison: Comparison, matching: str) -> Iterator[list[Pair]]:
    """Yield for each budget of the first arm the pairs of cells to compare, one per run that has both."""
    by_arm = {arm: [one for one in cells if one.cell.arm == arm] for arm in comparison.arms}
    for budget in sorted({one.cell.budget for one in by_arm[comparison.first]}):
        firsts = [one for one in by_arm[comparison.first] if one.cell.budget == budget]
        pairs = [
            (first, second)
            for first in firsts
            if (second := _find(first, by_arm[comparison.second], matching)) is not None
        ]
        if pairs:
            yield pairs


def _find(first: ScoredCell, seconds: list[ScoredCell], matching: str) -> ScoredCell | None:
    """Return the cell of the same run whose training matches that of the first arm."""
    of_run = [one for one in seconds if one.cell.seed == first.cell.seed]
    if matching == MATCHINGS[0]:
        return next((one for one in of_run if one.cell.budget == first.cell.budget), None)
    ratios = [one.place["tokens_predicted"] / first.place["tokens_predicted"] for one in of_run]
    near = [abs(np.log(ratio)) for ratio in ratios]
    best = int(np.argmin(near)) if near else -1
    return of_run[best] if near and near[best] < np.log(NEAREST) else None
