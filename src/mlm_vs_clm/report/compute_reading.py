"""Does a masked model cost more? The answer in words, computed from the rows."""

import pandas as pd

from ..analysis.cells import STEPS
from ..analysis.equal_compute import BASES
from ..analysis.tables import at_main_cell
from . import style
from .sentences import write

MEASURE = ("fills", "exact_match")
ONE_PASS, BESIDE = "parallel", "clm"


def read_cost(ledger: pd.DataFrame, equal: pd.DataFrame) -> tuple[str, ...]:
    """Return the cost of masked generation relative to causal generation, and who is better at equal compute."""
    told = tell_ratios(ledger, equal), tell_equal(equal)
    return tuple(sentence for sentence in told if sentence)


def tell_ratios(ledger: pd.DataFrame, equal: pd.DataFrame) -> str:
    """Return the FLOPs of the masked arm over those of the causal one, by step, and those of a single pass."""
    whole = equal[(equal["basis"] == BASES[0]) & (equal["flops_first"] > 0) & (equal["flops_second"] > 0)]
    ratios = (whole["flops_first"] / whole["flops_second"]).groupby(whole["step"])
    spans = {step: tell_span(values) for step, values in ratios}
    told = [f"{s.name} ({s.first} against {s.second}) {spans[s.name]}" for s in STEPS if s.name in spans]
    if not told:
        return ""
    one = tell_one_pass(ledger)
    return f"What does masked writing cost? Of the FLOPs a document of causal writing it takes, over the corpora: {'; '.join(told)}{one}."


def tell_one_pass(ledger: pd.DataFrame) -> str:
    """Return what filling all blanks in one pass takes of what the causal arm takes."""
    main = at_main_cell(ledger)
    spent = main[main["flops"] > 0].assign(flops=main["flops"] / main["documents"])
    causal = spent[spent["arm"] == BESIDE].groupby("corpus")["flops"].mean()
    at_once = spent[spent["order"] == ONE_PASS] if "order" in spent else spent.iloc[:0]
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
