"""Paired differences between arms at the main cell, as training data and seed by seed: each removes one advantage of the masked arm.

Units are documents or test units (authors where one has several). Runs are trainings; the interval of several is
Student's over them, so that training noise is in it. Seeds of one training are other blanks (see `paired`).
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pandas as pd

from ..stats import PairedDifference, average_crossed
from ..tasks import TASKS
from ..tasks.outcome import weigh_clusters
from .cells import Comparison, ScoredCell, TrainedCell, group_by
from .paired import UTILITY_DEGREES, compare_cells, group_arms, widen, with_measure
from .tables import COLUMNS, SEED, TRAINING_DATA
from .verdicts import UTILITY

MEASURES = (("fills", "exact_match"), ("document", "bleu"), ("document", "bertscore"))
BY_CLASS = tuple(("fills", f"exact_match_{name}") for name in ("content", "stopword", "punctuation"))
C = TypeVar("C", ScoredCell, TrainedCell)


def compare_text(
    cells: Iterable[ScoredCell], comparisons: Sequence[Comparison], resamples: int
) -> pd.DataFrame:
    """Return one row per corpus, comparison and measure that both arms have; p is two-sided and not corrected.

    Of several runs the value is the mean, and the interval is over runs and documents. A comparison that cannot be
    measured is a row with value None and the reason.
    """
    rows = []
    for corpus, arms in group_arms(cells).items():
        rows += [
            {"corpus": corpus, "scope": measure[0], "metric": measure[1]}
            | name_comparison(comparison)
            | to_values(compare_cells(first, second, measure, resamples, comparison.arms))
            for comparison in keep_run(comparisons, arms)
            for measure in (*MEASURES, *BY_CLASS)
            for first, second in [[with_measure(arms[arm], measure) for arm in comparison.arms]]
            if first and second
        ]
    return pd.DataFrame(rows, columns=COLUMNS["comparisons"])


def compare_utility(
    cells: Iterable[TrainedCell],
    comparisons: Sequence[Comparison],
    resamples: int,
    noise: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return the differences as training data, one row per corpus and comparison; p is two-sided and not corrected.

    Runs are the seeds of the texts, task seeds averaged; with one such seed they are the task seeds, and the interval has the
    `noise` between trainings, by metric.
    A comparison that cannot be measured, for want of any model, is missing with its reason.
    """
    rows = []
    for (corpus, task), models in group_by(cells, lambda model: (model.cell.corpus, model.task)).items():
        arms = {
            arm: {model.cell.seed: model for model in of_arm}
            for arm, of_arm in group_by(models, lambda model: model.cell.arm).items()
        }
        metric = TASKS[task].main_metric
        about = {"kind": TRAINING_DATA, "corpus": corpus, "scope": UTILITY, "metric": metric}
        for comparison in keep_run(comparisons, arms):
            first, second = (arms[arm] for arm in comparison.arms)
            estimate = compare_trained(first, second, resamples, comparison.arms)
            estimate = widen(estimate, (noise or {}).get(metric, 0.0), UTILITY_DEGREES)
            rows.append(about | name_comparison(comparison) | to_values(estimate))
    return pd.DataFrame(rows, columns=COLUMNS["comparisons"])


def keep_run(comparisons: Iterable[Comparison], arms: Iterable[str]) -> list[Comparison]:
    """Return the comparisons of which both arms are there; what was not run, `answers` says."""
    return [comparison for comparison in comparisons if {*comparison.arms} <= {*arms}]


def compare_by_seed(
    scored: Iterable[ScoredCell],
    trained: Iterable[TrainedCell],
    comparisons: Sequence[Comparison],
    resamples: int,
) -> pd.DataFrame:
    """Return one row per corpus, comparison, measure and seed; none for what was trained once.

    Scope `utility` is the difference as training data. Intervals are over documents or test units and, as training
    data, over task seeds.
    """
    tables = [
        compare_text(cells, comparisons, resamples).assign(at=str(seed))
        for seed, cells in _by_seed(_keep_retrained(scored))
    ]
    tables += [
        compare_utility(cells, comparisons, resamples).assign(at=str(seed))
        for seed, cells in _by_seed(trained)
    ]
    rows = pd.concat(tables or [pd.DataFrame(columns=COLUMNS["comparisons"])])
    repeated = rows.duplicated(["corpus", "comparison", "scope", "metric"], keep=False)
    return rows[repeated].assign(kind=SEED, p=math.nan)  # judged by its interval alone


def _keep_retrained(cells: Iterable[ScoredCell]) -> list[ScoredCell]:
    """Return the cells of the corpora of which some arm was trained more than once."""
    retrained: list[ScoredCell] = []
    for of_corpus in group_by(cells, lambda scored: scored.cell.corpus).values():
        trainings = {(scored.cell.arm, scored.training) for scored in of_corpus if scored.training}
        if len(trainings) > len({arm for arm, _ in trainings}):
            retrained += of_corpus
    return retrained


def _by_seed(cells: Iterable[C]) -> Iterator[tuple[int, list[C]]]:
    for of_corpus in group_by(cells, lambda scored: scored.cell.corpus).values():
        by_seed = group_by(of_corpus, lambda scored: scored.cell.seed)
        if len(by_seed) > 1:
            yield from sorted(by_seed.items())


def name_comparison(comparison: Comparison) -> dict:
    """Return the columns that name a comparison."""
    return {"comparison": comparison.name, "first": comparison.first, "second": comparison.second}


def compare_trained(
    first: Mapping[int, TrainedCell],
    second: Mapping[int, TrainedCell],
    resamples: int,
    names: tuple[str, str],
) -> PairedDifference:
    """Return first minus second of task models by the seeds of their texts; `reason` says why there is no difference.

    A control, which is in no masking, meets every seed of the other, and the only task seed of one all of the other's.
    """
    if absent := [name for name, side in zip(names, (first, second), strict=True) if not side]:
        return PairedDifference(reason=f"not run: {' and '.join(absent)}")
    pairs = _pair_texts(first, second)
    if not pairs:
        return PairedDifference(reason="the arms share no seed")
    if reasons := sorted(
        {f"{model.cell.arm}: {model.reason}" for pair in pairs for model in pair if model.reason}
    ):
        return PairedDifference(reason="; ".join(reasons))
    by_model, n = score_answers([model for pair in pairs for model in pair], resamples)
    scores = list(zip(by_model[::2], by_model[1::2], strict=True))
    widths = {
        len(side)
        for pair, sides in zip(pairs, scores, strict=True)
        for model, side in zip(pair, sides, strict=True)
        if len(side) > 1 or model.cell.strategy
    }
    if len(widths) > 1:
        return PairedDifference(reason="not trained with as many task seeds")
    differences = np.array([a - b for a, b in scores])  # (texts, task seeds, 1 + draws)
    return replace(average_crossed(differences, n), runs=len(pairs))


def _pair_texts(
    first: Mapping[int, TrainedCell], second: Mapping[int, TrainedCell]
) -> list[tuple[TrainedCell, TrainedCell]]:
    controls = [next(iter(side.values())) if is_control(side) else None for side in (first, second)]
    seeds = sorted(
        first.keys() if controls[1] else second.keys() if controls[0] else first.keys() & second.keys()
    )
    return [(controls[0] or first[seed], controls[1] or second[seed]) for seed in seeds]


def is_control(side: Mapping[int, TrainedCell]) -> bool:
    """Return whether cells are of a control, which has no masking."""
    strategy = next(iter(side.values())).cell.strategy
    return not (isinstance(strategy, str) and strategy)


def score_answers(cells: Sequence[TrainedCell], resamples: int) -> tuple[list[np.ndarray], int]:
    """Return the main score (task seeds, 1 + resamples) of each cell of a task, on the same draws, and the units drawn.

    The first draw is the test set as it is.
    """
    task = TASKS[cells[0].task]
    clusters = cells[0].clusters
    if unscored := [model for model in cells if resamples not in model.scores]:
        weights = weigh_clusters(clusters, resamples, "utility gap")
        for model in unscored:
            scores = [task.measures[task.main_metric](rows, weights) for rows in model.answers]
            model.scores[resamples] = np.array(scores)
    return [model.scores[resamples] for model in cells], len(set(clusters))


def to_values(estimate: PairedDifference) -> dict:
    """Return a difference as columns of a row; of one that could not be measured nothing but the reason and the units."""
    if estimate.reason:
        absent = dict.fromkeys(("value", "low", "high", "p", "runs"))
        return absent | {"n": estimate.n or None, "reason": estimate.reason}
    numbers = {"value": estimate.difference, "low": estimate.low, "high": estimate.high, "p": estimate.p}
    return numbers | {"n": estimate.n, "runs": estimate.runs, "reason": ""}


def summarise_seeds(values: pd.Series) -> tuple[float, float]:
    """Return the mean and the standard deviation (n - 1) over seeds, NaN where the value of a seed is missing."""
    return float(values.mean(skipna=False)), float(values.std(ddof=1, skipna=False))
