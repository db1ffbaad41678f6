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


def lay_out_answers(places: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return where each token that an infilling model reads after the text comes from, and whether a mask stands for it.

    Each of `places` (masked tokens, in order) is read twice at its own position: as a mask, which predicts the token,
    and then as the token.
    """
    return np.repeat(places, 2).astype(int), np.tile([True, False], len(places))
