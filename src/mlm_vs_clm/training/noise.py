"""Documents as tokens, the noise of a training, and which tokens it masks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blankfill.ranges import number

from .spans import draw_spans

IGNORE = -100


@dataclass(frozen=True)
class TokenizedDocument:
    """A document `[CLS] ... [SEP]`: token ids, and the word that each token belongs to (-1: none).

    `sentences` are the places at which sentences after the first begin, `n_characters` how much text the tokens hold. Of a
    pair (`pair_sentences`), `second` is where the second segment begins, and `is_next` whether it follows the first.
    """

    ids: np.ndarray
    word_of: np.ndarray
    sentences: tuple[int, ...] = ()
    n_characters: int = 0
    second: int = 0
    is_next: bool = True


@dataclass
class Noise:
    """How inputs are corrupted in training: masked share, by token, whole word or span, and BERT's 80/10/10 split.

    The masked share of each document is drawn from ratio - spread to ratio + spread. `left_share` of the documents are
    cut off as an arm that sees the left side alone reads them. Spans have `mean_span` tokens on average;
    `permute_sentences` is for `denoise` (Objective.settings), `masked_share` the share of the batches of `hybrid` that
    are masked, and `schedule` their order (a key of SCHEDULES). `prefix_share` of a document is the prefix of `prefix_lm`,
    drawn from prefix_share - spread to prefix_share + spread. `noise_ratio` of the words that `clm_noised` reads are drawn.
    """

    ratio: float = number(0.5, 0, 1)
    unit: str = "token"
    mask_share: float = number(0.8, 0, 1)
    random_share: float = number(0.1, 0, 1)
    spread: float = number(0.0, 0, 0.5)
    left_share: float = number(0.0, 0, 1)
    mean_span: float = number(3.0, 1, 10_000)
    permute_sentences: bool = False
    masked_share: float = number(0.5, 0, 1)
    schedule: str = "batches"
    prefix_share: float = number(0.5, 0, 1)
    noise_ratio: float = number(0.5, 0, 1)


OF_MASKED = ("spread", "left_share", "mean_span")
# What not every objective has, named in an id only where it is set.
OWN = (*OF_MASKED, "permute_sentences", "masked_share", "schedule", "prefix_share", "noise_ratio")


@dataclass(frozen=True)
class TrainedObjective:
    """The objective of a training: its name, a key of OBJECTIVES, and the noise of its examples."""

    name: str
    noise: Noise


class Neighbours:
    """Which token follows which in the training text, which stands in for a model's own errors in its input.

    The tokens are kept by their left neighbour; those that begin a word and those that go on with one are kept apart.
    A token without a word follows nothing.
    """

    def __init__(self, documents: Sequence[TokenizedDocument]):
        before = np.concatenate([document.ids[:-1] for document in documents])
        after = np.concatenate([document.ids[1:] for document in documents])
        goes_on = np.concatenate([go_on(document.word_of)[1:] for document in documents])
        is_word = np.concatenate([document.word_of[1:] >= 0 for document in documents])
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


@dataclass(frozen=True)
class TargetTokens:
    """The ids that stand for masked text: the mask, what a decoder starts from, the sentinels of a T5-style tokenizer.

    `start` is None for a model without a decoder of its own, `sentinels` are empty for any other tokenizer, `mask` is
    -1 where there is none. `neighbours` are counted on the text that the training reads, where an objective needs them.
    """

    mask: int
    n_vocabulary: int
    start: int | None = None
    sentinels: tuple[int, ...] = ()
    neighbours: Neighbours | None = None


Example = dict[str, np.ndarray]
Rng = np.random.Generator


def find_text(document: TokenizedDocument) -> tuple[int, int]:
    """Return where the text begins and ends between the special tokens."""
    places = np.flatnonzero(document.word_of >= 0)
    return (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)


def draw_share(share: float, spread: float, rng: Rng) -> float:
    """Return a share drawn from share - spread to share + spread."""
    return rng.uniform(share - spread, share + spread) if spread else share


def choose_masked(document: TokenizedDocument, noise: Noise, rng: Rng) -> np.ndarray:
    """Return which tokens are masked (bool); the special tokens around the text never are."""
    candidates = np.flatnonzero(document.word_of >= 0)
    ratio = draw_share(noise.ratio, noise.spread, rng)
    if noise.unit == "word":
        words = np.unique(document.word_of[candidates])
        chosen = rng.choice(words, size=round(ratio * len(words)), replace=False)
        return np.isin(document.word_of, chosen) & (document.word_of >= 0)
    is_masked = np.zeros(len(document.ids), dtype=bool)
    if noise.unit == "span":
        for start, length in draw_spans(len(candidates), ratio, noise.mean_span, None, rng):
            is_masked[candidates[start : start + length]] = True
        return is_masked
    is_masked[rng.choice(candidates, size=round(ratio * len(candidates)), replace=False)] = True
    return is_masked
