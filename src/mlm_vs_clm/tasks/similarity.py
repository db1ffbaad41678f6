"""How alike two texts are in writing, as seen from several sides and against the likeness of strangers.

Frequencies and strangers ("impostors") come from the background, which is the same for every arm. A likeness of
0.3 says little until it is known how like the same text is to others; so each one is also given in standard
deviations above the likeness of strangers, once for the unknown text and once for the known ones.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import sparse
from scipy.sparse import linalg
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from ..documents import WORD, split_words
from ..errors import StudyError
from .problems import N_KNOWN, Problem

MIN_BACKGROUND = 2 * N_KNOWN
MAX_BACKGROUND = 800
N_FREQUENT = 200
MAX_DEVIATIONS = 10.0


def see_characters(n: int) -> dict:
    """Return the settings of a view of runs of n characters, case and marks included."""
    return {"analyzer": "char", "ngram_range": (n, n), "lowercase": False, "min_df": 2}


def see_words(n: int) -> dict:
    """Return the settings of a view of runs of n words."""
    return {"token_pattern": WORD.pattern, "ngram_range": (n, n), "min_df": 2}


def see_frequent_words(texts: tuple[str, ...]) -> dict:
    """Return the settings of a view of the most frequent words and marks alone, which tell little of the topic."""
    counts = Counter(word for text in texts for word in split_words(text.lower()))
    frequent = sorted(counts, key=lambda word: (-counts[word], word))[:N_FREQUENT]
    return {"token_pattern": WORD.pattern, "vocabulary": frequent}


VIEWS = {
    "char3": lambda texts: see_characters(3),
    "char4": lambda texts: see_characters(4),
    "words": lambda texts: see_words(1),
    "word_pairs": lambda texts: see_words(2),
    "frequent_words": see_frequent_words,
}


@dataclass(frozen=True, eq=False)
class Space:
    """One view: how to weigh a text, and strangers singly and in groups as large as the known documents."""

    vectorizer: TfidfVectorizer
    strangers: sparse.csr_matrix
    groups: sparse.csr_matrix


@lru_cache(maxsize=2)
def learn_spaces(texts: tuple[str, ...]) -> tuple[Space, ...]:
    """Return one space a view, learned from at most 800 texts, evenly spaced; the last two are remembered."""
    texts = tuple(text for text in texts if split_words(text))
    if len(texts) < MIN_BACKGROUND:
        raise StudyError(
            f"task verification: {len(texts)} background documents, {MIN_BACKGROUND} needed; enlarge pretrain"
        )
    places = np.linspace(0, len(texts) - 1, min(len(texts), MAX_BACKGROUND)).astype(int)
    chosen = tuple(texts[i] for i in places)
    return tuple(learn_space(chosen, view(chosen)) for view in VIEWS.values())


def learn_space(texts: tuple[str, ...], settings: dict) -> Space:
    """Return the space of one view."""
    vectorizer = TfidfVectorizer(sublinear_tf=True, **settings)
    strangers = vectorizer.fit_transform(texts)
    order = np.random.default_rng(0).permutation(len(texts))
    groups = [tuple(order[i : i + N_KNOWN]) for i in range(0, len(texts) - N_KNOWN + 1, N_KNOWN)]
    return Space(vectorizer, strangers, join_rows(strangers, groups))


def join_rows(matrix: sparse.csr_matrix, groups: list[tuple[int, ...]]) -> sparse.csr_matrix:
    """Return the mean row of each group, of length 1, shape (n groups, n columns)."""
    return normalize(average(matrix.shape[0], groups) @ matrix)


def average(n: int, groups: list[tuple[int, ...]]) -> sparse.csr_matrix:
    """Return what turns n rows into the mean row of each group, shape (n groups, n)."""
    rows = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    columns = np.concatenate([np.asarray(group, dtype=int) for group in groups])
    shares = np.concatenate([np.full(len(group), 1 / len(group)) for group in groups])
    return sparse.csr_matrix((shares, (rows, columns)), shape=(len(groups), n))


@dataclass(frozen=True, eq=False)
class Look:
    """Texts as one view sees them: their vectors, and how like each is to every stranger and group (n texts, n)."""

    vectors: sparse.csr_matrix
    to_strangers: np.ndarray
    to_groups: np.ndarray


@lru_cache(maxsize=2)
def look_at(spaces: tuple[Space, ...], texts: tuple[str, ...]) -> tuple[Look, ...]:
    """Return one look a view; the seeds of a cell share their texts, so the last two are remembered."""
    looks = []
    for space in spaces:
        vectors = space.vectorizer.transform(texts)
        likenesses = ((vectors @ strangers.T).toarray() for strangers in (space.strangers, space.groups))
        looks.append(Look(vectors, *likenesses))
    return tuple(looks)


def compare(spaces: tuple[Space, ...], texts: tuple[str, ...], problems: list[Problem]) -> np.ndarray:
    """Return the likenesses of each problem, shape (n problems, 3 a view)."""
    return np.hstack([compare_view(look, problems) for look in look_at(spaces, texts)])


def compare_view(look: Look, problems: list[Problem]) -> np.ndarray:
    """Return the cosine of known and unknown, then in deviations from strangers to either, (n problems, 3).

    Known documents are as like a stranger as the mean of their vectors is, scaled to length 1.
    """
    means = average(len(look.to_groups), [problem.known for problem in problems])
    known, unknown = means @ look.vectors, [problem.unknown for problem in problems]
    lengths = linalg.norm(known, axis=1)
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    likeness = np.asarray(known.multiply(look.vectors[unknown]).sum(axis=1)).ravel() * scales
    to_groups = measure_deviation(likeness, look.to_groups[unknown])
    to_strangers = measure_deviation(likeness, means @ look.to_strangers * scales[:, None])
    return np.column_stack([likeness, to_groups, to_strangers])


def measure_deviation(likeness: np.ndarray, strange: np.ndarray) -> np.ndarray:
    """Return how many standard deviations a likeness lies above strangers', at most 10; 0 where they are alike."""
    spread = strange.std(axis=1)
    apart = likeness - strange.mean(axis=1)
    deviations = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
    return np.clip(deviations, -MAX_DEVIATIONS, MAX_DEVIATIONS)
