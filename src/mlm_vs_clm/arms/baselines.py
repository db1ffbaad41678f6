"""Fills without a network: the floors that an arm must beat, and the upper reference that it cannot."""

from collections.abc import Callable, Iterable
from functools import cached_property, partial

import numpy as np

from blankfill.draws import keyed_rng, keyed_uniform
from blankfill.slots.orders import PLANS, Pace
from blankfill.slots.sampling import Sampling
from blankfill.text import BlankedText, FilledText, assemble_text, leave_unfilled, split_words

EDGE = ""  # the neighbour of a text's first and last word


class WordCounts:
    """How often each word, and each pair of neighbours, occurs in texts; a text's edges count as a word.

    `words` has the V distinct words, sorted, EDGE first; `counts` (V,) how often each occurs.
    """

    def __init__(self, texts: Iterable[str]):
        sequence = [EDGE]
        for text in texts:
            sequence += [*split_words(text), EDGE]
        self.words = sorted({*sequence})
        self.number = {word: number for number, word in enumerate(self.words)}
        self._sequence = np.array([self.number[word] for word in sequence])
        self.counts = np.bincount(self._sequence, minlength=len(self.words))

    @cached_property
    def cumulative(self) -> np.ndarray:
        """Return how often a word up to each (V,) occurs, edges left out."""
        return np.cumsum(self.counts) - self.counts[0]

    @cached_property
    def bigrams(self) -> "Bigrams":
        """Return the probabilities of neighbours."""
        return Bigrams(self._sequence, len(self.words))


class Bigrams:
    """Probabilities of neighbours, from a sequence of word numbers: interpolated absolute discounting.

    P(w | v) = max(c(v w) - D, 0) / c(v) + D n(v) / c(v) P(w), where n(v) is the number of distinct words after v, P(w)
    the relative frequency, and D = n1 / (n1 + 2 n2) of the pairs seen once and twice (Ney, Essen and Kneser 1994).
    """

    def __init__(self, sequence: np.ndarray, n_words: int):
        pairs, counts = np.unique(sequence[:-1] * n_words + sequence[1:], return_counts=True)
        left, right = np.divmod(pairs, n_words)
        once, twice = (counts == 1).sum(), (counts == 2).sum()
        discount = once / max(once + 2 * twice, 1)
        followed = np.maximum(np.bincount(sequence[:-1], minlength=n_words), 1)
        kept = (counts - discount) / followed[left]
        self.frequency = np.bincount(sequence, minlength=n_words) / len(sequence)
        self.backoff = discount * np.bincount(left, minlength=n_words) / followed
        by_right = np.argsort(right, kind="stable")
        self._after = right, kept, np.searchsorted(left, np.arange(n_words + 1))
        self._before = (
            left[by_right],
            kept[by_right],
            np.searchsorted(right[by_right], np.arange(n_words + 1)),
        )

    def after(self, word: int | None) -> np.ndarray:
        """Return P(w | word) of every w (V,); of an unknown word (None), P(w)."""
        if word is None:
            return self.frequency.copy()
        return self._add(self.backoff[word] * self.frequency, self._after, word)

    def before(self, word: int | None) -> np.ndarray:
        """Return P(word | w) given every w (V,); of an unknown word (None), a multiple of it."""
        if word is None:
            return self.backoff
        return self._add(self.backoff * self.frequency[word], self._before, word)

    @staticmethod
    def _add(smooth: np.ndarray, seen: tuple[np.ndarray, np.ndarray, np.ndarray], word: int) -> np.ndarray:
        words, kept, starts = seen
        part = slice(starts[word], starts[word + 1])
        smooth[words[part]] += kept[part]
        return smooth


def unfilled(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Leave the blanks out."""
    return leave_unfilled(text)


def constant(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Fill each blank with the most frequent of the counted words."""
    return assemble_text(text, [counts.words[1 + int(counts.counts[1:].argmax())]] * len(text.blanks))


def bigram(
    text: BlankedText, counts: WordCounts, sampling: Sampling, context: str, per_pass: int = 1
) -> FilledText:
    """Fill with the likeliest word w by P(w | left neighbour), or draw one at a temperature.

    Neighbours are looked up in lower case, and so are the texts that are counted: exact match compares words so. Blanks
    are filled from left to right, so the left neighbour may be a filled one. context `both`: times P(right neighbour | w),
    where that one is kept. `leaky`: the same for `per_pass` words at a time, spread over the text, while the originals
    still to be replaced are read as neighbours, as by the arm `mlm_leaky`. `true_left`: by the left neighbour alone, always
    the original, as by the arm `clm_true_left`.
    """
    bigrams, words = counts.bigrams, [text.text[slice(*span)].lower() for span in text.words]
    is_leaky, n = context == "leaky", len(text.blanks)
    plan = PLANS["spread"](n, Pace(per_pass), keyed_rng()) if is_leaky else [[blank] for blank in range(n)]
    hidden = {*text.blanks} if context in ("left", "both") else set()
    fills: dict[int, str] = {}

    def number(at: int) -> int | None:
        inside = 0 <= at < len(words)
        return None if at in hidden else counts.number.get(words[at] if inside else EDGE)

    for blanks in plan:
        hidden |= {text.blanks[blank] for blank in blanks}
        chosen = {}
        for blank in blanks:
            at = text.blanks[blank]
            weights = bigrams.after(number(at - 1))
            if context in ("both", "leaky") and at + 1 not in hidden:
                weights *= bigrams.before(number(at + 1))
            weights[0] = 0
            chosen[at] = counts.words[_choose(weights, sampling, (text.id, blank))]
        fills |= chosen
        for at in () if context == "true_left" else chosen:
            words[at] = chosen[at]
        hidden -= chosen.keys()
    return assemble_text(text, [fills[at] for at in text.blanks])


def unigram(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Draw each fill by its frequency in the pretrain split."""
    return _draw(text, counts.words, counts.cumulative, sampling.seed, "unigram")


def uniform(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Draw each fill from the distinct words of the pretrain split with equal probability."""
    return _draw(text, counts.words, np.arange(len(counts.words)), sampling.seed, "uniform")


def oracle(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Fill in the originals, as a perfect arm would."""
    return assemble_text(text, text.originals())


# Functions of a text, word counts and sampling; bigram_leaky also of `per_pass`.
BASELINES: dict[str, Callable[..., FilledText]] = {
    "unfilled": unfilled,
    "constant": constant,
    "bigram_left": partial(bigram, context="left"),
    "bigram_true_left": partial(bigram, context="true_left"),
    "bigram_both": partial(bigram, context="both"),
    "bigram_leaky": partial(bigram, context="leaky"),
    "unigram": unigram,
    "uniform": uniform,
    "oracle": oracle,
}
# Those that count the text which the arms were trained on.
COUNTING = ("constant", "bigram_left", "bigram_true_left", "bigram_both", "bigram_leaky")
BOUNDS = ("unfilled", "oracle")  # what a gain is measured against: 0 and 1
# The arms that a greedy arm, and one that draws, must beat, by the context that it sees.
FLOORS = {context: (f"bigram_{context}", "constant") for context in ("left", "true_left", "both", "leaky")}
SAMPLED_FLOORS = {context: (f"{bigram}_sampled", "unigram") for context, (bigram, _) in FLOORS.items()}


def _choose(weights: np.ndarray, sampling: Sampling, key: tuple) -> int:
    """Return the number of the greatest weight (V,), the first of equals; or draw one at the temperature."""
    if not sampling.temperature:
        return int(weights.argmax())
    total = ((weights / weights.max()) ** (1 / sampling.temperature)).cumsum()
    return int(np.searchsorted(total, keyed_uniform(sampling.seed, "bigram", *key) * total[-1], side="right"))


def _draw(text: BlankedText, words: list[str], cumulative: np.ndarray, seed: int, name: str) -> FilledText:
    draws = [keyed_uniform(seed, name, text.id, blank) * cumulative[-1] for blank in range(len(text.blanks))]
    return assemble_text(text, [words[i] for i in np.searchsorted(cumulative, draws, side="right")])
