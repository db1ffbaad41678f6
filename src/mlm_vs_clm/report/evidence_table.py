"""`evidence.csv`: every comparison of every study in one table, from the tables of the studies."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from ..files import write_csv
from .overview import count_tokens, find_start
from .sentences import Tables

FILE = "evidence.csv"
COLUMNS = (
    "study start tokens trainings claim condition corpus strategy ratio scope metric first second difference low high p "
    "status direction size margin excluded_because"
).split()
ORDER = "study claim condition corpus strategy ratio scope metric first second".split()
C1 = "C1"  # whose pairs of arms `comparisons` has at every masking


def write_evidence(studies: Mapping[str, Tables], results: Path) -> None:
    """Write the table of all studies into a folder of results; same tables, same bytes."""
    write_csv(unite(studies), results / FILE)


def unite(studies: Mapping[str, Tables]) -> pd.DataFrame:
    """Return one row per study, condition, corpus, masking and measure: the comparisons that were made.

    A study that compares its arms at every masking has those rows; of an older one there are the answers to the claims.
    `trainings` counts the trainings that a row rests on; `p` is corrected over the family of the row.
    """
    parts = [
        list_rows(tables).assign(study=name, start=find_start(tables), tokens=count_tokens(tables))
        for name, tables in studies.items()
    ]
    known = [part for part in parts if len(part)]
    table = pd.concat(known, ignore_index=True) if known else pd.DataFrame()
    return table.reindex(columns=COLUMNS).sort_values(ORDER, kind="stable", ignore_index=True)


def list_rows(tables: Tables) -> pd.DataFrame:
    """Return the comparisons of one study: `comparisons`, and the answers that are not among them."""
    made = tables["comparisons"].rename(
        columns={"comparison": "condition", "value": "difference", "runs": "trainings"}
    )
    made = made[made["difference"].notna()].drop(columns="p").rename(columns={"p_holm": "p"}).assign(claim=C1)
    answers = tables["answers"]
    answers = answers[answers["effect"].notna()].rename(
        columns={"effect": "difference", "runs": "trainings", "first_arm": "first", "second_arm": "second"}
    )
    answers = answers.assign(strategy=answers["first_strategy"], ratio=answers["first_ratio"])
    if len(made):
        answers = answers[answers["claim"] != C1]
    return pd.concat([made, answers], ignore_index=True)
