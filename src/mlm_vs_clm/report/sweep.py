"""The table and the figure of a sweep, or of any choice of stored results."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ..evidence.tables import over_seeds
from ..metrics import find_scope
from . import style
from .drawing import Drawing, describe_values
from .quality import draw_over
from .tables import DASH, Table, enter, enter_key, enter_number, enter_words

CAPTION = "Value [95 % interval]. A job that failed has its reason."
DIFFERENCES = "First minus second [95 % interval], above 0 where the first is ahead, also by a measure of which less is better. Seeds are pooled."
SIDES = ("_low", "_high")
COUNTS = ("blanks", "tokens_filled", "passes", "flops")  # what a table without metrics shows
LABELS = {"ratio": "masking ratio"}
KEYS = ("corpus", "task", "arm", "trained_on", "strategy", "seed", "budget", "model")
BESIDE = ("corpus", "task", "trained_on", "seed")  # not in the name of a line: panels, and seeds are averaged


def list_metrics(table: pd.DataFrame) -> list[str]:
    """Return the metrics of a table: the columns that have an interval beside them."""
    return [name.removesuffix(SIDES[0]) for name in table if name.endswith(SIDES[0])]


def take_metric(table: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return the rows of a table with one metric as value, low and high."""
    return table.assign(
        metric=metric, value=table[metric], low=table[metric + SIDES[0]], high=table[metric + SIDES[1]]
    )


def show_sweep(table: pd.DataFrame, varying: Sequence[str], title: str, command: str) -> Table:
    """Return a table for reading: what varies, the metrics or, without any, the plain numbers, and the artifact."""
    metrics = list_metrics(table)
    counts = [name for name in COUNTS if name in table]
    columns = [
        [enter_key(name, value) if pd.notna(value) else DASH for value in table[name]] for name in varying
    ]
    for metric in metrics:
        cells = take_metric(table, metric)
        digits = style.decimals(cells["value"])
        columns.append([enter(cell, digits) if pd.notna(cell.value) else DASH for cell in cells.itertuples()])
    columns += [[enter_number(value, "{:,.4g}") for value in table[name]] for name in counts]
    columns += [[enter_words(words) for words in table[name]] for name in ("artifact", "reason")]
    header = [*varying, *map(style.name_metric, [*metrics, *counts]), "artifact", "reason"]
    return Table("table", title, CAPTION, header, list(zip(*columns, strict=True)), command)


def show_differences(differences: pd.DataFrame, command: str) -> Table:
    """Return differences between arms, words for every measure, as a table for reading."""
    rows = [
        [enter_key(str(name), value) for name, value in row.items()]
        for row in differences.to_dict(orient="records")
    ]
    return Table("differences", "Differences", DIFFERENCES, list(differences), rows, command)


def draw_sweep(table: pd.DataFrame, varying: Sequence[str]) -> list[Drawing]:
    """Return one figure, metrics down, corpora across: a line per arm, and what else varies, over the first number that does.

    None where no number varies, or where results of settings that the table does not name share a cell.
    """
    metrics, arm = list_metrics(table), "arm" if "arm" in table else "trained_on"
    numbers = [name for name in varying if name != "seed" and pd.api.types.is_numeric_dtype(table[name])]
    made_by_stage = table[table["artifact"].notna()]
    if (
        not numbers
        or not metrics
        or made_by_stage.duplicated(
            [name for name in dict.fromkeys([*KEYS, *varying]) if name in table]
        ).any()
    ):
        return []
    x, label = numbers[0], LABELS.get(numbers[0], numbers[0].replace("_", " "))
    beside = [name for name in varying if name not in (x, arm, *BESIDE)]
    if made_by_stage.groupby(arm)["model"].nunique().max() < 2:
        beside = [name for name in beside if name != "model"]
    words = made_by_stage[[arm, *beside]].map(lambda value: value if isinstance(value, str) else f"{value:g}")
    lines = words.agg(" ".join, axis=1)
    rows = pd.concat(
        take_metric(made_by_stage, metric).assign(arm=lines, share=float("nan")) for metric in metrics
    )
    rows["scope"] = "utility" if arm == "trained_on" else rows["metric"].map(find_scope)
    cells = over_seeds(rows[rows["value"].notna()], ["corpus", "arm", "scope", "metric", x])
    measures = list(dict.fromkeys(zip(cells["scope"], cells["metric"], strict=True)))
    return [
        Drawing(
            name="figure",
            title=f"Scores against {label}",
            caption="Each line is an arm with its 95 % intervals; shaded: from the lowest to the highest word table.",
            alt=f"Lines over {label}. {describe_values(cells, ['corpus', 'metric', 'arm', x])}.",
            figure=draw_over(cells, measures, x, label),
        )
    ]
