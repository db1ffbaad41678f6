"""Does a masked model cost more? The answer in words, computed from the rows."""

import pandas as pd

from ..analysis.cells import STEPS
from ..analysis.equal_compute import BASES, PARTS
from ..analysis.tables import at_main_cell
from . import style
from .sentences import write
from .style import ordered

MEASURE = ("fills", "exact_match")
ONE_PASS, BESIDE = "parallel", "clm"
BY_COUNTING = (
    "The products of attention, which grow with the square of the length, are not counted: that an arm which reads "
    "each sub-word once has the power 1 follows from the way of counting."
)


def read_cost(compute: pd.DataFrame, growth: pd.DataFrame, equal: pd.DataFrame) -> tuple[str, ...]:
    """Return what masked writing costs beside causal writing, at equal compute, and as documents grow longer."""
    told = tell_ratios(compute, equal), tell_equal(equal), tell_growth(growth)
    return tuple(sentence for sentence in told if sentence)


def tell_ratios(compute: pd.DataFrame, equal: pd.DataFrame) -> str:
    """Return the FLOPs of the masked arm over those of the causal one, by step, and those of a single pass."""
    whole = equal[(equal["basis"] == BASES[0]) & (equal["flops_first"] > 0) & (equal["flops_second"] > 0)]
    ratios = (whole["flops_first"] / whole["flops_second"]).groupby(whole["step"])
    spans = {step: tell_span(values) for step, values in ratios}
    told = [f"{s.name} ({s.first} against {s.second}) {spans[s.name]}" for s in STEPS if s.name in spans]
    if not told:
        return ""
    one = tell_one_pass(compute)
    return f"What does masked writing cost? Of the FLOPs a document of causal writing it takes, over the corpora: {'; '.join(told)}{one}."


def tell_one_pass(compute: pd.DataFrame) -> str:
    """Return what filling all blanks in one pass takes of what the causal arm takes."""
    main = at_main_cell(compute)
    spent = main[(main["part"] == PARTS[0]) & (main["flops"] > 0)]
    causal = spent[spent["arm"] == BESIDE].groupby("corpus")["flops"].mean()
    at_once = spent[spent["order"] == ONE_PASS]
    if at_once.empty or causal.empty:
        return ""
    cheapest = at_once.groupby(["corpus"])["flops"].min() / causal
    names = ", ".join(sorted(set(at_once["arm"])))
    return f"; all blanks in one pass ({names} against {BESIDE}) {tell_span(cheapest.dropna())}"


def tell_span(values: pd.Series) -> str:
    """Return the lowest and the highest of some ratios."""
    low, high = (f"{value:.2g}" if value < 10 else f"{value:.0f}" for value in (values.min(), values.max()))
    return f"{low} times" if low == high else f"{low} to {high} times"


def tell_equal(equal: pd.DataFrame) -> str:
    """Return who restores more blanks at equal compute, where that is known."""
    rows = equal[(equal["scope"] == MEASURE[0]) & (equal["metric"] == MEASURE[1])]
    made = rows[(rows["basis"] != BASES[0]) & rows["value"].notna()]
    if made.empty:
        return "Quality at equal compute is not known: no arm was run at costs on both sides of the other's."
    told = []
    for step in STEPS:
        for basis, whose in zip(BASES[1:], (step.second, step.first), strict=True):
            cells = made[(made["step"] == step.name) & (made["basis"] == basis)]
            values = "; ".join(f"{row.corpus} {write(row, 3)}" for row in cells.itertuples(index=False))
            if values:
                told.append(f"{step.first} - {step.second} at the FLOPs of {whose}: {values}")
    name = style.name_metric(MEASURE[1])
    return f"At equal compute the difference in {name} [95 % interval] is: {'. '.join(told)}."


def tell_growth(growth: pd.DataFrame) -> str:
    """Return the power of length with which the FLOPs of each arm grow, over the corpora."""
    rows = growth[(growth["measure"] == "flops") & growth["value"].notna()]
    told = []
    for arm in ordered(rows["arm"], style.ARMS):
        values = rows.loc[rows["arm"] == arm, "value"]
        low, high = f"{values.min():.2f}", f"{values.max():.2f}"
        told.append(f"{arm} {low}" if low == high else f"{arm} {low} to {high}")
    powers = f"FLOPs grow with the length of a document to the power: {', '.join(told)}."
    return f"{powers} {BY_COUNTING}" if told else ""
