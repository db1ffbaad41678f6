"""Runs of words that two sets of texts share, by a suffix array over all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..text import SPELT, fold_case, split_words

Words = tuple[str, ...]


def words_of(text: str) -> Words:
    """Return the words of a text in small letters, without punctuation."""
    return tuple(word for word in split_words(fold_case(text)) if SPELT.match(word))


@dataclass(frozen=True)
class Matches:
    """For each word of a text: how many words from there on stand in the same order in one of the other texts.

    `lengths` has these numbers, `texts` the number of the other text, or -1 where the length is 0.
    """

    lengths: np.ndarray
    texts: np.ndarray

    def share(self, n: int) -> float:
        """Return the share of the runs of n words that stand in the other texts; NaN for a text of fewer words."""
        n_runs = len(self.lengths) - n + 1
        return float((self.lengths[:n_runs] >= n).mean()) if n_runs > 0 else float("nan")

    @property
    def longest(self) -> int:
        """Return the length of the longest run, 0 for none."""
        return int(self.lengths.max(initial=0))


def match(texts: Sequence[Words], references: Sequence[Words]) -> list[Matches]:
    """Return for each text what of it stands in the references; time and memory grow with the words of all."""
    sequence, owners, starts = _join(texts, references)
    order, shared = _sort_suffixes(sequence)
    lengths, places = _nearest(order, shared, owners >= len(texts))
    stretches = [slice(start, start + len(words)) for start, words in zip(starts, texts, strict=False)]
    sources = np.where(lengths > 0, owners[places] - len(texts), -1)
    return [Matches(lengths[place], sources[place]) for place in stretches]


def _join(texts: Sequence[Words], references: Sequence[Words]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return all words as numbers with an own number after each text, the text of each place, and where texts start."""
    everything = [*texts, *references]
    number_of: dict[str, int] = {}
    numbers: list[int] = []
    owners: list[int] = []
    starts = []
    for owner, words in enumerate(everything):
        starts.append(len(numbers))
        numbers += [number_of.setdefault(word, len(number_of)) for word in words] + [-owner - 1]
        owners += [owner] * (len(words) + 1)
    sequence = np.array(numbers, dtype=np.int64) + len(everything)
    return sequence, np.array(owners), starts


def _sort_suffixes(sequence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of a sequence ordered by what follows, and how many numbers each shares with the one before it."""
    n, step = len(sequence), 1
    ranks = np.unique(sequence, return_inverse=True)[1].astype(np.int64)
    while ranks.max(initial=0) + 1 < n:
        follows = np.zeros(n, dtype=np.int64)
        follows[: n - step] = ranks[step:] + 1
        ranks = np.unique(ranks * (n + 1) + follows, return_inverse=True)[1].astype(np.int64)
        step *= 2
    order = np.argsort(ranks)
    return order, np.array(_shared_with_previous(sequence.tolist(), order.tolist(), ranks.tolist()))


def _shared_with_previous(sequence: list[int], order: list[int], ranks: list[int]) -> list[int]:
    """Return the lengths of the longest common prefixes (the algorithm of Kasai et al., 2001)."""
    shared, height = [0] * len(sequence), 0
    for place, rank in enumerate(ranks):
        if not rank:
            height = 0
            continue
        before = order[rank - 1]
        # The number after each text is in it once, so no comparison runs past the end.
        while sequence[place + height] == sequence[before + height]:
            height += 1
        shared[rank] = height
        height = max(height - 1, 0)
    return shared


def _nearest(order: np.ndarray, shared: np.ndarray, is_other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each place the longest run that it shares with a place of the others, and that place."""
    n = len(order)
    lengths, places = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    suffixes, flags, heights = order.tolist(), is_other[order].tolist(), shared.tolist()
    for ranks, offset in ((range(n), 0), (range(n - 1, -1, -1), 1)):
        run, source = 0, 0
        for rank in ranks:
            height = heights[rank + offset] if rank + offset < n else 0
            run = min(run, height)
            place = suffixes[rank]
            if flags[rank]:
                run, source = n, place
            elif run > lengths[place]:
                lengths[place], places[place] = run, source
    return lengths, places
