"""Cost, training data and claims as cards: a verdict word, a number, one line why; the rows stand inside."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..evidence.cells import group_by
from ..evidence.claims import index_conditions, list_tracks
from ..evidence.derivation import Tables
from ..evidence.tables import COMPUTE, TRAINING_DATA, pick_kind
from ..evidence.verdicts import FIRST, INSIDE, MADE, NO_ROOM, NOT_COMPETENT, SECOND
from . import style
from .lead_words import NO_ANSWER, SIDES
from .outcomes import describe_conditions, keep_run
from .overview import OTHERWISE, STATED, judge_side, list_comparisons, name_parts
from .sentences import SAME_LENGTHS, describe_shares, format_difference, format_range, list_times
from .study_folder import find_rules
from .style import Study
from .training_answer import compare_unfilled, word_idle
from .wording import join_names

HOLDS = {  # (came out as stated, came out otherwise) -> the word
    (True, False): "holds",
    (False, True): "does not hold",
    (True, True): "holds in part",
    (False, False): NO_ANSWER,
}


@dataclass(frozen=True)
class VerdictCard:
    """A verdict word, a number, one line why, what conditions found, and the section of the evidence that has the rows."""

    title: str
    verdict: str
    number: str
    why: str
    lines: Sequence[tuple[str, str]] = ()
    section: str = ""


def list_verdicts(tables: Tables, study: Study) -> list[VerdictCard]:
    """Return the cards of cost and training data, then one per claim that was asked."""
    return [
        *judge_cost(tables),
        *judge_training_data(tables, study),
        *judge_claims(tables, find_rules(tables)),
    ]


def judge_cost(tables: Tables) -> list[VerdictCard]:
    """Return the card of the cost of filling, masked relative to causal, at the main cell; none where it was not run."""
    rows = list_times(pick_kind(tables["comparisons"], COMPUTE))
    rows = rows[rows["comparison"] == SAME_LENGTHS]
    if rows.empty:
        return []
    times = rows["times"]
    verdict = (
        "masked costs more" if times.min() > 1 else "causal costs more" if times.max() < 1 else "it depends"
    )
    first, second = rows.iloc[0][["first", "second"]]
    why = f"Floating-point operations a document, {first} over {second}. The pace is a setting: fewer passes cost less."
    return [VerdictCard("Cost at the main masking", verdict, format_range(times), why, section="cost")]


def judge_training_data(tables: Tables, study: Study) -> list[VerdictCard]:
    """Return the card of the text as training data, masked against causal, at the main cell; none where it was not run."""
    rows = pick_kind(tables["comparisons"], TRAINING_DATA)
    rows = rows[(rows["comparison"] == SAME_LENGTHS) & rows["value"].notna()]
    if rows.empty:
        return []
    first, second = rows.iloc[0][["first", "second"]]
    decided = list(rows[rows["status"] == MADE].itertuples(index=False))
    lines = [(row.corpus, _describe_row(row)) for row in rows.itertuples(index=False)]
    shares = describe_shares(study.at_main(tables["headroom"]))
    lines += [("as a share", shares)] if shares else []
    word, why = _find_better(decided, first, second) if decided else ("undecided", join_reasons(rows))
    beside_unfilled = compare_unfilled(tables, (first, second))
    if decided and beside_unfilled and FIRST not in beside_unfilled:
        why += f" {word_idle([tables])}"
    number = ", ".join(
        f"{style.name_metric(row.metric)} {row.value:+.3f}".replace("-0.000", "0.000")
        for row in decided or rows.itertuples(index=False)
    )
    return [VerdictCard("Training data", word, number, why, lines, "utility")]


def _find_better(decided: Sequence[Any], first: str, second: str) -> tuple[str, str]:
    """Return whose text decided differences show to be the better training data, in a few words, and why."""
    ahead = group_by((row for row in decided if row.direction in SIDES), lambda row: row.direction)
    if not ahead:
        word = "equal" if all(row.size == INSIDE for row in decided) else "no difference shown"
        return word, f"Text of {first} against text of {second}, on the same test units."
    sides = {row.direction for row in decided}
    word = "it depends" if len(sides) > 1 else f"{SIDES[sides.pop()]} better"
    clauses = [
        f"Text of {name} is better on {join_names([row.corpus for row in ahead[side]])}"
        for side, name in ((FIRST, first), (SECOND, second))
        if side in ahead
    ]
    return word, f"{'; '.join(clauses)}, on the same test units."


def join_reasons(rows: pd.DataFrame) -> str:
    """Return why no difference as training data decides anything: on which corpora an arm, and on which the task."""
    reasons = {
        NOT_COMPETENT: "an arm is not competent",
        NO_ROOM: "real text trains no better model than text without its hidden words",
    }
    words = "; ".join(
        f"on {join_names(list(silent))} {reason}"
        for status, reason in reasons.items()
        if len(silent := rows.loc[rows["status"] == status, "corpus"])
    )
    return f"{words[:1].upper()}{words[1:]}."


def _describe_row(row: Any) -> str:
    """Return a difference as training data with its interval and who is ahead, or why it decides nothing."""
    value = f"{style.name_metric(row.metric)} {format_difference(row, 3)}"
    if row.status != MADE:
        return f"{value}, undecided" + (" (no room)" if row.status == NO_ROOM else "")
    ahead = {FIRST: row.first, SECOND: row.second}.get(row.direction)
    return f"{value}, {ahead} ahead" if ahead else f"{value}, no difference shown"


def list_own_verdicts(tables: Tables) -> list[VerdictCard]:
    """Return a card per claim that the study of these tables alone is asked; none for a study of the paper's claims."""
    return judge_claims(tables, [rule for rule in find_rules(tables) if list_tracks(rule)])


def judge_claims(tables: Tables, rules: Sequence[dict]) -> list[VerdictCard]:
    """Return a card per claim of `rules` that the study ran a comparison of: how often it came out as it says."""
    answers = tables["answers"]
    compared, conditions = list_comparisons({"": tables}), index_conditions(rules)
    cards = []
    for rule in keep_run(rules, answers):
        claim = rule["id"]
        rows = compared[compared["claim"] == claim]
        asked = name_parts(rule, {*rows["condition"]}).values()
        rows = rows[rows["condition"].isin([name for names in asked for name in names])]
        word, number = _word_sides([judge_side(row, conditions) for row in rows.itertuples(index=False)])
        lines = describe_conditions(answers[answers["claim"] == claim])
        cards.append(VerdictCard(claim, word, number, rule["statement"], lines, "claims"))
    return cards


def _word_sides(sides: Sequence[str]) -> tuple[str, str]:
    """Return whether a claim holds, in a word, and how often it came out as it says."""
    stated, otherwise, unanswered = map(sides.count, (STATED, OTHERWISE, NO_ANSWER))
    number = f"{stated} of {len(sides)} as stated" if sides else "nothing of it was run"
    for n, others in ((otherwise, OTHERWISE), (unanswered, NO_ANSWER)):
        number += f", {n} {others}" if n else ""
    word = HOLDS[stated > 0, otherwise > 0]
    if stated + otherwise and 2 * unanswered >= len(sides):
        word = f"{NO_ANSWER} in half" if 2 * unanswered == len(sides) else f"mostly {NO_ANSWER}"
    return word, number
