"""The cells and tables of a study, as the claims read them."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ..arms.baselines import BOUNDS, FLOORS, LATER_TABLES
from ..metrics import is_lower_better
from ..stats import PairedDifference
from ..tasks import TASKS
from .cells import ScoredCell, TrainedCell, group_by
from .competence import Competence, Place, index_cells, to_place
from .paired import GAIN, LEAD, BySeed, compare_cells, score_cells, stack_sides, widen
from .power import smallest_detectable_effect
from .verdicts import NO_ROOM

REAL, LOWEST = "real", "majority"  # what a task model is worth between: the range of utility


class Study:
    """The cells and tables that the claims read; cells along a training curve are left out."""

    def __init__(
        self,
        scored: Iterable[ScoredCell],
        trained: Iterable[TrainedCell],
        tables: Mapping[str, pd.DataFrame],
        resamples: int,
    ):
        self.scored, self.resamples, self.tables = index_cells(scored), resamples, tables
        self.competence = Competence(tables["competence"])
        final = [model for model in trained if not model.cell.budget and not model.is_network]
        self.networks = {
            (model.cell.corpus, model.task, model.cell.arm, model.examples or 0): model
            for model in trained
            if model.is_network
        }
        self.trained = {
            place: {model.cell.seed: model for model in group}
            for place, group in group_by(final, lambda model: _to_trained(to_place(model.cell))).items()
        }
        self.tasks = {model.cell.corpus: model.task for model in final}
        self.corpora = sorted({place[0] for place in (*self.scored, *self.trained, *self.networks)})

    def rows(self, table: str, corpus: str, **cell) -> pd.DataFrame:
        """Return the rows of a table that have these values; none where the study has no such table."""
        rows = self.tables.get(table, pd.DataFrame())
        values = {"corpus": corpus} | cell
        if rows.empty:
            return rows
        return rows[
            np.logical_and.reduce([rows[column].to_numpy() == value for column, value in values.items()])
        ]

    def read(self, place: Place, measure: tuple[str, str]) -> BySeed:
        """Return the cells of a place by seed.

        For a gain they have the statistics of the arm, unfilled and oracle, for a lead those of the arm and its table.
        """
        cells = self.scored.get(place, {})
        scope, metric = measure
        if not metric.endswith((GAIN, LEAD)):
            return cells
        base = (scope, metric.removesuffix(GAIN).removesuffix(LEAD))
        beside = BOUNDS if metric.endswith(GAIN) else [self.find_table(place)]
        sides = [cells, *(self.scored.get((place[0], arm, *place[2:]), {}) for arm in beside)]
        return stack_sides(sides, base, measure)

    def compare(
        self, first: Place, second: Place, measure: tuple[str, str], noise: Mapping[str, float] | None = None
    ) -> PairedDifference:
        """Return how far the first of two arms is ahead: first minus second, or second minus first where less is better.

        `noise`: by metric the deviation between trainings, for a statement on objectives (see `widen`).
        """
        ends = (second, first) if is_lower_better(measure[1].removesuffix(LEAD)) else (first, second)
        sides, names = [self.read(place, measure) for place in ends], tuple(map(name_place, ends))
        estimate = compare_cells(sides[0], sides[1], measure, self.resamples, (names[0], names[1]))
        return widen(estimate, (noise or {}).get(measure[1], 0.0))

    def list_measures(self, place: Place) -> set[tuple[str, str]]:
        """Return the measures (scope, metric) by which a place was scored, at whatever seed."""
        return {measure for cell in self.scored.get(place, {}).values() for measure in cell.statistics}

    def find_table(self, place: Place) -> str:
        """Return the word table of the context of a place's arm: that of most words in a row which was run there."""
        context = next((cell.context for cell in self.scored.get(place, {}).values()), "")
        floors = [arm for arm in FLOORS.get(context, ()) if (place[0], arm, *place[2:]) in self.scored]
        return next((arm for arm in floors if arm in LATER_TABLES), floors[0] if floors else "")

    def count_runs(self, corpus: str) -> int:
        """Return how often the arm of the cell that was trained least often was trained; 1 where none was."""
        trained = (self.count_trainings(place) for place in self.scored if place[0] == corpus)
        return min(filter(None, trained), default=1)

    def count_trainings(self, place: Place) -> int:
        """Return how often the model of an arm was trained, over the seeds of a place; 0 for a baseline."""
        return len({cell.training for cell in self.scored.get(place, {}).values() if cell.training})

    def find_curve(self, place: Place) -> pd.DataFrame:
        """Return the curve of the training of an arm's model on the corpus of a place; no rows where it was not trained."""
        return self._of_training(self.rows("training", place[0]), place)

    def find_pairs(self, place: Place, negatives: str) -> pd.DataFrame:
        """Return how many pairs with these negatives an arm's model tells right, a row per document of a corpus."""
        return self._of_training(self.rows("pairs", place[0], negatives=negatives), place)

    def _of_training(self, rows: pd.DataFrame, place: Place) -> pd.DataFrame:
        """Return the rows of the training with the lowest seed of a place's arm: arms are then compared at the same draw."""
        cells = self.scored.get(place, {})
        trainings = [cells[seed].training for seed in sorted(cells) if cells[seed].training]
        return rows[rows["artifact"].isin(trainings[:1])] if len(rows) else rows

    def find_range(self, place: Place, measure: tuple[str, str]) -> float:
        """Return oracle minus unfilled of a measure at a place's masking; 1 for a gain, NaN where one was not run."""
        if measure[1].endswith(GAIN):
            return 1.0
        unfilled, oracle = (
            score_cells(self.scored.get((place[0], arm, *place[2:]), {}), measure) for arm in BOUNDS
        )
        return oracle - (0.0 if measure[0] == "fills" else unfilled)  # nothing filled in is no match

    def explain_room(self, corpus: str, cell: Mapping, times: float = 1.0) -> str:
        """Return why a task has no room at a masking: headroom of `times` its detectable difference; "" where it has."""
        headroom = self.rows("headroom", corpus, strategy=cell["strategy"], ratio=cell["ratio"])
        rows = headroom[headroom["room"] == "no"] if len(headroom) else headroom
        if len(rows):
            return str(rows["reason"].iloc[0])
        ratios = headroom["headroom"] / headroom["detectable"] if len(headroom) else pd.Series(dtype=float)
        if times > 1 and ratios.isna().all():
            return f"no headroom was measured, and {times:g} times the detectable difference are asked"
        if times > 1 and not (ratios >= times).any():
            return f"headroom is {ratios.max():.1f} times the detectable difference, less than the {times:g} that are asked"
        return ""

    def find_headroom(self, corpus: str, cell: Mapping) -> float:
        """Return how much better a task model is with real than with unfilled text at a masking; NaN where one was not run."""
        rows = self.rows("headroom", corpus, strategy=cell["strategy"], ratio=cell["ratio"])
        return float(rows["headroom"].max()) if len(rows) else math.nan

    def describe_headroom(
        self, corpus: str, task: str, n: int, estimate: PairedDifference
    ) -> tuple[str, str]:
        """Return by how much the best network is above the majority answer, or why no two could be told apart.

        One of both is "". `estimate`: the difference that is asked for, by whose error the smallest that is found follows.
        """
        rows = self.rows("understanding", corpus, task=task, metric=TASKS[task].main_metric)
        rows = rows[rows["examples"] == n] if len(rows) else rows
        if rows.empty or not (rows["network"] == LOWEST).any():
            return "", ""
        room = float(rows["value"].max() - rows.loc[rows["network"] == LOWEST, "value"].iloc[0])
        detectable = smallest_detectable_effect(estimate.standard_error, estimate.degrees)
        numbers = f"the best network is above the majority answer by {room:.3f}, and {detectable:.3f} is the smallest difference that would be found"
        return ("", f"{NO_ROOM}: {numbers}") if room <= detectable else (numbers, "")

    def find_worth(self, corpus: str) -> float:
        """Return how much better a task model is with real text than the majority answer; NaN where one was not run."""
        rows = self.tables["downstream"]
        if rows.empty or corpus not in self.tasks:
            return math.nan
        metric = TASKS[self.tasks[corpus]].main_metric
        ends = [
            self.rows("downstream", corpus, metric=metric, trained_on=name)["value"].mean()
            for name in (REAL, LOWEST)
        ]
        return float(ends[0] - ends[1])


def _to_trained(place: Place) -> Place:
    """Return a place with the same name for every masking of a control, which has none."""
    return place if isinstance(place[2], str) and place[2] else (*place[:2], "", 0.0)


def name_place(place: Place) -> str:
    """Return an arm and its masking in words; a control has no masking."""
    return f"{place[1]} at {place[2]} {place[3]:g}" if place[2] else place[1]
