"""What a model reads where it sees the left side alone, or the answers after the text."""

import numpy as np

# Masks after the token to predict where the left side alone is seen: a text that ends at once looks like the end of a
# sentence. Training and filling share it.
RUNWAY = 8


def lay_out_masks(is_masked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where each token that is read comes from, which is its position too, and whether a mask stands for it.

    A masked token (bool by place) is read twice: as a mask, and then as itself.
    """
    sources = np.repeat(np.arange(len(is_masked)), 1 + is_masked)
    return sources, np.append(sources[1:] == sources[:-1], False)[: len(sources)]


OPENING = -1


def lay_out_answers(places: list[int], opens: list[bool]) -> tuple[np.ndarray, np.ndarray]:
    """Return what an infilling model reads after the text: the place each token comes from, and its position.

    `places` are masked tokens in order, `opens` is true for those that begin an answer. Each answer is opened by the
    token that ends a text (its source is OPENING). Every token keeps its place in the text as its position and the
    opening token has the one before, so that position i predicts i + 1, as in a causal model.
    """
    steps: list[tuple[int, int]] = []
    for place, is_first in zip(places, opens, strict=True):
        steps += [(OPENING, place - 1)] * is_first + [(place, place)]
    sources, positions = np.array(steps, dtype=int).reshape(-1, 2).T
    return sources, positions
