"""Variants of arms in tables: the settings in which they differ as columns, and the pairs of them that are compared."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from .cells import Comparison
from .tables import KEYS

CELL = ["corpus", "arm", "strategy", "ratio", "seed"]
COSTS = ("passes", "flops", "seconds")  # of the ledger, per document
PER_RUN = ("seed", "artifact")  # what runs of one cell do not share


def pair_variants(comparisons: Sequence[Comparison], arms: Collection[str]) -> list[Comparison]:
    """Return the comparisons whose arms are all there, and those of their variants at equal settings."""
    names = [arm.partition(" ") for arm in sorted(arms)]
    return [
        Comparison(", ".join(filter(None, (comparison.name, settings))), first, second)
        for comparison in comparisons
        for base, space, settings in names
        if base == comparison.first
        for first, second in [(base + space + settings, comparison.second + space + settings)]
        if second in arms
    ]


def join_settings(name: str, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a table with a column per setting that variants differ in, numbers where all its levels are.

    Rows of arms (of `first`, in a table of differences) also have `base`, the arm that they are a variant of, and
    `variant`, its settings in words, else the arm itself; differences also have `pair`, both bases. Rows of
    cells have COSTS, and every measure of the same cell with its interval by its name, of two scopes that of the row.
    """
    rows, variants = tables[name], tables["variants"]
    if "trained_on" in rows and "arm" not in rows:
        rows = rows.assign(arm=rows["trained_on"])
    arm = next((column for column in ("arm", "first") if column in rows), None)
    if arm is None:
        return rows
    if rows.empty:
        return rows.assign(base="", variant="", pair="")
    words = rows[arm].str.partition(" ")
    rows = rows.assign(base=words[0], variant=words[2].where(words[2] != "", words[0]))
    if "second" in rows:
        rows["pair"] = rows["base"] + " - " + rows["second"].str.partition(" ")[0]
    settings = pivot_settings(variants)
    rows = rows.join(settings.drop(columns=[column for column in settings if column in rows]), on=arm)
    return join_measures(rows, tables) if set(CELL) <= {*rows} else rows


def pivot_settings(variants: pd.DataFrame) -> pd.DataFrame:
    """Return a row per variant and a column per setting, from the table `variants`."""
    levels = variants.drop_duplicates(["arm", "setting"])
    return levels.pivot(index="arm", columns="setting", values="level").apply(read_numbers)


def read_numbers(levels: pd.Series) -> pd.Series:
    """Return levels as numbers where all of them are."""
    numbers = pd.to_numeric(levels, errors="coerce")
    return numbers if numbers.notna().sum() == levels.notna().sum() else levels


def join_measures(rows: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return rows of cells with their costs per document and every measure of the same cell, of the row's scope first."""
    ledger = tables["ledger"].set_index(CELL)
    costs = ledger[[*COSTS]].div(ledger["documents"], axis=0)
    rows = rows.drop(columns=[column for column in costs if column in rows]).join(costs, on=CELL)
    measures = rows[CELL].join(widen(tables["scores"], CELL), on=CELL).drop(columns=CELL)
    if "scope" in rows:
        keys = [*CELL, "scope"]
        of_scope = rows[keys].join(widen(tables["scores"], keys), on=keys).drop(columns=keys)
        measures = of_scope.fillna(measures)
    return rows.join(measures.drop(columns=[column for column in measures if column in rows]))


def widen(scores: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return a column per metric, `<metric>_low` and `<metric>_high`; of two scopes the first."""
    once = scores.drop_duplicates([*keys, "metric"])
    wide = once.pivot(index=keys, columns="metric", values=["value", "low", "high"])
    wide.columns = [metric if column == "value" else f"{metric}_{column}" for column, metric in wide.columns]
    return wide


def over_runs(name: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell of a table: the mean over its runs, with an interval from their lowest low to their highest high."""
    keys = [key for key in KEYS[name] if key not in PER_RUN]
    keys += [column for column in rows if column not in keys and (column == "model" or "." in column)]
    numbers = {*rows.select_dtypes("number")}
    how: dict[str, Any] = {c: "mean" if c in numbers else "first" for c in rows if c not in keys}
    how |= {c: "min" for c in how if c in numbers and c.endswith("low")}
    how |= {c: "max" for c in how if c in numbers and c.endswith("high")}
    return rows.groupby(keys, dropna=False, sort=False).agg(how).reset_index()
