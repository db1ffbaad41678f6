"""The tidy tables of a study, by the columns and keys of `columns`: their order, the main cell, and cells averaged over seeds."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from ..errors import StudyError
from ..files import hash_lines, list_hashes, list_studies
from ..tasks import TASKS
from .columns import COLUMNS, FLAG, KEYS, NOTE, NUMBER, TABLES
from .forms import NAMED, check_form

STUDY = "study"  # a table of one row, in the settings of the study
OVERALL = "overall"  # all corpora together
# Kinds of comparisons: of the texts at every masking; at the main cell as training data, seed by seed, along the training
# curve (`at`: what is matched), and at equal compute (`at`: whose).
TEXT, TRAINING_DATA, SEED, CURVE, COMPUTE = "text", "training data", "seed", "curve", "compute"
UNEXPLAINED = "no reason was recorded"


def tidy(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its declared columns first and its rows sorted, so that its bytes depend on its rows.

    An empty table needs no columns, and notes may be absent. Raises StudyError for another absent column and
    for two rows of one cell, which a figure would otherwise average in silence.
    """
    required = [column.name for column in TABLES[name].columns if column.kind != NOTE]
    absent = [] if table.empty else [column for column in required if column not in table.columns]
    if absent:
        raise StudyError(
            f"the table {name!r} has no column {absent[0]!r}: "
            f"add it in the stage that writes it (its columns: {', '.join(table.columns)})"
        )
    extra = [column for column in table.columns if column not in COLUMNS[name]]
    table = table.reindex(columns=COLUMNS[name] + extra)
    for column in TABLES[name].columns:
        values = table[column.name]
        filled = values.where(values != "", None)
        if column.kind == FLAG:
            table[column.name] = values.astype(str) == "True"
        else:
            table[column.name] = pd.to_numeric(filled) if column.kind == NUMBER else filled.astype("str")
    refuse_repeated_cells(name, table)
    return table.sort_values(list(table.columns), key=sortable, kind="stable", ignore_index=True)


def sortable(column: pd.Series) -> pd.Series:
    """Return values that can be compared, with missing ones among words as the empty word."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    return column.fillna("").astype(str)


def refuse_repeated_cells(name: str, table: pd.DataFrame) -> None:
    """Raise StudyError where two rows describe the same cell."""
    repeated = table[table.duplicated(KEYS[name])]
    if repeated.empty:
        return
    cell = ", ".join(f"{key}={value}" for key, value in repeated.iloc[0][KEYS[name]].items())
    raise StudyError(
        f"the table {name!r} has {len(repeated)} repeated cell(s), the first at {cell}: "
        "give arms that differ in an axis names of their own, or drop the older rows"
    )


def read_tables(folder: Path, names: Iterable[str] = COLUMNS) -> dict[str, pd.DataFrame]:
    """Return the tidy tables of one results folder, or those of some names; raises StudyError where a file is absent."""
    return {name: read_table(name, folder) for name in names}


def read_table(name: str, folder: Path) -> pd.DataFrame:
    """Return one tidy table of a results folder; raises StudyError where its file is absent, unless it is a rare one."""
    if name == STUDY:
        return read_study(folder)
    path = Path(folder) / f"{name}.csv"
    if TABLES[name].is_rare and not path.is_file():
        return tidy(name, pd.DataFrame())
    if not path.is_file():
        raise StudyError(f"no {path.name} in {folder}: run `make reproduce` first")
    table = tidy(name, pd.read_csv(path, dtype="str", keep_default_na=False, na_values=[""]))
    for column in table.columns.difference(COLUMNS[name]):  # a varied setting, whose kind no list knows
        with suppress(ValueError):
            table[column] = pd.to_numeric(table[column])
    return table


def read_study(folder: Path) -> pd.DataFrame:
    """Return the table `study` of a results folder; raises StudyError where `study.yaml` does not have it."""
    path = Path(folder) / "study.yaml"
    try:
        about = yaml.safe_load(path.read_text(encoding="utf-8"))[STUDY]
        check_form(path, about, NAMED, STUDY)
        return tidy(STUDY, pd.DataFrame([{name: about[name] for name in COLUMNS[STUDY]}]))
    except (OSError, yaml.YAMLError, KeyError, TypeError):
        raise StudyError(f"no key `study` in {path}: run `make reproduce` first") from None


def find_results(environment: Mapping[str, str], results: Path) -> tuple[Path, str]:
    """Return the results folder that a notebook reads, and a line that names it.

    `MLM_VS_CLM_RESULTS` names a folder, `MLM_VS_CLM_SCALE` a scale in `results` (laptop unless set); without
    that scale the first folder that is present is read. Raises StudyError where there is none.
    """
    if named := environment.get("MLM_VS_CLM_RESULTS"):
        return Path(named), f"Reading {Path(named).name}, as MLM_VS_CLM_RESULTS says."
    scale = environment.get("MLM_VS_CLM_SCALE", "laptop")
    present = list_studies(results)
    if not present:
        raise StudyError(f"no results in {results}: run `make reproduce` first")
    if scale in present:
        return present[scale], f"Reading the scale {scale}."
    first_scale = min(present)
    return present[first_scale], f"No results at the scale {scale}: reading {first_scale} instead."


def hash_tables(folder: Path) -> str:
    """Return 12 hex digits that change with any CSV file of a results folder."""
    return hash_lines(list_hashes(folder, sorted(path.name for path in folder.glob("*.csv"))))[:12]


def over_seeds(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return one row per cell: the mean of the seeds, with an interval from their lowest low to their highest high.

    The interval is never narrower than a single seed's. `reason` names what is missing, also where only some seeds are.
    """
    rows = rows.assign(reason=explain_missing(rows))
    repeated = rows.duplicated(by, keep=False)
    rows["low"] = rows["low"].where(rows["low"].notna() | ~repeated, rows["value"])
    rows["high"] = rows["high"].where(rows["high"].notna() | ~repeated, rows["value"])
    groups = rows.groupby(by, dropna=False, sort=False)
    cells = groups.agg(
        value=("value", "mean"),
        low=("low", "min"),
        high=("high", "max"),
        n=("n", "min"),
        share=("share", "mean"),
        seeds=("seed", "size"),
        reason=("reason", join_reasons),
    )
    return cells.reset_index()


def explain_missing(rows: pd.DataFrame) -> pd.Series:
    """Return a reason for every row without a value, and what was recorded (or nothing) for the others."""
    reasons = rows["reason"].astype(object)
    return reasons.where(reasons.notna(), rows["value"].isna().map({True: UNEXPLAINED, False: ""}))


def join_reasons(reasons: pd.Series) -> str:
    """Return the distinct reasons of a cell's seeds, with how many seeds they concern."""
    text = "; ".join(sorted({reason for reason in reasons if reason}))
    n_missing = sum(bool(reason) for reason in reasons)
    return text if n_missing in (0, len(reasons)) else f"{n_missing} of {len(reasons)} seeds missing: {text}"


def find_utility(downstream: pd.DataFrame, corpus: str) -> str:
    """Return the main metric of a corpus's task; nothing for a corpus without results."""
    tasks = downstream.loc[downstream["corpus"] == corpus, "task"]
    return TASKS[tasks.iloc[0]].main_metric if len(tasks) else ""


def main_cell(tables: Mapping[str, pd.DataFrame]) -> tuple[str, float]:
    """Return strategy and ratio of the main cell of a study; raises StudyError where `study` has no row."""
    if tables["study"].empty:
        raise StudyError(
            "study.yaml says nothing of its main cell: run `make reproduce`, which makes it again"
        )
    row = tables["study"].iloc[0]
    return str(row["main_strategy"]), float(row["main_ratio"])


def pick_kind(comparisons: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the comparisons of a kind."""
    return comparisons[comparisons["kind"] == kind]


def at_main_cell(table: pd.DataFrame, main: tuple[str, float]) -> pd.DataFrame:
    """Return the rows of the main cell: its strategy and ratio."""
    strategy, ratio = main
    return table[(table["strategy"] == strategy) & np.isclose(table["ratio"].astype(float), ratio)]
