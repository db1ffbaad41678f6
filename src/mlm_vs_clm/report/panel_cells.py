"""The values that a panel shows: the rows of a table of the study, with their lines, facets and competence."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2

import pandas as pd

from ..errors import StudyError
from ..evidence.tables import sortable
from ..evidence.variants import join_settings, over_runs
from ..evidence.verdicts import NOT_COMPETENT
from ..metrics import DISCLOSURE
from . import style
from .cost import GIGA
from .outcomes import keep_trained
from .panel_sentences import Spec, name_axis, write

PLACES = {  # what tells the values of a panel apart, by its kind
    "heat": ["facet", "y", "x"],
    "lines": ["facet", "line", "x"],
    "points": ["facet", "line", "x"],
    "frontier": ["facet", "line", "x", "full_name"],
    "scatter": ["facet", "line", "full_name"],
    "dots": ["facet", "arm", "line"],
}
OVER_NUMBERS = ("lines", "frontier", "scatter")  # kinds whose x is no category
DEFAULT = "defaults"  # of settings that only some arms of a panel vary


def select_cells(spec: Spec, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the rows that a panel shows, runs averaged: columns x, y, line, facet, value, low, high, pale, named.

    `y` is the second axis of a heat map. Where several corpora would share a place, each has a facet. Raises StudyError for
    a column that the table does not have, for words where numbers are drawn, and for values that share a cell of a heat map all the same.
    """
    if tables[spec["table"]].empty:
        return tables[spec["table"]]
    rows = read_rows(spec, tables)
    cells = make_cells(rows, spec)
    if not cells.duplicated(PLACES[spec["kind"]]).any():
        return cells
    roles = " ".join(spec[role] for role in ("x", "y", "line", "facet")).split()
    if "corpus" in rows and "corpus" not in roles and rows["corpus"].nunique() > 1:
        return select_cells({**spec, "facet": f"corpus {spec['facet']}".strip()}, tables)
    if spec["kind"] == "heat":
        raise StudyError(
            f"track.panels: {spec['name']} has several values in one cell: choose them apart by where, y or facet"
        )
    return cells


def read_rows(spec: Spec, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of a panel's table that its `where` chooses, runs averaged, in the order of facets and lines."""
    rows = join_settings(spec["table"], tables)
    if spec["table"] != "usefulness":  # of texts, whoever wrote them
        rows = mark_incompetent(rows, tables["competence"])
    for column, setting in spec["where"].items():
        values = _column(rows, spec, column)
        chosen = setting if isinstance(setting, list) else [setting]
        rows = rows[values.isin(chosen) | (values.isna() & (None in chosen))]
    rows = over_runs(spec["table"], join_competence(rows, tables))
    split = [column for column in f"{spec['facet']} {spec['line']}".split() if column in rows]
    return rows.sort_values(split, key=sortable, kind="stable", na_position="first") if split else rows


def make_cells(rows: pd.DataFrame, spec: Spec) -> pd.DataFrame:
    """Return the columns of `select_cells` for the rows that have a place and a value."""
    value = "value" if spec["kind"] == "heat" else spec["y"]
    x, y = (_name_measures(_column(rows, spec, spec[axis]), spec[axis]) for axis in ("x", "y"))
    refuse_words(rows, spec, value)
    line, facet = (_words(rows, spec, role) for role in ("line", "facet"))
    named, arm = rows.get("variant", line), rows.get("base", line)
    absent = pd.Series(float("nan"), index=rows.index)
    pale = rows.get("excluded_because", absent).fillna("")
    of_value = "" if value == "value" else f"{value}_"
    cells = pd.DataFrame(
        {
            "x": x.map(round_passes) if spec["kind"] == "heat" and spec["x"] == "passes" else x,
            "y": y,
            "line": line,
            "facet": facet,
            "value": _column(rows, spec, value),
            "low": rows.get(f"{of_value}low", absent),
            "high": rows.get(f"{of_value}high", absent),
            "x_low": rows.get(f"{spec['x']}_low", absent),
            "x_high": rows.get(f"{spec['x']}_high", absent),
            "pale": pale,
            "direction": rows.get("direction", ""),
            "named": named,
            "arm": arm,
            "full_name": [" ".join(dict.fromkeys(pair)) for pair in zip(arm, named, strict=True)],
            "second": rows["second"].str.partition(" ")[0] if "second" in rows else "",
            "metric": rows.get("metric", ""),
            "trainings": rows.get("trainings", 1),
            "is_unsure": rows.get("is_unsure", False),
            "reason": pale,  # a note in the table
        }
    )
    return cells.dropna(subset=["x", "y", "value"]).reset_index(drop=True)


def refuse_words(rows: pd.DataFrame, spec: Spec, value: str) -> None:
    """Raise StudyError where the column of values, or of an x that is no category, holds words."""
    columns = {"y": value} | ({"x": spec["x"]} if spec["kind"] in OVER_NUMBERS else {})
    for axis, column in columns.items():
        if not pd.api.types.is_numeric_dtype(_column(rows, spec, column)):
            raise StudyError(
                f"track.panels: {spec['name']}.{axis}={column} holds words, and {spec['kind']} need numbers: choose another "
                "column or, for words along x, kind=points or heat"
            )


def _column(rows: pd.DataFrame, spec: Spec, column: str) -> pd.Series:
    """Return a column; a metric that was not measured, and a setting that does not vary, have no value."""
    if column in rows:
        return rows[column] / GIGA if column == "flops" else rows[column]
    if column in style.METRICS or "." in column:
        return pd.Series(float("nan"), index=rows.index)
    columns = [name for name in rows if not name.endswith(("_low", "_high")) and name not in style.METRICS]
    raise StudyError(
        f"track.panels: {spec['name']} names {column}, which table {spec['table']} does not have: choose a metric or one "
        f"of {', '.join(columns)}"
    )


def _name_measures(values: pd.Series, column: str) -> pd.Series:
    """Return the values of an axis; those of the column of metrics by their names for people."""
    return values.map(style.name_metric) if column == "metric" else values


def _words(rows: pd.DataFrame, spec: Spec, role: str) -> pd.Series:
    """Return the line or the facet of each row in words, DEFAULT where it has none of its own, "" where no row has."""
    words = pd.Series("", index=rows.index, dtype="str")
    for column in spec[role].split():
        values = _name_measures(_column(rows, spec, column), column)
        name = name_axis(column) if pd.api.types.is_numeric_dtype(values) else ""
        words_of_column = values.map(
            lambda value, name=name: f" {name} {write(value)}" if pd.notna(value) else ""
        )
        words += words_of_column.astype("str")
    words = words.str.split().str.join(" ")
    return words.mask(words == "", DEFAULT if words.any() else "")


def mark_incompetent(rows: pd.DataFrame, competence: pd.DataFrame) -> pd.DataFrame:
    """Return rows of cells with `excluded_because`: why an arm's value says little.

    It is "" where the arm is competent or a floor, and of what a text gives away, which says as much of any arm.
    """
    place = ["corpus", "arm", "strategy", "ratio"]
    if "excluded_because" in rows or not set(place) <= {*rows} or competence.empty:
        return rows
    judged = keep_trained(competence[competence["word_class"] == "all"]).set_index(place)["outcome"]
    outcome = rows[place].join(judged, on=place)["outcome"]
    given_away = rows.get("metric", pd.Series("", index=rows.index)).isin(DISCLOSURE)
    return rows.assign(excluded_because=outcome.where((outcome == NOT_COMPETENT) & ~given_away, ""))


def join_competence(rows: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return differences with `trainings` behind them, and `is_unsure`: an arm is not competent on content words.

    Both are those of the arms at the main cell; rows without two arms are returned as they are.
    """
    if not {"first", "second"} <= {*rows} or tables["competence"].empty:
        return rows
    judged = style.read_study(tables).at_main(tables["competence"])
    judged = judged.set_index(["corpus", "arm", "word_class"])
    places = zip(rows["corpus"], rows["first"], rows["second"], strict=True)
    pairs = [((corpus, first), (corpus, second)) for corpus, first, second in places]
    runs, outcome = judged["runs"].to_dict(), judged["outcome"].to_dict()
    return rows.assign(
        trainings=[min(runs.get((*side, "all"), 1) for side in pair) for pair in pairs],
        is_unsure=[any(outcome.get((*side, "content")) == NOT_COMPETENT for side in pair) for pair in pairs],
    )


def round_passes(passes: float) -> float:
    """Return a number of passes as the nearest power of two, so that trainings at about as many share a column."""
    return 2.0 ** round(log2(passes)) if passes > 0 else passes
