"""A stored cell as values: its names, what an arm scored in it, what was learned from its text, and which are compared."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from ..metrics import MEASURES

Statistics = dict[tuple[str, str], np.ndarray]
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
UNIT_NAMES = ("task_seed", "id", "cluster")  # columns of `units` that are no answers


@dataclass(frozen=True)
class Comparison:
    """Two arms that are compared on the same documents; a difference is first minus second."""

    name: str
    first: str
    second: str

    @property
    def arms(self) -> tuple[str, str]:
        """Return both arms."""
        return self.first, self.second


@dataclass(frozen=True)
class Cell:
    """The names of a cell: the corpus, the arm that filled the blanks, how they were chosen, and the seed.

    `budget`: training tokens of a checkpoint along the training curve, 0 for the checkpoint that the study uses.
    """

    corpus: str
    arm: str
    strategy: str
    ratio: float
    seed: int = 0
    budget: int = 0

    @property
    def masking(self) -> tuple[str, float]:
        """Return strategy and ratio."""
        return self.strategy, self.ratio


@dataclass(frozen=True)
class ScoredCell:
    """What an arm scored: statistics (n documents, k) by (scope, metric), the documents of a corpus in one order.

    `clusters` has the author of each document where authors repeat, else None. `ledger` has the sums of what generation
    cost. `method` is shared by arms that differ in order and pace alone. `context` is what the arm sees (`none`: a
    baseline), `temperature` above 0 where it draws its fills, `training` names the training of its model ("": none), and
    `place` says where that model stands on the training's curve (budget, tokens_seen, tokens_predicted, passes).
    """

    cell: Cell
    artifact: str = ""
    statistics: Statistics = field(default_factory=dict)
    clusters: Sequence[Hashable] | None = None
    ledger: dict[str, float] = field(default_factory=dict)
    method: str = ""
    context: str = "none"
    temperature: float = 0.0
    training: str = ""
    place: dict[str, Any] = field(default_factory=dict)

    @property
    def units(self) -> Sequence[Hashable]:
        """Return what is drawn together, one entry per document: the author where authors repeat, else the document."""
        return self.clusters or range(max(map(len, self.statistics.values()), default=0))

    def clusters_of(self, measure: tuple[str, str]) -> Sequence[Hashable] | None:
        """Return the clusters of a measure's rows; None for pairs of texts, which have no author in common."""
        is_of_pairs = measure[1] in MEASURES and MEASURES[measure[1]].pairs
        return None if is_of_pairs else self.clusters

    def units_of(self, measure: tuple[str, str]) -> Sequence[Hashable]:
        """Return what is drawn together, one entry per row of a measure."""
        return self.clusters_of(measure) or range(len(self.statistics[measure]))

    @property
    def flops(self) -> float:
        """Return the FLOPs per document."""
        return self.ledger["flops"] / max(1, self.ledger["documents"])


@dataclass(frozen=True)
class TrainedCell:
    """What a task model answered after training on an arm's text (or on a control, which `cell.arm` then names).

    `units` has the rows of units.jsonl: one per task seed and test unit. `reason`: why no seed has a model. Of a network that
    was fine-tuned on real text, `cell.arm` is the network and `examples` how many labelled ones it had; None where it is an arm whose text was learned from.
    """

    cell: Cell
    task: str
    artifact: str = ""
    units: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False, compare=False)
    reason: str = ""
    examples: int | None = None
    # By resamples: the main score of each task seed (see `score_answers`), as a cell is compared with many others.
    scores: dict[int, np.ndarray] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def is_network(self) -> bool:
        """Return whether networks are compared on one text, and not texts by one kind of task model."""
        return self.examples is not None

    @cached_property
    def clusters(self) -> tuple[Hashable, ...]:
        """Return what a resample draws together, one entry per test unit."""
        if self.units.empty:
            return ()
        return tuple(self.units.loc[self.units["task_seed"] == 0, "cluster"])

    @cached_property
    def answers(self) -> list[np.ndarray]:
        """Return the answers of each task seed, (units, columns)."""
        if self.units.empty:
            return []
        by_seed = self.units.groupby("task_seed", sort=False)
        tables = (rows.drop(columns=[*UNIT_NAMES], errors="ignore") for _, rows in by_seed)
        return [np.ascontiguousarray(table.to_numpy(float)) for table in tables]


def group_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return the items by their key, in the order in which keys first occur."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
