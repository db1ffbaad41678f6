"""Fresh results against the committed ones, number by number: what another group would run first.

A number is `OK` (equal to six digits: the last bits are the machine's), `near` (within the tolerance of its
metric), `differs` (beyond it), `missing` (committed, not fresh) or `extra` (fresh, not committed). Nothing is
rerun: both folders hold CSV files that the report stage wrote.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from ..analysis import tables
from ..analysis.reproduction import summarise
from ..errors import StudyError

# How far a number may move and still be the same finding; in the unit of the metric or column.
TOLERANCES = {
    "bleu": 0.5,
    "longest_repeat": 0.5,
    "longest_copied_run": 0.5,
    "dev_loss": 0.05,
    "train_loss": 0.05,
    "p": 0.05,
}
TOLERANCE, TOLERANCE_OF_GAINS = 0.01, 0.05
RELATIVE = {"flops": 0.01, "passes": 0.01, "token_forwards": 0.01, "tokens_filled": 0.01, "cells_needed": 0.1}
# The machine's, not the study's: what was measured with a clock, and where the number was made.
IGNORED = {
    *("seconds", "peak_memory_mb", "tokens_per_second", "device", "precision"),
    *("artifact", "signature", "reason", "initialisation", "evidence", "statement"),
}
OUTCOMES = {"verdict", "decision"}  # words that are results, not names
CLAIM = ["claim", "corpus", "metric", "scope"]
KEYS = tables.KEYS | {"training": ["objective", "corpora", "step"], "claims": CLAIM}
IN_UNITS = {"value", "low", "high", "effect", "detectable"}  # in the unit of the metric beside them
STATUSES = ("OK", "near", "differs", "missing", "extra")
SHOWN = 20


def compare_folders(fresh: Path, committed: Path) -> pd.DataFrame:
    """Return one row a number: file, cell, measure, fresh, committed, status.

    Raises StudyError where a folder is absent or holds no CSV file, or a file cannot be read as CSV.
    """
    tables = {name: read_folder(folder) for name, folder in (("fresh", fresh), ("committed", committed))}
    names = sorted(set(tables["fresh"]) | set(tables["committed"]))
    return pd.concat(
        [compare_tables(name, tables["fresh"].get(name), tables["committed"].get(name)) for name in names],
        ignore_index=True,
    )


def read_folder(folder: Path) -> dict[str, pd.DataFrame]:
    """Return the CSV files of a results folder by name, without the suffix."""
    paths = sorted(Path(folder).glob("*.csv"))
    if not paths:
        raise StudyError(f"no results in {folder}: name a folder with scores.csv, or run `make reproduce`")
    return {path.stem: read_table(path) for path in paths}


def read_table(path: Path) -> pd.DataFrame:
    """Return a CSV file with only the empty cell as missing, since `none` and `NA` may be names."""
    try:
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        problem = " ".join(str(error).split())
        raise StudyError(f"{path} is no table ({problem}): make it again with `make reproduce`") from None


def compare_tables(name: str, fresh: pd.DataFrame | None, committed: pd.DataFrame | None) -> pd.DataFrame:
    """Return the comparison of one file; a row, column or file that one side lacks is `missing` or `extra`."""
    keys = choose_keys(name, committed if committed is not None else fresh)
    sides = [lengthen(name, table, keys) for table in (committed, fresh)]
    paired = pd.concat(sides, axis=1, keys=["committed", "fresh"]).reset_index(names=["cell", "measure"])
    paired.columns = ["cell", "measure", "committed", "fresh"]
    statuses = [judge(*row) for row in paired[["measure", "fresh", "committed"]].itertuples(index=False)]
    compared = paired.assign(file=name, status=statuses)
    return compared[["file", "cell", "measure", "fresh", "committed", "status"]]


def choose_keys(name: str, table: pd.DataFrame) -> list[str]:
    """Return the columns that name a row: declared ones, or ratio, seed and the words that are no outcome."""
    if name in KEYS:
        return KEYS[name]
    named = [c for c in table.columns if c in ("ratio", "seed") or not is_numeric_dtype(table[c])]
    return [column for column in named if column not in IGNORED | OUTCOMES]


def choose_measures(table: pd.DataFrame, keys: list[str]) -> list[str]:
    """Return the columns that are compared: numbers and outcomes that neither name a row nor are ignored."""
    results = [c for c in table.columns if c in OUTCOMES or is_numeric_dtype(table[c])]
    return [column for column in results if column not in IGNORED.union(keys)]


def lengthen(name: str, table: pd.DataFrame | None, keys: list[str]) -> pd.Series:
    """Return one entry a number or outcome under (cell, measure); repeated cells are numbered in their order."""
    if table is None or table.empty:
        return pd.Series(dtype=object, index=pd.MultiIndex.from_arrays([[], []]))
    absent = [column for column in keys if column not in table.columns]
    if absent:
        raise StudyError(f"{name}.csv has no column {absent[0]!r} on one side: make it again")
    cells = pd.Series([name_cell(row) for row in table[keys].itertuples(index=False)])
    repeats = cells.groupby(cells).cumcount()
    cells = cells.where(repeats == 0, cells + " (row " + (repeats + 1).astype(str) + ")")
    metrics = table["metric"] if "metric" in table.columns else [""] * len(table)
    entries = {}
    for column in choose_measures(table, keys):
        for cell, metric, value in zip(cells, metrics, table[column], strict=True):
            entries[cell, name_measure(column, metric)] = value
    return pd.Series(entries, dtype=object)


def name_cell(values: tuple) -> str:
    """Return a row's name from its key values, numbers written alike whatever their type."""
    return " ".join(f"{value:g}" if isinstance(value, int | float) else str(value) for value in values)


def name_measure(column: str, metric: str) -> str:
    """Return what a number measures: `bleu` for the value of BLEU, `bleu low` for its lower end."""
    if pd.isna(metric) or not metric or column not in IN_UNITS:
        return column
    return metric if column == "value" else f"{metric} {column}"


def judge(measure: str, fresh: object, committed: object) -> str:
    """Return the status of one pair; missing on both sides is agreement."""
    if pd.isna(fresh) or pd.isna(committed):
        if pd.isna(fresh) and pd.isna(committed):
            return "OK"
        return "missing" if pd.isna(fresh) else "extra"
    if isinstance(fresh, str) or isinstance(committed, str):
        return "OK" if str(fresh) == str(committed) else "differs"
    fresh, committed = float(fresh), float(committed)
    if np.isclose(fresh, committed, rtol=1e-6, atol=1e-9):
        return "OK"
    return "near" if abs(fresh - committed) <= find_tolerance(measure, committed) else "differs"


def find_tolerance(measure: str, committed: float) -> float:
    """Return how far a number may lie from the committed one."""
    name = measure.split()[0]
    if name in RELATIVE:
        return RELATIVE[name] * abs(committed)
    return TOLERANCES.get(name, TOLERANCE_OF_GAINS if name.endswith("_gain") else TOLERANCE)


def count_statuses(compared: pd.DataFrame) -> pd.DataFrame:
    """Return one row a file and metric: how many numbers have each status, and the largest difference."""
    metric = compared["measure"].str.split().str[0]
    both = compared[["fresh", "committed"]].apply(pd.to_numeric, errors="coerce")
    table = compared.assign(metric=metric, difference=(both["fresh"] - both["committed"]).abs())
    groups = table.groupby(["file", "metric"])
    counts = groups["status"].value_counts().unstack(fill_value=0).reindex(columns=STATUSES, fill_value=0)
    return counts.assign(largest_difference=groups["difference"].max()).reset_index()


def tell(compared: pd.DataFrame, folders: tuple[Path, Path]) -> str:
    """Return what is printed: the table, the first numbers that differ, and the degree of reproduction."""
    counts = count_statuses(compared)
    numbers = counts.to_string(index=False, float_format=lambda value: f"{value:.3g}", na_rep="-")
    wrong = compared[compared["status"].isin(["differs", "missing"])]
    lines = [numbers, ""]
    for row in wrong.head(SHOWN).itertuples():
        lines.append(f"{row.status}: {row.file} {row.cell} {row.measure}: {row.fresh} for {row.committed}")
    if len(wrong) > SHOWN:
        lines.append(f"and {len(wrong) - SHOWN} more")
    totals = compared["status"].value_counts().reindex(STATUSES, fill_value=0)
    lines += [*summarise(*map(read_folder, folders)), ""]
    lines.append(", ".join(f"{count} {status}" for status, count in totals.items()))
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm verify`."""
    parser.add_argument("--fresh", type=Path, required=True, help="results folder of a fresh report")
    parser.add_argument("--committed", type=Path, required=True, help="results folder to compare with")


def run(chosen: argparse.Namespace) -> int:
    """Print the comparison; return 0 if nothing differs or is missing, else 1."""
    compared = compare_folders(chosen.fresh, chosen.committed)
    print(tell(compared, (chosen.fresh, chosen.committed)))
    return int(compared["status"].isin(["differs", "missing"]).any())
