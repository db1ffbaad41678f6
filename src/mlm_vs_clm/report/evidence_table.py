"""`evidence.csv`: every comparison of every study in one table, from the tables of the studies."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from ..evidence.tables import TEXT, pick_kind
from ..files import write_csv
from .ladder import LIKELIHOOD, LIKELIHOODS, compare_likelihoods
from .overview import count_tokens, find_edition, find_start
from .sentences import Tables

FILE = "evidence.csv"
NOT_JUDGED = "not judged"  # of a difference of which no rule of its edition speaks
COLUMNS = (
    "study edition start tokens trainings claim condition corpus strategy ratio scope metric first second difference low high p "
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

    Of a study before the third edition texts are compared at the main cell alone. `edition` is that of the rules that judged the study, `trainings` counts the trainings that a row rests on; `p` is
    corrected over the family of the row.
    """
    frames = [
        list_rows(tables).assign(
            study=name,
            edition=find_edition(tables),
            start=find_start(tables),
            tokens=count_tokens(tables),
        )
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
    answers = answers[~is_listed]
    frames = [compared, answers, list_unjudged(tables, pd.concat([compared, answers]))]
    return pd.concat([frame for frame in frames if len(frame)], ignore_index=True)


def list_unjudged(tables: Tables, listed: pd.DataFrame) -> pd.DataFrame:
    """Return the differences in likelihood at the main cell that are not `listed`: of a study whose rules did not ask for them.

    They are means over trainings, without an interval, above 0 where the first arm is ahead.
    """
    if (listed["metric"] == LIKELIHOOD).any():
        return pd.DataFrame()
    main = tables["study"].iloc[0]
    about = {"claim": C1, "strategy": main["main_strategy"], "ratio": main["main_ratio"]}
    about |= {"scope": "fills", "metric": LIKELIHOOD, "status": NOT_JUDGED}
    answers = tables["answers"]
    rows = []
    for condition in LIKELIHOODS:
        for row in compare_likelihoods(tables, condition):
            arms = answers[(answers["claim"] == C1) & (answers["condition"] == condition)].iloc[0]
            sides = {"first": arms["first_arm"], "second": arms["second_arm"]}
            numbers = {"difference": -row["effect"], "trainings": row["runs"]}  # of nats fewer are better
            rows.append(about | sides | numbers | {"condition": condition, "corpus": row["corpus"]})
    return pd.DataFrame(rows)
