"""The frame `documents`: what every score of text is a sum of, one row per document of every cell; and cells made of it.

A score is a function of sums over documents (`stats`). COUNTS has the columns of these sums for each measure. A measure
with one column is a mean over documents. A row holds the numbers of its cell; a number that is not defined for a
document, or was not measured in a cell, is missing. Measures count the same thing under the same name.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..errors import StudyError
from ..metrics import MEASURES
from .cells import Cell, ScoredCell, Statistics

FILE = "documents.parquet"
NAMES = ("corpus", "arm", "strategy", "ratio", "seed", "budget")
Measure = tuple[str, str]  # scope, metric
COUNTS: dict[Measure, tuple[str, ...]] = {
    (scope, name): measure.sums[scope]
    for scope in ("fills", "document")
    for name, measure in MEASURES.items()
    if scope in measure.sums
}
KEYS = [*NAMES, "document"]
COLUMNS = [*KEYS, "unit", *dict.fromkeys(column for columns in COUNTS.values() for column in columns)]


def list_documents(cells: Iterable[ScoredCell]) -> pd.DataFrame:
    """Return the frame: the documents of each cell, in the order of their corpus, and named by nothing but numbers.

    `budget` is missing for the model that a study uses. Cells that share their names are one, with the statistics of all.
    """
    merged: dict[Cell, ScoredCell] = {}
    for scored in cells:
        merged_cell = merged.setdefault(scored.cell, scored)
        merged[scored.cell] = replace(merged_cell, statistics=scored.statistics | merged_cell.statistics)
    tables = [_count(scored) for scored in merged.values() if scored.statistics]
    rows = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=KEYS)
    return rows[[column for column in COLUMNS if column in rows]]


def _count(scored: ScoredCell) -> pd.DataFrame:
    """Return one row per document of a cell."""
    names = {name: getattr(scored.cell, name) for name in NAMES} | {"budget": scored.cell.budget or np.nan}
    units = number_units(scored.units)
    counted = {
        column: values
        for measure, rows in scored.statistics.items()
        for column, values in zip(_columns_of(measure), rows.T, strict=False)  # a mean's rows end in a 1
    }
    return pd.DataFrame({"document": np.arange(1, len(units) + 1), "unit": units} | counted).assign(**names)


def _columns_of(measure: Measure) -> tuple[str, ...]:
    if measure not in COUNTS:
        raise StudyError(f"no column of {FILE} holds {' '.join(measure)}: name its sums in metrics.MEASURES")
    return COUNTS[measure]


def number_units(units: Sequence[Hashable]) -> np.ndarray:
    """Return the number of each unit, from 1, in the order of their names: resamples draw the same units as by name."""
    return np.unique(np.asarray(units), return_inverse=True)[1] + 1


def read_statistics(rows: pd.DataFrame, measures: Iterable[Measure]) -> Statistics:
    """Return the statistics of measures from the rows of one cell."""
    names = {measure: _columns_of(measure) for measure in measures}
    columns = {name: _read_column(rows, name) for of_measure in names.values() for name in of_measure}
    return {measure: _stack([columns[name] for name in names[measure]]) for measure in names}


def _read_column(rows: pd.DataFrame, name: str) -> np.ndarray:
    return rows[name].to_numpy(dtype=float) if name in rows else np.full(len(rows), np.nan)


def _stack(columns: list[np.ndarray]) -> np.ndarray:
    if len(columns) > 1:
        return np.stack(columns, axis=1)
    return np.stack([columns[0], np.where(np.isnan(columns[0]), np.nan, 1.0)], axis=1)


def list_measured(rows: pd.DataFrame) -> list[Measure]:
    """Return the measures of which some document of a cell has a value."""
    present = {column for column in rows if rows[column].notna().any()}
    return [measure for measure, columns in COUNTS.items() if present.issuperset(columns)]


def read_clusters(rows: pd.DataFrame) -> list[int] | None:
    """Return the unit of each document where units repeat, else None."""
    units = rows["unit"].astype(int).tolist()
    return units if len(set(units)) < len(units) else None


def group_rows(frame: pd.DataFrame) -> Mapping[Cell, pd.DataFrame]:
    """Return the rows of each cell of a frame."""
    groups = frame.assign(budget=frame["budget"].fillna(0)).groupby(list(NAMES), sort=False)
    return {to_cell(dict(zip(NAMES, names, strict=True))): rows for names, rows in groups}


def to_cell(row: Mapping) -> Cell:
    """Return the cell that a row of a frame names."""
    budget = row.get("budget", 0)
    return Cell(
        row["corpus"],
        row["arm"],
        row["strategy"],
        float(row["ratio"]),
        int(row["seed"]),
        int(budget) if budget == budget else 0,
    )
