"""How many sub-words a blank gets: as many as its original (`known`), one, or as many as the model finds likely."""

from collections.abc import Callable

import numpy as np

from ..blanks import BlankedText
from .rows import Row

Tokenize = Callable[[list[BlankedText], list[list[int]]], list[Row]]
Judge = Callable[[list[Row]], list[list[float]]]


def known(
    blanked: list[BlankedText], tokenize: Tokenize, judge: Judge, room: int | None, max_length: int
) -> None:
    """Leave it to tokenization, which counts the original's sub-words."""
    return None


def one(
    blanked: list[BlankedText], tokenize: Tokenize, judge: Judge, room: int | None, max_length: int
) -> list[list[int]]:
    """Give each blank one sub-word."""
    return [[1] * len(text.blanks) for text in blanked]


def free(
    blanked: list[BlankedText], tokenize: Tokenize, judge: Judge, room: int | None, max_length: int
) -> list[list[int]]:
    """Give each blank the length, from 1 to `max_length`, whose best sub-words have the highest mean log-probability.

    Every candidate costs one pass in which all blanks of a document have that length; ties go to the shorter.
    `judge` returns for each slot of a row the log-probability of the likeliest sub-word that may stand there.
    A length at which the document would not fit the model's `room` (sub-words; None: no limit) is no candidate.
    """
    lengths = one(blanked, tokenize, judge, room, max_length)
    shortest = [len(row.ids) for row in tokenize(blanked, lengths)]
    best = [np.full(len(text.blanks), -np.inf) for text in blanked]
    for length in range(1, max_length + 1):
        fits = [
            i
            for i, text in enumerate(blanked)
            if text.blanks and shortest[i] + (length - 1) * len(text.blanks) <= (room or np.inf)
        ]
        rows = tokenize([blanked[i] for i in fits], [[length] * len(blanked[i].blanks) for i in fits])
        for i, values in zip(fits, judge(rows), strict=True):
            for blank, mean in enumerate(np.reshape(values, (-1, length)).mean(1)):
                if round(mean, 6) > best[i][blank]:
                    best[i][blank], lengths[i][blank] = round(mean, 6), length
    return lengths


LENGTHS: dict[str, Callable[..., list[list[int]] | None]] = {"known": known, "one": one, "free": free}
