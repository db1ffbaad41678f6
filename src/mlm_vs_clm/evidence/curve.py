"""What more training changes: scores, and paired differences, at every token budget at which a model was kept."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..arms.baselines import is_baseline
from ..stats import bootstrap, point
from .cells import Comparison, ScoredCell, group_by
from .competence import Competence, judge_competence, mark
from .differences import MEASURES, name_comparison, to_values
from .paired import by_seed, compare_cells, find_aggregate
from .tables import COLUMNS, CURVE

MATCHINGS = ("tokens seen", "tokens predicted")
SIDES = {"first": "budget", "second": "budget_second"}
NEAREST = 1.25  # two trainings predicted equally many tokens if neither predicted this many times the other's


def list_learning(cells: Iterable[ScoredCell], resamples: int) -> pd.DataFrame:
    """Return the table `learning`: what an arm scored at every budget of its training, one row per cell and measure.

    `passes` is how often the training had read the corpus that is filled.
    """
    rows = [
        {"corpus": scored.cell.corpus, "arm": scored.cell.arm, "seed": scored.cell.seed}
        | {"scope": scope, "metric": metric}
        | _place(scored)
        | _score(scored, (scope, metric), resamples)
        for scored in keep_reached(cells)
        for scope, metric in scored.statistics
        if (scope, metric) in MEASURES
    ]
    return pd.DataFrame(rows, columns=COLUMNS["learning"])


def _score(scored: ScoredCell, measure: tuple[str, str], resamples: int) -> dict:
    rows, aggregate = scored.statistics[measure], find_aggregate(measure[1])
    low, high = bootstrap(rows, aggregate, resamples, clusters=scored.clusters)
    return {"value": point(rows, aggregate), "low": low, "high": high, "n": len(rows)}


def _place(scored: ScoredCell) -> dict:
    """Return where the model of a cell stands on its training's curve."""
    place = {name: scored.place[name] for name in ("budget", "tokens_seen", "tokens_predicted")}
    return place | {"passes": scored.place["passes"].get(scored.cell.corpus, np.nan)}


def compare_along(
    cells: Iterable[ScoredCell], comparisons: Sequence[Comparison], resamples: int
) -> pd.DataFrame:
    """Return the differences along the training curve: one row per corpus, comparison, measure, matching and budget of the first arm.

    Matched (`at`) are trainings that saw equally many tokens (the same budget), or that predicted about equally many
    (of the second arm's budgets, the nearest). `passes` are those of the first arm over the corpus.
    """
    rows = [
        {"kind": CURVE, "corpus": corpus}
        | name_comparison(comparison)
        | {"scope": scope, "metric": metric, "at": matching}
        | _describe_pair(pairs[0])
        | _compare(pairs, (scope, metric), comparison.arms, resamples)
        for corpus, of_corpus in group_by(keep_reached(cells), lambda scored: scored.cell.corpus).items()
        for comparison in comparisons
        for matching in MATCHINGS
        for pairs in _match(of_corpus, comparison, matching)
        for scope, metric in MEASURES
        if all((scope, metric) in side.statistics for pair in pairs for side in pair)
    ]
    return pd.DataFrame(rows, columns=COLUMNS["comparisons"])


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
    floors = {_name(scored): scored for scored in final if is_baseline(scored.cell.arm)}
    competences = {}
    for budget, cells in group_by(along, lambda scored: scored.cell.budget).items():
        at_budget = {_name(scored): replace(scored, cell=replace(scored.cell, budget=0)) for scored in cells}
        competences[budget] = Competence(judge_competence((floors | at_budget).values(), resamples))
    masking = along[0].cell.masking if along else ("", 0.0)

    def explain(table: pd.DataFrame, side: str, budget: str) -> list[str]:
        places = zip(table["corpus"], table[side], table[budget], strict=True)
        return [competences[tokens].explain((corpus, arm, *masking)) for corpus, arm, tokens in places]

    sides = [explain(curve, side, budget) for side, budget in SIDES.items()]
    return learning.assign(excluded_because=explain(learning, "arm", "budget")), mark(curve, sides)


def _name(scored: ScoredCell) -> tuple[str, str, int]:
    return scored.cell.corpus, scored.cell.arm, scored.cell.seed


def keep_reached(cells: Iterable[ScoredCell]) -> list[ScoredCell]:
    """Return the cells of arms whose training got as far as their budget; floors, which are not trained, are left out."""
    return [scored for scored in cells if scored.place.get("budget") == scored.cell.budget]


Pair = tuple[ScoredCell, ScoredCell]


def _compare(pairs: list[Pair], measure: tuple[str, str], arms: tuple[str, str], resamples: int) -> dict:
    first, second = (by_seed([pair[side] for pair in pairs]) for side in (0, 1))
    return to_values(compare_cells(first, second, measure, resamples, arms))


def _describe_pair(pair: Pair) -> dict:
    budgets = {column: scored.cell.budget for column, scored in zip(SIDES.values(), pair, strict=True)}
    return budgets | {"passes": _place(pair[0])["passes"]}


def _match(cells: list[ScoredCell], comparison: Comparison, matching: str) -> Iterator[list[Pair]]:
    """Yield for each budget of the first arm the pairs of cells to compare, one per run that has both."""
    by_arm = {arm: [scored for scored in cells if scored.cell.arm == arm] for arm in comparison.arms}
    for budget in sorted({scored.cell.budget for scored in by_arm[comparison.first]}):
        firsts = [scored for scored in by_arm[comparison.first] if scored.cell.budget == budget]
        pairs = [
            (first, second)
            for first in firsts
            if (second := _find(first, by_arm[comparison.second], matching)) is not None
        ]
        if pairs:
            yield pairs


def _find(first: ScoredCell, seconds: list[ScoredCell], matching: str) -> ScoredCell | None:
    """Return the cell of the same run whose training matches that of the first arm."""
    of_run = [second for second in seconds if second.cell.seed == first.cell.seed]
    if matching == MATCHINGS[0]:
        return next((second for second in of_run if second.cell.budget == first.cell.budget), None)
    ratios = [second.place["tokens_predicted"] / first.place["tokens_predicted"] for second in of_run]
    near = [abs(np.log(ratio)) for ratio in ratios]
    best = int(np.argmin(near)) if near else -1
    return of_run[best] if near and near[best] < np.log(NEAREST) else None
