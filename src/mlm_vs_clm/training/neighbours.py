"""Which token follows which in the training text: what stands in for a model's own errors in its input."""

from collections.abc import Sequence

import numpy as np


class Neighbours:
    """The tokens of texts by their left neighbour; those that begin a word and those that go on with one are kept apart.

    A text is its token ids and the word that each belongs to (-1: none). A token without a word follows nothing.
    """

    def __init__(self, texts: Sequence[tuple[np.ndarray, np.ndarray]]):
        before = np.concatenate([ids[:-1] for ids, _ in texts])
        after = np.concatenate([ids[1:] for ids, _ in texts])
        goes_on = np.concatenate([go_on(word_of)[1:] for _, word_of in texts])
        is_word = np.concatenate([word_of[1:] >= 0 for _, word_of in texts])
        keys = (2 * before + goes_on)[is_word]
        order = np.argsort(keys, kind="stable")
        self.after, self.starts = (
            after[is_word][order],
            np.searchsorted(keys[order], np.arange(keys.max() + 2)),
        )
        self.all = [after[is_word & (goes_on == kind)] for kind in (False, True)]

    def draw(self, before: int, goes_on: bool, rng: np.random.Generator) -> int:
        """Draw a token by how often it follows `before`; by how often it occurs where none of its kind follows."""
        key = 2 * before + goes_on
        start, end = self.starts[key : key + 2] if key + 1 < len(self.starts) else (0, 0)
        followers = self.after[start:end] if end > start else self.all[int(goes_on)]
        followers = followers if len(followers) else self.after
        return int(followers[rng.integers(len(followers))])


def go_on(word_of: np.ndarray) -> np.ndarray:
    """Return whether each token goes on with the word of the token before it."""
    return (word_of >= 0) & (word_of == np.concatenate([[-1], word_of[:-1]]))
