"""Fresh results against committed ones: every number, and the degree of reproduction.

A number is `OK` (equal to six digits: the last bits are the machine's), `near` (within the tolerance of its metric),
`differs` (beyond it), `missing` (committed, not fresh) or `extra` (fresh, not committed).
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from ..correlations import kendall
from ..errors import StudyError
from ..metrics import MEASURES
from .tables import KEYS

Tables = Mapping[str, pd.DataFrame]
# How far a number may move and still be the same finding; in the unit of the metric or column.
TOLERANCES = {name: measure.tolerance for name, measure in MEASURES.items()} | {
    "longest_copied_run": 0.5,
    "dev_loss": 0.05,
    "train_loss": 0.05,
    "p": 0.05,
}
TOLERANCE, TOLERANCE_OF_GAINS = 0.01, 0.05
EQUAL, LOOSE = 1e-6, 0.01  # of frames: what is equal, and the share of values that may not be
RELATIVE = {"flops": 0.01, "passes": 0.01, "token_forwards": 0.01, "tokens_filled": 0.01}
# The machine's, not the study's: what was measured with a clock, and where the number was made.
IGNORED = {
    *("seconds", "peak_memory_mb", "tokens_per_second", "device", "precision"),
    *("artifact", "signature", "reason", "initialisation", "statement"),
}
VERDICT = ["status", "direction", "size"]
OUTCOMES = {"outcome", "decision", *VERDICT}  # words that are results, not names
IN_UNITS = {"value", "low", "high", "effect", "detectable"}  # in the unit of the metric beside them
PACKED = ".parquet"  # ends the name of a frame of values by document
STATUSES = ("OK", "near", "differs", "missing", "extra")
COMPARED = ["file", "cell", "measure", "fresh", "committed", "status"]
RANKED = {"scores": "arm", "downstream": "trained_on"}
# The expected standard deviation of two normal values over their true one, sqrt(2 / pi).
C4_OF_TWO = math.sqrt(2 / math.pi)


def compare_results(fresh: Tables, committed: Tables) -> pd.DataFrame:
    """Return one row per number: file, cell, measure, fresh, committed, status."""
    names = sorted(set(fresh) | set(committed))
    compared = []
    for name in names:
        compare = compare_frames if name.endswith(PACKED) else compare_tables
        compared.append(compare(name, fresh.get(name), committed.get(name)))
    return pd.concat(compared, ignore_index=True)


def compare_tables(name: str, fresh: pd.DataFrame | None, committed: pd.DataFrame | None) -> pd.DataFrame:
    """Return the comparison of one file; a row, column or file that one side lacks is `missing` or `extra`."""
    table_at_hand = committed if committed is not None else fresh
    keys = choose_keys(name, table_at_hand if table_at_hand is not None else pd.DataFrame())
    sides = [lengthen(name, table, keys) for table in (committed, fresh)]
    if all(side.empty for side in sides):  # words alone, or no rows
        return pd.DataFrame(columns=COMPARED)
    paired = pd.concat(sides, axis=1, keys=["committed", "fresh"]).reset_index(names=["cell", "measure"])
    paired.columns = pd.Index(["cell", "measure", "committed", "fresh"])
    rows = zip(paired["measure"], paired["fresh"], paired["committed"], strict=True)
    compared = paired.assign(file=name, status=[find_status(*row) for row in rows])
    return compared[COMPARED]


def compare_frames(name: str, fresh: pd.DataFrame | None, committed: pd.DataFrame | None) -> pd.DataFrame:
    """Return the comparison of a frame, a row per column: `near` where at most LOOSE of its values are not equal to six digits.

    Rows are compared in their order, which is that of the cells; other rows or columns are `missing` or `extra` as a whole.
    """
    rows = []
    sides = [frame if frame is not None else pd.DataFrame() for frame in (committed, fresh)]
    for column in dict.fromkeys([*sides[0].columns, *sides[1].columns]):
        held = [len(side) if column in side else 0 for side in sides]
        share = 0.0
        if held[0] != held[1]:
            status = "differs" if all(held) else "missing" if held[0] else "extra"
        else:
            share = float((~_is_same(sides[0][column], sides[1][column])).mean()) if held[0] else 0.0
            status = "OK" if share == 0 else "near" if share <= LOOSE else "differs"
        differing = f"{share:.2%} of {held[0]:,} values differ"
        counts = [differing if share else f"{n:,} values" for n in held]
        rows.append([name, "all rows", str(column), counts[1], counts[0], status])
    return pd.DataFrame(rows, columns=COMPARED)


def _is_same(first: pd.Series, second: pd.Series) -> np.ndarray:
    """Return which values of two columns are equal: words, or numbers to six digits."""
    if is_numeric_dtype(first) and is_numeric_dtype(second):
        return np.isclose(first.astype(float), second.astype(float), rtol=EQUAL, atol=EQUAL, equal_nan=True)
    return first.astype(str).to_numpy() == second.astype(str).to_numpy()


def choose_keys(name: str, table: pd.DataFrame) -> list[str]:
    """Return the columns that name a row: declared ones, or ratio, seed and the words that are not outcomes."""
    words = [c for c in table.columns if c in ("ratio", "seed") or not is_numeric_dtype(table[c])]
    named = KEYS.get(name, [column for column in words if column not in OUTCOMES])
    return [column for column in named if column not in IGNORED]


def lengthen(name: str, table: pd.DataFrame | None, keys: list[str]) -> pd.Series:
    """Return one entry per number or outcome under (cell, measure); repeated cells are numbered in their order."""
    if table is None or table.empty:
        return index_entries({})
    absent = [column for column in keys if column not in table.columns]
    if absent:
        raise StudyError(f"{name}.csv has no column {absent[0]!r} on one side: make it again")
    cells = pd.Series([name_cell(row) for row in table[keys].itertuples(index=False)])
    repeats = cells.groupby(cells).cumcount()
    cells = cells.where(repeats == 0, cells + " (row " + (repeats + 1).astype(str) + ")")
    metrics = table["metric"] if "metric" in table.columns else [""] * len(table)
    results = [c for c in table.columns if c in OUTCOMES or is_numeric_dtype(table[c])]
    entries = {
        (cell, name_value(column, metric)): value
        for column in results
        if column not in IGNORED.union(keys)
        for cell, metric, value in zip(cells, metrics, table[column], strict=True)
    }
    return index_entries(entries)


def index_entries(entries: Mapping[tuple[str, str], Any]) -> pd.Series:
    """Return entries under (cell, measure), be there none."""
    names = [[name[level] for name in entries] for level in (0, 1)]
    return pd.Series(list(entries.values()), index=pd.MultiIndex.from_arrays(names), dtype=object)


def name_cell(values: Iterable) -> str:
    """Return a row's name from its key values, numbers written alike whatever their type."""
    return " ".join(f"{value:g}" if isinstance(value, int | float) else str(value) for value in values)


def name_value(column: str, metric: object) -> str:
    """Return what a number measures: `bleu` for the value of BLEU, `bleu low` for its lower end."""
    if pd.isna(metric) or not metric or column not in IN_UNITS:
        return column
    return str(metric) if column == "value" else f"{metric} {column}"


def find_status(measure: str, fresh: Any, committed: Any) -> str:
    """Return the status of one pair; missing on both sides is agreement."""
    if pd.isna(fresh) or pd.isna(committed):
        if pd.isna(fresh) and pd.isna(committed):
            return "OK"
        return "missing" if pd.isna(fresh) else "extra"
    if isinstance(fresh, str) or isinstance(committed, str):
        return "OK" if str(fresh) == str(committed) else "differs"
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
    """Return one row per file and metric: how many numbers have each status, and the largest difference."""
    metric = compared["measure"].str.split().str[0]
    values_of_both = compared[["fresh", "committed"]].apply(pd.to_numeric, errors="coerce")
    table = compared.assign(
        metric=metric, difference=(values_of_both["fresh"] - values_of_both["committed"]).abs()
    )
    groups = table.groupby(["file", "metric"])
    counts = groups["status"].value_counts().unstack(fill_value=0).reindex(columns=STATUSES, fill_value=0)
    return counts.assign(largest_difference=groups["difference"].max()).reset_index()


def summarise(fresh: Tables, committed: Tables) -> list[str]:
    """Return lines: coefficient of variation, rank agreement, outcomes agreed; each names what it lacks."""
    lines = ["degree of reproduction"]
    for name, ranked in RANKED.items():
        pairs = pair_values(name, fresh, committed)
        described = describe_variation(pairs), describe_ranks(pairs, name, ranked)
        lines += [f"  {name}: {words}" for words in described]
    return [*lines, f"  answers: {describe_outcomes(fresh, committed)}"]


def pair_values(name: str, fresh: Tables, committed: Tables) -> pd.DataFrame:
    """Return the rows of one table that both sides hold, with `value_fresh` and `value_committed`."""
    sides = [tables.get(name, pd.DataFrame()) for tables in (fresh, committed)]
    columns = [*KEYS[name], "value"]
    if any(not set(columns) <= set(side.columns) for side in sides):
        return pd.DataFrame(columns=[*KEYS[name], "value_fresh", "value_committed"])
    first, second = (side[columns].drop_duplicates(KEYS[name]) for side in sides)
    paired = first.merge(second, on=KEYS[name], suffixes=("_fresh", "_committed"))
    return paired.dropna(subset=["value_fresh", "value_committed"])


def vary(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the coefficient of variation, in percent, of pairs; NaN where the mean is not above zero.

    CV* of Belz, Popovic and Mille (2022): (1 + 1/4n) times the unbiased standard deviation over the mean, n = 2.
    """
    mean = (first + second) / 2
    deviation = np.abs(first - second) / math.sqrt(2) / C4_OF_TWO
    return np.where(mean > 0, 100 * (1 + 1 / 8) * deviation / np.where(mean > 0, mean, 1), np.nan)


def describe_variation(pairs: pd.DataFrame) -> str:
    """Return the median and largest coefficient of variation; gains have no true zero and are left out."""
    values = pairs[~pairs["metric"].astype(str).str.endswith("_gain")]
    first, second = (values[f"value_{side}"].to_numpy(dtype=float) for side in ("fresh", "committed"))
    variations = vary(first, second)
    variations = variations[~np.isnan(variations)]
    if not variations.size:
        return "coefficient of variation not defined (no paired value above zero)"
    middle, largest = np.median(variations), variations.max()
    return (
        f"coefficient of variation {middle:.2f} % (median), {largest:.2f} % (largest), n = {variations.size}"
    )


def describe_ranks(pairs: pd.DataFrame, name: str, ranked: str) -> str:
    """Return how similarly the arms rank within cells, as Kendall's tau-b, over the cells where it is defined."""
    cell = [column for column in KEYS[name] if column != ranked]
    taus = [rank_agreement(group) for _, group in pairs.groupby(cell, dropna=False)]
    defined = [tau for tau in taus if not np.isnan(tau)]
    if not defined:
        return "rank agreement not defined (no cell with three arms that differ)"
    mean, least, undefined = np.mean(defined), min(defined), len(taus) - len(defined)
    return (
        f"rank agreement (Kendall) {mean:.3f} (mean), {least:.3f} (least), "
        f"{len(defined)} cells, {undefined} not defined"
    )


def rank_agreement(group: pd.DataFrame) -> float:
    """Return Kendall's tau-b of fresh and committed values of one cell; NaN below three arms."""
    if len(group) < 3:
        return float("nan")
    first, second = (group[f"value_{side}"].to_numpy(dtype=float) for side in ("fresh", "committed"))
    return float(kendall(np.ones((1, len(group))), first, second)[0])


def describe_outcomes(fresh: Tables, committed: Tables) -> str:
    """Return which outcomes changed, or which side has none."""
    if (pairs := pair_outcomes(fresh, committed)) is None:
        return "outcomes not compared (answers.csv is not on both sides)"
    shared, alone = pairs
    changed = [f"{name} {old} -> {new}" for name, old, new in shared if old != new]
    counts = f"{len(changed)} of {len(shared)} outcomes changed, {alone} on one side"
    return ": ".join([counts, *(["; ".join(changed)] if changed else [])])


def count_agreed(fresh: Tables, committed: Tables) -> str:
    """Return how many outcomes of the committed study are the same: "210 of 222 outcomes"; nothing where none can be compared."""
    if (pairs := pair_outcomes(fresh, committed)) is None:
        return ""
    shared, _ = pairs
    agreed = sum(old == new for _, old, new in shared)
    return f"{agreed} of {len(committed['answers'])} outcomes"


def pair_outcomes(fresh: Tables, committed: Tables) -> tuple[list[tuple[str, str, str]], int] | None:
    """Return (name, committed, fresh) of each outcome on both sides, and how many are on one; None without answers on both."""
    if "answers" not in fresh or "answers" not in committed:
        return None
    first, second = (
        side["answers"]
        .astype(object)
        .where(side["answers"].notna(), "")
        .astype(str)
        .set_index(KEYS["answers"])[VERDICT]
        .agg(lambda words: ", ".join(filter(None, words)), axis=1)
        for side in (fresh, committed)
    )
    shared = first.index.intersection(second.index)
    pairs = [(" ".join(filter(None, key)), second[key], first[key]) for key in shared]
    return pairs, len(first.index.union(second.index)) - len(shared)
