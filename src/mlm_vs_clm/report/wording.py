"""Verdicts in words, and the sentences that are made from them: nothing here decides."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from ..evidence.cells import group_by
from ..evidence.claims import list_asked, read_rules
from ..evidence.power import SETTLED_RUNS
from ..evidence.questions import QUALITY, TRAINING
from ..evidence.tables import COLUMNS
from ..evidence.verdicts import (
    AT_LEAST,
    CORRELATION,
    COST,
    FIRST,
    INSIDE,
    MADE,
    NO_ROOM,
    NONE_SHOWN,
    NOT_COMPETENT,
    NOT_RUN,
    NOT_SETTLED,
    OUTSIDE,
    SECOND,
    SLOPE,
    UTILITY,
    is_open,
)
from ..files import ROOT

CLAIMS = ROOT / "conf" / "claims.yaml"
UNSURE = "an arm is competent mostly by function words and punctuation"
ONE_TRAINING = "for this one training"
NO_DIFFERENCE = "no difference shown"
SIZES = {INSIDE: "inside the margin", OUTSIDE: "outside the margin", NOT_SETTLED: "size not settled"}
SILENT = {
    NOT_RUN: "not run",
    NOT_COMPETENT: "undecided (arm not competent)",
    NO_ROOM: "undecided (no room in the task)",
}
# By what is judged: the words of the direction, or of the size where that is the answer.
LEADS = {
    AT_LEAST: {FIRST: "yes", SECOND: "no", INSIDE: "no", NOT_SETTLED: NOT_SETTLED},
    CORRELATION: {
        FIRST: "strong correlation",
        SECOND: "strong, reversed",
        INSIDE: "no strong correlation",
        NOT_SETTLED: NOT_SETTLED,
    },
    SLOPE: {FIRST: "rises with quality", SECOND: "reversed", NONE_SHOWN: "no slope shown"},
    COST: {INSIDE: "equal cost", NOT_SETTLED: "depends on the masking"},
}
ONE_WORD = (AT_LEAST, CORRELATION, COST)  # what is judged by one of the two words


def word_verdict(row: Any, value: str = "") -> str:
    """Return a row of differences in words: "mlm ahead, +3.4 [+3.1, +3.8], outside the margin"; `value`: the number."""
    lead, behind = word_lead(row)
    return ", ".join(filter(None, [lead + behind, value, word_size(row)]))


def word_lead(row: Any, several: bool = False) -> tuple[str, str]:
    """Return who is ahead, and the name that others may join.

    One pair: "mlm ahead". Several: ("mlm ahead of ", "unigram"), ("no difference shown for mlm against ", "clm").
    """
    first, second = (str(getattr(row, f"{side}_arm", getattr(row, side, ""))) for side in ("first", "second"))
    if row.status != MADE:
        names = getattr(row, "excluded", "") if row.status == NOT_COMPETENT else ""
        lead = f"undecided ({names.replace(', ', ' and ')} not competent)" if names else SILENT[row.status]
        return _name_pair(lead, row, first, second, several)
    kind = getattr(row, "kind", "")
    words = LEADS.get(kind, {})
    if kind == COST and row.scope == TRAINING:
        words = words | {NOT_SETTLED: NOT_SETTLED}
    key = row.direction if row.direction != NONE_SHOWN or kind not in ONE_WORD else row.size
    if key in words or key == NONE_SHOWN:
        return _name_pair(words.get(key, NO_DIFFERENCE), row, first, second, several)
    name, behind = (first, second) if key == FIRST else (second, first)
    if kind == COST:
        return f"{name} costs more", ""
    if first == second:
        return f"{name} better {_word_masking(row, key)}", ""
    return (f"{name} ahead of ", behind) if several else (f"{name} ahead", "")


def _name_pair(lead: str, row: Any, first: str, second: str, several: bool) -> tuple[str, str]:
    if not several:
        return lead, ""
    if first != second:
        return f"{lead} for {first} against ", second
    return (
        f"{lead} for ",
        first if row.first_strategy == row.second_strategy else f"{first} at {row.first_strategy}",
    )


def _word_masking(row: Any, side: str) -> str:
    """Return where an arm is better: "on punctuation than on random words", or "at random 0.15"."""
    opposite = SECOND if side == FIRST else FIRST
    here, there = (getattr(row, f"{end}_strategy") for end in (side, opposite))
    if f"random_as_{here}" == there:
        return f"on {here} than on random words"
    if here == f"random_as_{there}":
        return f"on random words than on {there}"
    return f"at {here} {getattr(row, f'{side}_ratio'):g}"


def word_size(row: Any) -> str:
    """Return the size in words; nothing where the lead says all, or where nothing was decided."""
    if row.status != MADE or getattr(row, "kind", "") in ONE_WORD:
        return ""
    return SIZES[row.size]


def word_runs(rows: pd.DataFrame) -> str:
    """Return over how many trainings answers were measured, in words; nothing for costs, which are counted."""
    fewest = rows.loc[(rows["status"] == MADE) & (rows["kind"] != COST), "runs"].min()
    if pd.isna(fewest):
        return ""
    few = f", fewer than the {SETTLED_RUNS} that settle" if fewest < SETTLED_RUNS else ""
    return ONE_TRAINING if fewest == 1 else f"over {fewest:.0f} runs{few}"


def join_names(names: Sequence[str]) -> str:
    """Return "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def write_sentences(answers: pd.DataFrame, rules: Sequence[dict]) -> pd.DataFrame:
    """Return the table `sentences`: for each claim what its conditions found, and over how many trainings (`sure`).

    Where conditions differ in their trainings each says its own.
    """
    rows = []
    for rule in list_asked(rules):
        of_claim = answers[answers["claim"] == rule["id"]]
        measured = of_claim[of_claim["status"] != NOT_RUN]
        names = [condition["name"] for condition in rule["conditions"]]
        conditions = {name: measured[measured["condition"] == name] for name in names}
        sure = {name: word_runs(group) for name, group in conditions.items() if len(group)}
        shared = next(iter(sure.values()), "") if len({*filter(None, sure.values())}) < 2 else None
        clauses = [
            _word_condition(name, conditions[name], of_claim, "" if shared is not None else words)
            for name, words in sure.items()
        ]
        absent = [name for name in names if name in {*of_claim["condition"]} and name not in sure]
        clauses += [f"Not run: {', '.join(absent)}"] if absent else []
        sentence = f"{'. '.join(clauses)}." if clauses else "Nothing was run."
        shared = next(filter(None, sure.values()), "") if shared is not None else ""
        rows.append(
            {"claim": rule["id"], "statement": rule["statement"], "sure": shared, "sentence": sentence}
        )
    return pd.DataFrame(rows, columns=COLUMNS["sentences"])


def _word_condition(name: str, rows: pd.DataFrame, claim: pd.DataFrame, sure: str) -> str:
    """Return what a condition found by its first metric, with its arms and corpora; a correlation by each metric."""
    metrics = list(dict.fromkeys(rows["metric"]))
    if len(metrics) > 1 and rows["first_arm"].iloc[0] == QUALITY:
        by_metric = [(metric, rows[rows["metric"] == metric]) for metric in metrics]
        return ". ".join(
            _word_condition(f"{name}, by {name_of_metric}", of_metric, claim, sure)
            for name_of_metric, of_metric in by_metric
        )
    first_rows = list(at_first_measure(rows).itertuples(index=False))
    corpora = {*claim["corpus"]}
    pairs = {_name_sides(row) for row in first_rows}
    arms = {(row.first_arm, row.second_arm) for row in first_rows}
    first, second = next(iter(arms))
    about = f"{first} against {second}" if len(arms) == 1 and first not in (second, QUALITY) else ""
    title = f"{name} ({', '.join(filter(None, [about, sure]))})" if about or sure else name
    behind_of: dict[tuple[str, str], list[str]] = {}
    for (lead, behind, size), group in group_by(
        first_rows, lambda row: (*word_lead(row, len(pairs) > 1), word_size(row))
    ).items():
        end = f"{_word_corpora(group, corpora)}{size and f', {size}'}{_word_needs(group)}"
        behind_of.setdefault((lead, end), []).append(behind)
    outcomes = [
        f"{lead}{join_names(list(filter(None, names)))}{end}" for (lead, end), names in behind_of.items()
    ]
    unsure = f" ({UNSURE})" if any(row.unsure for row in first_rows) else ""
    return f"{title[0].upper()}{title[1:]}: {'; '.join(outcomes)}{unsure}"


def at_first_measure(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each condition by the first measure of its rule that was measured, in whatever order the rows stand.

    Where the rule names no measure the whole document comes before the fills. Training data has the measure of each corpus's task.
    """
    orders = list_measures(CLAIMS)
    named = zip(rows["claim"], rows["condition"], rows["metric"], strict=True)
    ranks = [
        order.index(metric) if metric in (order := orders.get((claim, name), [])) else len(order)
        for claim, name, metric in named
    ]
    ranked = rows.assign(rank=ranks).sort_values(["rank", "scope"], kind="stable")
    first = ranked.drop_duplicates("condition").set_index("condition")
    return rows[(rows["metric"] == rows["condition"].map(first["metric"])) | (rows["scope"] == UTILITY)]


@cache
def list_measures(path: Path) -> dict[tuple[str, str], list[str]]:
    """Return the metrics by which the rules of a file ask a condition, by (claim, condition), in their order."""
    return {
        (rule["id"], condition["name"]): [measure["metric"] for measure in measures]
        for rule in read_rules(path)
        for condition in rule["conditions"]
        if (measures := condition.get("measures", rule.get("measures")))
    }


def _name_sides(row: Any) -> tuple:
    """Return what tells pairs of sides apart: arms, or of one arm its maskings."""
    arms = row.first_arm, row.second_arm
    return arms if arms[0] != arms[1] else (*arms, row.first_strategy, row.second_strategy)


def _word_needs(rows: list) -> str:
    needs = list(dict.fromkeys(row.needs for row in rows if is_open(row) and row.needs))
    if not needs:
        return ""
    return f" (needs {needs[0] if len(needs) == 1 else 'more: see the answers table'})"


def _word_corpora(rows: Sequence, corpora: set[str]) -> str:
    """Return on which corpora; nothing where the claim was asked on one alone."""
    names = list(dict.fromkeys(row.corpus for row in rows))
    if len(corpora) == 1:
        return ""
    return " on all corpora" if {*names} == corpora else f" on {join_names(names)}"
