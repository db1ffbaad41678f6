"""Word vectors from unlabelled text: neighbours counted, weighted by mutual information, reduced by an SVD.

The background is the same for every arm, so the vectors favour none of them.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from blankfill.text import LETTERS

from ..errors import StudyError

REACH, N_CONTEXTS, N_DIMENSIONS, MIN_COUNT = 8, 4000, 100, 3


@dataclass(frozen=True)
class WordVectors:
    """Vectors (n words, n dimensions) weighted by inverse document frequency, and the mean text to subtract."""

    places: dict[str, int]
    vectors: np.ndarray
    mean: np.ndarray

    def embed(self, texts: list[str]) -> np.ndarray:
        """Return one vector per text, shape (n texts, n dimensions), of length 1; zeros where no word is known."""
        sums = np.zeros((len(texts), self.vectors.shape[1]))
        for row, text in enumerate(texts):
            sums[row] = self.vectors[place_words(text, self.places)].sum(axis=0)
        has_words = sums.any(axis=1, keepdims=True)
        return normalize((normalize(sums) - self.mean) * has_words)


@lru_cache(maxsize=2)
def learn_word_vectors(texts: tuple[str, ...]) -> WordVectors:
    """Return word vectors learned from texts; the last two calls are cached."""
    counts = Counter(word for text in texts for word in split_letters(text))
    words = sorted((word for word in counts if counts[word] >= MIN_COUNT), key=lambda w: (-counts[w], w))
    if len(words) < 2:
        raise StudyError("task genres: no background text to learn words from; give the pretrain split")
    places = {word: place for place, word in enumerate(words)}
    placed = [place_words(text, places) for text in texts]
    if max(map(len, placed)) < 2:
        raise StudyError("task genres: background texts have only one word each; give longer ones")
    vectors = shorten(weigh(count_neighbours(placed, len(words), REACH, N_CONTEXTS)))
    n_texts_with = np.bincount(np.concatenate([np.unique(row) for row in placed]), minlength=len(words))
    weighted = vectors * np.log((1 + len(texts)) / (1 + n_texts_with))[:, None]
    unshifted = WordVectors(places, weighted, np.zeros(vectors.shape[1]))
    return WordVectors(places, weighted, unshifted.embed(list(texts)).mean(axis=0))


def split_letters(text: str) -> list[str]:
    """Return the words of two letters or more, and the characters that are words, in lower case."""
    return LETTERS.findall(text.lower())


def place_words(text: str, places: dict[str, int]) -> np.ndarray:
    """Return the numbers of the known words of a text, in order."""
    return np.array([places[word] for word in split_letters(text) if word in places], dtype=int)


def count_neighbours(
    placed: list[np.ndarray], n_words: int, reach: int, most: int, by_side: bool = False
) -> sparse.coo_matrix:
    """Return how often each word occurs within `reach` of each of the `most` frequent ones (n words, n contexts).

    placed: the numbers of the words of each text. by_side: each distance and side has n contexts of its own.
    """
    n_contexts = min(n_words, most)
    rows: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    for step in range(1, reach + 1):
        pairs = [(row[:-step], row[step:]) for row in placed if len(row) > step]
        if not pairs:
            break
        left, right = (np.concatenate(side) for side in zip(*pairs, strict=True))
        for side, (words, contexts) in enumerate(((left, right), (right, left))):
            frequent = contexts < n_contexts
            rows.append(words[frequent])
            columns.append(contexts[frequent] + by_side * (2 * step - 2 + side) * n_contexts)
    places = np.concatenate(rows), np.concatenate(columns)
    shape = (n_words, (2 * reach if by_side else 1) * n_contexts)
    return sparse.csr_matrix((np.ones(len(places[0])), places), shape=shape).tocoo()


def weigh(counts: sparse.coo_matrix) -> sparse.csr_matrix:
    """Return positive pointwise mutual information, contexts smoothed by the power 0.75 (Levy et al. 2015)."""
    word_sums = np.bincount(counts.row, counts.data, counts.shape[0])
    context_sums = np.bincount(counts.col, counts.data, counts.shape[1]) ** 0.75
    expected = word_sums[counts.row] * context_sums[counts.col] / context_sums.sum()
    information = np.maximum(np.log(counts.data / expected), 0)
    return sparse.csr_matrix((information, (counts.row, counts.col)), shape=counts.shape)


def shorten(matrix: sparse.csr_matrix) -> np.ndarray:
    """Return the rows in their first singular directions, scaled by the square roots of the singular values."""
    n_dimensions = min(N_DIMENSIONS, min(matrix.shape) - 1)
    left, strengths, _ = randomized_svd(matrix, n_dimensions, random_state=0)
    return left * np.sqrt(strengths)
