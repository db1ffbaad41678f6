"""Sentences for README on the likelihood of the hidden words."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..evidence.cells import group_by
from ..evidence.derivation import Tables
from ..evidence.verdicts import MADE
from .ladder import CAUSAL, LIKELIHOODS, READS, find_likelihoods, has_too_few
from .lead_words import enter_lead
from .overview import count_tokens, find_start
from .short_table import shorten_tokens


def describe_exact_studies(studies: Sequence[Tables]) -> str:
    """Return who gives the hidden words the higher exact likelihood, from each start: after the most trainings, of these the longest."""
    ranked = sorted(
        studies, key=lambda tables: (-float(tables["answers"]["runs"].max()), -count_tokens(tables))
    )
    firsts = [first for first, *_ in group_by(ranked, find_start).values()]
    told = " ".join(filter(None, map(describe_exact, firsts)))
    if not told:
        return ""
    return f"**By exact likelihood** (nats per character). {told}{describe_open(firsts)}"


def describe_open(studies: Sequence[Tables]) -> str:
    """Return that there is no answer elsewhere; "" where all is decided."""
    rows = pd.concat([find_likelihoods(tables["answers"]) for tables in studies])
    return "" if all(map(is_decided, rows.itertuples(index=False))) else " No answer elsewhere."


def is_decided(row: Any) -> bool:
    """Return whether a likelihood was compared, over enough units for an answer."""
    return row.status == MADE and not has_too_few(row)


def describe_exact(tables: Tables) -> str:
    """Return who gives the hidden words the higher exact likelihood, where a study decides that; else nothing."""
    rows = find_likelihoods(tables["answers"])
    decided, clauses = rows[[*map(is_decided, rows.itertuples(index=False))]], []
    for condition in LIKELIHOODS:
        step = decided[decided["condition"] == condition].itertuples(index=False)
        outcomes = [
            f"{lead} on {' and '.join(row.corpus for row in group)}"
            for lead, group in group_by(step, lambda row: enter_lead(row, 2)).items()
        ]
        if outcomes:
            clauses.append(f"{READS[condition].removeprefix('reads ')}, {', '.join(outcomes)}")
    if not clauses:
        return ""
    start = "a causal start" if find_start(tables) == CAUSAL else "an encoder"
    return f"From {start} ({rows['runs'].min():.0f}×{shorten_tokens(count_tokens(tables))} tokens): {'; '.join(clauses)}."
