"""Which arms are competent, the answers to the claims, and the speed of filling where it was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..arms.baselines import BASELINES
from ..evidence.cells import group_by
from ..evidence.verdicts import NOT_RUN, STATUSES, is_open
from . import style
from .style import Study
from .tables import DASH, Entry, Table, command_for_report, enter_number, enter_words, order_lines
from .wording import UNSURE, at_first_measure, word_lead, word_runs, word_size, word_verdict

SENTENCES = (
    "One sentence per claim, made from the answers below, condition by condition; conditions are never joined into one verdict. "
    "Each edition of the rules was written after results of the one before were seen; the first edition's verdicts are in "
    "results/first-edition."
)
ANSWERS = (
    "Effect is first minus second in the unit of its measure, with its 95 % interval: over trainings where there are several, "
    "else over documents, for this one training. Direction: which side is ahead, by the interval and by p, which is Holm-corrected "
    "over the claim. Size: whether the whole interval lies inside the margin of its row. Detectable is the smallest effect found with 80 % power; "
    "needs says what would settle a row. A comparison with an arm that is not competent decides nothing."
)
GRID = (
    "First minus second arm with its 95 % interval, above 0 where the first is better; each condition has its own answer. No difference "
    "is shown where p, corrected over the claim, leaves it open, even if the interval excludes 0. A "
    f"comparison with an arm that is not competent decides nothing. †: {UNSURE}."
)
COMPETENCE = (
    "An arm is competent where the paired 95 % interval of (arm - floor) lies above 0 for each floor of the context that it sees, and "
    "by the third edition of the rules also where the lead is a tenth of the floor; the floor that it clears least is shown. Content: blanks whose original is neither stopword nor punctuation. An arm that "
    "writes the text anew is judged by document BLEU against the unfilled text."
)
ANSWER_COLUMNS = (
    *(
        "claim",
        "condition",
        "corpus",
        "first",
        "second",
        "measure",
        "status",
        "direction",
        "size",
        "effect",
        "margin",
    ),
    *("p", "detectable", "runs", "n", "needs", "reason"),
)
COMPETENCE_COLUMNS = (
    *("corpus", "arm", "masking", "blanks", "value", "floor", "floor value", "difference", "n", "runs"),
    *("outcome", "reason"),
)
BENCH_COLUMNS = ("name", "ratio", "ours", "theirs", "unit", "n", "precision", "device", "threads")
BENCH = (
    "Ratio is the speed-up over a plain loop over the same model, the median over rounds in one process; for training at "
    "the same precision, batches and optimiser, with equal losses at each step. The share of the peak is of the "
    "best matrix product that this machine makes, be it torch's own or the one with laid-out weights, and counts the model's "
    "FLOPs (every layer at every token, the output layer at the slots). The computed share counts those FLOPs that were "
    "computed, since what no slot needs is left out. – where a row compares nothing."
)


def answer_tables(rows: Mapping[str, pd.DataFrame], study: Study) -> list[Table]:
    """Return which arms are competent, and the answers, where there are any."""
    return [*competence_table(rows["competence"], study), *condition_table(rows["answers"], study)]


@dataclass(frozen=True)
class Claim:
    """A claim, how often it had which outcome, and what each condition found, in words."""

    id: str
    statement: str
    counts: str
    lines: Sequence[tuple[str, str]]


def list_claims(sentences: pd.DataFrame, answers: pd.DataFrame) -> list[Claim]:
    """Return the claims with their outcomes by the first measure of each condition."""
    claims = []
    for told in sentences.itertuples(index=False):
        rows = answers[answers["claim"] == told.claim]
        named = style.ordered(rows["condition"], style.COMPARISONS)
        rows = at_first_measure(rows)
        counts = _count_outcomes(rows) if named else told.sentence
        lines = [(name, _describe_condition(rows[rows["condition"] == name])) for name in named]
        claims.append(Claim(told.claim, told.statement, counts, lines))
    return claims


def keep_asked(sentences: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """Return the sentences of the claims that a study ran a comparison of."""
    return sentences[sentences["claim"].isin(answers.loc[answers["status"] != NOT_RUN, "claim"])]


def _count_outcomes(rows: pd.DataFrame) -> str:
    """Return each outcome in words and how often it was found, what is decided first."""
    named = group_by(decided_first(rows).itertuples(index=False), word_verdict)
    return "; ".join(f"{words}: {len(part)} of {len(rows)}" for words, part in named.items())


def decided_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of answers, those that decide something first, else in their order."""
    places = [2 * STATUSES.index(row.status) + is_open(row) for row in rows.itertuples(index=False)]
    return rows.loc[pd.Series(places, index=rows.index).sort_values(kind="stable").index]


def _describe_condition(rows: pd.DataFrame) -> str:
    """Return what a condition found, and over how many trainings."""
    sure = word_runs(rows)
    return f"{_describe_outcomes(rows)}{f'. {sure[0].upper()}{sure[1:]}.' if sure else ''}"


def _describe_outcomes(rows: pd.DataFrame) -> str:
    """Return each outcome of one comparison with its corpora (†: UNSURE), or how often several comparisons had it."""
    if rows.groupby(["first_arm", "second_arm", "first_strategy"], dropna=False).ngroups > 1:
        return _count_outcomes(rows)
    worded = group_by(rows.itertuples(index=False), word_verdict)
    return "; ".join(f"{words}: {', '.join(map(_mark_corpus, part))}" for words, part in worded.items())


def _mark_corpus(row: Any) -> str:
    return f"{row.corpus}{'†' * row.unsure}"


def keep_trained(competence: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of arms with a model."""
    words = competence["arm"].str.split(" ").str[0].str.removesuffix("_sampled")
    return competence[~words.isin(BASELINES)]


def competence_table(competence: pd.DataFrame, study: Study) -> list[Table]:
    """Return which arms are competent, one row per corpus, arm with a model, masking and class of blanks."""
    competence = keep_trained(competence)
    if competence.empty:
        return []
    keys = order_lines(competence, ["corpus", "strategy", "ratio", "arm", "word_class"])
    ranked = (
        competence.set_index(["corpus", "strategy", "ratio", "arm", "word_class"]).loc[keys].reset_index()
    )
    body = [enter_competence(row) for row in ranked.itertuples(index=False)]
    title = "Which arms are competent"
    return [Table("competence", title, COMPETENCE, COMPETENCE_COLUMNS, body, command_for_report(study.scale))]


def enter_competence(row: Any) -> tuple[Entry, ...]:
    """Return one row of the competence table."""
    form = "{:.1f}" if row.metric == "bleu" else "{:.3f}"
    return (
        *(
            Entry(str(word))
            for word in (row.corpus, row.arm, f"{row.strategy} {row.ratio:g}", row.word_class)
        ),
        enter_number(row.value, form, DASH),
        Entry(str(row.floor)),
        enter_number(row.floor_value, form, DASH),
        enter_interval(row.difference, row.low, row.high),
        enter_number(row.n, absent=DASH),
        enter_number(row.runs, absent=DASH),
        Entry(str(row.outcome)),
        enter_words(row.reason),
    )


def grid_table(answers: pd.DataFrame, study: Study, claim: str) -> list[Table]:
    """Return a claim's answers at a glance: one row per condition and measure, corpora across.

    Where conditions differ in it, a row also has its number of trainings.
    """
    rows = answers[answers["claim"] == claim]
    if rows.empty:
        return []
    corpora, lines = style.ordered(rows["corpus"]), []
    counts = ("trainings",) if rows["runs"].nunique() > 1 else ()
    for condition in style.ordered(rows["condition"], style.COMPARISONS):
        of_condition = rows[rows["condition"] == condition].sort_values("scope", kind="stable")
        for (scope, metric), part in of_condition.groupby(["scope", "metric"], sort=False):
            some = part.iloc[0]
            found = {row.corpus: row for row in part.itertuples(index=False)}
            named = f"{some['first_arm']} - {some['second_arm']}"
            words = (str(condition), named, style.name_measure(scope, metric))
            cells = [enter_number(part["runs"].min(), absent=DASH) for _ in counts]
            cells += [enter_outcome(found[corpus]) if corpus in found else DASH for corpus in corpora]
            lines.append((*map(Entry, words), *cells))
    header = ("condition", "difference", "measure", *counts, *corpora)
    return [Table("grid", f"{claim} by condition", GRID, header, lines, command_for_report(study.scale))]


def enter_outcome(row: Any) -> Entry:
    """Return the verdict in words with the effect and its interval."""
    digits, value = 1 if row.metric == "bleu" else 3, ""
    if pd.notna(row.effect):
        value = f"{row.effect:+.{digits}f}"
        value += f" [{row.low:+.{digits}f}, {row.high:+.{digits}f}]" if pd.notna(row.low) else ""
    lead = word_lead(row)[0] + "†" * row.unsure
    return Entry(", ".join(filter(None, [lead, value, word_size(row)])))


def condition_table(answers: pd.DataFrame, study: Study) -> list[Table]:
    """Return one row per condition and corpus, those that were not run last."""
    if answers.empty:
        return []
    ranked = answers.sort_values("status", key=lambda statuses: statuses == NOT_RUN, kind="stable")
    body = [enter_answer(row) for row in ranked.itertuples(index=False)]
    return [
        Table(
            "answers", "Answer per condition", ANSWERS, ANSWER_COLUMNS, body, command_for_report(study.scale)
        )
    ]


def enter_answer(row: Any) -> tuple[Entry, ...]:
    """Return one row of the answers; a number that does not exist is a dash, as its reason has a column."""
    words = (row.claim, row.condition, row.corpus, _name_side(row, "first"), _name_side(row, "second"))
    notes = [
        one
        for one in (row.reason, row.excluded_because)
        if isinstance(one, str) and one not in str(row.needs)
    ]
    notes += [UNSURE] if row.unsure else []
    return (
        *(enter_words(word) for word in words),
        Entry(style.name_measure(row.scope, row.metric) if isinstance(row.scope, str) else str(row.metric)),
        *(enter_words(word) for word in (row.status, row.direction, row.size)),
        enter_interval(row.effect, row.low, row.high),
        *(enter_number(value, "{:.2g}", DASH) for value in (row.margin, row.p, row.detectable)),
        *(enter_number(value, absent=DASH) for value in (row.runs, row.n)),
        enter_words(row.needs),
        enter_words("; ".join(filter(None, notes))),
    )


def _name_side(row: Any, side: str) -> str:
    """Return an arm and its masking in words; a control has no masking."""
    arm, strategy, ratio = (getattr(row, f"{side}_{name}") for name in ("arm", "strategy", "ratio"))
    return f"{arm} at {strategy} {ratio:g}" if isinstance(strategy, str) and strategy else arm


def enter_interval(value: float, low: float, high: float) -> Entry:
    """Return a number with its interval, a dash where there is none."""
    if pd.isna(value):
        return DASH
    return Entry(f"{value:.3g} [{low:.3g}, {high:.3g}]" if pd.notna(low) else f"{value:.3g}", float(value))


def bench_table(bench: pd.DataFrame) -> Table:
    """Return the table of a benchmark."""
    names = [name for name in BENCH_COLUMNS if name in bench]
    return Table(
        name="bench",
        title="Speed of filling and training",
        caption=BENCH,
        header=names,
        rows=[[enter_speed(row[name]) for name in names] for row in bench.to_dict(orient="records")],
        command="make bench",
    )


def enter_speed(value: Any) -> Entry:
    """Return a word or a number; a dash where the row has none."""
    return Entry(value.replace("_", " ")) if isinstance(value, str) else enter_number(value, "{:,.4g}", DASH)


def describe_device(bench: pd.DataFrame) -> str:
    """Return on what the benchmark was run, and whether a GPU was."""
    devices = sorted(set(bench["device"].dropna())) if "device" in bench else []
    has_gpu = any(name.startswith("cuda") for name in devices)
    return (
        f"Measured on {', '.join(devices) or 'an unrecorded device'}."
        f"{'' if has_gpu else ' GPU not benchmarked.'}"
    )
