"""What scores texts offer: numbers per document, of whose sum `MEASURES` makes the score; the form of the texts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from blankfill.text import WORDS, fold_case, split_words


@dataclass(frozen=True)
class Metric:
    """A score, split so that any resample of the documents can be scored again by adding rows.

    `statistics(candidates, references)` gives (n documents, k), a NaN row where the score is not defined;
    `signature()` names the library, its version, the settings and the scale;
    `explain(candidates, references)` says why no document has a score, "" where only a missing text is the reason.
    """

    statistics: Callable[..., np.ndarray]
    signature: Callable[[], str]
    explain: Callable[..., str] = lambda *texts: ""


# What `normalise` does to a text before any metric.
PRE_SPLIT = f"pre-split:NFC lower-case words joined by a space|{WORDS}"


def mean_statistics(values: Iterable[float]) -> np.ndarray:
    """Return the rows (value, 1) of a score that is a mean over documents; a NaN value makes a NaN row."""
    column = np.fromiter(values, dtype=float)
    return np.stack([column, np.where(np.isnan(column), np.nan, 1.0)], axis=1)


def share_statistics(rows: Iterable[Sequence[float]], n_columns: int = 2) -> np.ndarray:
    """Return the rows (counts, total) of a score that is made of the ratios of their sums; NaN rows where the total is 0."""
    table = np.array([*rows], dtype=float).reshape(-1, n_columns)
    table[table[:, -1] == 0] = np.nan
    return table


def normalise(text: str) -> str:
    """Return the words of a text, composed (NFC), in small letters and joined by one space; a second pass changes nothing.

    All arms are compared in this form, so that no tokenizer's spacing, case or spelling of accents is scored.
    """
    return " ".join(split_words(fold_case(text)))
