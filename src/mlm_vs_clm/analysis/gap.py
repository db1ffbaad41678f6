"""Paired differences between arms: one advantage of the masked arm removed per comparison, as text and as training data.

What is drawn are documents or test units (authors where one has several), task seeds and the seeds of the texts: without
the seeds, training noise would count as a difference.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np
import pandas as pd

from ..draws import keyed_rng
from ..metrics import EXACT_MATCH
from ..metrics.bleu import score_counts
from ..stats import compare_runs, draw_runs, percentile_interval, ratio_of_sums, share_as_extreme
from ..tasks import TASKS
from ..tasks.outcome import Measure, draw_weights
from .cells import STEPS, Cell, Step, Trained
from .tables import COLUMNS

UNIT_NAMES = ("task_seed", "id", "cluster")

MEASURES: dict[tuple[str, str], Callable[[np.ndarray], np.ndarray]] = {
    ("fills", "exact_match"): EXACT_MATCH.aggregate,
    ("document", "bleu"): score_counts,
    ("document", "bertscore"): ratio_of_sums,
}


def compare_text(corpus: str, cells: list[Cell], resamples: int) -> list[dict]:
    """Return a row of COLUMNS for every step and measure of one corpus; p is two-sided and not corrected.

    Of several seeds the value is the mean, and the interval is over documents and seeds. A step that cannot be measured
    is a row with value None and the reason.
    """
    return [
        {"corpus": corpus, "step": step.name, "first": step.first, "second": step.second}
        | {"scope": scope, "metric": metric}
        | _compare(step, cells, (scope, metric), resamples)
        for step in STEPS
        for scope, metric in MEASURES
    ]


def _compare(step: Step, cells: list[Cell], measure: tuple[str, str], resamples: int) -> dict:
    found = {(cell.arm, cell.seed): cell for cell in cells if measure in cell.statistics}
    seeds, reason = share_seeds(step, found)
    if reason:
        return missing(reason)
    pairs = [
        tuple(found[arm, seed].statistics[measure] for arm in (step.first, step.second)) for seed in seeds
    ]
    units = [found[step.first, seed].units for seed in seeds]
    made = compare_runs(pairs, MEASURES[measure], resamples, clusters=units)
    if np.isnan(made.difference):
        return missing(f"defined for {made.n} of the units, two are needed") | {"n": made.n}
    values = {"value": made.difference, "low": made.low, "high": made.high, "p": made.p}
    return values | {"n": made.n, "reason": ""}


def share_seeds(step: Step, found: Collection[tuple[str, int]]) -> tuple[list[int], str]:
    """Return the seeds that both arms of a step have among (arm, seed), or why there is none."""
    seeds = sorted(seed for arm, seed in found if arm == step.first and (step.second, seed) in found)
    arms = [arm for arm in (step.first, step.second) if not any(arm == known for known, _ in found)]
    reason = f"not made: {' and '.join(arms)}" if arms else "the two arms share no seed"
    return seeds, "" if seeds else reason


def missing(reason: str) -> dict:
    """Return what a step that could not be measured has for values: nothing, and the reason."""
    return dict.fromkeys(("value", "low", "high", "p", "n")) | {"reason": reason}


def compare_utility(corpus: str, task: str, trained: list[Trained], resamples: int) -> list[dict]:
    """Return a row of COLUMNS for every step of the gap; p is two-sided and not corrected.

    A step that cannot be measured, for want of an arm or of any model, is missing with its reason.
    """
    about = {"corpus": corpus, "task": task, "metric": TASKS[task].main_metric}
    return [
        about
        | {"step": step.name, "first": step.first, "second": step.second}
        | _compare_trained(step, task, trained, resamples)
        for step in STEPS
    ]


def _compare_trained(step: Step, task: str, trained: list[Trained], resamples: int) -> dict:
    found = {(one.arm, one.seed): one for one in trained}
    seeds, reason = share_seeds(step, found)
    if reason:
        return missing(reason)
    pairs = [(found[step.first, seed], found[step.second, seed]) for seed in seeds]
    if reasons := sorted({f"{one.arm}: {one.reason}" for pair in pairs for one in pair if one.reason}):
        return missing("; ".join(reasons))
    clusters = [unit["cluster"] for unit in pairs[0][0].units if unit["task_seed"] == 0]
    weights = draw_weights(clusters, resamples, keyed_rng("utility gap"))
    weights = np.vstack([np.ones(len(clusters)), weights])  # the first draw is the test set as it is
    measure = TASKS[task].measures[TASKS[task].main_metric]
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


def _score(units: Sequence[dict], measure: Measure, weights: np.ndarray) -> list[np.ndarray]:
    """Return the scores (n draws,) of each task seed."""
    columns = [column for column in units[0] if column not in UNIT_NAMES]
    runs: dict[int, list] = {}
    for unit in units:
        runs.setdefault(unit["task_seed"], []).append([unit[column] for column in columns])
    return [measure(np.array(table, dtype=float), weights) for table in runs.values()]


def compare_by_seed(
    cells: dict[str, list[Cell]], trained: dict[tuple[str, str], list[Trained]], resamples: int
) -> pd.DataFrame:
    """Return one row a corpus, step, measure and seed; none where there is one seed.

    `cells` by corpus, `trained` by (corpus, task); scope `utility` is the difference as training data. Intervals are over
    documents or test units and, as training data, over task seeds.
    """
    rows = [
        row | {"seed": seed}
        for corpus, made in cells.items()
        for seed in _seeds(made)
        for row in compare_text(corpus, [cell for cell in made if cell.seed == seed], resamples)
    ]
    rows += [
        row | {"seed": seed, "scope": "utility"}
        for (corpus, task), made in trained.items()
        for seed in _seeds(made)
        for row in compare_utility(corpus, task, [one for one in made if one.seed == seed], resamples)
    ]
    return pd.DataFrame(rows, columns=COLUMNS["runs"])


def _seeds(made: Iterable[Cell | Trained]) -> list[int]:
    seeds = sorted({one.seed for one in made})
    return seeds if len(seeds) > 1 else []
