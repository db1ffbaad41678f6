"""The lines of the benchmark: how long a call takes, and the medians of ratios and shares over rounds."""

import statistics
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def timed(run: Callable[..., T], *arguments, **settings) -> tuple[float, T]:
    """Return the seconds that a call took, and what it returned."""
    started = time.perf_counter()
    result = run(*arguments, **settings)
    return time.perf_counter() - started, result


def result(name: str, ours, theirs, unit: str, n: int) -> dict:
    """Return one line of the benchmark: the median of the ratios round by round."""
    ratio = round(statistics.median(np.divide(ours, theirs)), 2)
    medians = {"ours": round(statistics.median(ours), 2), "theirs": round(statistics.median(theirs), 2)}
    return {"name": name, "ratio": ratio} | medians | {"unit": unit, "n": n}


def share(name: str, shares, unit: str, n: int) -> dict:
    """Return one line of the benchmark without a comparison: the median of the shares."""
    ratio = round(statistics.median(shares), 3)
    return {"name": name, "ratio": ratio, "ours": None, "theirs": None, "unit": unit, "n": n}
