"""Does quality go with utility? The decision in words and what would change it, computed from correlation.csv."""

import pandas as pd

from ..analysis.correlation import LEFT_OUT, MISSING, OVERALL, STRONG, UNDECIDED
from . import style
from .style import ordered

KEYS = ["corpus", "quality_scope", "quality_metric"]
IN_CORPUS = ("spearman", "partial_spearman")
OF_ALL = ("pooled_spearman", "pooled_partial_spearman")


class Rows:
    """The rows of correlation.csv by what they describe."""

    def __init__(self, correlation: pd.DataFrame):
        keys = [*KEYS, "statistic"]
        named = correlation.itertuples(index=False)
        self.found = {tuple(getattr(row, key) for key in keys): row for row in named}
        scopes, metrics = list(style.SCOPES), list(style.METRICS)
        places = dict.fromkeys((scope, metric) for _, scope, metric, _ in self.found)
        self.qualities = ordered(places, ((scope, metric) for scope in scopes for metric in metrics))
        self.corpora = ordered((corpus for corpus, *_ in self.found if corpus != OVERALL), style.CORPORA)

    def get(self, corpus: str, quality: tuple[str, str], statistic: str):
        """Return one row, None where there is none."""
        return self.found.get((corpus, *quality, statistic))

    def left_out(self, corpus: str, quality: tuple[str, str]) -> dict:
        """Return the rows without each arm (of a corpus) or without each corpus (of all), by what is left out."""
        return {
            key[-1].removeprefix(LEFT_OUT): row
            for key, row in self.found.items()
            if key[:-1] == (corpus, *quality) and key[-1].startswith(LEFT_OUT)
        }

    def main(self, corpus: str, quality: tuple[str, str]) -> tuple:
        """Return the rows that decide: the rank correlation, and the same with share held."""
        names = OF_ALL if corpus == OVERALL else IN_CORPUS
        return tuple(self.get(corpus, quality, name) for name in names)


def name_quality(quality: tuple[str, str]) -> str:
    """Return "BERTScore, whole document"."""
    scope, metric = quality
    return f"{style.name_metric(metric)}, {style.SCOPES.get(scope, scope)}"


def say_quality(quality: tuple[str, str]) -> str:
    """Return "BERTScore (whole document)", for a list with commas."""
    name, scope = name_quality(quality).rsplit(", ", 1)
    return f"{name} ({scope})"


def decision_of(row) -> str:
    """Return what a row decides, `missing` where it has no value."""
    is_told = row is not None and pd.notna(row.value) and pd.notna(row.decision) and row.decision
    return row.decision if is_told else MISSING


def tell_decisions(correlation: pd.DataFrame) -> tuple[str, ...]:
    """Return a sentence a corpus and one for all corpora together; a missing decision is told as such."""
    rows = Rows(correlation)
    told = {corpus for corpus, *_ in rows.found}
    return tuple(tell_decision(rows, corpus) for corpus in (*rows.corpora, OVERALL) if corpus in told)


def tell_decision(rows: Rows, corpus: str) -> str:
    """Return "plots: strong correlation by ROUGE-L, whole document; inconclusive by ...", and with share held."""
    raw, held = ({}, {})
    for quality in rows.qualities:
        for told, row in zip((raw, held), rows.main(corpus, quality), strict=True):
            told.setdefault(decision_of(row), []).append(say_quality(quality))
    clauses = "; ".join(f"{decision} by {', '.join(names)}" for decision, names in raw.items())
    fixed = "; ".join(f"{decision} by {', '.join(names)}" for decision, names in held.items())
    fixed = "the same" if raw == held else fixed
    return f"{corpus}: {clauses}. With the share hidden held fixed: {fixed}."


def tell_change(rows: Rows, corpus: str, quality: tuple[str, str]) -> str:
    """Return what would change a decision: more cells, another bound, or a corpus or arm left out."""
    row, _ = rows.main(corpus, quality)
    decision = decision_of(row)
    if decision == MISSING:
        return "–"
    told = tell_cells(rows.get(corpus, quality, "cells_needed")) if decision == UNDECIDED else tell_bound(row)
    return "; ".join(filter(None, [told, tell_left_out(rows.left_out(corpus, quality), corpus, decision)]))


def tell_cells(row) -> str:
    """Return how many cells would decide, if the estimate stayed."""
    if row is None:
        return ""
    if pd.isna(row.value):
        return str(row.reason)
    return f"about {row.value:,.0f} cells like these would show {row.decision}"


def tell_bound(row) -> str:
    """Return the bound up to or down to which a decision stands."""
    ends = abs(row.low), abs(row.high)
    if row.decision == STRONG:
        return f"holds up to a bound of ±{min(ends):.2f}"
    return f"holds down to a bound of ±{max(ends):.2f}"


def tell_left_out(left_out: dict, corpus: str, decision: str) -> str:
    """Return which corpora or arms change the decision once they are left out."""
    kind = "corpus" if corpus == OVERALL else "arm"
    changed = [f"without {name}: {decision_of(row)}" for name, row in left_out.items()]
    changed = [told for told in changed if not told.endswith(f": {decision}")]
    if changed:
        return "; ".join(changed)
    return f"no {kind} left out changes it" if left_out else ""
