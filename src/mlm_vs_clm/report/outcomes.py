"""Which arms are competent, and the answers to the claims."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..arms.baselines import LATER_TABLES, is_baseline
from ..evidence.cells import group_by
from ..evidence.claims import list_asked
from ..evidence.power import SETTLED_RUNS
from ..evidence.verdicts import COST, MADE, NONE_SHOWN, NOT_RUN, SECOND, STATUSES, is_open
from ..stats import FEWEST_UNITS
from . import style
from .style import Study
from .tables import DASH, Entry, Table, command_for_report, enter_number, enter_words, order_lines
from .wording import (
    LEADS,
    ONE_WORD,
    SILENT,
    UNSURE,
    at_first_measure,
    word_lead,
    word_verdict,
)

ANSWERS = (
    "Difference is first minus second, of a measure of which less is better second minus first (above 0 the first is ahead), with its 95 % interval: over trainings where there are several, else over documents. "
    "Of costs it is the logarithm of their ratio with its range over maskings, of quality and utility their rank correlation, and a claim that asks for a share has that share. "
    "Ahead: by the interval and by p, which is Holm-corrected over the claim. Size: whether the whole interval lies inside the margin; "
    "not settled also where neither side is ahead. Where a claim has a gate, a comparison with an arm that is not competent decides "
    f"nothing. †: {UNSURE}. Margins, p, smallest effects and reasons are in answers.csv."
)
COMPETENCE = (
    "An arm is competent where the paired 95 % interval of (arm - floor) lies above 0 for each floor of the context that it sees, and "
    "where the lead is a tenth of the floor at least; the floor that it clears least is shown. Content: blanks whose original is neither stopword nor punctuation. An arm that "
    "writes the text anew is judged by document BLEU against the unfilled text."
)
NOTHING = 1e-6  # a number that is written as 0
EASIER = " This study has no table of more than two words, so its floors are easier than those of others."
ANSWER_COLUMNS = (
    *("claim, condition", "corpus", "compared", "measure"),
    *("difference", "ahead", "size", "trainings"),
)
COMPETENCE_COLUMNS = ("arm", "corpus", "blanks", "value", "floor", "arm minus floor", "outcome", "reason")


def answer_tables(rows: Mapping[str, pd.DataFrame], study: Study) -> list[Table]:
    """Return which arms are competent, and the answers, where there are any."""
    return [*competence_table(rows["competence"], study), *condition_table(rows["answers"], study)]


def describe_conditions(answers: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the conditions of one claim with what each found by its first measure, in words; `answers` are those of the claim."""
    rows = at_first_measure(answers)
    return [
        (name, _describe_condition(rows[rows["condition"] == name]))
        for name in style.ordered(answers["condition"], style.COMPARISONS)
    ]


def keep_run(rules: Sequence[dict], answers: pd.DataFrame) -> list[dict]:
    """Return the claims that a study is asked and ran a comparison of, by their ids."""
    run = {*answers.loc[answers["status"] != NOT_RUN, "claim"]}
    return sorted((rule for rule in list_asked(rules) if rule["id"] in run), key=lambda rule: rule["id"])


def _count_outcomes(rows: pd.DataFrame) -> str:
    """Return each outcome in words and how often it was found, what is decided first."""
    ranked = sorted(rows.itertuples(index=False), key=lambda row: (STATUSES.index(row.status), is_open(row)))
    named = group_by(ranked, word_verdict)
    return "; ".join(f"{words}: {len(group)} of {len(rows)}" for words, group in named.items())


def _describe_condition(rows: pd.DataFrame) -> str:
    """Return what a condition found, and over how many trainings; costs are counted, not measured over trainings."""
    found = _describe_outcomes(rows)
    fewest = rows.loc[(rows["status"] == MADE) & (rows["kind"] != COST), "runs"].min()
    if pd.isna(fewest):
        return found
    few = f", fewer than the {SETTLED_RUNS} that settle" if fewest < SETTLED_RUNS else ""
    runs = "For this one training" if fewest == 1 else f"Over {fewest:.0f} runs{few}"
    return f"{found}. {runs}."


def _describe_outcomes(rows: pd.DataFrame) -> str:
    """Return each outcome of one comparison with its corpora (†: UNSURE), or how often several comparisons had it."""
    if rows.groupby(["first_arm", "second_arm", "first_strategy"], dropna=False).ngroups > 1:
        return _count_outcomes(rows)
    worded = group_by(rows.itertuples(index=False), word_verdict)
    return "; ".join(
        f"{words}: {', '.join(row.corpus + '†' * row.unsure for row in group)}"
        for words, group in worded.items()
    )


def keep_trained(competence: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of arms with a model."""
    return competence[~competence["arm"].map(is_baseline).astype(bool)]


def competence_table(competence: pd.DataFrame, study: Study) -> list[Table]:
    """Return which arms are competent at the main cell, one row per corpus, arm with a model and class of blanks."""
    is_short = not competence["arm"].isin(LATER_TABLES).any()
    competence = study.at_main(keep_trained(competence))
    if competence.empty:
        return []
    keys = ["corpus", "arm", "word_class"]
    ranked = competence.set_index(keys).loc[order_lines(competence, keys)].reset_index()
    body = [enter_competence(row) for row in ranked.itertuples(index=False)]
    caption = (
        f"{study.describe_main()}; other maskings are in competence.csv. {COMPETENCE}{EASIER * is_short}"
    )
    title = "Which arms are competent"
    return [Table("competence", title, caption, COMPETENCE_COLUMNS, body, command_for_report(study.scale))]


def enter_competence(row: Any) -> tuple[Entry, ...]:
    """Return one row of the competence table."""
    form = f"{{:.{style.decimals_of(row.metric)}f}}"
    floor = f"{row.floor} {form.format(row.floor_value)}" if pd.notna(row.floor_value) else str(row.floor)
    return (
        *map(Entry, (row.arm, row.corpus, row.word_class)),
        enter_number(row.value, form, DASH),
        Entry(floor),
        enter_interval(row.difference, row.low, row.high),
        Entry(str(row.outcome)),
        enter_words(row.reason),
    )


def condition_table(answers: pd.DataFrame, study: Study) -> list[Table]:
    """Return one row per condition, corpus and measure that was run."""
    rows = answers[answers["status"] != NOT_RUN]
    if rows.empty:
        return []
    body = [enter_answer(row) for row in rows.itertuples(index=False)]
    command = command_for_report(study.scale)
    return [Table("answers", "Answer per condition", ANSWERS, ANSWER_COLUMNS, body, command)]


def enter_answer(row: Any) -> tuple[Entry, ...]:
    """Return one row of the answers."""
    sides = _name_side(row, "first"), _name_side(row, "second")
    return (
        Entry(f"{row.claim}, {row.condition}"),
        Entry(row.corpus),
        Entry(f"{sides[0]} - {sides[1]}"),
        Entry(style.name_measure(row.scope, row.metric) if isinstance(row.scope, str) else str(row.metric)),
        enter_interval(row.effect, row.low, row.high),
        Entry(_name_ahead(row, sides) + "†" * bool(row.unsure)),
        enter_words(row.size) if row.kind not in ONE_WORD else DASH,
        enter_number(row.runs, absent=DASH),
    )


def _name_ahead(row: Any, sides: tuple[str, str]) -> str:
    """Return which of two sides is ahead, in the words of its kind, or why neither is."""
    if row.status != MADE:
        return SILENT[row.status]
    if row.kind in LEADS:
        return word_lead(row)
    if row.direction != NONE_SHOWN:
        return sides[row.direction == SECOND]
    return NONE_SHOWN if row.n >= FEWEST_UNITS else f"{NONE_SHOWN} (too few units: {row.n:.0f})"


def _name_side(row: Any, side: str) -> str:
    """Return an arm, with its masking where the two sides differ in it."""
    arm, strategy, ratio = (getattr(row, f"{side}_{name}") for name in ("arm", "strategy", "ratio"))
    is_same = (row.first_strategy, row.first_ratio) == (row.second_strategy, row.second_ratio)
    return (
        arm if is_same or not isinstance(strategy, str) or not strategy else f"{arm} at {strategy} {ratio:g}"
    )


def enter_interval(value: float, low: float, high: float) -> Entry:
    """Return a number with its interval, a dash where there is none."""
    if pd.isna(value):
        return DASH
    value, low, high = (0.0 if abs(number) < NOTHING else number for number in (value, low, high))
    return Entry(f"{value:.3g} [{low:.3g}, {high:.3g}]" if pd.notna(low) else f"{value:.3g}", float(value))
