"""Fills without a model: the lower references that an arm must beat, and the upper one it cannot."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..blanks import BlankedText, FilledText, assemble_text, leave_unfilled
from ..draws import keyed_uniform


@dataclass(frozen=True)
class WordCounts:
    """The distinct words of the pretrain split, sorted, and how often each occurs."""

    words: list[str]
    counts: np.ndarray


def unfilled(text: BlankedText, counts: WordCounts, seed: int) -> FilledText:
    """Leave the blanks out."""
    return leave_unfilled(text)


def unigram(text: BlankedText, counts: WordCounts, seed: int) -> FilledText:
    """Draw each fill by its frequency in the pretrain split."""
    cumulative = np.cumsum(counts.counts)
    return _draw(text, counts.words, cumulative, seed, "unigram")


def uniform(text: BlankedText, counts: WordCounts, seed: int) -> FilledText:
    """Draw each fill from the distinct words of the pretrain split with equal probability."""
    return _draw(text, counts.words, np.arange(1, len(counts.words) + 1), seed, "uniform")


def oracle(text: BlankedText, counts: WordCounts, seed: int) -> FilledText:
    """Fill in the originals, as a perfect arm would."""
    return assemble_text(text, text.originals())


BASELINES: dict[str, Callable[[BlankedText, WordCounts, int], FilledText]] = {
    "unfilled": unfilled,
    "unigram": unigram,
    "uniform": uniform,
    "oracle": oracle,
}
BOUNDS = ("unfilled", "oracle")  # what a gain is measured against: 0 and 1


def _draw(text: BlankedText, words: list[str], cumulative: np.ndarray, seed: int, name: str) -> FilledText:
    draws = [keyed_uniform(seed, name, text.id, blank) * cumulative[-1] for blank in range(len(text.blanks))]
    return assemble_text(text, [words[i] for i in np.searchsorted(cumulative, draws, side="right")])
