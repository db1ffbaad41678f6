"""Sentences for README on the likelihood of the hidden words."""

from collections.abc import Sequence

import pandas as pd

from ..evidence.cells import group_by
from ..evidence.verdicts import MADE
from .ladder import (
    CAUSAL,
    LIKELIHOODS,
    READS,
    find_likelihoods,
    has_too_few,
    word_tokens,
)
from .lead_words import word_runs, word_short
from .overview import count_tokens, find_start
from .sentences import Tables


def describe_exact_studies(studies: Sequence[Tables]) -> str:
    """Return who gives the hidden words the higher exact likelihood, a paragraph per start: after the most trainings, of these the longest."""
    ranked = sorted(
        studies, key=lambda tables: (-float(tables["answers"]["runs"].max()), -count_tokens(tables))
    )
    return "\n\n".join(
        filter(None, (describe_exact(first) for first, *_ in group_by(ranked, find_start).values()))
    )


def list_exact(tables: Tables) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the rows of the exact likelihood, and by condition the outcomes of those that are decided, in words."""
    rows = find_likelihoods(tables["answers"])
    is_decided = [row.status == MADE and not has_too_few(row) for row in rows.itertuples(index=False)]
    rows, clauses = rows.assign(is_decided=is_decided), {}
    decided = rows[rows["is_decided"].astype(bool)]
    for condition in LIKELIHOODS:
        step = decided[decided["condition"] == condition].itertuples(index=False)
        if outcomes := [
            f"{word} on {' and '.join(f'{row.corpus} ({round(row.effect, 2) + 0.0:+.2f})' for row in group)}"
            for word, group in group_by(step, word_short).items()
        ]:
            clauses[condition] = ", ".join(outcomes)
    return rows, clauses


def describe_exact(tables: Tables) -> str:
    """Return who gives the hidden words the higher exact likelihood, where a study decides that; else nothing."""
    rows, outcomes = list_exact(tables)
    clauses = [f"{READS[condition]}: {told}" for condition, told in outcomes.items()]
    if not clauses:
        return ""
    told = f"If the causal model {'. If it '.join(clauses)}.{'' if rows['is_decided'].all() else ' No answer elsewhere.'}"
    if find_start(tables) == CAUSAL:
        return f"**By likelihood, both from a causal start** ({word_runs(rows)}). {told}"
    return (
        f"**By exact likelihood** ({word_tokens(count_tokens(tables))} tokens, "
        f"{word_runs(rows)}; the masked model's lead in nats per character). {told}"
    )
