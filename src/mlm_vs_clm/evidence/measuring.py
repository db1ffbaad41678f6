"""How each kind of claim is measured: from the conditions of the rules to differences with intervals."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd

from ..arms.baselines import BOUNDS, FLOORS, ORDERED
from ..metrics import is_lower_better
from ..stats import PairedDifference, compare_runs, ratio_of_sums
from ..tasks import TASKS
from .cells import ScoredCell, TrainedCell, group_by
from .competence import Competence, Place, index_cells, to_place
from .gap import compare_trained
from .learned import compare_learning, compare_negatives, compare_with_chance
from .paired import GAIN, LEAD, BySeed, compare_cells, score_cells, widen
from .power import smallest_detectable_effect
from .verdicts import IN_ERRORS, NO_ROOM, read_p

QUALITY = "quality"  # names the sides of a correlation in place of an arm
TRAINING = "training"  # the scope of what trainings show by themselves
UNDERSTANDING = "understanding"  # the scope of differences between networks that are fine-tuned
REAL, LOWEST = "real", "majority"  # what a task model is worth between: the range of utility


@dataclass(frozen=True)
class Asked:
    """One comparison that a condition asks for on one corpus.

    `first` and `second` are places of cells, `margin` is in the unit of the metric (NaN: unknown), `note` says what a
    reader needs beside the numbers. `at_least`: the question is whether the difference is above it, yes or no.
    `no_room`: why no text could be told apart as training data; "" where it could.
    """

    claim: dict
    condition: dict
    corpus: str
    first: Place
    second: Place
    measure: tuple[str, str]
    estimate: PairedDifference
    margin: float = math.nan
    note: str = ""
    at_least: float = math.nan
    no_room: str = ""


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
        return {
            seed: replace(
                scored_cell, statistics={measure: np.hstack([side[seed].statistics[base] for side in sides])}
            )
            for seed, scored_cell in cells.items()
            if all(seed in side and base in side[seed].statistics for side in sides)
        }

    def compare(
        self, first: Place, second: Place, measure: tuple[str, str], noise: Mapping[str, float] | None = None
    ) -> PairedDifference:
        """Return how far the first of two arms is ahead: first minus second, or second minus first where less is better.

        `noise`: by metric the deviation between trainings, for a statement on objectives (see `widen`).
        """
        ends = (second, first) if is_lower_better(measure[1]) else (first, second)
        sides, names = [self.read(place, measure) for place in ends], tuple(map(name_place, ends))
        estimate = compare_cells(sides[0], sides[1], measure, self.resamples, (names[0], names[1]))
        return widen(estimate, (noise or {}).get(measure[1], 0.0))

    def has(self, place: Place, measure: tuple[str, str]) -> bool:
        """Return whether a place was scored by a measure, at whatever seed."""
        return any(measure in cell.statistics for cell in self.scored.get(place, {}).values())

    def find_table(self, place: Place) -> str:
        """Return the word table of the context of a place's arm: that of most words in a row which was run there."""
        context = next((cell.context for cell in self.scored.get(place, {}).values()), "")
        floors = [arm for arm in FLOORS.get(context, ()) if (place[0], arm, *place[2:]) in self.scored]
        return next((arm for arm in floors if arm in ORDERED), floors[0] if floors else "")

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
        """Return the rows of the first training of a place's arm."""
        trainings = sorted({cell.training for cell in self.scored.get(place, {}).values() if cell.training})
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


def ask_difference(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Compare two arms on the same blanks, by every measure."""
    cell = condition.get("cells", claim["cells"])
    first, second = (
        (corpus, condition[side]["arm"], cell["strategy"], cell["ratio"]) for side in ("first", "second")
    )
    yield from _ask_pair(claim, condition, first, second, study)


def _ask_pair(claim: dict, condition: dict, first: Place, second: Place, study: Study) -> Iterator[Asked]:
    for measure in _list_measures(claim, condition):
        margin = find_margin(claim["margin"], measure, study.find_range(first, measure))
        estimate = study.compare(first, second, measure, claim.get("noise"))
        yield Asked(claim, condition, first[0], first, second, measure, estimate, margin)


def find_margin(margin: Mapping[str, float] | float, measure: tuple[str, str], extent: float) -> float:
    """Return the margin of a measure: in its unit where the claim gives it by metric (NaN for others), else a share of `extent`."""
    if isinstance(margin, Mapping):
        return float(margin.get(measure[1].removesuffix(LEAD), math.nan))
    return margin * extent


def _list_measures(claim: dict, condition: dict) -> list[tuple[str, str]]:
    return [(measure["scope"], measure["metric"]) for measure in condition.get("measures", claim["measures"])]


def ask_trend(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Compare each arm at its lowest random ratio with the same arm at its highest."""
    for arm in condition["arms"]:
        ratios = sorted(place[3] for place in study.scored if place[:3] == (corpus, arm, "random")) or [
            math.nan
        ]
        first, second = ((corpus, arm, "random", ratio) for ratio in (ratios[0], ratios[-1]))
        if len(ratios) > 1:
            yield from _ask_pair(claim, condition, first, second, study)
            continue
        few = PairedDifference(reason=f"not run: {arm} at two random ratios")
        for measure in _list_measures(claim, condition):
            yield Asked(claim, condition, corpus, first, second, measure, few)


def ask_equal_share(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Compare each arm at the words of a class with the same arm at as many random words."""
    for arm, strategy in product(condition["arms"], claim["strategies"]):
        first, second = ((corpus, arm, name, 1.0) for name in (strategy, f"random_as_{strategy}"))
        yield from _ask_pair(claim, condition, first, second, study)


def ask_share_of_gain(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Ask which share of the gain from one arm to another a third arm has, and whether it is above `at_least`."""
    names = [condition["arm"], claim["from"], claim["to"]]
    places: list[Place] = [(corpus, name, *claim["cells"].values()) for name in names]
    arm, low, high = (study.scored.get(place, {}) for place in places)
    for scope, metric in _list_measures(claim, condition):
        gain = (scope, metric + GAIN)
        ends = [_stack_gain((side, low, high), (scope, metric), gain) for side in (arm, low)]
        estimate = compare_cells(ends[0], ends[1], gain, study.resamples, (names[0], names[1]))
        if absent := [name for name, side in zip(names, (arm, low, high), strict=True) if not side]:
            estimate = PairedDifference(reason=f"not run: {' and '.join(absent)}")
        estimate = replace(estimate, p=find_p(estimate, claim["at_least"]))
        about = (corpus, places[0], places[1], (scope, metric), estimate)
        margin = find_margin(claim["margin"], (scope, metric), 1.0)
        yield Asked(claim, condition, *about, margin, "share of the gain", claim["at_least"])


def _stack_gain(
    sides: tuple[BySeed, BySeed, BySeed], measure: tuple[str, str], gain: tuple[str, str]
) -> BySeed:
    """Return the cells of the first side with the statistics by which its gain between the two others is measured."""
    seeds = set.intersection(*map(set, sides))
    return {
        seed: replace(
            sides[0][seed], statistics={gain: np.hstack([side[seed].statistics[measure] for side in sides])}
        )
        for seed in seeds
    }


def ask_utility(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Compare task models trained on two texts, of which one may be a control, on the same test units.

    The margin is a share of what real text is worth over the majority answer, or by `extent: headroom` over unfilled text.
    """
    task = study.tasks.get(corpus)
    if task is None or task != _find_task(claim, condition, task):
        return
    cell = condition.get("cells", claim.get("cells", claim["main"]))
    cells, worth = (cell, condition.get("second_cells", cell)), study.find_worth(corpus)
    extent = study.find_headroom(corpus, cell) if claim.get("extent") == "headroom" else worth
    firsts = condition.get("firsts") or [condition["first"]["arm"]]
    seconds = condition.get("seconds") or [condition["second"]["arm"]]
    for names in product(firsts, seconds):
        first, second = (
            (corpus, name, "", 0.0)
            if (corpus, name, "", 0.0) in study.trained
            else (corpus, name, of_side["strategy"], of_side["ratio"])
            for name, of_side in zip(names, cells, strict=True)
        )
        sides = [study.trained.get(place, {}) for place in (first, second)]
        estimate = compare_trained(sides[0], sides[1], study.resamples, names)
        if not estimate.reason:
            trainings = list(filter(None, map(study.count_trainings, (first, second))))
            estimate = replace(estimate, runs=min(estimate.runs, *trainings) if trainings else 1)
        bound = condition["at_least"] * worth if "at_least" in condition else math.nan
        estimate = replace(estimate, p=find_p(estimate, bound))
        about = (
            corpus,
            first,
            second,
            ("utility", TASKS[task].main_metric),
            estimate,
            claim["margin"] * extent,
        )
        room = _explain_room(claim, corpus, cell, study)
        yield Asked(claim, condition, *about, at_least=bound, no_room=room)


def _find_task(claim: dict, condition: dict, otherwise: str) -> str:
    """Return the task that a condition asks of: its own, or that of its claim."""
    return str(condition.get("task", claim.get("task", otherwise)))


def _explain_room(claim: dict, corpus: str, cell: Mapping, study: Study) -> str:
    """Return why a task has not the room that a claim needs; "" where it has, or the claim needs none."""
    return (
        study.explain_room(corpus, cell, claim.get("room", 1.0)) if claim["gate"] in ("room", "task") else ""
    )


def ask_understanding(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Compare two networks that were fine-tuned on as many examples of a task, on the same test units.

    There is room where the best network is above the majority answer by more than the difference that would be found.
    """
    task, n = condition["task"], condition["examples"]
    if not any(place[:2] == (corpus, task) for place in study.networks):
        return
    names = condition["first"]["arm"], condition["second"]["arm"]
    cells = [study.networks.get((corpus, task, name, n)) for name in names]
    sides = [{0: cell} if cell else {} for cell in cells]
    estimate = replace(compare_trained(sides[0], sides[1], study.resamples, names), runs=1)
    measure = (UNDERSTANDING, TASKS[task].main_metric)
    first, second = ((corpus, name, "", 0.0) for name in names)
    about = (corpus, first, second, measure, estimate, find_margin(claim["margin"], measure, math.nan))
    note, no_room = ("", "") if estimate.reason else study.describe_headroom(corpus, task, n, estimate)
    yield Asked(claim, condition, *about, note=note, no_room=no_room)


def find_p(estimate: PairedDifference, bound: float) -> float:
    """Return the two-sided p of a difference that is not `bound`; as it is where there is no bound or no error."""
    from scipy.special import stdtr

    if math.isnan(bound) or not estimate.standard_error > 0:
        return estimate.p
    return float(2 * stdtr(estimate.degrees, -abs(estimate.difference - bound) / estimate.standard_error))


def ask_correlation(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Read a correlation or slope of utility on quality; its bound, or margin in points of utility, decides."""
    for measure in _list_measures(claim, condition):
        values = {
            "quality_scope": measure[0],
            "quality_metric": measure[1],
            "statistic": condition["statistic"],
        }
        rows = study.rows("correlation", corpus, **values)
        place = (corpus, QUALITY, "", 0.0), (corpus, "utility", "", 0.0)
        estimate, bound = PairedDifference(reason="not run: no such correlation was computed"), math.nan
        if len(rows):
            row = rows.iloc[0]
            estimate = replace(_read_interval(row, int(row["n_cells"])), runs=study.count_runs(corpus))
            bound = float(row["bound"])
        margin = claim["margin"] * study.find_worth(corpus) if math.isnan(bound) else bound
        yield Asked(claim, condition, corpus, *place, measure, estimate, margin)


def ask_writers(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Read the rank correlation of quality and usefulness over writers at one masking of one task."""
    if study.tasks.get(corpus) != condition["task"]:
        return
    cell, room = condition["cells"], _explain_room(claim, corpus, condition["cells"], study)
    place = (corpus, QUALITY, *cell.values()), (corpus, "utility", *cell.values())
    for scope, metric in _list_measures(claim, condition):
        columns = {"scope": scope, "metric": metric, "statistic": condition["statistic"]}
        rows = study.rows("writers", corpus, **cell, **columns)
        estimate = PairedDifference(reason="not run: too few writers at one masking")
        if len(rows):
            row = rows.iloc[0]
            estimate = replace(_read_interval(row, int(row["n_writers"])), runs=study.count_runs(corpus))
        yield Asked(
            claim, condition, corpus, *place, (scope, metric), estimate, float(claim["margin"]), no_room=room
        )


def _read_interval(row: pd.Series, n: int) -> PairedDifference:
    """Return the value of a row with its interval and the standard error and p that follow from its width."""
    value, low, high = (float(row[name]) for name in ("value", "low", "high"))
    if math.isnan(value) or math.isnan(low):
        return PairedDifference(n=n, reason=f"not run: {row['reason'] or 'no interval'}")
    error, p = (high - low) / IN_ERRORS, read_p(value, low, high)
    return PairedDifference(value, low, high, p, error, n, degrees=n - 1.0)


def ask_cost(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Compare FLOPs per document as a logarithm of their ratio, or quality at equal FLOPs where it can be read off."""
    arms = [condition[side]["arm"] for side in ("first", "second")]
    if "comparison" in condition:
        yield from _ask_frontier(claim, condition, corpus, study)
        return
    first, second = (study.rows("ledger", corpus, arm=arm) for arm in arms)
    place = (corpus, arms[0], "", 0.0), (corpus, arms[1], "", 0.0)
    about = (claim, condition, corpus, *place, ("document", "flops"))
    margin = math.log1p(claim["margin"])
    absent = [arm for arm, rows in zip(arms, (first, second), strict=True) if rows.empty]
    if absent:
        yield Asked(*about, PairedDifference(reason=f"not run: {' and '.join(absent)}"), margin)
        return
    paired = first.merge(second, on=["strategy", "ratio", "seed"], suffixes=("_first", "_second"))
    paired = paired[(paired["flops_first"] > 0) & (paired["flops_second"] > 0)]
    if paired.empty:
        reason = "not run: no cell in which the FLOPs of both were counted"
        yield Asked(*about, PairedDifference(reason=reason), margin)
        return
    counted, law = (
        np.log(paired[f"{name}_first"] / paired["documents_first"])
        - np.log(paired[f"{name}_second"] / paired["documents_second"])
        for name in ("flops", "token_forwards")
    )
    estimate = PairedDifference(
        float(counted.mean()), float(counted.min()), float(counted.max()), n=len(paired)
    )
    ends = sorted({f"{math.exp(end):.2g}" for end in (estimate.low, estimate.high)}, key=float)
    note = (
        f"{math.exp(estimate.difference):.2g} times the FLOPs ({' to '.join(ends)} over the maskings); "
        f"passes x length read predict {math.exp(law.mean()):.2g} times"
    )
    yield Asked(*about, estimate, margin, note)


def _ask_frontier(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Read the difference in exact match where one arm takes the FLOPs of the other."""
    rows = study.rows("equal_compute", corpus, comparison=condition["comparison"], metric="exact_match")
    rows = rows[rows["basis"] != "equal documents"] if len(rows) else rows
    strategy, ratio = claim["main"].values()
    places = [(corpus, condition[side]["arm"], strategy, ratio) for side in ("first", "second")]
    estimate, note = (
        PairedDifference(reason="not run: neither arm was run at costs on both sides of the other's"),
        "",
    )
    defined = rows[rows["value"].notna()] if len(rows) else rows
    if len(defined):
        row = defined.iloc[0]
        estimate = replace(_read_interval(row, int(row["n"])), runs=study.count_runs(corpus))
        note = f"exact match at the {row['basis']}"
    measure = ("fills", "exact_match")
    margin = condition["margin"] * study.find_range(places[0], measure)
    yield Asked(claim, condition, corpus, places[0], places[1], measure, estimate, margin, note)


def ask_ratings(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Compare two arms over the documents that raters saw of both, raters averaged."""
    arms = [condition[side]["arm"] for side in ("first", "second")]
    places = [(corpus, arm, *claim["cells"].values()) for arm in arms]
    for measure in _list_measures(claim, condition):
        sides = [study.rows("ratings", corpus, question=measure[1], arm=arm) for arm in arms]
        estimate = PairedDifference(reason="not run: no ratings")
        if all(map(len, sides)):
            means = [rows.groupby("document")["rating"].mean() for rows in sides]
            paired = pd.concat(means, axis=1, join="inner")
            rows = [np.stack([paired.iloc[:, side], np.ones(len(paired))], axis=1) for side in (0, 1)]
            estimate = compare_runs([(rows[0], rows[1])], ratio_of_sums, study.resamples)
            if math.isnan(estimate.difference):
                estimate = replace(
                    estimate, reason=f"not run: {estimate.n} documents were rated for both arms"
                )
        margin = claim["margin"] * claim["range"]
        yield Asked(claim, condition, corpus, places[0], places[1], measure, estimate, margin)


def ask_learning(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Compare what a nat of dev loss cost the trainings of two arms, in FLOPs, as a logarithm of their ratio."""
    strategy, ratio = claim["main"].values()
    places: list[Place] = [(corpus, condition[side]["arm"], strategy, ratio) for side in ("first", "second")]
    curves = [study.find_curve(place) for place in places]
    estimate = compare_learning(curves[0], curves[1], claim["noise"]["dev_loss"])
    predicted = [f"{curve['tokens_predicted'].max():,.0f}" for curve in curves if len(curve)]
    note = ""
    if not estimate.reason:
        note = f"{math.exp(estimate.difference):.2g} times the FLOPs per nat; {' and '.join(predicted)} tokens predicted"
    margin = math.log1p(condition["margin"])
    yield Asked(claim, condition, corpus, places[0], places[1], (TRAINING, "flops"), estimate, margin, note)


def ask_pairs(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Asked]:
    """Compare how many held-out pairs an arm's model tells right with one kind of negatives, with chance or another kind."""
    arm, kinds = condition["arm"], condition["negatives"]
    strategy, ratio = claim["main"].values()
    pairs = [study.find_pairs((corpus, arm, strategy, ratio), kind) for kind in kinds]
    names = [f"{arm} ({kind})" for kind in kinds] + ["chance"] * (len(kinds) == 1)
    first, second = ((corpus, name, "", 0.0) for name in names)
    bound = condition.get("at_least", math.nan)
    estimate = (
        compare_negatives(pairs[0], pairs[1], study.resamples)
        if len(kinds) == 2
        else compare_with_chance(pairs[0], study.resamples)
    )
    estimate = replace(estimate, p=find_p(estimate, bound))
    about = (corpus, first, second, (TRAINING, "accuracy"), estimate, condition["margin"])
    yield Asked(claim, condition, *about, at_least=bound)


Ask = Callable[[dict, dict, str, Study], Iterator[Asked]]
KINDS: dict[str, Ask] = {
    "difference": ask_difference,
    "trend": ask_trend,
    "equal_share": ask_equal_share,
    "share_of_gain": ask_share_of_gain,
    "understanding": ask_understanding,
    "utility": ask_utility,  # by its task, or by that of every corpus
    "correlation": ask_correlation,
    "writers": ask_writers,
    "cost": ask_cost,
    "ratings": ask_ratings,
    "learning": ask_learning,
    "pairs": ask_pairs,
}


def ask_all(rules: Sequence[dict], study: Study) -> list[Asked]:
    """Return every comparison of every condition on every corpus; a condition may be of another kind than its claim."""
    return [
        question
        for claim in rules
        for condition in claim["conditions"]
        for corpus in study.corpora
        for question in KINDS[condition.get("kind", claim["kind"])](claim, condition, corpus, study)
    ]
