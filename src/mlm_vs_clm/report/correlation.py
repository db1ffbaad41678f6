"""Does better text make better training data? The tables of correlation.csv."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..evidence.correlation import LEFT_OUT, MISSING, OVERALL, STRONG, UNDECIDED
from . import style
from .style import Study, ordered
from .tables import ABSENT, Entry, Table, enter, enter_number, enter_words

Quality = tuple[str, str]  # scope, metric
STATISTICS = {"spearman": "Spearman", "partial_spearman": "Spearman, partial", "kendall": "Kendall tau-b"}
POOLED = {
    "pooled_spearman": "Spearman within corpora, pooled",
    "pooled_partial_spearman": "the same, partial",
}
MIXED = {
    "mixed_slope": "mixed model, standardised slope",
    "mixed_slope_given_share": "the same, given the share",
}
RULE = (
    "A 95 % interval wholly inside the bound is no strong correlation (two one-sided tests at 2.5 % each), wholly outside it "
    "a strong one; an interval that spans it decides nothing."
)


class CorrelationLookup:
    """The rows of correlation.csv by what they describe."""

    def __init__(self, correlation: pd.DataFrame):
        rows = correlation.itertuples(index=False)
        self.found = {(r.corpus, r.quality_scope, r.quality_metric, r.statistic): r for r in rows}
        places = dict.fromkeys((scope, metric) for _, scope, metric, _ in self.found)
        order = [(scope, metric) for scope in style.SCOPES for metric in style.METRICS]
        self.qualities: list[Quality] = ordered(places, order)
        self.corpora: list[str] = ordered(corpus for corpus, *_ in self.found if corpus != OVERALL)
        self.has_overall = any(corpus == OVERALL for corpus, *_ in self.found)
        self.places = [(corpus, quality) for corpus in self.corpora for quality in self.qualities]

    def get(self, corpus: str, quality: Quality, statistic: str) -> Any:
        """Return one row, None where there is none."""
        return self.found.get((corpus, *quality, statistic))

    def left_out(self, quality: Quality) -> dict[str, Any]:
        """Return the rows of all corpora without each one, by what is left out."""
        return {
            key[-1].removeprefix(LEFT_OUT): row
            for key, row in self.found.items()
            if key[:-1] == (OVERALL, *quality) and key[-1].startswith(LEFT_OUT)
        }

    def main(self, corpus: str, quality: Quality) -> list:
        """Return the rows that decide: the rank correlation, and the same with the masked share held fixed."""
        prefix = "pooled_" if corpus == OVERALL else ""
        return [self.get(corpus, quality, f"{prefix}{name}") for name in ("spearman", "partial_spearman")]


def keep_defined(correlation: pd.DataFrame) -> pd.DataFrame:
    """Return the rows, none where no coefficient has a value: at a single masking there is nothing to correlate."""
    return correlation if correlation["value"].notna().any() else correlation.iloc[:0]


def decision_of(row: Any) -> str:
    """Return what a row decides, `missing` where it has no value."""
    has_decision = row is not None and pd.notna(row.value) and pd.notna(row.decision) and row.decision
    return row.decision if has_decision else MISSING


def correlation_tables(correlation: pd.DataFrame, study: Study) -> list[Table]:
    """Return the tables of quality against utility, those without rows left out."""
    lookup = CorrelationLookup(keep_defined(correlation))
    command = f"python experiments/correlate.py scale={study.scale}"
    makers = (decision_table, curve_table, overall_table, estimate_table)
    return [table for make in makers if (table := make(lookup, command)).rows]


def decision_table(lookup: CorrelationLookup, command: str) -> Table:
    """Return the decision for every corpus and quality score, and what would change it."""
    rows = []
    for corpus, quality in [*lookup.places, *((OVERALL, quality) for quality in lookup.qualities)]:
        raw, partial = lookup.main(corpus, quality)
        if raw is not None:
            sides = (enter_row(raw), Entry(decision_of(raw)), enter_row(partial), Entry(decision_of(partial)))
            sensitivity = Entry(describe_sensitivity(lookup, corpus, quality))
            rows.append((*enter_place(corpus, quality), *sides, sensitivity))
    bounds = sorted({row.bound for row in lookup.found.values() if pd.notna(row.bound)})
    in_force = f"The bound is {', '.join(f'±{bound:g}' for bound in bounds)}. " if bounds else ""
    return Table(
        name="correlation_decisions",
        title="Does better text make better training data? Decisions and their sensitivity",
        caption=f"{RULE} {in_force}The masked share drives both; the partial correlation holds it fixed.",
        header=(
            *("corpus", "quality", "Spearman with utility", "decision"),
            *("partial (masked share held fixed)", "decision (partial)", "sensitivity"),
        ),
        rows=rows,
        command=command,
    )


def enter_place(corpus: str, quality: Quality) -> tuple[Entry, Entry]:
    """Return the entries that name a corpus and a quality score."""
    return Entry(corpus), Entry(style.name_measure(*quality))


def curve_table(lookup: CorrelationLookup, command: str) -> Table:
    """Return whether a curve describes the cells better than a straight line."""
    rows = []
    for place in lookup.places:
        gain, p = (lookup.get(*place, name) for name in ("spline_aic_gain", "spline_p"))
        if gain is not None and p is not None:
            rows.append((*enter_place(*place), enter_row(gain, 1), enter_p(p), Entry(decision_of(p))))
    return Table(
        name="correlation_shapes",
        title="Non-linearity: spline against a linear fit",
        caption=(
            "F test of the natural cubic spline against the line, with cells as independent; p is Holm-corrected over the rows. "
            "An AIC gain above 0 favours the spline."
        ),
        header=("corpus", "quality", "AIC gain of the spline", "p", "the spline"),
        rows=rows,
        command=command,
    )


def estimate_table(lookup: CorrelationLookup, command: str) -> Table:
    """Return every coefficient within a corpus, one row per estimate."""
    rows = [
        (
            *enter_place(*place),
            Entry(style.name_metric(str(row.utility_metric))),
            Entry(name),
            enter_row(row),
            enter_number(row.n_cells),
            enter_number(row.bound, "±{:g}"),
            Entry(decision_of(row)),
        )
        for place in lookup.places
        for statistic, name in STATISTICS.items()
        if (row := lookup.get(*place, statistic)) is not None
    ]
    return Table(
        name="correlation",
        title="Quality against utility over cells",
        caption=f"Estimate [95 % bootstrap interval over arms and maskings]. {RULE}",
        header=("corpus", "quality", "utility", "statistic", "estimate", "cells", "bound", "decision"),
        rows=rows,
        command=command,
    )


def overall_table(lookup: CorrelationLookup, command: str) -> Table:
    """Return the estimates over all corpora together, and with each corpus left out."""
    rows = []
    for quality in lookup.qualities:
        left_out = {f"{LEFT_OUT}{name}": f"pooled, without {name}" for name in lookup.left_out(quality)}
        for statistic, name in (POOLED | left_out | MIXED).items():
            if (row := lookup.get(OVERALL, quality, statistic)) is not None:
                numbers = (enter_row(row), enter_number(row.n_cells), Entry(decision_of(row)))
                names = (Entry(style.name_measure(*quality)), Entry(name))
                rows.append((*names, *numbers, enter_words(row.reason)))
    return Table(
        name="correlation_overall",
        title="All corpora together, and each left out",
        caption=(
            "Pooled: the mean of the coefficients of the corpora, weighted by cells; an arm or masking is drawn in every corpus at "
            "once. Mixed model: utility on quality, both standardised within corpus, with a slope per corpus and an intercept "
            "per strategy within it; its interval is normal, and too narrow with few corpora. Singular: a variance is "
            "estimated at zero and left out."
        ),
        header=("quality", "statistic", "estimate", "cells", "decision", "note"),
        rows=rows,
        command=command,
    )


def enter_row(row: Any, digits: int = 2) -> Entry:
    """Return the entry of a row with its interval, and with its reason only where a number is missing."""
    if row is None:
        return enter(None, digits)
    reason = row.reason if pd.notna(row.reason) else ""
    has_interval = pd.notna(row.value) and pd.notna(row.low)
    absent = ABSENT if pd.isna(row.value) else ""
    return enter(row._replace(reason="" if has_interval else reason or absent), digits)


def enter_p(row: Any) -> Entry:
    """Return a p-value, `<0.001` where it is smaller."""
    entry = enter_row(row, 3)
    return Entry("<0.001", entry.number) if entry.text == "0.000" else entry


def describe_sensitivity(lookup: CorrelationLookup, corpus: str, quality: Quality) -> str:
    """Return what would change a decision: another bound, or, of all corpora together, one left out."""
    row = lookup.main(corpus, quality)[0]
    if decision_of(row) == MISSING:
        return "–"
    changed = describe_left_out(lookup.left_out(quality), row.decision) if corpus == OVERALL else ""
    return "; ".join(filter(None, [describe_margin(row), changed])) or "–"


def describe_margin(row: Any) -> str:
    """Return the bound to which a decision holds; nothing for an open one."""
    if row.decision == UNDECIDED:
        return ""
    ends, is_strong = (abs(row.low), abs(row.high)), row.decision == STRONG
    return f"holds {'up' if is_strong else 'down'} to a bound of ±{(min if is_strong else max)(ends):.2f}"


def describe_left_out(left_out: dict, decision: str) -> str:
    """Return which corpora change the decision once they are left out."""
    decisions = {name: decision_of(row) for name, row in left_out.items()}
    changed = [f"without {name}: {without}" for name, without in decisions.items() if without != decision]
    return "; ".join(changed) or ("no corpus left out changes it" if left_out else "")
