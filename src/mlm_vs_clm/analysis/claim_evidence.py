"""What a claim reads: the cells of a study and, behind each, statistics of documents or test units."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ..fill.baselines import BOUNDS

GAIN = "_gain"
COUNTS = ("tp", "fp", "fn")


@dataclass(frozen=True)
class Stored:
    """What a claim reads of one artifact.

    Of a score: `statistics`, (scope, metric) -> (n documents, k), the documents of a corpus in one order; and
    `clusters`, the author of each document where authors repeat, else None. Of a downstream result: `units`, the
    rows of its units.jsonl.
    """

    statistics: dict[tuple[str, str], np.ndarray] = field(default_factory=dict)
    clusters: Sequence[str] | None = None
    units: Sequence[dict] = ()


@dataclass(frozen=True)
class Study:
    """The tidy tables of a study, the way to what lies behind their `artifact`, and the draws of its tests."""

    tables: dict[str, pd.DataFrame]
    read: Callable[[str], Stored]
    resamples: int
    seed: int

    def rows(self, table: str, corpus: str, **cell) -> pd.DataFrame:
        """Return the rows of a table (not empty) that have these values."""
        rows = self.tables[table]
        asked = {"corpus": corpus} | cell
        chosen = np.logical_and.reduce([rows[column].to_numpy() == value for column, value in asked.items()])
        return rows[chosen]


@dataclass(frozen=True)
class Rows:
    """Statistics (n, k) of a cell, what is drawn together, and the artifacts that they were read from."""

    values: np.ndarray
    clusters: Sequence
    evidence: tuple[str, ...]


def load_rows(scope: str, metric: str, cell: dict, corpus: str, study: Study) -> dict[int, Rows]:
    """Return the statistics of a cell by seed; those of a gain are the arm's, the unfilled's and the oracle's."""
    if not metric.endswith(GAIN):
        rows = study.rows("scores", corpus, **cell)
        artifacts = dict(zip(rows["seed"], rows["artifact"], strict=True))
        made = {seed: read_rows(scope, metric, name, study) for seed, name in artifacts.items()}
        return {seed: rows for seed, rows in made.items() if rows is not None}
    metric = metric.removesuffix(GAIN)
    arms = (cell["arm"], *BOUNDS)
    parts = [load_rows(scope, metric, cell | {"arm": arm}, corpus, study) for arm in arms]
    shared = [seed for seed in parts[0] if all(seed in part for part in parts)]
    same = [seed for seed in shared if len({len(part[seed].values) for part in parts}) == 1]
    return {seed: join_rows([part[seed] for part in parts], np.hstack) for seed in same}


def read_rows(scope: str, metric: str, artifact: str, study: Study) -> Rows | None:
    """Return the statistics of one artifact; None where this was not scored."""
    stored = study.read(artifact)
    if (scope, metric) not in stored.statistics:
        return None
    values = np.asarray(stored.statistics[scope, metric], dtype=float)
    clusters = range(len(values)) if stored.clusters is None else stored.clusters
    return Rows(values, clusters, (artifact,))


def join_rows(parts: Sequence[Rows], stack: Callable) -> Rows:
    """Put statistics below (seeds) or beside each other (arms); the clusters follow."""
    clusters = [name for part in parts for name in part.clusters] if stack is np.vstack else parts[0].clusters
    evidence = tuple(name for part in parts for name in part.evidence)
    return Rows(stack([part.values for part in parts]), clusters, evidence)


def load_counts(asked: dict, claim: dict, corpus: str, study: Study) -> Rows | None:
    """Return the counts of a training set, (n test units, 3 for each seed); None where it is missing."""
    rows = study.rows("downstream", corpus, task=claim["task"], **asked)
    if rows["strategy"].fillna("").ne("").any():
        rows = study.rows("downstream", corpus, task=claim["task"], **asked, **claim["cells"])
    evidence = tuple(dict.fromkeys(rows.sort_values("seed", kind="stable")["artifact"]))
    runs: dict[tuple, list[dict]] = {}
    for name in evidence:
        for unit in study.read(name).units:
            runs.setdefault((name, unit["task_seed"]), []).append(unit)
    if not runs:
        return None
    first, *_ = runs.values()
    same = [run for run in runs.values() if [u["id"] for u in run] == [u["id"] for u in first]]
    values = np.hstack([[[unit[name] for name in COUNTS] for unit in run] for run in same]).astype(float)
    return Rows(values, [unit["cluster"] for unit in first], evidence)


def match_widths(first: Rows, second: Rows) -> tuple[Rows, Rows]:
    """Repeat the seeds of each until both have as many: an average does not change, and one seed meets three."""
    width = np.lcm(first.values.shape[1], second.values.shape[1])
    repeated = (np.tile(rows.values, width // rows.values.shape[1]) for rows in (first, second))
    return tuple(Rows(v, r.clusters, r.evidence) for v, r in zip(repeated, (first, second), strict=True))
