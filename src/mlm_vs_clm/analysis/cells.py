"""A stored cell as values: what an arm scored, what was learned from its text, and which arms are compared."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

CELL = ("random", 0.5)


@dataclass(frozen=True)
class Step:
    """A pair of arms to compare on the same documents; the difference is first minus second."""

    name: str
    first: str
    second: str


STEPS = (  # each takes one more advantage from the masked arm; the last gives the causal arm what it lacked
    Step("as reported", "mlm_leaky", "seq2seq_kept"),
    Step("no leak", "mlm", "seq2seq_kept"),
    Step("known length", "mlm", "clm"),
    Step("left context", "mlm_left", "clm"),
    Step("both contexts", "mlm", "infill"),
)


Statistics = dict[tuple[str, str], np.ndarray]


@dataclass(frozen=True)
class Cell:
    """What an arm scored with one seed: statistics (n documents, k) by (scope, metric), and whose each document is.

    `units` names the author of each document where authors repeat, else the document.
    """

    arm: str
    seed: int
    statistics: Statistics
    units: Sequence[str]


@dataclass(frozen=True)
class Trained:
    """What was answered after training on an arm's text: the rows of its units.jsonl, and why no seed has a model."""

    arm: str
    seed: int
    units: Sequence[dict]
    reason: str = ""
