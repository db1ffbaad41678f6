"""How claims on models are measured: what they learn from a text, and what their own training shows."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from ..stats import PairedDifference
from ..tasks import TASKS
from .differences import compare_trained
from .learned import compare_learning, compare_negatives, compare_with_chance
from .paired import UTILITY_DEGREES, widen
from .questions import (
    QUALITY,
    TRAINING,
    UNDERSTANDING,
    Question,
    find_margin,
    find_p,
    find_p_beyond,
    list_measures,
    read_interval,
    read_masking,
)
from .study import Study
from .verdicts import UTILITY


def ask_utility(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Compare task models trained on two texts, of which one may be a control, on the same test units.

    The margin is a share of what real text is worth over the majority answer, or by `extent: headroom` over unfilled text.
    """
    task = study.tasks.get(corpus)
    if task is None or task != condition.get("task", claim.get("task", task)):
        return
    metric = TASKS[task].main_metric
    cell = condition.get("cells", claim.get("cells", claim["main"]))
    cells, worth = (cell, condition.get("second_cells", cell)), study.find_worth(corpus)
    extent = study.find_headroom(corpus, cell) if claim.get("extent") == "headroom" else worth
    firsts = condition.get("firsts") or [condition["first"]["arm"]]
    seconds = condition.get("seconds") or [condition["second"]["arm"]]
    for names in product(firsts, seconds):
        first, second = (
            (corpus, name, "", 0.0)
            if (corpus, name, "", 0.0) in study.trained
            else (corpus, name, *read_masking(of_side))
            for name, of_side in zip(names, cells, strict=True)
        )
        sides = [study.trained.get(place, {}) for place in (first, second)]
        estimate = compare_trained(sides[0], sides[1], study.resamples, names)
        if not estimate.reason:
            trainings = list(filter(None, map(study.count_trainings, (first, second))))
            estimate = replace(estimate, runs=min(estimate.runs, *trainings) if trainings else 1)
            noise = claim.get("noise", {}).get(metric, 0.0)
            noise *= math.sqrt(len(trainings) / 2)  # that of a table has none
            estimate = widen(estimate, noise, UTILITY_DEGREES)
        bound = condition["at_least"] * worth if "at_least" in condition else math.nan
        estimate = replace(estimate, p=find_p(estimate, bound))
        about = (corpus, first, second, (UTILITY, metric), estimate, claim["margin"] * extent)
        room = _explain_room(claim, corpus, cell, study)
        yield Question(claim, condition, *about, at_least=bound, no_room=room)


def _explain_room(claim: dict, corpus: str, cell: Mapping, study: Study) -> str:
    """Return why a task has not the room that a claim needs; "" where it has, or the claim needs none."""
    if claim["gate"] not in ("room", "task"):
        return ""
    return study.explain_room(corpus, cell, claim.get("room", 1.0))


def ask_understanding(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
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
    yield Question(claim, condition, *about, note=note, no_room=no_room)


def ask_correlation(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Read a correlation or slope of utility on quality; its bound, or margin in points of utility, decides."""
    for measure in list_measures(claim, condition):
        quality = {"quality_scope": measure[0], "quality_metric": measure[1]}
        rows = study.rows("correlation", corpus, **quality, statistic=condition["statistic"])
        place = (corpus, QUALITY, "", 0.0), (corpus, "utility", "", 0.0)
        estimate, bound = PairedDifference(reason="not run: no such correlation was computed"), math.nan
        if len(rows):
            row = rows.iloc[0]
            estimate = replace(read_interval(row, int(row["n_cells"])), runs=study.count_runs(corpus))
            bound = float(row["bound"])
            if not math.isnan(bound):
                estimate = replace(estimate, p=find_p_beyond(estimate, bound))
        margin = claim["margin"] * study.find_worth(corpus) if math.isnan(bound) else bound
        yield Question(claim, condition, corpus, *place, measure, estimate, margin)


def ask_writers(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Read the rank correlation of quality and usefulness over writers at one masking of one task."""
    if study.tasks.get(corpus) != condition["task"]:
        return
    cell, room = condition["cells"], _explain_room(claim, corpus, condition["cells"], study)
    place = (corpus, QUALITY, *read_masking(cell)), (corpus, "utility", *read_masking(cell))
    margin = float(claim["margin"])
    for scope, metric in list_measures(claim, condition):
        columns = {"scope": scope, "metric": metric, "statistic": condition["statistic"]}
        rows = study.rows("writers", corpus, **cell, **columns)
        estimate = PairedDifference(reason="not run: too few writers at one masking")
        if len(rows):
            row = rows.iloc[0]
            estimate = replace(read_interval(row, int(row["n_writers"])), runs=study.count_runs(corpus))
            estimate = replace(estimate, p=find_p_beyond(estimate, margin))
        yield Question(claim, condition, corpus, *place, (scope, metric), estimate, margin, no_room=room)


def ask_learning(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Compare what a nat of dev loss cost the trainings of two arms, in FLOPs, as a logarithm of their ratio."""
    masking = read_masking(claim["main"])
    places = [(corpus, condition[side]["arm"], *masking) for side in ("first", "second")]
    curves = [study.find_curve(place) for place in places]
    estimate = compare_learning(curves[0], curves[1], claim["noise"]["dev_loss"])
    predicted = [f"{curve['tokens_predicted'].max():,.0f}" for curve in curves if len(curve)]
    note = ""
    if not estimate.reason:
        note = f"{math.exp(estimate.difference):.2g} times the FLOPs per nat; {' and '.join(predicted)} tokens predicted"
    margin = math.log1p(condition["margin"])
    yield Question(
        claim, condition, corpus, places[0], places[1], (TRAINING, "flops"), estimate, margin, note
    )


def ask_pairs(claim: dict, condition: dict, corpus: str, study: Study) -> Iterator[Question]:
    """Compare how many held-out pairs an arm's model tells right with one kind of negatives, with chance or another kind."""
    arm, kinds = condition["arm"], condition["negatives"]
    place = (corpus, arm, *read_masking(claim["main"]))
    pairs = [study.find_pairs(place, kind) for kind in kinds]
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
    yield Question(claim, condition, *about, at_least=bound)
