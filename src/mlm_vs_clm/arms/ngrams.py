"""Tables of words in a row: how often each follows the words before it, smoothed by those of fewer words."""

from collections.abc import Iterator, Sequence

import numpy as np

ORDERS = (1, 2, 3, 4)  # words in a row, the word that is predicted among them
SHORTLIST = 50  # words whose right-hand context is looked up in tables of more than two words
UNSEEN = -1  # the number of a word or row that the tables do not have


class Level:
    """The distinct rows of `order` words in a text, and what is left of each count after discounting.

    A row is numbered, and named by the number of its first words (`before`) and its last word (`last`). `discount` is
    n1 / (n1 + 2 n2) of the rows seen once and twice (Ney, Essen and Kneser 1994). `kept` (rows + 1,) is (count - discount) /
    count of what stands before, `backoff` (rows before,) the probability that is given to tables of fewer words.
    """

    def __init__(self, before: np.ndarray, last: np.ndarray, n_before: int, n_words: int):
        keys, self.number, counts = np.unique(
            before * n_words + last, return_inverse=True, return_counts=True
        )
        self.keys, self.n_words = np.append(keys, np.iinfo(keys.dtype).max), n_words
        self.before, self.last = np.divmod(keys, n_words)
        once, twice = (counts == 1).sum(), (counts == 2).sum()
        discount = once / max(once + 2 * twice, 1)
        seen = np.maximum(np.bincount(before, minlength=n_before), 1)
        self.kept = np.append((counts - discount) / seen[self.before], 0.0)  # UNSEEN is the last
        self.backoff = discount * np.bincount(self.before, minlength=n_before) / seen
        self.starts = np.searchsorted(self.before, np.arange(n_before + 1))

    def find(self, before: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Return the numbers of rows (k,), UNSEEN for those that are not in the text."""
        keys = before * self.n_words + last
        places = np.searchsorted(self.keys, keys)
        return np.where((before >= 0) & (last >= 0) & (self.keys[places] == keys), places, UNSEEN)

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
                Level(shorter.number[:-1], self._sequence[n - 1 :], len(shorter.last), shorter.n_words)
            )
        return self._levels[order - 2]

    def after(self, history: Sequence[int], order: int = 2) -> np.ndarray:
        """Return P(w | history) of every w (V,), by tables of at most `order` words; an UNSEEN word ends a history."""
        probabilities = self.frequency.copy()
        for level, (before,) in self._list_histories(np.array([history], dtype=int), order):
            probabilities *= level.backoff[before]
            rows = level.rows_after(before)
            probabilities[level.last[rows]] += level.kept[rows]
        return probabilities

    def probability(self, histories: np.ndarray, word: int, order: int) -> np.ndarray:
        """Return P(word | history) of histories (k, n) as (k,), as `after` does of every word."""
        values = np.full(len(histories), self.frequency[word])
        for level, before in self._list_histories(histories, order):
            smoothed = values * level.backoff[before] + level.kept[level.find(before, np.array(word))]
            values = np.where(before == UNSEEN, values, smoothed)
        return values

    def before(self, word: int) -> np.ndarray:
        """Return P(word | w) given every w (V,); of an UNSEEN word, a multiple of it."""
        pairs = self._levels[0]
        if word == UNSEEN:
            return pairs.backoff
        smooth = pairs.backoff * self.frequency[word]
        by_right, starts = self._by_right
        rows = by_right[starts[word] : starts[word + 1]]
        smooth[pairs.before[rows]] += pairs.kept[rows]
        return smooth

    def _list_histories(self, histories: np.ndarray, order: int) -> Iterator[tuple[Level, np.ndarray]]:
        """Yield the last words of each history as numbered rows (k,), the shortest first, while one of them was seen."""
        for n_words in range(1, min(order, histories.shape[1] + 1)):
            rows = histories[:, -n_words]
            for place in range(n_words - 1, 0, -1):
                rows = self.level(n_words - place + 1).find(rows, histories[:, -place])
            if (rows == UNSEEN).all():
                break
            yield self.level(n_words + 1), rows
