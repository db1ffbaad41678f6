"""What a model is trained to predict: from the sub-words of one document to an input and its targets."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

IGNORE = -100


@dataclass(frozen=True)
class Subwords:
    """A tokenized document `[CLS] ... [SEP]`: ids, and the word that each sub-word belongs to (-1: none)."""

    ids: np.ndarray
    word_of: np.ndarray


@dataclass(frozen=True)
class Noise:
    """How inputs are corrupted in training: share hidden, by sub-word or whole word, and BERT's 80/10/10 split."""

    ratio: float
    unit: str
    mask_share: float
    random_share: float


Example = dict[str, np.ndarray]


def masked(
    document: Subwords, noise: Noise, mask_id: int, n_vocabulary: int, rng: np.random.Generator
) -> Example:
    """Hide a share of the text and predict it from both sides; labels elsewhere are -100."""
    hidden = _hide(document, noise, rng)
    fate = rng.random(len(hidden))
    ids = document.ids.copy()
    ids[hidden & (fate < noise.mask_share)] = mask_id
    swapped = hidden & (fate >= noise.mask_share) & (fate < noise.mask_share + noise.random_share)
    ids[swapped] = rng.integers(0, n_vocabulary, size=int(swapped.sum()))
    return {"input_ids": ids, "labels": np.where(hidden, document.ids, IGNORE)}


def causal(
    document: Subwords, noise: Noise, mask_id: int, n_vocabulary: int, rng: np.random.Generator
) -> Example:
    """Predict every sub-word from those before it: position i is labelled with sub-word i + 1."""
    labels = np.append(document.ids[1:], IGNORE)
    return {"input_ids": document.ids, "labels": labels}


def kept_to_text(
    document: Subwords, noise: Noise, mask_id: int, n_vocabulary: int, rng: np.random.Generator
) -> Example:
    """Read the kept words alone, without a mark where words are missing, and write the whole text."""
    hidden = _hide(document, noise, rng)
    labels = np.append(document.ids[1:], IGNORE)
    return {"input_ids": document.ids[~hidden], "decoder_input_ids": document.ids, "labels": labels}


def infill(
    document: Subwords, noise: Noise, mask_id: int, n_vocabulary: int, rng: np.random.Generator
) -> Example:
    """Read the text with a mark for each hidden sub-word, then predict the answers from left to right.

    An answer is what is hidden of one word; `lay_out_answers` says what is read and at which position.
    """
    hidden = _hide(document, noise, rng)
    places = np.flatnonzero(hidden)
    opens = (np.diff(places, prepend=-1) != 1) | (document.word_of[places] != document.word_of[places - 1])
    sources, positions = lay_out_answers(places.tolist(), opens.tolist())
    is_mark = sources == OPENING
    text, answers = np.where(hidden, mask_id, document.ids), document.ids[sources]
    predicted = np.append(~is_mark[1:], False)[: len(sources)]
    return {
        "input_ids": np.concatenate([text, np.where(is_mark, document.ids[-1], answers)]),
        "position_ids": np.concatenate([np.arange(len(text)), positions]),
        "labels": np.concatenate(
            [np.full(len(text), IGNORE), np.where(predicted, np.roll(answers, -1), IGNORE)]
        ),
    }


OPENING = -1


def lay_out_answers(places: list[int], opens: list[bool]) -> tuple[np.ndarray, np.ndarray]:
    """Return what an infilling model reads after the text: the place each sub-word comes from, and its position.

    `places` are hidden sub-words in order, `opens` tells which begin an answer. Each answer is opened by the mark
    that ends a text (its source is OPENING). Every sub-word keeps its place in the text as its position and the
    opening mark takes the one before, so that what stands at position i predicts i + 1, as in a causal model.
    """
    sources, positions = [], []
    for place, is_first in zip(places, opens, strict=True):
        if is_first:
            sources.append(OPENING)
            positions.append(place - 1)
        sources.append(place)
        positions.append(place)
    return np.array(sources, dtype=int), np.array(positions, dtype=int)


@dataclass(frozen=True)
class Objective:
    """How examples are made, and the kind of model that learns from them."""

    kind: str
    make_example: Callable[[Subwords, Noise, int, int, np.random.Generator], Example]


OBJECTIVES = {
    "mlm": Objective("masked", masked),
    "clm": Objective("causal", causal),
    "seq2seq": Objective("seq2seq", kept_to_text),
    "infill": Objective("causal", infill),
}


def _hide(document: Subwords, noise: Noise, rng: np.random.Generator) -> np.ndarray:
    """Return which sub-words are hidden (bool, one each); the marks around the text never are."""
    candidates = np.flatnonzero(document.word_of >= 0)
    if noise.unit == "word":
        words = np.unique(document.word_of[candidates])
        chosen = rng.choice(words, size=round(noise.ratio * len(words)), replace=False)
        return np.isin(document.word_of, chosen) & (document.word_of >= 0)
    hidden = np.zeros(len(document.ids), dtype=bool)
    hidden[rng.choice(candidates, size=round(noise.ratio * len(candidates)), replace=False)] = True
    return hidden
