"""Copies: what of the training texts stands in the generated ones, against what of held-out texts does."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import nan

import numpy as np

from .intervals import Contrast, contrast_means
from .runs import Matches, Words, match

SIZES = (3, 5, 8, 13)  # words of an n-gram
N_LONGEST = 5


@dataclass(frozen=True)
class CopiedRun:
    """A run of `words` words that a generated text shares with a training text: their numbers, from 0, and a hash of the run."""

    generated: int
    train: int
    words: int
    digest: str


@dataclass(frozen=True)
class Copies:
    """Copies of training texts in generated ones; every value has the same of held-out texts as its control.

    copied: by n, the share of the n-grams of a generated text that stand in the training texts (novelty is one minus
    it); copied_run: its longest run of words that does. Their control is a held-out text in its place.
    returned: by n, the share of the n-grams of a training text that stand in the generated texts; returned_run: its
    longest run that does. Their control is a held-out text that is looked for in the same generated texts.
    longest: the longest copied runs, of different generated texts; longest_control: that of any held-out text.
    """

    copied: dict[int, Contrast]
    copied_run: Contrast | None
    returned: dict[int, Contrast]
    returned_run: Contrast | None
    longest: list[CopiedRun]
    longest_control: int


def measure_copies(
    train: Sequence[Words], holdout: Sequence[Words], generated: Sequence[Words], key: bytes, seed: int
) -> Copies:
    """Return what generated texts copy; `key` keys the hashes."""
    in_train = match([*generated, *holdout], train)
    in_generated = match([*train, *holdout], generated)
    written, control = in_train[: len(generated)], in_train[len(generated) :]
    copied, copied_run = _contrast(written, control, seed, "copied")
    returned, returned_run = _contrast(
        in_generated[: len(train)], in_generated[len(train) :], seed, "returned"
    )
    longest_control = max((matches.longest for matches in control), default=0)
    longest = _list_longest(generated, written, key)
    return Copies(copied, copied_run, returned, returned_run, longest, longest_control)


def _contrast(
    texts: Sequence[Matches], control: Sequence[Matches], seed: int, name: str
) -> tuple[dict[int, Contrast], Contrast | None]:
    by_size = {}
    for n in SIZES:
        shares = [[matches.share(n) for matches in side] for side in (texts, control)]
        if contrast := contrast_means(*shares, seed, name, n):
            by_size[n] = contrast
    runs = [
        [matches.longest if len(matches.lengths) else nan for matches in side] for side in (texts, control)
    ]
    return by_size, contrast_means(*runs, seed, name, "run")


def _list_longest(generated: Sequence[Words], written: Sequence[Matches], key: bytes) -> list[CopiedRun]:
    ranked = sorted(range(len(written)), key=lambda i: (-written[i].longest, i))
    runs = []
    for i in ranked[:N_LONGEST]:
        if words := written[i].longest:
            start = int(np.argmax(written[i].lengths))
            run = generated[i][start : start + words]
            runs.append(CopiedRun(i, int(written[i].texts[start]), words, digest(run, key)))
    return runs


def digest(words: Words, key: bytes) -> str:
    """Return a keyed hash: without the training texts, from which the key comes, no list of guesses can be tried on it."""
    return blake2b(" ".join(words).encode("utf-8", "surrogatepass"), key=key, digest_size=8).hexdigest()
