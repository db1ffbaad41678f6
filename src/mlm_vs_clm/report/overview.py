"""All studies on the claims at a glance: claim C1 by condition and study, and how often each claim came out as it says."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..evidence.verdicts import AT_LEAST, FIRST, INSIDE, MADE, NOT_RUN, SECOND, is_open
from . import style
from .outcomes import enter_outcome
from .sentences import Tables
from .tables import DASH, markdown_row
from .wording import at_first_measure

STARTS = {  # the weights that the arms of a study on claim C1 start from, by folder of results, shortest training first
    "laptop": "one encoder",
    "evening-runs": "one encoder",
    "evening": "one encoder",
    "desk-short_runs": "one encoder",
    "desk": "one encoder",
    "evening-causal_start": "one causal checkpoint",
    "evening-pretrained": "a checkpoint per arm",
}
# A study, and the one that repeats some of its comparisons over several trainings on as many tokens.
REPEATED = {"evening": "desk-short_runs", "evening-orders": "evening-runs"}
AS_STATED = {  # by claim, or claim and condition: the side that is ahead by more than the margin, or INSIDE it, as the claim says
    "C1": (FIRST,),
    "C2": (FIRST,),
    "C3": (FIRST,),
    "C3 masked half": (SECOND,),
    "C4": (INSIDE, SECOND),
    "C5": (INSIDE,),
    "C6": (FIRST,),
    "C7": (FIRST,),
    "C8": (FIRST,),
    "C8 at equal quality": (SECOND,),
    "C9": (INSIDE, SECOND),
}
SIDES = [f"{side}_{name}" for side in ("first", "second") for name in ("arm", "strategy", "ratio")]
PARTS = {  # of a claim that says two things, by the first word of the condition; others do not ask the claim itself
    "C3": {"masked": "worst for masked", "causal": "best for causal"},
    "C6": {"sharply": "sharply worse", "above": "usable"},
}
STATED, OTHERWISE, OPEN = "as stated", "otherwise", "undecided"


def tabulate_evidence(studies: Mapping[str, Tables]) -> str:
    """Return claim C1 in Markdown: one row per condition and study, by the first measure, and where it was trained most often."""
    rows = list_comparisons({name: studies[name] for name in STARTS if name in studies})
    rows = rows[rows["claim"] == "C1"]
    corpora = style.ordered(rows["corpus"])
    header = ["condition", "first - second", "starts from", "tokens per arm", "trainings", *corpora]
    lines = [markdown_row(header), markdown_row(["---"] * len(header))]
    for condition in style.ordered(rows["condition"], style.COMPARISONS):
        for name, part in rows[rows["condition"] == condition].groupby("study", sort=False):
            found = {row.corpus: row for row in part.itertuples(index=False)}
            sides = " - ".join(part.iloc[0][["first_arm", "second_arm"]])
            tokens = _word_tokens(studies[str(name)])
            about = [condition, sides, STARTS[str(name)], tokens, f"{part['runs'].max():.0f}"]
            cells = [
                enter_outcome(found[corpus]).text if corpus in found else DASH.text for corpus in corpora
            ]
            lines.append(markdown_row([*about, *cells]))
    return "\n".join(lines)


def _word_tokens(tables: Tables) -> str:
    """Return how many tokens the arms of a study saw in training: one number, or the fewest and the most in thousands."""
    seen = tables["training"].groupby("objective")["tokens_seen"].max().div(1000).round()
    return " to ".join(f"{thousands:,.0f}k" for thousands in sorted({seen.min(), seen.max()}))


def count_claims(studies: Mapping[str, Tables]) -> str:
    """Return how often each claim came out as it says, in Markdown: one row per claim, study and part of the claim."""
    header = ["claim of the paper", "study", STATED, OTHERWISE, OPEN]
    lines = [markdown_row(header), markdown_row(["---", "---", *["---:"] * 3])]
    rows, answers = list_comparisons(studies), pd.concat([tables["answers"] for tables in studies.values()])
    for told in next(iter(studies.values()))["sentences"].itertuples(index=False):
        claim = f"{told.claim} {told.statement}"
        named = PARTS.get(told.claim, {"": ""})
        for name, of_study in rows[rows["claim"] == told.claim].groupby("study", sort=False):
            for start, part in named.items():
                asked = of_study[of_study["condition"].str.startswith(start)]
                found = [judge_side(row) for row in asked.itertuples(index=False)]
                if found:
                    counts = [str(found.count(side)) for side in (STATED, OTHERWISE, OPEN)]
                    lines.append(markdown_row([claim, f"{name}: {part}" if part else str(name), *counts]))
                    claim = ""
        if claim:
            needs = "; ".join(dict.fromkeys(answers.loc[answers["claim"] == told.claim, "needs"].dropna()))
            lines.append(markdown_row([claim, f"not run, needs {needs}", *[DASH.text] * 3]))
    return "\n".join(lines)


def list_comparisons(studies: Mapping[str, Tables]) -> pd.DataFrame:
    """Return the answers of all studies that were run, by the first measure of each condition, each comparison once.

    C3 speaks of punctuation alone. A comparison of C1 that a study repeats over several trainings is shown from there.
    """
    found = []
    for name, tables in studies.items():
        of_claims = tables["answers"].groupby("claim", sort=False)
        found += [at_first_measure(part).assign(study=name) for _, part in of_claims]
    rows = pd.concat(found)
    rows = rows[rows["status"] != NOT_RUN]
    rows = rows[(rows["claim"] != "C3") | rows["first_strategy"].astype(str).str.contains("punctuation")]
    rows = rows.drop_duplicates(["claim", "condition", "corpus", *SIDES, "metric", "effect"])
    for once, repeated in REPEATED.items():
        again = rows.loc[rows["study"] == repeated, "condition"]
        rows = rows[(rows["claim"] != "C1") | (rows["study"] != once) | ~rows["condition"].isin(again)]
    return rows


def judge_side(row: Any) -> str:
    """Return whether an answer says what its claim says: STATED, OTHERWISE or OPEN."""
    if row.status != MADE or is_open(row):
        return OPEN
    stated = AS_STATED.get(f"{row.claim} {row.condition}", AS_STATED[row.claim])
    return (
        STATED
        if (row.direction if row.kind == AT_LEAST or row.size != INSIDE else INSIDE) in stated
        else OTHERWISE
    )
