"""In which order the slots of a document are filled: planned before the first pass, or chosen from the model's scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BlankfillError
from ..ranges import check_number
from .ranges import RANGES

if TYPE_CHECKING:
    import torch


Plan = list[list[int]]
Rng = np.random.Generator
Scoring = Callable[["torch.Tensor"], "torch.Tensor"]


@dataclass(frozen=True)
class Pace:
    """How many slots are filled per pass.

    `per_pass` slots (the last pass: what is left); or, where `passes` is set, equal shares in that many passes.
    Order confidence may fill every slot at or above `threshold`, order entropy as many as keep their summed entropy
    (nats) within `entropy_bound`; both fill at least one. `sweeps` is for gibbs. 0 turns a setting off. `schedule` is
    how `passes` share the slots: `equal`, or `cosine`, which fills few slots at first and many at the end. Raises
    BlankfillError for values out of range (see `RANGES`) or that exclude each other.
    """

    per_pass: int = 1
    passes: int = 0
    threshold: float = 0.0
    entropy_bound: float = 0.0
    sweeps: int = 1
    schedule: str = "equal"

    def __post_init__(self):
        for name in ("per_pass", "passes", "threshold", "entropy_bound", "sweeps"):
            check_number(name, getattr(self, name), RANGES[name])
        if (self.passes > 0) + (self.threshold > 0) + (self.entropy_bound > 0) > 1:
            raise BlankfillError("passes, threshold, entropy_bound: set one of them, the others to 0")
        if self.schedule not in [*SCHEDULES]:  # of any type
            raise BlankfillError(f"schedule={self.schedule} is unknown: choose one of {', '.join(SCHEDULES)}")
        if self.schedule != "equal" and not self.passes:
            raise BlankfillError(f"schedule={self.schedule} needs passes, which share the slots")

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Pace:
        """Return the pace that settings by name ask for; other names among them are left alone."""
        names = [field.name for field in fields(cls) if field.name in settings]
        return cls(**{name: settings[name] for name in names})

    def sizes(self, n: int) -> list[int]:
        """Return how many of n slots each pass fills, at least one; the last pass fills the last slot."""
        if not self.passes:
            return [min(self.per_pass, n - start) for start in range(0, n, self.per_pass)]
        return SCHEDULES[self.schedule](n, min(self.passes, n))


def equal_shares(n: int, n_passes: int) -> list[int]:
    """Return the slots of each pass, which differ by at most one, larger passes last."""
    return [(n * (i + 1)) // n_passes - (n * i) // n_passes for i in range(n_passes)]


def cosine_shares(n: int, n_passes: int) -> list[int]:
    """Leave n cos(pi t / 2T) slots open after pass t of T, rounded down (Chang et al. 2022); at least one per pass."""
    open_after = [n]
    for t in range(1, n_passes):
        n_open = math.floor(n * math.cos(math.pi * t / (2 * n_passes)))
        open_after.append(max(n_passes - t, min(open_after[-1] - 1, n_open)))
    return [before - after for before, after in pairwise([*open_after, 0])] if n else []


SCHEDULES: dict[str, Callable[[int, int], list[int]]] = {"equal": equal_shares, "cosine": cosine_shares}


def left_to_right(n: int, pace: Pace, rng: Rng) -> Plan:
    """Fill from the first slot to the last."""
    return _cut(range(n), pace)


def right_to_left(n: int, pace: Pace, rng: Rng) -> Plan:
    """Fill from the last slot to the first."""
    return _cut(range(n)[::-1], pace)


def shuffled(n: int, pace: Pace, rng: Rng) -> Plan:
    """Fill in a random order, drawn for the document."""
    return _cut(rng.permutation(n), pace)


def parallel(n: int, pace: Pace, rng: Rng) -> Plan:
    """Fill everything in one pass."""
    return [list(range(n))] if n else []


def spaced(n: int, pace: Pace, rng: Rng) -> Plan:
    """Fill from left to right, the slots of one pass as far apart as possible; one per pass is left to right."""
    n_passes = len(pace.sizes(n))
    return [list(range(first, n, n_passes)) for first in range(n_passes)]


def gibbs(n: int, pace: Pace, rng: Rng) -> Plan:
    """Fill everything in one pass, then mask and draw it again in `sweeps` random orders."""
    sweeps = [shuffled(n, pace, rng) for _ in range(pace.sweeps)]
    return parallel(n, pace, rng) + [step for sweep in sweeps for step in sweep]


def _cut(order, pace: Pace) -> Plan:
    """Cut an order into passes."""
    slots, plan = [int(slot) for slot in order], []
    for size in pace.sizes(len(slots)):
        plan.append(slots[:size])
        slots = slots[size:]
    return plan


def confidence(logits: torch.Tensor) -> torch.Tensor:
    """Return the probability of the most likely token of each row of logits (n, vocabulary)."""
    return logits.softmax(-1).amax(-1)


def margin(logits: torch.Tensor) -> torch.Tensor:
    """Return the difference in probability between the two most likely tokens of each row."""
    best = logits.softmax(-1).topk(2, dim=-1).values
    return best[:, 0] - best[:, 1]


def certainty(logits: torch.Tensor) -> torch.Tensor:
    """Return minus the entropy (nats) of each row."""
    import torch

    return -torch.special.entr(logits.softmax(-1)).sum(-1)


class Order:
    """Which slots are filled when: asked for `candidates` before each pass, for those to `accept` after it.

    `score_slots` turns logits (n, vocabulary) into one score per candidate, None where accepting needs no scores. With
    `needs_probabilities` the order is told how likely each chosen token was.
    """

    score_slots: Scoring | None = None
    needs_probabilities = False

    def candidates(self) -> list[int]:
        """Return the slots that are masked in the next pass; none when finished."""
        raise NotImplementedError

    def accept(self, scores: list[float]) -> list[int]:
        """Return the candidates that are filled in this pass."""
        raise NotImplementedError

    def record(self, slot: int, probability: float) -> None:
        """Take note of how likely the chosen token was."""


class Planned(Order):
    """Every pass is known before the first."""

    def __init__(self, plan: Plan):
        self.plan = plan

    def candidates(self) -> list[int]:
        """Return the slots of the next pass."""
        return self.plan[0] if self.plan else []

    def accept(self, scores: list[float]) -> list[int]:
        """Fill all of them."""
        return self.plan.pop(0)


class Ranked(Order):
    """Every open slot is a candidate in every pass, and those with the best scores are filled; ties go to the first."""

    def __init__(self, n: int, pace: Pace, score_slots: Scoring):
        self.open, self.pace, self.score_slots, self.sizes = list(range(n)), pace, score_slots, pace.sizes(n)

    def candidates(self) -> list[int]:
        """Return the slots that are still open."""
        return self.open

    def accept(self, scores: list[float]) -> list[int]:
        """Return the best slots; scores are rounded, so that the last bits of a sum decide nothing."""
        rounded = [round(score, 6) for score in scores]
        ranked = sorted(range(len(rounded)), key=lambda i: (-rounded[i], self.open[i]))
        best = ranked[: self._count([rounded[i] for i in ranked])]
        chosen = {self.open[i] for i in best}
        self.open = [slot for slot in self.open if slot not in chosen]
        return sorted(chosen)

    def _count(self, scores: list[float]) -> int:
        """Return how many of the scores, best first, are filled now."""
        if self.pace.threshold:
            return max(1, sum(score >= self.pace.threshold for score in scores))
        if self.pace.entropy_bound:
            return max(1, int((np.cumsum(np.negative(scores)) <= self.pace.entropy_bound).sum()))
        return self.sizes.pop(0)


class MaskPredict(Order):
    """Fill everything, then mask the least likely tokens again, fewer each time (Ghazvininejad et al. 2019).

    Pass t of T (from 0) predicts floor(n (T - t) / T) slots; the others keep the probability recorded for them.
    """

    needs_probabilities = True

    def __init__(self, n: int, pace: Pace):
        self.probabilities = [0.0] * n
        sizes = (n * (pace.passes - t) // pace.passes for t in range(pace.passes))
        self.sizes = [size for size in sizes if size]

    def candidates(self) -> list[int]:
        """Return the slots with the least likely tokens."""
        if not self.sizes:
            return []
        slots = range(len(self.probabilities))
        worst = sorted(slots, key=lambda slot: (round(self.probabilities[slot], 6), slot))
        return sorted(worst[: self.sizes[0]])

    def accept(self, scores: list[float]) -> list[int]:
        """Fill all of them."""
        slots = self.candidates()
        self.sizes.pop(0)
        return slots

    def record(self, slot: int, probability: float) -> None:
        """Remember how likely the token was when it was chosen."""
        self.probabilities[slot] = probability


PLANS: dict[str, Callable[[int, Pace, Rng], Plan]] = {
    "left_to_right": left_to_right,
    "right_to_left": right_to_left,
    "random": shuffled,
    "parallel": parallel,
    "spread": spaced,
    "gibbs": gibbs,
}
SCORES: dict[str, Scoring] = {"confidence": confidence, "margin": margin, "entropy": certainty}


ORDERS = (*PLANS, *SCORES, "mask_predict")


def make_order(name: str, n: int, pace: Pace, rng: Rng) -> Order:
    """Return the order of that name (one of ORDERS) for n slots."""
    if name in PLANS:
        return Planned(PLANS[name](n, pace, rng))
    return Ranked(n, pace, SCORES[name]) if name in SCORES else MaskPredict(n, pace)


def check_order(order: str, pace: Pace, temperature: float) -> None:
    """Raise BlankfillError for an order that this pace or temperature does not fit."""
    if pace.threshold and order != "confidence":
        raise BlankfillError(f"threshold needs order=confidence, not {order}")
    if pace.entropy_bound and order != "entropy":
        raise BlankfillError(f"entropy_bound needs order=entropy, not {order}")
    if order == "mask_predict" and not pace.passes:
        raise BlankfillError("order=mask_predict needs passes: predict the text 1 or more times")
    if order == "mask_predict" and pace.schedule != "equal":
        raise BlankfillError(f"schedule={pace.schedule} is not supported by order mask_predict; use equal")
    if order == "gibbs" and temperature == 0:
        raise BlankfillError("order=gibbs needs temperature > 0, such as 1")
