"""Exact match: the share of blanks filled with the very word that was masked."""

import numpy as np

from ..stats import ratio_of_sums
from .metric import Metric, normalise


def count_matches(fills: list[list[str]], originals: list[list[str]]) -> np.ndarray:
    """Return (n documents, 2): blanks filled with the original word, case aside, and blanks in all.

    A document without blanks is a NaN row; an empty fill is a miss.
    """
    rows = [_count_document(*pair) for pair in zip(fills, originals, strict=True)]
    return np.array(rows, dtype=float).reshape(-1, 2)


def _count_document(fills: list[str], originals: list[str]) -> tuple[float, float]:
    pairs = list(zip(fills, originals, strict=True))
    if not pairs:
        return np.nan, np.nan
    return sum(normalise(fill) == normalise(original) for fill, original in pairs), len(pairs)


EXACT_MATCH = Metric(count_matches, ratio_of_sums, lambda: "exact match|blanks pooled|case:lc|scale:0-1")
