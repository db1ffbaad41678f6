"""All studies on the claims at a glance: claim C1 by condition and study, and how often each claim came out as it says."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..analysis.answers import ALL, EQUAL, FIRST, NOT_RUN, SECOND, WITHIN, WORDS, YES
from . import style
from .outcomes import UNDECIDED, at_first_measure, enter_outcome
from .sentences import Tables
from .tables import DASH, markdown_row

STARTS = {  # what the arms of a study on claim C1 start from, by folder of results
    "laptop": "one encoder",
    "laptop-runs": "one encoder",
    "desk": "one encoder",
    "laptop-causal_start": "one causal checkpoint",
    "laptop-pretrained": "a checkpoint of each kind",
}
REPEATED = {
    "laptop": "laptop-runs"
}  # a study, and the one that repeats some of its conditions over several trainings
SMALL = (EQUAL, FIRST + WITHIN, SECOND + WITHIN)
AS_STATED = {  # by claim, or claim and condition: the outcomes that say what the claim says
    "C1": (FIRST,),
    "C2": (FIRST,),
    "C3": (FIRST,),
    "C3 masked half": (SECOND,),
    "C4": (*SMALL, SECOND),
    "C5": (WORDS["spearman"][EQUAL], WORDS["slope_at_same_masking"][EQUAL]),
    "C6": (YES,),
    "C7": (FIRST,),
    "C8": (WORDS["cost"][FIRST],),
    "C8 at equal quality": (SECOND,),
}
STATED, OTHERWISE, OPEN = "as stated", "otherwise", "undecided"


def tabulate_evidence(studies: Mapping[str, Tables]) -> str:
    """Return claim C1 in Markdown: one row per condition and study, by the first measure, and where it was trained most often."""
    rows = pd.concat([_list_rows(tables, "C1").assign(study=name) for name, tables in studies.items()])
    rows = rows[rows["study"].isin(STARTS) & (rows["outcome"] != NOT_RUN)]
    for once, repeated in REPEATED.items():
        again = rows.loc[rows["study"] == repeated, "condition"]
        rows = rows[(rows["study"] != once) | ~rows["condition"].isin(again)]
    corpora = style.ordered(rows["corpus"])
    header = ["condition", "first - second", "both start from", "tokens", "trainings", *corpora]
    lines = [markdown_row(header), markdown_row(["---"] * len(header))]
    for condition in style.ordered(rows["condition"], style.COMPARISONS):
        of_condition = rows[rows["condition"] == condition]
        for name, part in of_condition.groupby("study", sort=False):
            found = {row.corpus: row for row in part.itertuples(index=False)}
            sides = " - ".join(str(part.iloc[0][side]).partition(" at ")[0] for side in ("first", "second"))
            about = [condition, sides, STARTS[name], _word_tokens(studies[name]), f"{part['runs'].max():.0f}"]
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
    """Return how often each claim came out as it says, in Markdown: one row per claim and study that ran it.

    Counted are corpora and pairs of arms under every condition that asks the claim itself, by its first measure.
    """
    header = ["claim of the paper", "study", STATED, OTHERWISE, OPEN]
    lines = [markdown_row(header), markdown_row(["---", "---", *["---:"] * 3])]
    sentences = next(iter(studies.values()))["sentences"]
    for told in sentences.itertuples(index=False):
        statement, needs = f"{told.claim} {told.statement}", ""
        for name, tables in studies.items():
            rows = _list_rows(tables, told.claim)
            needs = needs or "; ".join(dict.fromkeys(rows["needs"].dropna()))
            found = [side for row in rows.itertuples(index=False) if (side := judge_side(row))]
            if found:
                counts = [str(found.count(side)) for side in (STATED, OTHERWISE, OPEN)]
                lines.append(markdown_row([statement, name, *counts]))
                statement = ""
        if statement:
            lines.append(markdown_row([statement, f"not run, needs {needs}", *[DASH.text] * 3]))
    return "\n".join(lines)


def _list_rows(tables: Tables, claim: str) -> pd.DataFrame:
    """Return the answers to a claim, one row per corpus, condition and pair of sides, by the first measure."""
    answers = tables["answers"]
    return at_first_measure(answers[(answers["claim"] == claim) & (answers["corpus"] != ALL)])


def judge_side(row: Any) -> str:
    """Return whether an answer says what its claim says, STATED, OTHERWISE or OPEN; nothing for one that was not run.

    Nothing either for rows that a claim does not speak of: strategies other than punctuation (C3), entities hidden (C6).
    """
    is_aside = (row.claim == "C3" and "punctuation" not in str(row.first)) or (
        row.claim == "C6" and row.condition.startswith("entities hidden")
    )
    if row.outcome == NOT_RUN or is_aside:
        return ""
    if row.outcome in UNDECIDED:
        return OPEN
    stated = AS_STATED.get(f"{row.claim} {row.condition}", AS_STATED[row.claim])
    return STATED if row.outcome in stated else OTHERWISE
