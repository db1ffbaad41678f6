"""Whose text is the better training data, pair by pair: differences on the same test units, over the same draws.

What is drawn are test units (authors where one has several), task seeds and the seeds of the texts. Few seeds give a
rough interval, but one without them calls an accident of training a difference.
"""

from collections.abc import Sequence

import numpy as np

from ..draws import keyed_rng
from ..stats import draw_runs, percentile_interval, share_as_extreme
from ..tasks import TASKS
from ..tasks.outcome import draw_weights
from .cells import STEPS, Step, Trained
from .gap import missing, share_seeds

COLUMNS = "corpus step first second task metric value low high p n reason".split()
NAMES = ("task_seed", "id", "cluster")


def explain_utility(corpus: str, task: str, trained: list[Trained], resamples: int) -> list[dict]:
    """Return a row of COLUMNS for every step of the gap; p is two-sided and not corrected.

    A step that cannot be measured, for want of an arm or of any model, is missing with its reason.
    """
    about = {"corpus": corpus, "task": task, "metric": TASKS[task].main_metric}
    return [
        about
        | {"step": step.name, "first": step.first, "second": step.second}
        | _compare(step, task, trained, resamples)
        for step in STEPS
    ]


def _compare(step: Step, task: str, trained: list[Trained], resamples: int) -> dict:
    found = {(one.arm, one.seed): one for one in trained}
    seeds, reason = share_seeds(step, found)
    if reason:
        return missing(reason)
    pairs = [(found[step.first, seed], found[step.second, seed]) for seed in seeds]
    if reasons := sorted({f"{one.arm}: {one.reason}" for pair in pairs for one in pair if one.reason}):
        return missing("; ".join(reasons))
    measure = TASKS[task].measures[TASKS[task].main_metric]
    clusters = [unit["cluster"] for unit in pairs[0][0].units if unit["task_seed"] == 0]
    weights = draw_weights(clusters, resamples, keyed_rng("utility gap"))
    weights = np.vstack([np.ones(len(clusters)), weights])  # the first draw is the test set as it is
    sides = [[_score(one.units, measure, weights) for one in side] for side in zip(*pairs, strict=True)]
    if len({len(scores) for side in sides for scores in side}) > 1:
        return missing("not trained with as many task seeds")
    differences = np.array(sides[0]) - np.array(sides[1])  # (text seeds, task seeds, 1 + draws)
    difference = differences[:, :, 0].mean()
    n_texts, n_runs = differences.shape[:2]
    texts = draw_runs(n_texts, resamples, keyed_rng("text seeds"))
    runs = draw_runs(n_runs, resamples, keyed_rng("seeds", n_runs))
    spread = np.einsum("tra,at,ar->a", differences[:, :, 1:], texts, runs)
    spread = spread[~np.isnan(spread)]
    low, high = percentile_interval(spread)
    p = share_as_extreme(spread - spread.mean(), difference)
    return {"value": difference, "low": low, "high": high, "p": p, "n": len(set(clusters)), "reason": ""}


def _score(units: Sequence[dict], measure, weights: np.ndarray) -> list[np.ndarray]:
    """Return the scores (n draws,) of each task seed."""
    columns = [column for column in units[0] if column not in NAMES]
    runs: dict[int, list] = {}
    for unit in units:
        runs.setdefault(unit["task_seed"], []).append([unit[column] for column in columns])
    return [measure(np.array(table, dtype=float), weights) for table in runs.values()]
