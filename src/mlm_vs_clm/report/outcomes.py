"""The verdicts on the claims with the comparisons behind them, and the speed of filling where it was measured."""

from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd

from ..analysis.tables import OVERALL
from . import style
from .style import Study
from .tables import ABSENT, DASH, Entry, Table, command_for_report, enter_number, enter_words

OVERALL_COLUMNS = ("claim", "statement", "verdict", "reason")
CORPUS_COLUMNS = ("claim", "corpus", "verdict", "effect", "low", "high", "p", "detectable", "n", "reason")
MEANING = (
    "Decided by rules that were written before the run. Supported: holds as reported and with matched context and length; "
    "explained: holds as reported, disappears once matched; contradicted: does not hold as reported; inconclusive: an interval "
    "spans its bound, or comparisons disagree. "
)
NUMBERS = (
    "The effect is that of the first comparison measured; p is Holm-corrected over the claim's comparisons; detectable is the "
    "smallest effect found with 80 % power; every comparison is in comparisons.csv."
)
EVIDENCE_HEADER = (
    *("corpus", "comparison", "role", "measure", "verdict", "effect", "p", "detectable", "n", "reason"),
    "artifacts",
)
EVIDENCE = (
    "Every comparison that the rules ask for. Effect in the unit of its measure with its 95 % interval, above 0 where it "
    "supports the claim (a correlation is given as it is); p is Holm-corrected over the claim's family, – where nothing was "
    "drawn; artifacts are folders of the store, outputs/<stage>/<id>."
)
BENCH_COLUMNS = ("name", "ratio", "ours", "theirs", "unit", "n", "precision", "device", "threads")
BENCH = (
    "Ratio is the speed-up over a plain fill-mask loop, the median over rounds in one process. The share of the peak is of the "
    "best matrix product that this machine makes, be it torch's own or the one with laid-out weights, and counts the model's "
    "FLOPs (every layer at every token, the output layer at the slots). The computed share counts those FLOPs that were "
    "computed, since what no slot needs is left out. – where a row compares nothing."
)


def claim_tables(claims: pd.DataFrame, study: Study, evidence: Collection[str] = ()) -> list[Table]:
    """Return the verdict on each claim, and below it the verdicts by corpus, where claims have been decided.

    A claim links to the table of its comparisons where `evidence` names one.
    """
    if claims.empty:
        return []
    is_overall = claims["corpus"] == OVERALL
    meaning = f"{MEANING}{claims.attrs.get('rules', '')}".strip()
    parts: list[tuple[str, str, str, Sequence[str], pd.DataFrame]] = [
        ("claims", "Verdict per claim", meaning, OVERALL_COLUMNS, claims[is_overall]),
        ("claims_by_corpus", "Verdicts by corpus", NUMBERS, CORPUS_COLUMNS, claims[~is_overall]),
    ]
    tables = []
    for name, title, caption, wanted, part in parts:
        columns = [column for column in wanted if column in part]
        rows = [enter_claim(row, columns, evidence) for _, row in part.iterrows()]
        command = command_for_report(study.scale)
        tables += [Table(name, title, caption, columns, rows, command)] if rows and columns else []
    return tables


def enter_claim(row: pd.Series, columns: Sequence[str], evidence: Collection[str]) -> list[Entry]:
    """Return one row of a verdict table; a number that does not exist is a dash, as its reason has a column."""
    entries = []
    for column in columns:
        table = name_evidence(row["claim"]) if column == "claim" else ""
        if isinstance(row[column], str):
            entries.append(Entry(row[column], link=table if table in evidence else ""))
        else:
            entries.append(enter_number(row[column], "{:.3g}", DASH))
    return entries


def name_evidence(claim: str) -> str:
    """Return the name of a claim's table of comparisons."""
    return f"evidence_{claim.lower()}"


def evidence_tables(comparisons: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table per claim that was compared at all, its comparisons in the order of the rules."""
    if comparisons.empty:
        return []
    return [
        Table(
            name=name_evidence(str(claim)),
            title=f"{claim}: the comparisons behind its verdicts",
            caption=EVIDENCE,
            header=EVIDENCE_HEADER,
            rows=[enter_comparison(row) for row in rows.itertuples(index=False)],
            command=command_for_report(study.scale),
        )
        for claim, rows in comparisons.groupby("claim", sort=True)
    ]


def enter_comparison(row: Any) -> tuple[Entry, ...]:
    """Return one row of a table of comparisons."""
    words = (row.corpus, row.comparison, row.role, style.name_measure(row.scope, row.metric), row.verdict)
    artifacts = row.evidence.replace(" ", ", ") if isinstance(row.evidence, str) else ""
    return (
        *(Entry(str(word)) for word in words),
        enter_effect(row),
        *(enter_number(value, "{:.2g}", DASH) for value in (row.p, row.detectable)),
        enter_number(row.n),
        enter_words(row.reason),
        enter_words(artifacts),
    )


def enter_effect(row: Any) -> Entry:
    """Return the effect with its interval; the reason for a missing one has a column of its own."""
    if pd.isna(row.effect):
        return Entry("missing", reason="" if isinstance(row.reason, str) and row.reason else ABSENT)
    text = f"{row.effect:.3g}"
    return Entry(f"{text} [{row.low:.3g}, {row.high:.3g}]" if pd.notna(row.low) else text, float(row.effect))


def bench_table(bench: pd.DataFrame) -> Table:
    """Return the table of a benchmark."""
    names = [name for name in BENCH_COLUMNS if name in bench]
    return Table(
        name="bench",
        title="Speed of filling",
        caption=BENCH,
        header=names,
        rows=[[enter_speed(row[name]) for name in names] for row in bench.to_dict(orient="records")],
        command="make bench",
    )


def enter_speed(value: Any) -> Entry:
    """Return a word or a number; a dash where the row has none."""
    return Entry(value.replace("_", " ")) if isinstance(value, str) else enter_number(value, "{:,.4g}", DASH)


def describe_device(bench: pd.DataFrame) -> str:
    """Return on what the benchmark was run, and whether a GPU was."""
    devices = sorted(set(bench["device"].dropna())) if "device" in bench else []
    has_gpu = any(name.startswith("cuda") for name in devices)
    return (
        f"Measured on {', '.join(devices) or 'an unrecorded device'}."
        f"{'' if has_gpu else ' GPU not benchmarked.'}"
    )
