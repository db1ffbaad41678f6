"""All studies on the claims at a glance: claim C1 by condition and study, and how often each claim came out as it says."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from ..evidence.cells import group_by
from ..evidence.claims import index_conditions, list_asked
from ..evidence.derivation import Tables
from ..evidence.verdicts import AT_LEAST, FIRST, INSIDE, MADE, NOT_RUN, is_open
from . import style
from .lead_words import NO_ANSWER, word_no_lead
from .tables import DASH, markdown_table
from .wording import at_first_measure

SIDES = [f"{side}_{name}" for side in ("first", "second") for name in ("arm", "strategy", "ratio")]
OBJECTIVES = ("mlm", "clm", "infill", "kept")  # whose start is told
STATED, OTHERWISE = "as stated", "otherwise"
OUTCOMES = (STATED, OTHERWISE, NO_ANSWER)
ZERO_SHOT = "SmolLM2 as it comes"  # a condition whose causal model is not trained
REPEATED = ("C1", "C9")  # claims whose comparisons several studies make


def find_start(tables: Tables) -> str:
    """Return what the models of a study start from, in words; "" for a study that answers only its own question."""
    start = tables["study"].iloc[0]["starts_from"]
    return start if isinstance(start, str) else ""


def count_tokens(tables: Tables) -> int:
    """Return how many tokens an arm of a study saw in training at most, from 10,000 on in full thousands; 0 where nothing was trained."""
    most = int(tables["training"]["tokens_seen"].max() if len(tables["training"]) else 0)
    return round(most, -3 if most >= 10_000 else 0)


def name_network(tables: Tables) -> str:
    """Return the networks that the models of claim C1 start from, as conf/model names them."""
    training = tables["training"]
    return ", ".join(sorted(set(training.loc[training["objective"].isin(OBJECTIVES), "model"].dropna())))


def tabulate_evidence(studies: Mapping[str, Tables], rules: Sequence[dict]) -> str:
    """Return claim C1 in Markdown: one row per condition and study, by the first measure, and where it was trained most often."""
    rows = list_comparisons(studies)
    rows = rows[rows["claim"] == "C1"]
    conditions = [name for claim, name in index_conditions(rules) if claim == "C1"]
    corpora = style.ordered(rows["corpus"])
    header = ["condition", "first - second", "starts from", "tokens per arm", "trainings", *corpora]
    lines = []
    for condition in style.ordered(rows["condition"], conditions):
        for name, of_study in rows[rows["condition"] == condition].groupby("study", sort=False):
            by_corpus = {row.corpus: row for row in of_study.itertuples(index=False)}
            sides = " - ".join(of_study.iloc[0][["first_arm", "second_arm"]])
            tables = studies[str(name)]
            start = f"{find_start(tables)} ({name_network(tables)})"
            about = [condition, sides, start, _word_tokens(tables), f"{of_study['runs'].max():.0f}"]
            if condition == ZERO_SHOT:
                about[-2:] = [f"{words} (masked)" for words in about[-2:]]
            cells = [
                enter_outcome(by_corpus[corpus]) if corpus in by_corpus else DASH.text for corpus in corpora
            ]
            lines.append([*about, *cells])
    return markdown_table(header, lines)


def enter_outcome(row: Any) -> str:
    """Return an outcome in few words: "mlm +4.2 [+4.0, +4.5]", or with `word_no_lead` in place of the arm."""
    name = word_no_lead(row) or (row.first_arm if row.direction == FIRST else row.second_arm)
    return f"{name} {row.effect:+.1f} [{row.low:+.1f}, {row.high:+.1f}]"


def _word_tokens(tables: Tables) -> str:
    """Return how many tokens the arms of a study saw in training: one number, or the fewest and the most in thousands."""
    seen = tables["training"].groupby("objective")["tokens_seen"].max().div(1000).round()
    return " to ".join(f"{thousands:,.0f}k" for thousands in sorted({seen.min(), seen.max()}))


def count_claims(studies: Mapping[str, Tables], rules: Sequence[dict]) -> str:
    """Return how often each claim came out as it says, in Markdown: one row per claim, study and part of the claim."""
    lines = []
    rows, answers = list_comparisons(studies), pd.concat([tables["answers"] for tables in studies.values()])
    conditions = index_conditions(rules)
    for rule in list_asked(rules):
        id = rule["id"]
        counted = count_sides(rule, rows[rows["claim"] == id], conditions)
        if not counted:
            needs = "; ".join(dict.fromkeys(answers.loc[answers["claim"] == id, "needs"].dropna()))
            counted = [[f"not run, needs {needs}", *[DASH.text] * 3]]
        claims = [f"{id} {rule['statement']}", *[""] * (len(counted) - 1)]
        lines += [[claim, *counts] for claim, counts in zip(claims, counted, strict=True)]
    return markdown_table(["claim of the paper", "study", *OUTCOMES], lines, numbers=3)


def count_sides(
    rule: dict, rows: pd.DataFrame, conditions: Mapping[tuple[str, str], Mapping]
) -> list[list[str]]:
    """Return for each study and part of a claim its name and how often each of OUTCOMES came out."""
    counted = []
    for name, of_study in rows.groupby("study", sort=False):
        for heading, names in name_parts(rule, {*of_study["condition"]}).items():
            of_part = of_study[of_study["condition"].isin(names)]
            sides = [judge_side(row, conditions) for row in of_part.itertuples(index=False)]
            if sides:
                place = f"{name}: {heading}" if heading else str(name)
                counted.append([place, *(str(sides.count(side)) for side in OUTCOMES)])
    return counted


def name_parts(rule: dict, run: Collection[str]) -> dict[str, list[str]]:
    """Return the conditions that ask a claim itself by its parts, "" where it has none.

    An optional one asks it aside, but in a study that has `run` no other.
    """
    asked = [condition for condition in rule["conditions"] if not condition.get("optional")]
    has_run = any(condition["name"] in run for condition in asked)
    parts = group_by(asked if has_run else rule["conditions"], lambda condition: condition.get("part", ""))
    named = {part: of_part for part, of_part in parts.items() if part} or parts
    return {part: [condition["name"] for condition in of_part] for part, of_part in named.items()}


def list_comparisons(studies: Mapping[str, Tables]) -> pd.DataFrame:
    """Return the answers of all studies that were run, by the first measure of each condition, each comparison once.

    C3 speaks of punctuation alone. A comparison of REPEATED that another study repeats over several trainings
    is shown from there.
    """
    rows = pd.concat(
        at_first_measure(tables["answers"]).assign(study=name) for name, tables in studies.items()
    )
    rows = rows[rows["status"] != NOT_RUN]
    rows = rows[(rows["claim"] != "C3") | rows["first_strategy"].astype(str).str.contains("punctuation")]
    rows = rows.drop_duplicates(["claim", "condition", "corpus", *SIDES, "metric", "effect"])
    return rows[~_is_repeated(rows, studies)]


def _is_repeated(rows: pd.DataFrame, studies: Mapping[str, Tables]) -> pd.Series:
    """Return which comparisons of REPEATED another study made over more trainings, from the same networks and on as many tokens."""
    sizes = {
        name: (find_start(tables), name_network(tables), count_tokens(tables))
        for name, tables in studies.items()
    }
    keys = [rows["study"].map(sizes), rows["claim"], rows["condition"], rows["corpus"]]
    most = rows["runs"].fillna(1).groupby(keys).transform("max")
    return rows["claim"].isin(REPEATED) & (rows["runs"].fillna(1) < most)


def judge_side(row: Any, conditions: Mapping[tuple[str, str], Mapping]) -> str:
    """Return whether an answer says what its claim says: STATED, OTHERWISE or NO_ANSWER."""
    if row.status != MADE or is_open(row):
        return NO_ANSWER
    side = row.direction if row.kind == AT_LEAST or row.size != INSIDE else INSIDE
    return STATED if side in conditions[row.claim, row.condition]["as_stated"] else OTHERWISE
