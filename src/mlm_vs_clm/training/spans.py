"""Stretches of tokens to mask: of a mean length as in T5, of Poisson lengths as in BART; and permuted sentences."""

import numpy as np

Stretch = tuple[int, int]  # the first token and the number of tokens (0: none, a mask is inserted)


def draw_spans(
    n: int, ratio: float, mean_span: float, most: int | None, rng: np.random.Generator
) -> list[Stretch]:
    """Mask round(ratio * n) of `n` tokens in spans that do not touch, about `mean_span` long (T5).

    At most `most` spans (None: any number), as there is one mask for each; they are then longer.
    """
    n_masked = round(ratio * n)
    if n_masked == 0:
        return []
    limit = min(n_masked, n - n_masked + 1, most or n)
    n_spans = min(max(1, round(n_masked / mean_span)), limit)
    gaps = _compose(n - n_masked + 2, n_spans + 1, rng)
    gaps[0] -= 1
    return _lay_out(_compose(n_masked, n_spans, rng), gaps)


def draw_poisson_spans(n: int, ratio: float, mean_span: float, rng: np.random.Generator) -> list[Stretch]:
    """Mask round(ratio * n) of `n` tokens in spans of Poisson lengths (BART); they may touch, and may be empty."""
    left = round(ratio * n)
    lengths: list[int] = []
    n_kept = n - left
    while left > 0:
        lengths.append(min(left, int(rng.poisson(mean_span))))
        left -= lengths[-1]
    gaps = _compose(n_kept + len(lengths) + 1, len(lengths) + 1, rng) - 1
    return _lay_out(np.array(lengths, dtype=int), gaps)


def find_runs(masked: np.ndarray) -> list[Stretch]:
    """Return the runs of True as stretches."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], masked, [False]])))
    return [(int(start), int(end - start)) for start, end in edges.reshape(-1, 2)]


def replace_spans(ids: np.ndarray, spans: list[Stretch], masks: list[int]) -> np.ndarray:
    """Return the tokens with one mask in place of each span."""
    pieces: list[np.ndarray | list[int]] = []
    cursor = 0
    for (start, length), mask in zip(spans, masks, strict=True):
        pieces += [ids[cursor:start], [mask]]
        cursor = start + length
    return np.concatenate([*pieces, ids[cursor:]]).astype(ids.dtype)


def shuffle_sentences(ids: np.ndarray, starts: list[int], rng: np.random.Generator) -> np.ndarray:
    """Return the tokens with their sentences, which begin at 0 and at `starts`, in a random order."""
    sentences = np.split(ids, starts)
    return np.concatenate([sentences[i] for i in rng.permutation(len(sentences))])


def _compose(total: int, n_parts: int, rng: np.random.Generator) -> np.ndarray:
    """Return `n_parts` whole numbers of at least 1 that add up to `total`, each composition as likely."""
    cuts = np.sort(rng.choice(total - 1, size=n_parts - 1, replace=False)) + 1
    return np.diff(np.concatenate([[0], cuts, [total]]))


def _lay_out(lengths: np.ndarray, gaps: np.ndarray) -> list[Stretch]:
    """Return the stretches of these lengths after these gaps."""
    starts = np.cumsum(gaps[:-1]) + np.concatenate([[0], np.cumsum(lengths[:-1])])
    return [(int(start), int(length)) for start, length in zip(starts, lengths, strict=True)]
