"""What a claim reads: the cells of a study and, behind each, statistics of documents or test units."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..fill.baselines import BOUNDS
from .cells import ScoredCell, TrainedCell, group_by

GAIN = "_gain"
COUNTS = ("tp", "fp", "fn")


@dataclass(frozen=True)
class Study:
    """The tidy tables of a study, the way to what is behind their `artifact`, and the draws of its tests."""

    tables: dict[str, pd.DataFrame]
    read_scored: Callable[[str], ScoredCell]
    read_trained: Callable[[str], TrainedCell]
    resamples: int
    seed: int

    def rows(self, table: str, corpus: str, **cell) -> pd.DataFrame:
        """Return the rows of a table (not empty) that have these values."""
        rows = self.tables[table]
        asked = {"corpus": corpus} | cell
        chosen = np.logical_and.reduce([rows[column].to_numpy() == value for column, value in asked.items()])
        return rows[chosen]


@dataclass(frozen=True)
class UnitStatistics:
    """Statistics (n, k) of a cell, what is drawn together, and the artifacts that they were read from."""

    values: np.ndarray
    clusters: Sequence[Hashable]
    evidence: tuple[str, ...]


def load_statistics(
    scope: str, metric: str, cell: dict, corpus: str, study: Study
) -> dict[int, UnitStatistics]:
    """Return the statistics of a cell by seed; those of a gain are the arm's, the unfilled's and the oracle's."""
    if not metric.endswith(GAIN):
        rows = study.rows("scores", corpus, **cell)
        artifacts = dict(zip(rows["seed"], rows["artifact"], strict=True))
        read = {seed: study.read_scored(name) for seed, name in artifacts.items()}
        return {
            seed: UnitStatistics(one.statistics[scope, metric], one.units, (artifacts[seed],))
            for seed, one in read.items()
            if (scope, metric) in one.statistics
        }
    metric = metric.removesuffix(GAIN)
    arms = (cell["arm"], *BOUNDS)
    parts = [load_statistics(scope, metric, cell | {"arm": arm}, corpus, study) for arm in arms]
    shared = [seed for seed in parts[0] if all(seed in part for part in parts)]
    same = [seed for seed in shared if len({len(part[seed].values) for part in parts}) == 1]
    return {seed: join([part[seed] for part in parts], np.hstack) for seed in same}


def join(parts: Sequence[UnitStatistics], stack: Callable) -> UnitStatistics:
    """Put statistics below (seeds) or beside each other (arms); the clusters follow."""
    clusters = [name for part in parts for name in part.clusters] if stack is np.vstack else parts[0].clusters
    evidence = tuple(name for part in parts for name in part.evidence)
    return UnitStatistics(stack([part.values for part in parts]), clusters, evidence)


def load_counts(asked: dict, claim: dict, corpus: str, study: Study) -> UnitStatistics | None:
    """Return the counts of a training set, (n test units, 3 for each seed); None where it is missing."""
    rows = study.rows("downstream", corpus, task=claim["task"], **asked)
    if rows["strategy"].fillna("").ne("").any():
        rows = study.rows("downstream", corpus, task=claim["task"], **asked, **claim["cells"])
    evidence = tuple(dict.fromkeys(rows.sort_values("seed", kind="stable")["artifact"]))
    runs = [
        run
        for name in evidence
        for run in group_by(study.read_trained(name).units, lambda unit: unit["task_seed"]).values()
    ]
    if not runs:
        return None
    ids = [unit["id"] for unit in runs[0]]
    same = [run for run in runs if [unit["id"] for unit in run] == ids]
    values = np.hstack([[[unit[name] for name in COUNTS] for unit in run] for run in same]).astype(float)
    return UnitStatistics(values, [unit["cluster"] for unit in runs[0]], evidence)


def match_widths(first: UnitStatistics, second: UnitStatistics) -> tuple[UnitStatistics, UnitStatistics]:
    """Repeat the seeds of each until both have as many: an average does not change, and one seed meets three."""
    width = int(np.lcm(first.values.shape[1], second.values.shape[1]))

    def repeat(one: UnitStatistics) -> UnitStatistics:
        values = np.tile(one.values, width // one.values.shape[1])
        return UnitStatistics(values, one.clusters, one.evidence)

    return repeat(first), repeat(second)
