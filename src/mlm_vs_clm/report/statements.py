"""What others say of masked and causal models, and the paper's open questions: one row per claim that a study of its own tests."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from ..evidence.cells import group_by
from ..evidence.claims import IN_SHORT, index_conditions, list_tracks
from ..evidence.derivation import Tables
from ..evidence.verdicts import COST, FIRST, MADE, SECOND
from . import style
from .lead_words import NO_ANSWER, word_no_lead
from .overview import OTHERWISE, judge_side
from .tables import markdown_table
from .verdict_cards import VerdictCard, list_own_verdicts
from .wording import NO_DIFFERENCE, at_first_measure, join_names, word_lead

HEADER = ("", "statement", "outcome", "what was measured", "study")
NOT_TESTED = "not tested"
CHANCE = "chance"  # in place of a second arm
UNITS = {"writers": "rank correlation with ", "share_of_gain": "of the gain in "}  # by kind of claim
MOST_CONDITIONS, MOST_CLAUSES = 6, 3  # of a claim, and of a condition; all stand on the page of the study


def tabulate_statements(studies: Mapping[str, Tables], rules: Sequence[dict]) -> str:
    """Return every claim of `rules` that has a track in Markdown: its statement, its outcome, differences, and its study.

    studies: the tables of all committed studies, by folder. rules: as `read_rules` returns them. A claim whose study is not
    committed is not tested.
    """
    lines, cards = [], judge_statements(studies)
    run = {str(tables["study"].iloc[0]["track"]) for tables in studies.values()}
    for rule in filter(list_tracks, rules):
        if rule["id"] not in cards:
            reason = explain_absence(rule, run)
            lines.append([rule["id"], rule["statement"], f"**{NOT_TESTED}**", reason, ""])
            continue
        name, card = cards[rule["id"]]
        measured = describe_differences(studies[name]["answers"], rule)
        page = f"[{name}](../results/{name}/report.html)"
        outcome = f"**{card.verdict}**: {card.number}"
        lines.append([rule["id"], rule["statement"], outcome, measured, page])
    return markdown_table(HEADER, lines)


def explain_absence(rule: dict, run: Collection[str]) -> str:
    """Return why a claim was not tested: its own reason, a study that nobody `run`, or what a study that was run leaves out."""
    track = list_tracks(rule)[0]
    if rule.get("absent", f"track={track}") != f"track={track}":
        return str(rule["absent"])
    if track in run:
        return f"left out of the study that was run, see [its settings](../conf/track/{track}.yaml)"
    return f"`make reproduce TRACK={track}` runs it"


def judge_statements(studies: Mapping[str, Tables]) -> dict[str, tuple[str, VerdictCard]]:
    """Return by claim the study that tests it, and its verdict."""
    return {
        card.title: (name, card) for name, tables in studies.items() for card in list_own_verdicts(tables)
    }


def summarise_statements(studies: Mapping[str, Tables], rules: Sequence[dict]) -> str:
    """Return a sentence on the claims that have a short form and were tested; "" where none was."""
    cards = judge_statements(studies)
    clauses = []
    for rule in rules:
        if IN_SHORT in rule and rule["id"] in cards:
            card, statement = cards[rule["id"]][1], str(rule[IN_SHORT])
            number = NO_ANSWER if card.verdict == NO_ANSWER else card.number
            clauses.append(f"*{statement[0].upper()}{statement[1:]}*: {number}.")
    return f"**Whether common statements hold** (one training). {' '.join(clauses)}" if clauses else ""


def describe_differences(answers: pd.DataFrame, rule: dict) -> str:
    """Return who is ahead by how much, condition by condition, by the first measure of each."""
    names = [condition["name"] for condition in rule["conditions"]]  # a study may have answers to older ones
    rows = answers[(answers["claim"] == rule["id"]) & answers["condition"].isin(names)]
    rows = rows[rows["effect"].notna()]
    first = at_first_measure(rows)
    conditions = index_conditions([rule])
    against = {
        row.condition for row in first.itertuples(index=False) if judge_side(row, conditions) == OTHERWISE
    }
    names = [name for name in names if name in {*first["condition"]}]
    if len(names) > MOST_CONDITIONS:
        names.sort(key=lambda name: name not in against)  # what speaks against a claim is not cut
    clauses = [
        f"{name}: {_describe_condition(first[first['condition'] == name], UNITS.get(rule['kind'], ''))}"
        f"{_describe_disagreement(first[first['condition'] == name], rows[rows['condition'] == name])}"
        for name in names
    ]
    return "; ".join(_cut(clauses, MOST_CONDITIONS))


def _describe_disagreement(first: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Return by which other measures somebody is ahead where the first measure shows nobody, or another; "" where none is."""
    outcomes = {_name_ahead(row) for row in first.itertuples(index=False)}
    decided = rows[(rows["status"] == MADE) & rows["direction"].isin([FIRST, SECOND])]
    by_outcome = group_by(decided.itertuples(index=False), _name_ahead)
    clauses = []
    for ahead, group in by_outcome.items():
        if ahead not in outcomes:
            corpora = style.ordered(row.corpus for row in group)
            where = f" on {join_names(corpora)}" * (set(corpora) != set(first["corpus"]))
            clauses.append(f"by {_name_metrics(group)} {ahead}{where}")
    return f"; {', '.join(clauses)}" if clauses else ""


def _describe_condition(rows: pd.DataFrame, unit: str) -> str:
    """Return "mlm ahead on plots and speeches (+0.012 to +0.034 exact match), none shown on abstracts (+0.002)"; `unit`: before the measure."""
    clauses = []
    for ahead, group in group_by(rows.itertuples(index=False), _name_ahead).items():
        digits, effects = max(style.decimals_of(row.metric) for row in group), [row.effect for row in group]
        ends = dict.fromkeys(f"{end:+.{digits}f}" for end in (min(effects), max(effects)))
        corpora = join_names(style.ordered(row.corpus for row in group))
        difference = f"{' to '.join(ends)} {unit}{_name_metrics(group)}{' over chance' * (group[0].second_arm == CHANCE)}"
        if group[0].kind == COST:
            difference = f"{group[0].first_arm}: {join_names([f'{math.exp(row.effect):.2g}' for row in group])} times the FLOPs per nat"
        clauses.append(f"{ahead} on {corpora} ({difference})")
    return ", ".join(_cut(clauses, MOST_CLAUSES))


def _name_metrics(rows: Sequence[Any]) -> str:
    return join_names(list(dict.fromkeys(style.name_metric(row.metric).partition(" (")[0] for row in rows)))


def _cut(clauses: list[str], most: int) -> list[str]:
    return clauses[:most] + ["..."] * (len(clauses) > most)


def _name_ahead(row: Any) -> str:
    words = word_lead(row) if row.status == MADE else NO_DIFFERENCE
    return words if words != NO_DIFFERENCE else word_no_lead(row)
