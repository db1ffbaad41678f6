"""Sentences for README and the paper on whether better text is better training data."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..evidence.verdicts import FIRST, MADE, SECOND, find_direction
from . import style
from .lead_words import span, word_number
from .overview import count_tokens
from .sentences import Tables
from .wording import at_first_measure

LEVELS = "over corruption levels"  # the condition of claim C5
WRITERS_CLAIM = "U1"  # a correlation over many writers, at one masking


def describe_levels(studies: Mapping[str, Tables], every: Mapping[str, Tables]) -> str:
    """Return that better text goes with better training data over masking ratios, where most intervals of claim C5 say so after the longest training.

    Also whether one does where the share of hidden words is held fixed.
    """
    asked = {name: tables["answers"].assign(tokens=count_tokens(tables)) for name, tables in studies.items()}
    rows = pd.concat(asked, names=["study"]).reset_index("study").query("claim == 'C5' and status == @MADE")
    rows = rows[rows["tokens"] == rows["tokens"].max()]
    levels = rows[rows["condition"] == LEVELS]
    directions = [find_direction(row.low, row.high) for row in levels.itertuples()]
    shown, n = levels[[direction == FIRST for direction in directions]], len(levels)
    if SECOND in directions or 2 * len(shown) <= n:
        return ""
    where = f" in {word_number(len(shown))} of {word_number(n)} comparisons" * (len(shown) < n)
    end = describe_partial(levels, [studies[name]["correlation"] for name in levels["study"].unique()])
    return (
        f"**Over masking ratios and ways of filling, better text goes with better training data**{where} (rank correlation "
        f"{span(shown['effect'], 2)}, uncorrected).{end}{count_one_masking(every)}"
    )


def describe_partial(levels: pd.DataFrame, correlations: Sequence[pd.DataFrame]) -> str:
    """Return in how many of some comparisons better text goes with better training data where the share of hidden words is held fixed."""
    keys = ["corpus", "scope", "metric"]
    rows = pd.concat(correlations).rename(columns={"quality_scope": "scope", "quality_metric": "metric"})
    rows = rows[(rows["statistic"] == "partial_spearman") & rows["value"].notna()]
    rows = rows.merge(levels[keys].drop_duplicates(), on=keys)
    shown = sum(find_direction(row.low, row.high) == FIRST for row in rows.itertuples())
    number = word_number(shown) if shown else "none"
    return f" With the hidden share fixed: in {number}." if len(rows) else ""


def list_one_masking(studies: Mapping[str, Tables]) -> pd.DataFrame:
    """Return the rank correlations of quality and usefulness at one masking, by their first measure, from the lowest on."""
    asked = pd.concat([tables["answers"] for tables in studies.values()])
    rows = asked[(asked["claim"] == WRITERS_CLAIM) & (asked["status"] == MADE)]
    return at_first_measure(rows.sort_values("effect"))


def count_one_masking(studies: Mapping[str, Tables]) -> str:
    """Return how often better text goes with better training data at one masking; "" where not run."""
    rows = list_one_masking(studies)
    shown = sum(find_direction(row.low, row.high) == FIRST for row in rows.itertuples())
    end = f"in {word_number(shown)} of {word_number(len(rows))}" if shown else "not shown"
    return f" At one masking, other studies: {end}." if len(rows) else ""


def describe_one_masking(studies: Mapping[str, Tables]) -> str:
    """Return the rank correlations of quality and usefulness at one masking, corpus by corpus; "" where not run."""
    rows = list_one_masking(studies)
    if rows.empty:
        return ""
    clauses = [
        f"{row.effect:.2f} [{row.low:.2f}, {row.high:.2f}] on {row.corpus} ({word_masking(row)})"
        for row in rows.itertuples()
    ]
    measure = style.name_metric(rows["metric"].iloc[0])
    return f"**Quality and usefulness at one masking** (rank correlation by {measure}): {', '.join(clauses)}."


def word_masking(row: Any) -> str:
    """Return which words are hidden: "70 %" of all, or "content words"."""
    share = f"{row.first_ratio:.0%}".replace("%", " %")
    kind = row.first_strategy.replace("_", " ")
    return share if row.first_strategy == "random" else kind if row.first_ratio == 1 else f"{share} of {kind}"
