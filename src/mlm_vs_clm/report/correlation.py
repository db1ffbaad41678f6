"""Does quality go with utility? The decision and the numbers behind it as tables, from correlation.csv."""

import pandas as pd

from ..analysis.correlation import DRIVES, LEFT_OUT, OVERALL
from . import style
from .correlation_reading import IN_CORPUS, OF_ALL, Rows, decision_of, name_quality, tell_change
from .tables import ABSENT, Entry, Table, enter, enter_number

ESTIMATES = (*IN_CORPUS, "kendall", "pearson", "share_quality", "share_utility")
NAMES = {
    "spearman": "Spearman",
    "partial_spearman": "Spearman, share held",
    "kendall": "Kendall tau-b",
    "pearson": "Pearson",
    "share_quality": "Spearman, share and quality",
    "share_utility": "Spearman, share and utility",
    "pooled_spearman": "Spearman within corpora, pooled",
    "pooled_partial_spearman": "the same, share held",
    "mixed_slope": "mixed model, standardised slope",
    "mixed_slope_given_share": "the same, share held",
}
RULE = (
    "An interval of 95 % wholly inside the bound is no strong correlation (two one-sided tests at 2.5 % each), wholly "
    "outside it a strong one; one that spans it decides nothing."
)


def decision_table(rows: Rows, scale: str) -> Table:
    """Return the decision on every corpus and quality score, and what would change it."""
    lines = []
    for corpus in [*rows.corpora, OVERALL]:
        for quality in rows.qualities:
            raw, held = rows.main(corpus, quality)
            if raw is None:
                continue
            entries = (enter_row(raw), Entry(decision_of(raw)), enter_row(held), Entry(decision_of(held)))
            warning = decision_of(rows.get(corpus, quality, "ratio_drives_both"))
            ratio = Entry("–") if corpus == OVERALL else Entry(warning)
            names = (Entry(corpus), Entry(name_quality(quality)))
            lines.append((*names, *entries, ratio, Entry(tell_change(rows, corpus, quality))))
    return Table(
        name="correlation_decisions",
        title="Does better text make better training data? The decision, and what would change it",
        caption=(
            f"{RULE} {tell_bounds(rows)} The warning, {DRIVES}, says that the share hidden correlates with quality and with "
            "utility by 0.5 or more and that with it held fixed the correlation goes (its interval comes to include 0) or "
            "more than halves."
        ),
        header=(
            "corpus",
            "quality",
            "Spearman with utility",
            "decision",
            "share held fixed",
            "decision then",
            "ratio",
            "what would change it",
        ),
        rows=tuple(lines),
        command=make_command(scale),
    )


def tell_bounds(rows: Rows) -> str:
    """Return the bounds in force."""
    bounds = sorted({row.bound for row in rows.found.values() if pd.notna(row.bound)})
    return f"The bound is {', '.join(f'±{bound:g}' for bound in bounds)}." if bounds else ""


def make_command(scale: str) -> str:
    """Return the command that makes correlation.csv."""
    return f"python experiments/correlate.py scale={scale}"


def enter_row(row, digits: int = 2) -> Entry:
    """Return the entry of a row with its interval; its reason stands below only where a number is missing."""
    if row is None:
        return enter(None, digits)
    reason = row.reason if pd.notna(row.reason) else ABSENT
    is_whole = pd.notna(row.value) and pd.notna(row.low)
    return enter(
        row._replace(reason="" if is_whole or (pd.notna(row.value) and reason == ABSENT) else reason), digits
    )


def estimate_table(rows: Rows, scale: str) -> Table:
    """Return every coefficient within corpus: an estimate a row."""
    lines = []
    for corpus in rows.corpora:
        for quality in rows.qualities:
            for statistic in ESTIMATES:
                row = rows.get(corpus, quality, statistic)
                if row is not None:
                    names = (corpus, name_quality(quality), style.name_metric(str(row.utility_metric)))
                    lines.append((*map(Entry, names), *enter_estimate(row, statistic)))
    return Table(
        name="correlation",
        title="Quality against utility over cells",
        caption=f"Estimate [95 % bootstrap interval over cells]. {RULE}",
        header=("corpus", "quality", "utility", "statistic", "estimate", "cells", "bound", "decision"),
        rows=tuple(lines),
        command=make_command(scale),
    )


def enter_estimate(row, statistic: str) -> tuple[Entry, ...]:
    """Return a statistic's name, estimate, cells, bound and decision."""
    numbers = (enter_row(row), enter_number(row.n_cells), enter_number(row.bound, "±{:g}"))
    return (Entry(NAMES.get(statistic, statistic)), *numbers, Entry(decision_of(row)))


def overall_table(rows: Rows, scale: str) -> Table:
    """Return what all corpora say together, and with each left out."""
    lines = []
    for quality in rows.qualities:
        left_out = {
            f"{LEFT_OUT}{name}": f"pooled, without {name}" for name in rows.left_out(OVERALL, quality)
        }
        wanted = {name: NAMES[name] for name in OF_ALL} | left_out
        wanted |= {name: NAMES[name] for name in ("mixed_slope", "mixed_slope_given_share")}
        for statistic, name in wanted.items():
            row = rows.get(OVERALL, quality, statistic)
            if row is not None:
                note = Entry(str(row.reason) if pd.notna(row.reason) else "")
                numbers = (enter_row(row), enter_number(row.n_cells), Entry(decision_of(row)))
                lines.append((Entry(name_quality(quality)), Entry(name), *numbers, note))
    return Table(
        name="correlation_overall",
        title="All corpora together, and each left out",
        caption=(
            "Pooled: the mean of the corpora's coefficients by their cells; an arm's cell is drawn in every corpus at once. "
            "Mixed model: utility on quality, both standardised within corpus, with a slope for each corpus and a level for "
            "each strategy within it; its interval is normal, and with few corpora too narrow. Singular says that a "
            "variance is estimated at zero."
        ),
        header=("quality", "statistic", "estimate", "cells", "decision", "note"),
        rows=tuple(lines),
        command=make_command(scale),
    )


def shape_table(rows: Rows, scale: str) -> Table:
    """Return whether a curve describes the cells better than a straight line."""
    lines = []
    for corpus in rows.corpora:
        for quality in rows.qualities:
            found = {name: rows.get(corpus, quality, name) for name in SHAPE_ROWS}
            if all(row is not None for row in found.values()):
                lines.append(
                    (
                        Entry(corpus),
                        Entry(name_quality(quality)),
                        enter_row(found["spline_aic_gain"], 1),
                        enter_p(found["spline_p"]),
                    )
                )
    return Table(
        name="correlation_shapes",
        title="Non-linearity: spline against a linear fit",
        caption=(
            "p of an F test of the natural cubic spline against the line, Holm-corrected over the rows. "
            "An AIC gain above 0 favours the spline."
        ),
        header=("corpus", "quality", *SHAPE_ROWS.values()),
        rows=tuple(lines),
        command=make_command(scale),
    )


SHAPE_ROWS = {"spline_aic_gain": "AIC gain of the spline", "spline_p": "p"}


def enter_p(row) -> Entry:
    """Return a p-value, `<0.001` where it is smaller."""
    entry = enter_row(row, 3)
    return Entry("<0.001", entry.number) if entry.text == "0.000" else entry


def correlation_tables(correlation: pd.DataFrame, scale: str) -> list[Table]:
    """Return the tables of the correlation page, those without a row left off."""
    if correlation.empty:
        return []
    rows = Rows(correlation)
    made = (make(rows, scale) for make in (decision_table, shape_table, overall_table, estimate_table))
    return [table for table in made if table.rows]
