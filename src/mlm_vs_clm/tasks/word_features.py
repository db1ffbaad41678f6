"""The features of a word for the entity tagger: its letters, its shape, its clusters and its neighbours."""

import re
from collections import Counter
from functools import lru_cache

from .word_clusters import WordClusters

REACH = (-2, -1, 1, 2)


def describe_words(words: list[str], clusters: WordClusters) -> list[list[str]]:
    """Return the features of each word of one document, as strings."""
    lower = [word.lower() for word in words]
    counts, inside = Counter(lower), mark_brackets(words)
    kinds = [clusters.of(word) for word in words]
    features = []
    for i, word in enumerate(lower):
        row = [f"w={word}", *describe_shape(words[i]), *describe_letters(word)]
        row += [f"bracket={inside[i]}", f"repeats={min(counts[word], 3) if len(word) > 2 else 0}"]
        row += [f"c={kind}" for kind in kinds[i]]
        features.append(row + [sign for step in REACH for sign in describe_neighbour(lower, kinds, i, step)])
    return features


@lru_cache(maxsize=1 << 15)
def describe_shape(word: str) -> tuple[str, ...]:
    """Return the word with letters and digits folded: collapsed ("Aa0"), and the first six characters."""
    shape = re.sub(r"[0-9]", "0", re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", word)))
    return "short=" + re.sub(r"(.)\1+", r"\1", shape), "shape=" + shape[:6]


@lru_cache(maxsize=1 << 15)
def describe_letters(word: str) -> tuple[str, ...]:
    """Return prefixes, suffixes and inner n-grams, which separate drug from disease names."""
    starts = [f"p{n}={word[:n]}" for n in (2, 3, 4) if len(word) > n]
    ends = [f"e{n}={word[-n:]}" for n in (2, 3, 4, 5) if len(word) > n]
    inner = {f"in={word[i : i + n]}" for n in (3, 4) for i in range(len(word) - n + 1)}
    return (*starts, *ends, *sorted(inner))


def describe_neighbour(lower: list[str], kinds: list[tuple[str, ...]], place: int, step: int) -> list[str]:
    """Return the word at a distance, or that the document ends there; for adjacent words also suffix and clusters."""
    there = place + step
    if not 0 <= there < len(lower):
        return [f"{step}end"]
    if abs(step) > 1:
        return [f"{step}w={lower[there]}"]
    clusters = [f"{step}c={kind}" for kind in kinds[there]]
    return [f"{step}w={lower[there]}", f"{step}e3={lower[there][-3:]}", *clusters]


def mark_brackets(words: list[str]) -> list[int]:
    """Return 1 for each word from an opening bracket to before the closing one, where abbreviations occur."""
    marks, is_open = [], 0
    for word in words:
        is_open = 1 if word == "(" else 0 if word == ")" else is_open
        marks.append(is_open)
    return marks
