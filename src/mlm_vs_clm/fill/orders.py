"""In which order the slots of a document are filled, planned before the first pass."""

from collections.abc import Callable

import numpy as np

Plan = list[list[int]]


def left_to_right(n: int, per_pass: int, rng: np.random.Generator) -> Plan:
    """Fill from the first slot to the last."""
    return _chunks(list(range(n)), per_pass)


def right_to_left(n: int, per_pass: int, rng: np.random.Generator) -> Plan:
    """Fill from the last slot to the first."""
    return _chunks(list(range(n))[::-1], per_pass)


def shuffled(n: int, per_pass: int, rng: np.random.Generator) -> Plan:
    """Fill in an order drawn for the document."""
    return _chunks([int(i) for i in rng.permutation(n)], per_pass)


def parallel(n: int, per_pass: int, rng: np.random.Generator) -> Plan:
    """Fill everything in one pass."""
    return _chunks(list(range(n)), max(n, 1))


def spread(n: int, per_pass: int, rng: np.random.Generator) -> Plan:
    """Fill from left to right with the members of one pass as far apart as they can be; one a pass is plain."""
    n_passes = -(-n // per_pass)
    return [list(range(first, n, n_passes)) for first in range(n_passes)]


ORDERS: dict[str, Callable[[int, int, np.random.Generator], Plan]] = {
    "left_to_right": left_to_right,
    "right_to_left": right_to_left,
    "random": shuffled,
    "parallel": parallel,
    "spread": spread,
}


def _chunks(order: list[int], size: int) -> Plan:
    return [order[start : start + size] for start in range(0, len(order), size)]
