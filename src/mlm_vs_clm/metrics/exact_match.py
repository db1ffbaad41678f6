"""What is measured of the fills alone: how many are the very word that was masked, their lengths, and their likelihood.

Exact match is of all blanks and by class of word. Likelihood is that of the originals under the arm itself, measured
while it fills; lower is better.
"""

from functools import partial

import numpy as np

from blankfill.text import WORDS, compose

from ..documents import WORD_CLASSES, classify_word
from .metric import PRE_SPLIT, Metric, normalise, share_statistics

NATS = "nats_per_character"


def count_matches(
    fills: list[list[str]], originals: list[list[str]], word_class: str | None = None
) -> np.ndarray:
    """Return (n documents, 2): blanks filled with the original word, case aside, and blanks in all.

    With `word_class`, of the blanks whose original is of that class alone. A document without such blanks is a NaN
    row; an empty fill is a miss.
    """
    return share_statistics(_count_document(*pair, word_class) for pair in zip(fills, originals, strict=True))


def _count_document(fills: list[str], originals: list[str], word_class: str | None) -> tuple[int, int]:
    pairs = list(zip(fills, originals, strict=True))
    if word_class:
        pairs = [(fill, original) for fill, original in pairs if classify_word(original) == word_class]
    return sum(normalise(fill) == normalise(original) for fill, original in pairs), len(pairs)


def count_class(word_class: str, fills: list[list[str]], originals: list[list[str]]) -> np.ndarray:
    """Return (n documents, 2): blanks whose original is of a class, and blanks in all; NaN without blanks."""
    return share_statistics(
        (sum(classify_word(word) == word_class for word in words), len(words)) for words in originals
    )


def measure_length_errors(fills: list[list[str]], originals: list[list[str]]) -> np.ndarray:
    """Return (n documents, 2): characters by which fills are longer or shorter than the words, and blanks; NaN without blanks."""
    return share_statistics(
        (sum(abs(len(compose(a)) - len(compose(b))) for a, b in zip(*pair, strict=True)), len(pair[0]))
        for pair in zip(fills, originals, strict=True)
    )


def stack_likelihoods(nats: list[float], characters: list[int]) -> np.ndarray:
    """Return (n documents, 2): minus the log-likelihood (nats) of the original fills, and their characters."""
    return np.array([nats, characters], dtype=float).T.reshape(-1, 2)


def _make_class_metric(word_class: str) -> Metric:
    signature = f"exact match|{word_class} blanks pooled|case:lc|{PRE_SPLIT}|scale:0-1"
    return Metric(partial(count_matches, word_class=word_class), lambda: signature)


def _make_share_metric(word_class: str) -> Metric:
    signature = f"{word_class} blanks of all|pooled|{WORDS}|scale:0-1"
    return Metric(partial(count_class, word_class), lambda: signature)


EXACT_MATCH = Metric(count_matches, lambda: f"exact match|blanks pooled|case:lc|{PRE_SPLIT}|scale:0-1")
LENGTH_ERROR = Metric(measure_length_errors, lambda: f"length error|NFC characters per blank|pooled|{WORDS}")
LIKELIHOOD = Metric(
    stack_likelihoods,
    lambda: f"nats of the originals by their characters|softmax over all tokens|{WORDS}",
)
# What is measured of lists of fills and of original words: exact match, and which share of the blanks each class has.
FILL_METRICS: dict[str, Metric] = (
    {"exact_match": EXACT_MATCH}
    | {f"exact_match_{name}": _make_class_metric(name) for name in WORD_CLASSES}
    | {f"share_{name}": _make_share_metric(name) for name in WORD_CLASSES}
)
