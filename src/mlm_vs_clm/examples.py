"""What a network with a head learns from: texts with their targets; and what a task asks of whoever trains it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from blankfill.draws import keyed_rng
from blankfill.text import find_words

from .documents import Document, keep_beginning

# A class per word; any of several labels; one of several classes.
WORDS, LABELS, CLASSES = "words", "labels", "classes"


@dataclass(frozen=True)
class Head:
    """The output layer of a task: its kind (WORDS, LABELS or CLASSES) and the number of its outputs."""

    kind: str
    n_outputs: int


@dataclass(frozen=True)
class Example:
    """A text, or a pair of texts, with its target.

    `target` is an array of ints: of WORDS the class of each word of `text` (as `find_words` splits it), of LABELS 0 or 1
    per output, of CLASSES one class. An example of a test set needs none.
    """

    text: str
    target: np.ndarray
    second: str = ""


class Learner(Protocol):
    """Trains a network with a head on examples, and answers sets of them."""

    def __call__(
        self, head: Head, train: Sequence[Example], sets: Sequence[Sequence[Example]], seed: int
    ) -> list[list[np.ndarray]]:
        """Return for each set the probabilities of its examples: (n words, n outputs) of WORDS, else (n outputs,)."""


def cut(document: Document, n_words: int) -> Document:
    """Return the first `n_words` words of a document (0: all), with the entities that lie within them."""
    return keep_beginning(document, len(cut_words(document.text, n_words)))


def cut_words(text: str, n_words: int) -> str:
    """Return the first `n_words` words of a text; 0: all."""
    words = find_words(text)
    return text[: words[n_words - 1][1]] if n_words and len(words) > n_words else text


def draw_examples(pool: Sequence[Document], n: int, seed: int) -> list[Document]:
    """Return `n` documents of a pool (all where it has fewer), in random order; which ones depends on the seed.

    A smaller number draws the first of a larger one, so that more examples add to fewer.
    """
    order = keyed_rng("labelled examples", seed).permutation(len(pool))
    return [pool[i] for i in order[: n or len(pool)]]


def spread(documents: Sequence[Document], n: int) -> list[Document]:
    """Return at most `n` documents (0: all), evenly spaced."""
    step = max(1.0, len(documents) / n) if n else 1.0
    return [documents[math.floor(i * step)] for i in range(min(n or len(documents), len(documents)))]
