"""What a panel of a study says in one sentence: who is ahead how often, or which arm is best and by what."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..evidence.verdicts import FIRST, NONE_SHOWN, SECOND
from ..metrics import is_lower_better
from . import style
from .tables import enter
from .wording import UNSURE

Spec = Mapping[str, Any]  # the fields of pipeline.config.PanelConfig
SIGNED = "comparisons"  # the table whose values are differences
LEADS = "leads"  # the table whose values are differences to the best table of words
SCORE = "score"  # of values by several metrics
FEW = 8  # lines of which each has its place in the sentence; points of which each has its name in the figure
TURNED = " (lower is better)"  # ends the names of metrics whose differences are turned round: above 0 the first arm is ahead
LOWER = ("loss", "FLOPs")  # in the names of columns that are no metric and of which the lowest is told
# Columns that set how hard a task is: a best value is told at each of their values, never over them.
CONDITIONS = ("ratio",)
NAMES = {"passes": "passes", "flops": "GFLOPs per document", "ratio": "masking ratio", "base": "arm"}
NAMES |= {
    "share": "share of headroom",
    "arm.right_words": "words seen to the right",
    "dev_loss": "held-out loss (nats per predicted token)",
    "objective.ratio": "masking ratio in training",
    "objective.masked_share": "share of masked batches",
    "variant": "training",
}


def write(value: Any) -> str:
    """Return a value of an axis in words."""
    return value if isinstance(value, str) else f"{value:,.6g}"


def name_axis(column: str) -> str:
    """Return the words for a column: "unique tokens" for scale.training.unique_tokens, a metric by its name."""
    words = column.rpartition(".")[2].replace("_", " ")
    return NAMES.get(column, style.METRICS.get(column, words))


def name_value(spec: Spec, cells: pd.DataFrame) -> str:
    """Return the words for the values of a panel."""
    if spec["kind"] != "heat" and spec["y"] != "value":
        return name_axis(spec["y"])
    if spec["table"] == "usefulness":
        return "usefulness"
    if cells["metric"].nunique() > 1:
        return SCORE
    metric = style.name_metric(cells["metric"].iloc[0])
    if spec["table"] not in (SIGNED, LEADS):
        return metric
    plain = metric.removesuffix(TURNED)
    return f"{'lead' if plain != metric or spec['table'] == LEADS else 'difference'} in {plain}"


def is_signed(spec: Spec) -> bool:
    """Return whether the values of a panel are differences."""
    return spec["table"] == SIGNED


def name_sides(cells: pd.DataFrame) -> tuple[str, str]:
    """Return the words for the two arms of differences: their names where all cells have the same."""
    arms = cells[["arm", "second"]].drop_duplicates()
    return tuple(arms.iloc[0]) if len(arms) == 1 else ("the first arm", "the second")


def count_ahead(spec: Spec, cells: pd.DataFrame) -> str:
    """Return how often which arm is ahead in a panel of differences, and in how many one is not competent."""
    able, silent = cells[cells["pale"] == ""], cells[cells["pale"] != ""]
    first_name, second_name = name_sides(cells)
    counts = able["direction"].value_counts()
    first, second = (counts.get(side) or "none" for side in (FIRST, SECOND))
    text = f"{first_name} is ahead in {first} of {len(cells)} differences, {second_name} in {second}"
    if first_name not in {*cells["arm"]}:
        text = text[0].upper() + text[1:]
    if undecided := counts.get(NONE_SHOWN):
        text += f", no difference shown in {undecided}"
    if unsure := int(able["is_unsure"].sum()):
        text += f" (in {unsure} {UNSURE})"
    if spec["kind"] == "lines" and len(cells) <= 2 * FEW and len(able):
        text += (
            f": {', '.join(_write_place(spec, cells, cell) for _, cell in able.sort_values('x').iterrows())}"
        )
    if len(silent):
        text += f". In {len(silent)} an arm is not competent"
    return f"{text}."


def find_highest(spec: Spec, cells: pd.DataFrame) -> str:
    """Return the best value and where it is, by facet; by line too where that makes FEW values.

    Along an axis of CONDITIONS, and of a heat map, the best is told column by column. Arms that are not competent are left
    out, and the sentence says so. Of several metrics none is best: then nothing is told.
    """
    is_lowest = is_lower(spec, cells)
    able = cells[cells["pale"] == ""]
    by = ["facet", "x"] if spec["kind"] == "heat" or spec["x"] in CONDITIONS else ["facet", "line"]
    if by[1] == "line" and able[by].drop_duplicates().shape[0] > FEW:
        by = ["facet"]
    if (able.groupby(by)["metric"].nunique() > 1).any():
        return ""
    best = able.groupby(by, sort=False)["value"].agg("idxmin" if is_lowest else "idxmax")
    if by[-1] == "x":
        best = best.sort_index(level="x", sort_remaining=False, kind="stable")
    clauses = [
        ": ".join(
            filter(None, [facet, ", ".join(_write_place(spec, cells, able.loc[place]) for place in places)])
        )
        for facet, places in best.groupby("facet", sort=False)
    ]
    where = "; ".join(clauses) or "none is named, as no arm clears its floor"
    of_whom = " of competent arms" * (len(able) < len(cells))
    return f"{'Lowest' if is_lowest else 'Highest'} {name_value(spec, cells)}{of_whom}: {where}."


def is_lower(spec: Spec, cells: pd.DataFrame) -> bool:
    """Return whether less is better, of the values of a panel: as its metric has it, else by LOWER."""
    if spec["kind"] == "heat" or spec["y"] == "value":
        return is_lower_better(str(cells["metric"].iloc[0]))
    return is_lower_better(spec["y"]) or any(words in name_value(spec, cells) for words in LOWER)


def _write_place(spec: Spec, cells: pd.DataFrame, cell: pd.Series) -> str:
    """Return a value with its interval, and what it is of."""
    value, words = enter(cell, count_digits(spec, cells)).text, _name_place(spec, cell)
    if is_signed(spec):
        value = "+" * (cell["value"] > 0) + value
        words += f", {cell['trainings']:.0f} training{'s' * (cell['trainings'] > 1)}"
    return f"{value} ({words})"


def _name_place(spec: Spec, cell: pd.Series) -> str:
    """Return the arm or line of a value, and where along x, and y of a heat map, it is unless that is in the name."""
    name = cell["line"] if cell["line"] not in ("", cell["arm"]) else cell["full_name"]
    places = [
        _write_axis(spec[axis], cell[axis])
        for axis in ("x", "y")[: 1 + (spec["kind"] == "heat")]
        if not (isinstance(cell[axis], str) and cell[axis] in name)
        and not ("." in spec[axis] and f"{spec[axis].rpartition('.')[2]}=" in name)
    ]
    return ", ".join([name, *places])


def _write_axis(column: str, value: Any) -> str:
    """Return a value of an axis with what it is of."""
    if isinstance(value, str) and column in ("strategy", "metric"):
        return value
    rounded = value if isinstance(value, str) else float(format(value, ".3g"))
    return f"{name_axis(column).partition(' (')[0]} {write(rounded)}"


def count_digits(spec: Spec, cells: pd.DataFrame) -> int:
    """Return the decimals of the values of a panel: two of nats."""
    return 2 if "nats" in name_value(spec, cells) else style.decimals(cells["value"])
