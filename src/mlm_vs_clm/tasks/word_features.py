"""What the entity tagger sees of a word: its letters, its shape, and its neighbours."""

import re
from collections import Counter
from functools import lru_cache

REACH = (-2, -1, 1, 2)


def describe_words(words: list[str]) -> list[list[str]]:
    """Return the features of each word of one document, as strings."""
    lower = [word.lower() for word in words]
    counts, inside = Counter(lower), mark_brackets(words)
    features = []
    for i, word in enumerate(lower):
        row = [f"w={word}", *describe_shape(words[i]), *describe_letters(word)]
        row += [f"bracket={inside[i]}", f"repeats={min(counts[word], 3) if len(word) > 2 else 0}"]
        row += [feature for step in REACH for feature in describe_neighbour(words, i + step, step)]
        features.append(row + describe_bigrams(lower, i))
    return features


@lru_cache(maxsize=1 << 15)
def describe_shape(word: str) -> tuple[str, ...]:
    """Return the word with its letters and digits made alike: short ("Aa0") and in full up to six signs."""
    shape = re.sub(r"[0-9]", "0", re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", word)))
    return "short=" + re.sub(r"(.)\1+", r"\1", shape), "shape=" + shape[:6]


@lru_cache(maxsize=1 << 15)
def describe_letters(word: str) -> tuple[str, ...]:
    """Return prefixes, suffixes and inner letter groups, which tell drug and disease names apart."""
    starts = [f"p{n}={word[:n]}" for n in (2, 3, 4) if len(word) > n]
    ends = [f"e{n}={word[-n:]}" for n in (2, 3, 4, 5) if len(word) > n]
    inner = {f"in={word[i : i + n]}" for n in (3, 4) for i in range(len(word) - n + 1)}
    return (*starts, *ends, *sorted(inner))


def describe_neighbour(words: list[str], place: int, step: int) -> list[str]:
    """Return the word at a place and its shape, marked with its distance, or that the document ends there."""
    if not 0 <= place < len(words):
        return [f"{step}end"]
    near = [f"{step}e3={words[place].lower()[-3:]}"] if abs(step) == 1 else []
    return near + [f"{step}w={words[place].lower()}"] + [f"{step}{s}" for s in describe_shape(words[place])]


def describe_bigrams(lower: list[str], place: int) -> list[str]:
    """Return the word together with the one before it and with the one after it."""
    before = lower[place - 1] if place else ""
    after = lower[place + 1] if place + 1 < len(lower) else ""
    return [f"-1w0={before}_{lower[place]}", f"0w1={lower[place]}_{after}"]


def mark_brackets(words: list[str]) -> list[int]:
    """Return 1 for each word from an opening bracket to before the closing one, where short forms stand."""
    marks, is_open = [], 0
    for word in words:
        is_open = 1 if word == "(" else 0 if word == ")" else is_open
        marks.append(is_open)
    return marks
