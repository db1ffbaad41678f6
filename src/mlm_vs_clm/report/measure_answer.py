"""Sentences for README and the paper on leads in other measures than BLEU."""

from collections.abc import Callable, Mapping

import pandas as pd

from . import style
from .ladder import READS
from .lead_words import SIDES, span
from .sentences import Tables
from .short_table import FROM, Shown, list_shown


def list_leads(
    shown: Shown, studies: Mapping[str, Tables], read: Callable[[Tables], pd.DataFrame]
) -> pd.DataFrame:
    """Return the leads in a measure, as `read` has them, of the studies in the table of README, with their `start` and `study`."""
    read_from = {(step[0], name) for step, name in list_shown(shown).items()}
    tables = [
        read(studies[name]).assign(start=start, study=name)
        for start, name in sorted(read_from, key=lambda pair: ([*FROM].index(pair[0]), pair[1]))
    ]
    rows = pd.concat(tables) if tables else pd.DataFrame()
    return rows[rows["direction"].isin([*SIDES])] if len(rows) else rows


def find_turned(leads: pd.DataFrame, steps: pd.DataFrame) -> set[str]:
    """Return the corpora on which a side leads, of `leads` in another measure, where the other leads in BLEU."""
    if leads.empty:
        return set()
    by_bleu = steps[steps["direction"].isin([*SIDES])].rename(columns={"condition": "comparison"})
    keys = ["study", "comparison", "corpus"]
    pairs = leads[[*keys, "direction"]].merge(by_bleu, on=keys, suffixes=("", "_bleu"))
    return {*pairs.loc[pairs["direction"] != pairs["direction_bleu"], "corpus"]}


def describe_content(leads: pd.DataFrame, n_corpora: int) -> str:
    """Return which side restores more content words from which starts: of arms that are competent on these; "" without leads."""
    if leads.empty:
        return ""
    clauses: list[str] = []
    told: set[str] = set()
    reading = ""  # of the clause before
    for side, words in SIDES.items():
        of_side = leads[leads["direction"] == side]
        if starts := {*of_side["start"]}:
            are_others = told and len(starts) > 1 and starts == {*FROM} - told
            names = (
                ["from other starts"] if are_others else [FROM[start] for start in FROM if start in starts]
            )
            restores = "" if clauses else " restores"  # said once
            by_reading = {
                READS[name]: span(abs(rows["value"]) * 100)
                for name in READS
                if len(rows := of_side[of_side["comparison"] == name])
            }
            first, *others = by_reading
            where = "" if first == reading else f" where causal {first}"
            beside = "".join(f" ({name.removeprefix('reads ')}: {by_reading[name]})" for name in others)
            clauses.append(f"{' or '.join(names)}, {words}{restores} {by_reading[first]} more{where}{beside}")
            reading = first
            told |= starts
    corpora = style.ordered(leads["corpus"])
    where = f" ({' and '.join(corpora)} alone)" if len(corpora) < n_corpora else ""
    return f"**Of 100 content words**{where}: {'; '.join(clauses)}.{' No answer elsewhere.' * (not where)}"
