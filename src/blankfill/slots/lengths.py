"""How many tokens a blank gets: as many as its original (`known`), one, or the most likely number (`free`)."""

from collections.abc import Callable

import numpy as np

from ..text import BlankedText
from .rows import Lengths, TokenRow

Tokenize = Callable[[list[BlankedText], Lengths | None], list[TokenRow]]
Score = Callable[[list[TokenRow]], list[list[float]]]


def choose_lengths(
    length: str,
    blanked: list[BlankedText],
    tokenize: Tokenize,
    score: Score,
    max_positions: int | None,
    max_length: int,
) -> Lengths | None:
    """Return the number of tokens of each blank; None for `known`, as tokenization counts the original's.

    `free` gives each blank the length, from 1 to `max_length`, whose best tokens have the highest mean
    log-probability. Every length costs one pass in which all blanks of a document have it; ties go to the shorter.
    `score` returns for each slot of a row the log-probability of the most likely token that may fill it. A length
    at which the document would exceed the model's `max_positions` (tokens; None: no limit) is not tried.
    """
    if length == "known":
        return None
    lengths = [[1] * len(text.blanks) for text in blanked]
    if length == "one":
        return lengths
    shortest = [len(row.ids) for row in tokenize(blanked, lengths)]
    best = [np.full(len(text.blanks), -np.inf) for text in blanked]
    for tried in range(1, max_length + 1):
        fits = [
            i
            for i, text in enumerate(blanked)
            if text.blanks and shortest[i] + (tried - 1) * len(text.blanks) <= (max_positions or np.inf)
        ]
        rows = tokenize([blanked[i] for i in fits], [[tried] * len(blanked[i].blanks) for i in fits])
        for i, values in zip(fits, score(rows), strict=True):
            for blank, mean in enumerate(np.reshape(values, (-1, tried)).mean(1)):
                if round(mean, 6) > best[i][blank]:
                    best[i][blank], lengths[i][blank] = round(mean, 6), tried
    return lengths
