"""Stylistic similarity of two texts, in several views and relative to that of impostors.

Frequencies and impostors come from the background, which is the same for every arm. A similarity of 0.3 means little
without that of other authors' texts; so each one is also given in standard deviations above the similarity of
impostors, once to the unknown text and once to the known ones.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import sparse
from scipy.sparse import linalg
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from blankfill.text import split_words

from ..errors import StudyError
from .problems import N_KNOWN, Problem

MIN_BACKGROUND = 2 * N_KNOWN
MAX_BACKGROUND = 800
N_FREQUENT = 200
MAX_DEVIATIONS = 10.0


def list_views(texts: tuple[str, ...]) -> list[dict]:
    """Return the vectorizer settings of each view: n-grams of characters and of words, and frequent words.

    Character n-grams include case and punctuation. The most frequent words and punctuation depend little on topic.
    """
    counts = Counter(word for text in texts for word in split_words(text.lower()))
    frequent = sorted(counts, key=lambda word: (-counts[word], word))[:N_FREQUENT]
    characters = {"analyzer": "char", "lowercase": False, "min_df": 2}
    by_word = {"tokenizer": split_words, "token_pattern": None}
    words = by_word | {"min_df": 2}
    return [
        *(characters | {"ngram_range": (n, n)} for n in (3, 4)),
        *(words | {"ngram_range": (n, n)} for n in (1, 2)),
        by_word | {"vocabulary": frequent},
    ]


@dataclass(frozen=True, eq=False)
class Space:
    """One view: its vectorizer, and impostors singly and in groups as large as the known documents."""

    vectorizer: TfidfVectorizer
    impostors: sparse.csr_matrix
    groups: sparse.csr_matrix


@lru_cache(maxsize=2)
def learn_spaces(texts: tuple[str, ...]) -> tuple[Space, ...]:
    """Return one space per view, learned from at most 800 texts, evenly spaced; the last two calls are cached."""
    texts = tuple(text for text in texts if split_words(text))
    if len(texts) < MIN_BACKGROUND:
        counts = f"{len(texts)} background documents, {MIN_BACKGROUND} needed"
        raise StudyError(f"task verification: {counts}; enlarge pretrain")
    places = np.linspace(0, len(texts) - 1, min(len(texts), MAX_BACKGROUND)).astype(int)
    chosen = tuple(texts[i] for i in places)
    return tuple(learn_space(chosen, settings) for settings in list_views(chosen))


def learn_space(texts: tuple[str, ...], settings: dict) -> Space:
    """Return the space of one view; StudyError where the texts have nothing in common."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, **settings)
    try:
        impostors = vectorizer.fit_transform(texts)
    except ValueError:  # no n-gram stands in two texts
        raise StudyError(
            "task verification: the background documents have too few words in common; enlarge pretrain"
        ) from None
    order = np.random.default_rng(0).permutation(len(texts))
    groups = [tuple(order[i : i + N_KNOWN]) for i in range(0, len(texts) - N_KNOWN + 1, N_KNOWN)]
    return Space(vectorizer, impostors, normalize(average(len(texts), groups) @ impostors))


def average(n: int, groups: list[tuple[int, ...]]) -> sparse.csr_matrix:
    """Return the matrix that turns n rows into the mean row of each group, shape (n groups, n)."""
    rows = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    columns = np.concatenate([np.asarray(group, dtype=int) for group in groups])
    shares = np.concatenate([np.full(len(group), 1 / len(group)) for group in groups])
    return sparse.csr_matrix((shares, (rows, columns)), shape=(len(groups), n))


@dataclass(frozen=True, eq=False)
class Vectors:
    """Texts in one view: their vectors, and their similarity to every impostor and group, each (n texts, n)."""

    vectors: sparse.csr_matrix
    to_impostors: np.ndarray
    to_groups: np.ndarray


@lru_cache(maxsize=2)
def vectorize(spaces: tuple[Space, ...], texts: tuple[str, ...]) -> tuple[Vectors, ...]:
    """Return the vectors of each view; the last two calls are cached, as the seeds of a cell share their texts."""
    views = []
    for space in spaces:
        vectors = space.vectorizer.transform(texts)
        to_impostors, to_groups = ((vectors @ rows.T).toarray() for rows in (space.impostors, space.groups))
        views.append(Vectors(vectors, to_impostors, to_groups))
    return tuple(views)


def measure_similarities(spaces: tuple[Space, ...], texts: tuple, problems: list[Problem]) -> np.ndarray:
    """Return the similarities of each problem, shape (n problems, 3 per view)."""
    return np.hstack([measure_in_view(view, problems) for view in vectorize(spaces, texts)])


def measure_in_view(view: Vectors, problems: list[Problem]) -> np.ndarray:
    """Return the cosine of known and unknown, then in deviations from impostors to either, (n problems, 3).

    The known documents are represented by the mean of their vectors, scaled to length 1.
    """
    means = average(len(view.to_groups), [problem.known for problem in problems])
    known_means, unknown = means @ view.vectors, [problem.unknown for problem in problems]
    lengths = linalg.norm(known_means, axis=1)
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    similarity = np.asarray(known_means.multiply(view.vectors[unknown]).sum(axis=1)).ravel() * scales
    to_groups = measure_deviation(similarity, view.to_groups[unknown])
    to_impostors = measure_deviation(similarity, means @ view.to_impostors * scales[:, None])
    return np.column_stack([similarity, to_groups, to_impostors])


def measure_deviation(similarity: np.ndarray, of_impostors: np.ndarray) -> np.ndarray:
    """Return by how many standard deviations a similarity exceeds those of impostors, at most 10; 0 if they are equal."""
    spread = of_impostors.std(axis=1)
    apart = similarity - of_impostors.mean(axis=1)
    deviations = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
    return np.clip(deviations, -MAX_DEVIATIONS, MAX_DEVIATIONS)
