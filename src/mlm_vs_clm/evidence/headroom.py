"""Utility as a share of headroom: how far the text of an arm is on the way from unfilled to real text, where there is room."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..stats import PairedDifference, average_crossed
from ..tasks import TASKS
from .cells import TrainedCell, group_by
from .competence import Place, mark, to_place
from .differences import compare_trained, score_answers
from .paired import UTILITY_DEGREES, widen
from .power import smallest_detectable_effect
from .tables import COLUMNS
from .verdicts import NO_ROOM, UTILITY

REAL, FLOOR = "real", "unfilled"
CONTROLS = (REAL, "shuffled", "majority")


def share_headroom(
    cells: Iterable[TrainedCell],
    resamples: int,
    noise: Mapping[str, float] | None = None,
    count_trainings: Callable[[Place], int] = lambda place: 0,
) -> pd.DataFrame:
    """Return the table `headroom`: one row per corpus, masking and arm whose text a task model learned from.

    Headroom is real minus unfilled text, `detectable` the smallest such difference that these test units and trainings
    find; there is room where it is below the headroom. `value` is (arm - unfilled) / (real - unfilled), with its
    interval over test units and trainings (seeds of the texts, or task seeds where there is one such seed). `above` is
    arm - unfilled, which says whether a text beats unfilled text: the interval of a network that was trained once, as
    `count_trainings` has it for a place, has the `noise` between trainings, by metric.
    """
    rows = []
    final = [model for model in cells if not model.cell.budget]
    for (corpus, task), group in group_by(final, lambda model: (model.cell.corpus, model.task)).items():
        real = [model for model in group if model.cell.arm == REAL]
        filled = [model for model in group if model.cell.arm not in CONTROLS]
        for (strategy, ratio), at in group_by(filled, lambda model: model.cell.masking).items():
            floors = {model.cell.seed: model for model in at if model.cell.arm == FLOOR}
            by_arm = group_by(
                (model for model in at if model.cell.arm != FLOOR), lambda model: model.cell.arm
            )
            about = {"corpus": corpus, "task": task, "metric": TASKS[task].main_metric}
            for arm, seeds in by_arm.items():
                row = about | {"strategy": strategy, "ratio": ratio, "trained_on": arm}
                row |= _share(real, seeds, floors, resamples)
                if row.get("room") == "yes":
                    of_metric = (noise or {}).get(about["metric"], 0.0)
                    above = _compare_floor(seeds, floors, resamples, of_metric, count_trainings)
                    row |= {"above": above.difference, "above_low": above.low, "above_high": above.high}
                rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS["headroom"])


def _share(
    real: Sequence[TrainedCell], arms: Sequence[TrainedCell], floors: dict[int, TrainedCell], resamples: int
) -> dict:
    arms = [model for model in arms if model.cell.seed in floors]
    if not real or not arms:
        return {"reason": f"not run: {FLOOR if real else REAL}"}
    used = [real[0], *arms, *(floors[model.cell.seed] for model in arms)]
    if reasons := sorted({f"{model.cell.arm}: {model.reason}" for model in used if model.reason}):
        return {"reason": "; ".join(reasons)}
    scores, n = score_answers(used, resamples)
    if len({score.shape for score in scores}) > 1:
        return {"reason": "not trained with as many task seeds"}
    top, arm, floor = scores[0], np.array(scores[1 : 1 + len(arms)]), np.array(scores[1 + len(arms) :])
    above, room = arm - floor, top - floor
    headroom = average_crossed(room, n)
    detectable = smallest_detectable_effect(headroom.standard_error, headroom.degrees)
    has_room = bool(headroom.difference > detectable)
    values = {"real_value": top[:, 0].mean(), "unfilled_value": floor[..., 0].mean()}
    values |= {"utility": arm[..., 0].mean(), "headroom": headroom.difference, "detectable": detectable}
    values |= {"room": "yes" if has_room else "no", "n": n, "runs": headroom.runs}
    if not has_room:
        numbers = (
            f"{headroom.difference:.3f}, and {detectable:.3f} is the smallest difference that would be found"
        )
        return values | {"reason": f"{NO_ROOM}: real text is above unfilled text by {numbers}"}
    estimate = average_crossed(_linearise(above, room), n)
    return values | {"value": estimate.difference, "low": estimate.low, "high": estimate.high, "reason": ""}


def _compare_floor(
    arms: Sequence[TrainedCell],
    floors: dict[int, TrainedCell],
    resamples: int,
    noise: float,
    count_trainings: Callable[[Place], int],
) -> PairedDifference:
    by_seed = {model.cell.seed: model for model in arms if model.cell.seed in floors}
    above = compare_trained(by_seed, floors, resamples, (arms[0].cell.arm, FLOOR))
    trainings = count_trainings(to_place(arms[0].cell))
    if not trainings:
        return above
    # Half of the variance of a difference, as the floor has no training.
    return widen(replace(above, runs=min(above.runs, trainings)), noise * math.sqrt(1 / 2), UTILITY_DEGREES)


def _linearise(above: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Return values (runs, seeds, 1 + draws) whose mean is the ratio of the means, and which vary as it does (delta method)."""
    whole = room[..., 0].mean()
    ratio = above[..., 0].mean() / whole
    return ratio + (above - ratio * room) / whole


def exclude_no_room(
    differences: pd.DataFrame, headroom: pd.DataFrame, main: tuple[str, float]
) -> pd.DataFrame:
    """Return differences at the main cell; those as training data of a task that has no room there decide nothing."""
    rows = headroom[
        (headroom["room"] == "no") & (headroom["strategy"] == main[0]) & (headroom["ratio"] == main[1])
    ]
    reasons = dict(zip(rows["corpus"], rows["reason"], strict=True))  # a corpus has one task
    places = zip(differences["corpus"], differences["scope"], strict=True)
    return mark(
        differences, [[reasons.get(corpus, "") * (scope == UTILITY) for corpus, scope in places]], NO_ROOM
    )
