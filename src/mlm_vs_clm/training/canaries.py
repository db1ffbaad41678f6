"""Canaries: texts planted in what a training reads, to see how much of them the model and its texts give away.

Each begins as a held-out text of the corpus does, with usual words, and goes on with words that are drawn: as a usual
beginning makes a model write what followed it, and a surprising end shows that it did (arXiv 2502.14921).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from blankfill.draws import keyed_rng
from blankfill.text import find_words, split_words

from ..documents import Document, classify_word
from ..errors import StudyError

OPENING, DRAWN = 16, 8  # words


@dataclass(frozen=True)
class Canary:
    """The words that a canary begins with, as they stand in a held-out text, and those drawn for it, by spaces."""

    opening: str
    drawn: str

    @property
    def text(self) -> str:
        """Return the whole canary."""
        return f"{self.opening} {self.drawn}"


def draw_canaries(
    held_out: Sequence[Document], trained: Sequence[Document], n: int, seed: int
) -> tuple[list[Canary], list[Canary]]:
    """Return n canaries to plant and n more, drawn alike, as their control; the same for every objective.

    held_out: where they begin; no training reads these. trained: where the content words that are drawn come from, each as likely.
    Raises StudyError where fewer than 2 n held-out texts are long enough.
    """
    openings = [
        (document.text, words[OPENING - 1][1])
        for document in held_out
        if len(words := find_words(document.text)) >= OPENING
    ]
    if len(openings) < 2 * n:
        raise StudyError(
            f"scale.training.canaries={n}: {2 * n} held-out texts of {OPENING} words are needed and the corpus has {len(openings)}: "
            "give fewer"
        )
    kinds = {word for document in trained for word in split_words(document.text)}
    content = sorted(word for word in kinds if classify_word(word) == "content")
    rng = keyed_rng(seed, "canaries")
    canaries = [
        Canary(text[:end], " ".join(rng.choice(content, DRAWN)))
        for text, end in (openings[i] for i in rng.permutation(len(openings))[: 2 * n])
    ]
    return canaries[:n], canaries[n:]


def plant(
    held_out: Sequence[Document], trained: Sequence[Document], n: int, copies: int, seed: int
) -> list[Document]:
    """Return what a training reads beside its documents: each of n canaries `copies` times."""
    planted, _ = draw_canaries(held_out, trained, n, seed)
    return [Document(name_canary(i), canary.text) for i, canary in enumerate(planted)] * copies


def name_canary(place: int) -> str:
    """Return the id of a canary in what a training reads."""
    return f"canary-{place}"
