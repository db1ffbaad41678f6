"""The rows behind the verdicts: a table a claim, which its verdicts link to."""

import pandas as pd

from . import style
from .tables import ABSENT, Entry, Table, enter_number

HEADER = (
    *("corpus", "comparison", "role", "measure", "verdict", "effect", "p", "detectable", "n", "reason"),
    "artifacts",
)
CAPTION = (
    "Every comparison that the rules ask for. Effect in the unit of its measure with its 95 % interval, above 0 where it "
    "speaks for the claim (a correlation is itself); p is Holm-corrected over the claim's family, – where nothing was drawn; "
    "artifacts are folders of the store, outputs/<stage>/<id>."
)


def evidence_tables(comparisons: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table a claim that was compared at all, its comparisons in the order of the rules."""
    return [
        Table(
            name=name_evidence(claim),
            title=f"{claim}: the comparisons behind its verdicts",
            caption=CAPTION,
            header=HEADER,
            rows=tuple(enter_comparison(row) for row in rows.itertuples(index=False)),
            command=f"python experiments/report.py scale={scale}",
        )
        for claim, rows in comparisons.groupby("claim", sort=True)
    ]


def name_evidence(claim: str) -> str:
    """Return the name of a claim's table."""
    return f"evidence_{claim.lower()}"


def enter_comparison(row) -> tuple[Entry, ...]:
    """Return one line."""
    measure = f"{style.name_metric(row.metric)}, {style.SCOPES.get(row.scope, row.scope)}"
    told = [Entry(str(value)) for value in (row.corpus, row.comparison, row.role, measure, row.verdict)]
    reason, artifacts = (value if isinstance(value, str) else "" for value in (row.reason, row.evidence))
    return (
        *told,
        enter_effect(row),
        *(number_or_dash(value) for value in (row.p, row.detectable)),
        enter_number(row.n),
        Entry(reason or "–"),
        Entry(artifacts.replace(" ", ", ") or "–"),
    )


def enter_effect(row) -> Entry:
    """Return the effect with its interval; the reason for a missing one has a column of its own."""
    if pd.isna(row.effect):
        return Entry("missing", reason="" if isinstance(row.reason, str) and row.reason else ABSENT)
    text = f"{row.effect:.3g}"
    return Entry(f"{text} [{row.low:.3g}, {row.high:.3g}]" if pd.notna(row.low) else text, float(row.effect))


def number_or_dash(value: float) -> Entry:
    """Return a number, or a dash where there is nothing to tell."""
    return enter_number(value, "{:.2g}") if pd.notna(value) else Entry("–")
