"""What a task found: its scores, and one row per test unit from which each can be computed again."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mlm_vs_clm.documents import Document

KEPT_SHARE = 0.9


@dataclass(frozen=True)
class Outcome:
    """The scores of one trained model on the test units.

    `units` has one row per test unit: "id", "cluster" (what is resampled together) and `columns` (numbers).
    Each of `measures` maps an array (n units, n columns) to a float, NaN where it is not defined.
    `skipped` counts what was left out, by reason; `notes` says where the model is not what was asked for.
    """

    units: list[dict]
    columns: tuple[str, ...]
    measures: dict[str, Callable[[np.ndarray], float]]
    skipped: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Return the number of test units."""
        return len(self.units)

    @property
    def statistics(self) -> np.ndarray:
        """Return the columns of the units, shape (n units, n columns)."""
        rows = [[unit[column] for column in self.columns] for unit in self.units]
        return np.array(rows, dtype=float).reshape(len(rows), len(self.columns))

    @property
    def metrics(self) -> dict[str, float]:
        """Return every score; NaN where it is not defined on these units."""
        return {name: measure(self.statistics) for name, measure in self.measures.items()}

    def interval(
        self,
        metric: str,
        n_resamples: int,
        rng: np.random.Generator,
        clusters: Sequence[Hashable] | None = None,
    ) -> tuple[float, float]:
        """Return the 95 % percentile bootstrap interval of a metric over clusters of test units.

        `clusters` names the cluster of each unit (default: the units' own). Resamples on which the metric is
        not defined are left out; (NaN, NaN) when it is not defined on the units themselves.
        """
        measure, statistics = self.measures[metric], self.statistics
        if math.isnan(measure(statistics)):
            return math.nan, math.nan
        groups = group_rows([unit["cluster"] for unit in self.units] if clusters is None else clusters)
        values = []
        for _ in range(n_resamples):
            drawn = rng.integers(len(groups), size=len(groups))
            values.append(measure(statistics[np.concatenate([groups[i] for i in drawn])]))
        low, high = np.nanpercentile(values, [2.5, 97.5])
        return float(low), float(high)


def group_rows(clusters: Sequence[Hashable]) -> list[np.ndarray]:
    """Return the row numbers of each cluster, in the order in which the clusters first appear."""
    rows = {}
    for row, cluster in enumerate(clusters):
        rows.setdefault(cluster, []).append(row)
    return [np.array(members) for members in rows.values()]


def draw_training_set(train: list[Document], seed: int) -> list[Document]:
    """Return nine tenths of the training documents, in order: what differs from one seed to the next.

    The draw is by position, so that arms which filled the same documents lose the same ones.
    """
    n_kept = math.ceil(KEPT_SHARE * len(train))
    kept = np.random.default_rng(seed).permutation(len(train))[:n_kept]
    return [train[i] for i in sorted(kept)]


def find_origin(document: Document) -> str:
    """Return the id of the text that a document was cut from (its own where it is whole)."""
    return document.source or document.id


def compute_f1(tp: float, fp: float, fn: float) -> float:
    """Return F1 from counts; NaN where there is nothing to find and nothing was found."""
    return float(2 * tp / (2 * tp + fp + fn)) if tp + fp + fn else math.nan
