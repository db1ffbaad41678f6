"""In which order the slots of a document are filled: planned before the first pass, or chosen from what a pass shows.

An order is asked for the slots of the next pass (`look`; they are hidden before it), is told how the model judges
each of them, says which are filled (`keep`), and hears how likely the sub-words written were (`note`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import StudyError

if TYPE_CHECKING:
    import torch

Plan = list[list[int]]


@dataclass(frozen=True)
class Pace:
    """How much is filled in a pass.

    `per_pass` slots (all that are left where fewer are); or, where `passes` is set, equal shares in that many passes.
    Order confidence may fill every slot at or above `threshold`, order entropy as many as keep their summed entropy
    (nats) within `entropy_bound`; both fill at least one. `sweeps` is for gibbs. 0 turns a setting off. `schedule` says
    how `passes` share the slots: `equal`, or `cosine`, which fills few at first and many once much is known.
    """

    per_pass: int = 1
    passes: int = 0
    threshold: float = 0.0
    entropy_bound: float = 0.0
    sweeps: int = 1
    schedule: str = "equal"

    def __post_init__(self):
        for name, lowest in (("per_pass", 1), ("passes", 0), ("entropy_bound", 0), ("sweeps", 1)):
            if not getattr(self, name) >= lowest:
                raise StudyError(f"arm.{name}={getattr(self, name)}: give {lowest} or more")
        if not 0 <= self.threshold <= 1:
            raise StudyError(f"arm.threshold={self.threshold}: give a probability in (0, 1], or 0 for none")
        if (self.passes > 0) + (self.threshold > 0) + (self.entropy_bound > 0) > 1:
            raise StudyError(
                "arm.passes, arm.threshold and arm.entropy_bound: set one of them, the others to 0"
            )

        if self.schedule not in SCHEDULES:
            raise StudyError(f"arm.schedule={self.schedule} is unknown: choose one of {', '.join(SCHEDULES)}")
        if self.schedule != "equal" and not self.passes:
            raise StudyError(
                f"arm.schedule={self.schedule} needs arm.passes, how many passes share the slots"
            )

    def sizes(self, n: int) -> list[int]:
        """Return how many of n slots each pass fills, at least one; the last pass fills the last slot."""
        if not self.passes:
            return [min(self.per_pass, n - start) for start in range(0, n, self.per_pass)]
        return SCHEDULES[self.schedule](n, min(self.passes, n))


def equal_shares(n: int, n_passes: int) -> list[int]:
    """Share n slots out so that passes differ by one at most, larger ones last."""
    return [(n * (i + 1)) // n_passes - (n * i) // n_passes for i in range(n_passes)]


def cosine_shares(n: int, n_passes: int) -> list[int]:
    """Leave n cos(pi t / 2T) slots open after pass t of T, rounded down (Chang et al. 2022); one a pass at least."""
    open_after = [n]
    for t in range(1, n_passes):
        wanted = math.floor(n * math.cos(math.pi * t / (2 * n_passes)))
        open_after.append(max(n_passes - t, min(open_after[-1] - 1, wanted)))
    return (
        [before - after for before, after in zip(open_after, [*open_after[1:], 0], strict=True)] if n else []
    )


SCHEDULES: dict[str, Callable[[int, int], list[int]]] = {"equal": equal_shares, "cosine": cosine_shares}


def left_to_right(n: int, pace: Pace, rng: np.random.Generator) -> Plan:
    """Fill from the first slot to the last."""
    return _cut(range(n), pace)


def right_to_left(n: int, pace: Pace, rng: np.random.Generator) -> Plan:
    """Fill from the last slot to the first."""
    return _cut(range(n)[::-1], pace)


def shuffled(n: int, pace: Pace, rng: np.random.Generator) -> Plan:
    """Fill in an order drawn for the document."""
    return _cut(rng.permutation(n), pace)


def parallel(n: int, pace: Pace, rng: np.random.Generator) -> Plan:
    """Fill everything in one pass."""
    return [list(range(n))] if n else []


def spread(n: int, pace: Pace, rng: np.random.Generator) -> Plan:
    """Fill from left to right with the members of one pass as far apart as they can be; one a pass is plain."""
    n_passes = len(pace.sizes(n))
    return [list(range(first, n, n_passes)) for first in range(n_passes)]


def gibbs(n: int, pace: Pace, rng: np.random.Generator) -> Plan:
    """Fill everything in one pass, then go through it again in `sweeps` drawn orders, hiding what is drawn anew."""
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
    """Return the probability of the likeliest sub-word of each row (n, vocabulary)."""
    return logits.softmax(-1).amax(-1)


def margin(logits: torch.Tensor) -> torch.Tensor:
    """Return by how much the likeliest sub-word of each row leads the second."""
    best = logits.softmax(-1).topk(2, dim=-1).values
    return best[:, 0] - best[:, 1]


def certainty(logits: torch.Tensor) -> torch.Tensor:
    """Return minus the entropy (nats) of each row."""
    import torch

    return -torch.special.entr(logits.softmax(-1)).sum(-1)


class Planned:
    """Every pass is known before the first."""

    judge = None
    needs_chances = False

    def __init__(self, plan: Plan):
        self.plan = plan

    def look(self) -> list[int]:
        """Return the slots of the next pass; none when finished."""
        return self.plan[0] if self.plan else []

    def keep(self, values: list[float]) -> list[int]:
        """Fill all of them."""
        return self.plan.pop(0)

    def passes_left(self) -> int:
        """Return how many passes are still to come."""
        return len(self.plan)


class Ranked:
    """Every open slot is looked at in every pass, and the best by `judge` are filled; ties go to the first slot."""

    needs_chances = False

    def __init__(self, n: int, pace: Pace, judge: Callable[[torch.Tensor], torch.Tensor]):
        self.open, self.pace, self.judge, self.sizes = list(range(n)), pace, judge, pace.sizes(n)

    def look(self) -> list[int]:
        """Return the slots that are still open."""
        return self.open

    def keep(self, values: list[float]) -> list[int]:
        """Return the best slots; values are rounded, so that the last bits of a sum decide nothing."""
        rounded = [round(value, 6) for value in values]
        ranked = sorted(range(len(rounded)), key=lambda i: (-rounded[i], self.open[i]))
        best = ranked[: self._count([rounded[i] for i in ranked])]
        chosen = sorted(self.open[i] for i in best)
        self.open = [slot for slot in self.open if slot not in set(chosen)]
        return chosen

    def passes_left(self) -> int:
        """Return how many passes are still to come, at most."""
        return len(self.open) if self.pace.threshold or self.pace.entropy_bound else len(self.sizes)

    def _count(self, values: list[float]) -> int:
        """Return how many of the values, best first, are filled now."""
        if self.pace.threshold:
            return max(1, sum(value >= self.pace.threshold for value in values))
        if self.pace.entropy_bound:
            return max(1, int((np.cumsum(np.negative(values)) <= self.pace.entropy_bound).sum()))
        return self.sizes.pop(0)


class MaskPredict:
    """Fill everything, then hide the least likely again, fewer each time (Ghazvininejad et al. 2019).

    Pass t of T (from 0) predicts floor(n (T - t) / T) slots; a slot left alone keeps the probability it was given.
    """

    judge = None
    needs_chances = True

    def __init__(self, n: int, pace: Pace):
        self.chances = [0.0] * n
        sizes = (n * (pace.passes - t) // pace.passes for t in range(pace.passes))
        self.sizes = [size for size in sizes if size]

    def look(self) -> list[int]:
        """Return the slots whose sub-words were the least likely."""
        if not self.sizes:
            return []
        worst = sorted(range(len(self.chances)), key=lambda slot: (round(self.chances[slot], 6), slot))
        return sorted(worst[: self.sizes[0]])

    def keep(self, values: list[float]) -> list[int]:
        """Fill all of them."""
        slots = self.look()
        self.sizes.pop(0)
        return slots

    def note(self, slots: list[int], chances: list[float]) -> None:
        """Remember how likely each sub-word was when it was written."""
        for slot, chance in zip(slots, chances, strict=True):
            self.chances[slot] = chance

    def passes_left(self) -> int:
        """Return how many passes are still to come."""
        return len(self.sizes)


Order = Planned | Ranked | MaskPredict

PLANS: dict[str, Callable[[int, Pace, np.random.Generator], Plan]] = {
    "left_to_right": left_to_right,
    "right_to_left": right_to_left,
    "random": shuffled,
    "parallel": parallel,
    "spread": spread,
    "gibbs": gibbs,
}
RANKS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "confidence": confidence,
    "margin": margin,
    "entropy": certainty,
}


def _planned(make: Callable) -> Callable[[int, Pace, np.random.Generator], Order]:
    return lambda n, pace, rng: Planned(make(n, pace, rng))


def _ranked(judge: Callable) -> Callable[[int, Pace, np.random.Generator], Order]:
    return lambda n, pace, rng: Ranked(n, pace, judge)


ORDERS: dict[str, Callable[[int, Pace, np.random.Generator], Order]] = {
    **{name: _planned(make) for name, make in PLANS.items()},
    **{name: _ranked(judge) for name, judge in RANKS.items()},
    "mask_predict": lambda n, pace, rng: MaskPredict(n, pace),
}


def check_order(order: str, pace: Pace, temperature: float) -> None:
    """Raise StudyError for an order that does not exist, or that cannot go at this pace or temperature."""
    if order not in ORDERS:
        raise StudyError(f"arm.order={order} is unknown: choose one of {', '.join(ORDERS)}")
    if pace.threshold and order != "confidence":
        raise StudyError(f"arm.threshold needs arm.order=confidence, not {order}")
    if pace.entropy_bound and order != "entropy":
        raise StudyError(f"arm.entropy_bound needs arm.order=entropy, not {order}")
    if order == "mask_predict" and not pace.passes:
        raise StudyError(
            "arm.order=mask_predict needs arm.passes, how often the text is predicted: give 1 or more"
        )
    if order == "mask_predict" and pace.schedule != "equal":
        raise StudyError(
            f"arm.schedule={pace.schedule} is not supported by order mask_predict: leave it at equal"
        )
    if order == "gibbs" and temperature == 0:
        raise StudyError("arm.order=gibbs draws again and again: give arm.temperature above 0, such as 1")
