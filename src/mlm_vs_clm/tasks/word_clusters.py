"""Clusters of words with similar contexts in unlabelled text, so that a tagger knows words it was not trained on.

The background is the same for every arm, so the clusters favour none of them.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from blankfill.text import split_words

REACH, N_CONTEXTS = 2, 2000
SIZES = (50, 200)
MIN_WORDS = 2 * max(SIZES)
DECIMALS = 4  # of vectors of length 1
DIGITS = str.maketrans("123456789", "000000000")


@dataclass(frozen=True, eq=False)
class WordClusters:
    """The names of each word's clusters, a coarse and a fine one; an unknown word has none."""

    names: dict[str, tuple[str, ...]]

    def of(self, word: str) -> tuple[str, ...]:
        """Return the names of the clusters of a word; case and digits are ignored."""
        return self.names.get(fold_word(word), ())


@lru_cache(maxsize=2)
def learn_word_clusters(texts: tuple[str, ...]) -> WordClusters:
    """Return clusters learned from texts, none where these have fewer than 400 words or no neighbours; the last two
    calls are cached.

    One thread computes them and vectors are rounded: words with equal contexts differ in the last bits, which depend
    on summation order and so on the processor, and one word in another cluster moves others.
    """
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize
    from threadpoolctl import threadpool_limits

    from .word_vectors import count_neighbours, shorten, weigh

    placed, words = number_words(texts)
    if len(words) < MIN_WORDS or max(map(len, placed)) <= REACH:
        return WordClusters({})
    with threadpool_limits(1):
        counts = count_neighbours(placed, len(words), REACH, N_CONTEXTS, by_side=True)
        vectors = normalize(shorten(weigh(counts))).round(DECIMALS) + 0.0
        numbers = [KMeans(k, n_init=1, max_iter=20, random_state=0).fit_predict(vectors) for k in SIZES]
    pairs = zip(*(row.tolist() for row in numbers), strict=True)
    names = (tuple(f"{k}.{n}" for k, n in zip(SIZES, pair, strict=True)) for pair in pairs)
    return WordClusters(dict(zip(words, names, strict=True)))


def fold_word(word: str) -> str:
    """Return the word in lower case with all digits 0."""
    return word.lower().translate(DIGITS)


def number_words(texts: tuple[str, ...]) -> tuple[list[np.ndarray], list[str]]:
    """Return each text as word numbers, and the words by decreasing frequency."""
    split = [[fold_word(word) for word in split_words(text)] for text in texts]
    counts = Counter(word for words in split for word in words)
    words = sorted(counts, key=lambda word: (-counts[word], word))
    places = {word: place for place, word in enumerate(words)}
    return [np.array([places[word] for word in words], dtype=int) for words in split], words
