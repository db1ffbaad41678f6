"""The outcome of a task: its scores, and one row per test unit from which each score can be computed again."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.random import Generator

from blankfill.draws import keyed_rng

from ..documents import Document

KEPT_SHARE = 0.9
UNTRAINED = "no model could be trained"  # first words of a note: the answers are defaults, not a measurement
# First words of a reason: every score would be its bound.
NO_ROOM = "the test cannot tell one model from another"
UNDEFINED = "not defined on these answers"
Measure = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Mean:
    """A measure that is the mean of others; NaN where one of them is not defined."""

    of: Mapping[str, Measure]

    def __call__(self, table: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the mean (n resamples,) of the measures."""
        return self.join({name: measure(table, weights) for name, measure in self.of.items()})

    def join(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the mean of the measures, whose values are known by name."""
        return np.mean([values[name] for name in self.of], axis=0)


@dataclass(frozen=True)
class Outcome:
    """The scores of one trained model on the test units.

    `units` has one row per test unit: "id", "cluster" (what is resampled together) and `columns` (numbers).
    Each of `measures` maps an array (n units, n columns) and weights (n resamples, n units), how often each unit
    counts, to scores (n resamples,), NaN where the score is not defined.
    `skipped` counts what was left out, by reason; `notes` lists where the model is not what was asked for. `no_room`
    says why the test units measure nothing ("" where they do).
    """

    units: list[dict]
    columns: tuple[str, ...]
    measures: Mapping[str, Measure]
    skipped: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    no_room: str = ""

    @property
    def statistics(self) -> np.ndarray:
        """Return the columns of the units, shape (n units, n columns)."""
        rows = [[unit[column] for column in self.columns] for unit in self.units]
        return np.array(rows, dtype=float).reshape(len(rows), len(self.columns))


def draw_cluster_weights(clusters: Sequence[Hashable], resamples: int, rng: Generator) -> np.ndarray:
    """Return how often each unit is drawn in each bootstrap resample of clusters, shape (resamples, n units)."""
    names = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters))}
    cluster_of = np.array([names[cluster] for cluster in clusters], dtype=int)
    drawn = rng.integers(max(len(names), 1), size=(resamples, len(names)))
    counts = [np.bincount(row, minlength=len(names)) for row in drawn]
    return np.array(counts, dtype=float).reshape(resamples, -1)[:, cluster_of]


@lru_cache(maxsize=4)
def weigh_clusters(clusters: tuple[Hashable, ...], resamples: int, key: str) -> np.ndarray:
    """Return how often each unit counts, (1 + resamples, n units): once in the first row, then as drawn; `key` names the draw.

    It is kept for the next task model that is tested on the same units.
    """
    drawn = draw_cluster_weights(clusters, resamples, keyed_rng(key))
    weights = np.vstack([np.ones((1, len(clusters))), drawn])
    weights.flags.writeable = False
    return weights


def draw_training_set(train: list[Document], seed: int) -> list[Document]:
    """Return nine tenths of the training documents, in order; which ones depends on the seed.

    The draw is by position, so that all arms, which filled the same documents, lose the same ones.
    """
    n_kept = math.ceil(KEPT_SHARE * len(train))
    drawn = np.random.default_rng(seed).permutation(len(train))[:n_kept]
    return [train[i] for i in sorted(drawn)]


def find_origin(document: Document) -> str:
    """Return the id of the text that a document was cut from (its own where it is whole)."""
    return document.origin_id or document.id


def find_cluster(document: Document) -> str:
    """Return what a test document is drawn with: those of its author, where it has one, else those of its text."""
    return document.author or find_origin(document)


def divide(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return the ratio of two arrays (n resamples,); NaN where the denominator is 0."""
    above, below = np.asarray(above, dtype=float), np.asarray(below, dtype=float)
    return np.divide(above, below, out=np.full(np.broadcast(above, below).shape, np.nan), where=below != 0)


def compute_f1(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray) -> np.ndarray:
    """Return F1 from counts; NaN where there is nothing to find and nothing was found."""
    return divide(2 * tp, 2 * tp + fp + fn)
