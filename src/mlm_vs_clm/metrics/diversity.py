"""How varied and how repetitive a text is, since repetitive text can score well on overlap; needs no reference."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from .metric import PRE_SPLIT, Metric, mean_statistics, share_statistics


def list_ngrams(text: str, n: int) -> list[tuple[str, ...]]:
    """Return the n-grams of a normalised text, in order."""
    words = text.split()
    return list(zip(*(words[start:] for start in range(n)), strict=False))


def measure_distinct(texts: Sequence[str], n: int) -> float:
    """Return distinct over all n-grams (0-1) of a set of texts; NaN if it has none.

    It falls with the number of words, and a bootstrap repeats texts: compare sets of one size, without interval.
    """
    ngrams = [ngram for text in texts for ngram in list_ngrams(text, n)]
    return len(set(ngrams)) / len(ngrams) if ngrams else float("nan")


def measure_distinct_documents(n: int, texts: Sequence[str]) -> np.ndarray:
    """Return rows (distinct-n of the document, 1); NaN for a text shorter than n words."""
    return mean_statistics(measure_distinct([text], n) for text in texts)


def count_repeats(texts: Sequence[str]) -> np.ndarray:
    """Return (n, 2): 4-grams that occur earlier in the same document, and 4-grams; NaN if there is none."""
    fourgrams = (list_ngrams(text, 4) for text in texts)
    return share_statistics((len(ngrams) - len(set(ngrams)), len(ngrams)) for ngrams in fourgrams)


def measure_longest_repeats(texts: Sequence[str]) -> np.ndarray:
    """Return rows (words in the longest run that occurs twice in the document, 1); NaN for an empty text."""
    return mean_statistics(measure_longest_repeat(text) if text else np.nan for text in texts)


def measure_longest_repeat(text: str) -> int:
    """Return the words in the longest run that starts at two places; the two may overlap (`a a a`: 2).

    Runs of 1, 2, 4, ... words are numbered, equal ones alike, up to a length at which none is repeated; the longest is then put
    together of them. The work grows with n log n, however much a text repeats.
    """
    numbers: dict[str, int] = {}
    runs = np.array([numbers.setdefault(word, len(numbers)) for word in text.split()], dtype=np.int64)
    length, longest = 0, np.zeros_like(runs)
    doubled = [runs]
    while _has_repeat(doubled[-1]):
        doubled.append(_join(doubled[-1], doubled[-1], 2 ** (len(doubled) - 1)))
    for power in reversed(range(len(doubled))):
        longer = _join(longest, doubled[power], length)
        if _has_repeat(longer):
            length, longest = length + 2**power, longer
    return length


def _join(first: np.ndarray, second: np.ndarray, length: int) -> np.ndarray:
    """Return the numbers of the runs that are one of `first`, of this length, and the one of `second` that follows it."""
    behind = second[length:]
    pairs = first[: len(behind)] * (second.max(initial=0) + 1) + behind
    return np.unique(pairs, return_inverse=True)[1]


def _has_repeat(runs: np.ndarray) -> bool:
    return len(np.unique(runs)) < len(runs)


def make_distinct(n: int) -> Metric:
    """Return distinct-n of a document, 0-1."""
    return _of_texts(partial(measure_distinct_documents, n), f"distinct-{n}|mean|scale:0-1")


def make_repetition() -> Metric:
    """Return the share (0-1) of 4-grams that occur earlier in the same document."""
    return _of_texts(count_repeats, "repeated 4-grams|pooled|scale:0-1")


def make_longest_repeat() -> Metric:
    """Return the words in the longest run that occurs twice in the document."""
    return _of_texts(measure_longest_repeats, "longest repeated run|mean|words")


def _of_texts(statistics: Callable[[Sequence[str]], np.ndarray], signature: str) -> Metric:
    return Metric(lambda texts, references=(): statistics(texts), lambda: f"{signature}|{PRE_SPLIT}")
