"""`evidence.csv`: every comparison of every study in one table, from the tables of the studies."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from ..evidence.derivation import Tables
from ..evidence.tables import TEXT, pick_kind
from ..files import write_csv
from .overview import count_tokens, find_start

FILE = "evidence.csv"
COLUMNS = (
    "study start tokens trainings claim condition corpus strategy ratio scope metric first second difference low high p "
    "status direction size margin excluded_because"
).split()
ORDER = "study claim condition corpus strategy ratio scope metric first second".split()
C1 = "C1"  # whose pairs of arms are compared at every masking
PAIR = "condition corpus strategy ratio scope metric".split()


def write_evidence(studies: Mapping[str, Tables], results: Path) -> None:
    """Write the table of all studies into a folder of results; same tables, same bytes."""
    write_csv(unite(studies), results / FILE)


def unite(studies: Mapping[str, Tables]) -> pd.DataFrame:
    """Return one row per study, condition, corpus, masking and measure: the comparisons that were made.

    `trainings` counts the trainings that a row rests on; `p` is corrected over the family of the row.
    """
    frames = [
        list_rows(tables).assign(study=name, start=find_start(tables), tokens=count_tokens(tables))
        for name, tables in studies.items()
    ]
    filled = [frame for frame in frames if len(frame)]
    table = pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()
    return table.reindex(columns=COLUMNS).sort_values(ORDER, kind="stable", ignore_index=True)


def list_rows(tables: Tables) -> pd.DataFrame:
    """Return the comparisons of one study: those of its texts, and the answers that are not among them."""
    names = {"comparison": "condition", "value": "difference", "runs": "trainings", "p_holm": "p"}
    compared = (
        pick_kind(tables["comparisons"], TEXT)
        .drop(columns=["kind", "p"])
        .rename(columns=names)
        .assign(claim=C1)
    )
    compared = compared[compared["difference"].notna()]
    answers = tables["answers"]
    answers = answers[answers["effect"].notna()].rename(
        columns={"effect": "difference", "runs": "trainings", "first_arm": "first", "second_arm": "second"}
    )
    answers = answers.assign(strategy=answers["first_strategy"], ratio=answers["first_ratio"])
    pairs = compared[PAIR].apply(tuple, axis=1) if len(compared) else []
    is_listed = (answers["claim"] == C1) & answers[PAIR].apply(tuple, axis=1).isin(pairs)
    frames = [frame for frame in (compared, answers[~is_listed]) if len(frame)]
    return pd.concat(frames, ignore_index=True) if frames else compared
