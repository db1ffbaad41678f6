"""Tables of words in a row: how often each follows the words before it, smoothed by those of fewer words."""

from collections.abc import Sequence

import numpy as np

ORDERS = (1, 2, 3, 4)  # words in a row, the word that is predicted among them
SHORTLIST = 50  # words whose right-hand context is looked up in tables of more than two words


class Level:
    """The distinct rows of `order` words in a text, and what is left of each count after discounting.

    A row is numbered, and named by the number of its first words (`before`) and its last word (`last`). `discount` is
    n1 / (n1 + 2 n2) of the rows seen once and twice (Ney, Essen and Kneser 1994). `kept` (rows,) is (count - discount) /
    count of what stands before, `backoff` (rows before,) the probability that is given to tables of fewer words.
    """

    def __init__(self, before: np.ndarray, last: np.ndarray, n_before: int, n_words: int):
        keys, self.number, counts = np.unique(
            before * n_words + last, return_inverse=True, return_counts=True
        )
        self.keys, self.n_words = keys, n_words
        self.before, self.last = np.divmod(keys, n_words)
        once, twice = (counts == 1).sum(), (counts == 2).sum()
        discount = once / max(once + 2 * twice, 1)
        seen = np.maximum(np.bincount(before, minlength=n_before), 1)
        self.kept = (counts - discount) / seen[self.before]
        self.backoff = discount * np.bincount(self.before, minlength=n_before) / seen
        self.starts = np.searchsorted(self.before, np.arange(n_before + 1))

    def find(self, before: int, last: int) -> int | None:
        """Return the number of a row; None for one that was not seen."""
        key = before * self.n_words + last
        place = int(np.searchsorted(self.keys, key))
        return place if place < len(self.keys) and self.keys[place] == key else None

    def rows_after(self, before: int) -> slice:
        """Return the rows that begin with the row of this number."""
        return slice(self.starts[before], self.starts[before + 1])


class NGrams:
    """Probabilities of words given those before them, by interpolated absolute discounting, from word numbers in sequence.

    P(w | h) = max(c(h w) - D, 0) / c(h) + D n(h) / c(h) P(w | h'), where n(h) is the number of distinct words after h, h'
    is h without its first word, and P(w) the relative frequency.
    """

    def __init__(self, sequence: np.ndarray, n_words: int):
        self.frequency = np.bincount(sequence, minlength=n_words) / len(sequence)
        self._sequence, self._levels = sequence, [Level(sequence[:-1], sequence[1:], n_words, n_words)]
        pairs = self._levels[0]
        by_right = np.argsort(pairs.last, kind="stable")
        self._by_right = by_right, np.searchsorted(pairs.last[by_right], np.arange(n_words + 1))

    def level(self, order: int) -> Level:
        """Return the rows of `order` words (two or more); they are counted when they are first asked for."""
        while len(self._levels) < order - 1:
            shorter, n = self._levels[-1], len(self._levels) + 2
            self._levels.append(
                Level(shorter.number[:-1], self._sequence[n - 1 :], len(shorter.keys), shorter.n_words)
            )
        return self._levels[order - 2]

    def after(self, history: Sequence[int | None], order: int = 2) -> np.ndarray:
        """Return P(w | history) of every w (V,), by tables of at most `order` words; an unknown word (None) ends a history."""
        probabilities = self.frequency.copy()
        for level, before in self._list_histories(history, order):
            probabilities *= level.backoff[before]
            rows = level.rows_after(before)
            probabilities[level.last[rows]] += level.kept[rows]
        return probabilities

    def probability(self, history: Sequence[int | None], word: int, order: int) -> float:
        """Return P(word | history), as `after` does of every word."""
        value = float(self.frequency[word])
        for level, before in self._list_histories(history, order):
            row = level.find(before, word)
            value = value * level.backoff[before] + (0.0 if row is None else level.kept[row])
        return value

    def before(self, word: int | None) -> np.ndarray:
        """Return P(word | w) given every w (V,); of an unknown word (None), a multiple of it."""
        pairs = self._levels[0]
        if word is None:
            return pairs.backoff
        smooth = pairs.backoff * self.frequency[word]
        by_right, starts = self._by_right
        rows = by_right[starts[word] : starts[word + 1]]
        smooth[pairs.before[rows]] += pairs.kept[rows]
        return smooth

    def _list_histories(self, history: Sequence[int | None], order: int) -> list[tuple[Level, int]]:
        """Return the last words of a history as numbered rows, the shortest first, up to one that was not seen."""
        histories: list[tuple[Level, int]] = []
        for n_words in range(1, order):
            row = self._number(history[-n_words:]) if len(history) >= n_words else None
            if row is None:
                break
            histories.append((self.level(n_words + 1), row))
        return histories

    def _number(self, words: Sequence[int | None]) -> int | None:
        row = words[0]
        for order, word in enumerate(words[1:], 2):
            if row is None or word is None:
                return None
            row = self.level(order).find(row, word)
        return row
