"""The table `documents`: what the scores of text are sums and means of, one row per filled document of every cell."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from .cells import ScoredCell
from .curve import keep_reached

NAME = "documents"
FILE = f"{NAME}.csv.gz"
NAMES = ("corpus", "arm", "strategy", "ratio", "seed", "budget")
ORDERS = range(1, 5)  # of n-grams
COUNTS = {  # by scope and metric: what the columns of its statistics are called
    ("fills", "exact_match"): ("exact", "blanks"),
    **{
        ("fills", f"exact_match_{name}"): (f"exact_{name}", f"blanks_{name}")
        for name in ("content", "stopword", "punctuation")
    },
    ("document", "bleu"): (
        "tokens",
        "original_tokens",
        *(f"matched_{n}" for n in ORDERS),
        *(f"ngrams_{n}" for n in ORDERS),
    ),
    ("document", "bertscore"): ("bertscore",),
}
KEYS = [*NAMES, "document"]
COLUMNS = [*KEYS, "unit", *(column for columns in COUNTS.values() for column in columns)]


def list_documents(cells: Iterable[ScoredCell], along: Iterable[ScoredCell]) -> pd.DataFrame:
    """Return the table: the cells of a study, then those along its training curves, whose `budget` is not empty.

    Documents are numbered in the order of their corpus, and named by nothing else. A score that is not defined for a
    document is NaN, and so is one that was not measured.
    """
    tables = [_count(one) for one in [*cells, *keep_reached(along)] if one.statistics]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=COLUMNS)


def _count(one: ScoredCell) -> pd.DataFrame:
    """Return one row per document of a cell, in the order of the documents."""
    units, _ = pd.factorize(np.asarray(one.units))
    named = {name: getattr(one.cell, name) for name in NAMES} | {"budget": one.cell.budget or np.nan}
    counted = {
        column: values
        for measure, columns in COUNTS.items()
        if measure in one.statistics
        for column, values in zip(
            columns, one.statistics[measure].T, strict=False
        )  # a mean's rows end in a 1
    }
    rows = pd.DataFrame({"document": np.arange(1, len(units) + 1), "unit": units + 1} | counted)
    return rows.assign(**named).reindex(columns=COLUMNS)
