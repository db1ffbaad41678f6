"""Stretches of a text to hide: of a mean length as in T5, of Poisson lengths as in BART; and sentences in a new order."""

import numpy as np

Span = tuple[int, int]  # the place where it begins, and how many sub-words it hides (0: none, a mark goes in)


def draw_spans(
    n: int, ratio: float, mean_span: float, most: int | None, rng: np.random.Generator
) -> list[Span]:
    """Hide round(ratio * n) of `n` sub-words in spans that do not touch, about `mean_span` long (T5).

    No more than `most` spans (None: any number), so that there is a mark for each; they are then longer.
    """
    n_hidden = round(ratio * n)
    if n_hidden == 0:
        return []
    limit = min(n_hidden, n - n_hidden + 1, most or n)
    n_spans = min(max(1, round(n_hidden / mean_span)), limit)
    gaps = _compose(n - n_hidden + 2, n_spans + 1, rng)
    gaps[0] -= 1
    return _lay_out(_compose(n_hidden, n_spans, rng), gaps)


def draw_poisson_spans(n: int, ratio: float, mean_span: float, rng: np.random.Generator) -> list[Span]:
    """Hide round(ratio * n) of `n` sub-words in spans of Poisson lengths (BART); they may touch, and may be empty."""
    left, lengths = round(ratio * n), []
    n_kept = n - left
    while left > 0:
        lengths.append(min(left, int(rng.poisson(mean_span))))
        left -= lengths[-1]
    gaps = _compose(n_kept + len(lengths) + 1, len(lengths) + 1, rng) - 1
    return _lay_out(np.array(lengths, dtype=int), gaps)


def find_runs(hidden: np.ndarray) -> list[Span]:
    """Return the runs of True as spans."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], hidden, [False]])))
    return [(int(start), int(end - start)) for start, end in edges.reshape(-1, 2)]


def replace_spans(ids: np.ndarray, spans: list[Span], marks: list[int]) -> np.ndarray:
    """Return the sub-words with one mark in place of each span."""
    pieces, cursor = [], 0
    for (start, length), mark in zip(spans, marks, strict=True):
        pieces += [ids[cursor:start], [mark]]
        cursor = start + length
    return np.concatenate([*pieces, ids[cursor:]]).astype(ids.dtype)


def shuffle_sentences(ids: np.ndarray, starts: list[int], rng: np.random.Generator) -> np.ndarray:
    """Return the sub-words with their sentences, which begin at 0 and at `starts`, in a random order."""
    sentences = np.split(ids, starts)
    return np.concatenate([sentences[i] for i in rng.permutation(len(sentences))])


def _compose(total: int, n_parts: int, rng: np.random.Generator) -> np.ndarray:
    """Return `n_parts` whole numbers of at least 1 that add up to `total`, each way of doing so as likely."""
    cuts = np.sort(rng.choice(total - 1, size=n_parts - 1, replace=False)) + 1
    return np.diff(np.concatenate([[0], cuts, [total]]))


def _lay_out(lengths: np.ndarray, gaps: np.ndarray) -> list[Span]:
    """Return the spans that follow one another behind these gaps."""
    starts = np.cumsum(gaps[:-1]) + np.concatenate([[0], np.cumsum(lengths[:-1])])
    return [(int(start), int(length)) for start, length in zip(starts, lengths, strict=True)]
