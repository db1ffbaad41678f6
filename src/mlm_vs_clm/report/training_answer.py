"""Sentences for README on what the written texts are worth as training data."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from ..evidence.tables import TRAINING_DATA, pick_kind
from ..evidence.verdicts import FIRST, MADE, NOT_COMPETENT, SECOND, find_direction
from . import style
from .ladder import BEFORE, BOTH, Step
from .lead_words import NO_ANSWER, join_counts, span, word_number, word_runs
from .sentences import Tables
from .style import read_study

SIDES = {BEFORE[1]: "text before the blank", BOTH[1]: "both sides read"}  # condition -> the causal model's
WRITERS = ("mlm", "clm", "infill")  # of SIDES
OTHERS = {  # that fill blanks, too
    "mlm_left": "a masked model that reads only the text before blanks",
    "clm_noised": "a causal model trained on wrong words",
}
REPORTED, REWRITTEN = "mlm_leaky", "seq2seq_kept"  # the masked and the causal text of the paper
TASKS = {"ner": "entity recognition", "genres": "genres", "verification": "authorship"}


class TrainingAnswer(NamedTuple):
    """What written texts are worth as training data: the answer in few words, a finding for README, further ones for the paper."""

    answer: str = ""
    finding: str = ""
    further: str = ""


def describe_training(
    studies: Mapping[str, Tables], every: Mapping[str, Tables], shown: Mapping[Step, str]
) -> TrainingAnswer:
    """Return what texts of masked and causal models are worth as training data.

    `studies` ask the claims of the paper; `every` has all studies, for other maskings; `shown` names the study of each row of
    README's table, whose comparisons are counted. The answer is empty where one text is better in more than half of them.
    """
    rows = list_compared(studies, shown)
    if rows.empty:
        return TrainingAnswer()
    reported = list_reported(studies.values())
    beside_unfilled = list_unfilled(studies.values())
    is_idle = bool(beside_unfilled) and FIRST not in beside_unfilled
    head, answer = word_balance(rows, is_reported=len(reported) > 0)
    if is_idle:
        head, answer = "**As training data**: ", word_idle([*studies.values()])
    compared_on = style.ordered(rows["corpus"])
    told = [
        f"{head}{count_sides(rows, studies)}.",
        describe_constant(studies, compared_on),
        describe_reported(reported, studies, compared_on),
    ]
    further = [describe_others(studies), count_other_maskings(every)] if is_idle else []
    return TrainingAnswer(answer, *(" ".join(filter(None, clauses)) for clauses in (told, further)))


def count_decided(rows: pd.DataFrame) -> tuple[int, int]:
    """Return in how many of the comparisons masked text is the better training data, and causal text."""
    decided = rows[rows["status"] == MADE]
    masked, causal = (int((decided["direction"] == side).sum()) for side in (FIRST, SECOND))
    return masked, causal


def word_balance(rows: pd.DataFrame, *, is_reported: bool) -> tuple[str, str]:
    """Return how the finding begins, and the answer: whether one text is the better training data on the whole.

    `is_reported`: masked text is, as the paper compares the two.
    """
    masked, causal = count_decided(rows)
    if 2 * (masked + causal) > len(rows):
        return "**As training data.** Of the two, ", ""
    if (masked > 0) != (causal > 0):
        return "**Neither text is reliably better training data.** Of the two, ", "Mostly not shown."
    answer = "Not shown, except as the paper compares them." if is_reported else "Not shown."
    return "**Neither text is shown to be better training data.** Of the two, ", answer


def count_sides(rows: pd.DataFrame, studies: Mapping[str, Tables]) -> str:
    """Return how often each text is the better training data: "masked beats causal by 0.02 F1 in two of six comparisons on abstracts; ..."."""
    decided = rows[rows["status"] == MADE]
    masked, causal = count_decided(rows)
    corpora = {*rows["corpus"]}
    corpus = corpora.pop() if len(corpora) == 1 else ""
    task = name_task(studies, corpus) if corpus else ""
    where = f" on {corpus}" * bool(corpus) + f" ({task})" * bool(task)
    counts = [
        (f"masked beats causal{word_size(decided, FIRST)}", masked),
        (f"causal beats masked{word_size(decided, SECOND)}", causal),
        (NO_ANSWER, len(rows) - masked - causal),
    ]
    return join_counts(counts, where)


def list_compared(studies: Mapping[str, Tables], shown: Mapping[Step, str]) -> pd.DataFrame:
    """Return the comparisons of SIDES in the studies of README's table, on the corpora of which some decides.

    On the others real text trains no better model than text without its hidden words. An arm that is not competent decides nothing.
    """
    rows = [
        pick_kind(studies[name]["comparisons"], TRAINING_DATA)
        .query("comparison == @step[1]")
        .assign(start=step[0])
        for step, name in shown.items()
        if step[1] in SIDES and name in studies
    ]
    if not rows:
        return pd.DataFrame()
    asked = pd.concat(rows)
    corpora = asked.loc[asked["status"] == MADE, "corpus"]
    return asked[asked["corpus"].isin(corpora) & asked["status"].isin([MADE, NOT_COMPETENT])]


def word_size(rows: pd.DataFrame, side: str) -> str:
    """Return by how much a side is the better training data, " by 0.02 F1"; "" where it never is, or measures differ."""
    rows = rows[rows["direction"] == side]
    metrics = {style.name_metric(metric) for metric in rows["metric"]}
    return f" by {span(abs(rows['value']), 2)} {metrics.pop()}" if len(metrics) == 1 else ""


def name_task(studies: Mapping[str, Tables], corpus: str) -> str:
    """Return the task of a corpus, "entity recognition"; "" for one without a name here."""
    rooms = pd.concat([tables["headroom"] for tables in studies.values()])
    tasks = {TASKS.get(task, "") for task in rooms.loc[rooms["corpus"] == corpus, "task"]}
    return tasks.pop() if len(tasks) == 1 else ""


def word_idle(studies: Sequence[Tables]) -> str:
    """Return that neither text is shown to be better training data than text without its hidden words, at the main cell; and on which corpora, if not on all."""
    ratio = read_study(studies[0]).main[1]
    share = "half the words" if ratio == 0.5 else f"{ratio:.0%} of the words"
    rooms = pd.concat([read_study(tables).at_main(tables["headroom"]) for tables in studies])
    able = rooms.loc[(rooms["room"] == "yes") & rooms["trained_on"].isin(WRITERS), "corpus"]
    others = rooms["corpus"].nunique() - able.nunique()
    where = f" of {' and '.join(style.ordered(able))}" * bool(others)
    end = f" The other task{'s' * (others > 1)} cannot tell there." * bool(others)
    return f"With {share}{where} hidden from both, neither model's text is shown to train better than leaving words out.{end}"


def describe_others(studies: Mapping[str, Tables]) -> str:
    """Return by how much texts of OTHERS are shown to be better training data than text without its hidden words, at the main cell; "" where none is."""
    clauses = []
    for name, tables in studies.items():
        rows = read_study(tables).at_main(tables["headroom"])
        rows = rows[(rows["room"] == "yes") & rows["trained_on"].isin(OTHERS)]
        clauses += [
            f"{OTHERS[row.trained_on]} (`{row.trained_on}`) by {row.above:.3f} [{row.above_low:.3f}, {row.above_high:.3f}] "
            f"{style.name_metric(row.metric)} on {row.corpus} (`{name}`)"
            for row in rows.itertuples(index=False)
            if find_direction(row.above_low, row.above_high) == FIRST
        ]
    return f"**Text of another model beats leaving words out**: {'; '.join(clauses)}." if clauses else ""


def count_other_maskings(studies: Mapping[str, Tables]) -> str:
    """Return at how many other maskings a text of WRITERS is shown to beat text without its hidden words; "" where none was run."""
    by_masking: dict[tuple, list[str]] = {}
    for tables in studies.values():
        rows, main = tables["headroom"], read_study(tables)
        rows = rows[(rows["room"] == "yes") & rows["trained_on"].isin(WRITERS)]
        for row in rows.drop(main.at_main(rows).index).itertuples(index=False):
            masking = row.corpus, row.strategy, row.ratio
            by_masking.setdefault(masking, []).append(find_direction(row.above_low, row.above_high))
    better, worse = (
        sum(side in directions for directions in by_masking.values()) for side in (FIRST, SECOND)
    )
    if not better:
        return ""
    end = f", loses in {word_number(worse)}" * bool(worse)
    n = word_number(len(by_masking))
    return f"At {n} other maskings, some model's text beats leaving words out in {word_number(better)}{end} (uncorrected)."


def compare_unfilled(tables: Tables, writers: Sequence[str] = WRITERS) -> list[str]:
    """Return for the text of each writer whether it or text without its hidden words is shown to be the better training data, at the main cell."""
    rows = read_study(tables).at_main(tables["headroom"])
    rows = rows[(rows["room"] == "yes") & rows["trained_on"].isin(writers)]
    return [find_direction(row.above_low, row.above_high) for row in rows.itertuples(index=False)]


def list_unfilled(studies: Iterable[Tables], writers: Sequence[str] = WRITERS) -> list[str]:
    """Return the outcomes of `compare_unfilled` in all studies."""
    return [side for tables in studies for side in compare_unfilled(tables, writers)]


def list_reported(studies: Iterable[Tables]) -> pd.DataFrame:
    """Return the comparisons as the paper makes them in which masked text is the better training data; none where one says otherwise."""
    made = pd.concat(pick_kind(tables["comparisons"], TRAINING_DATA) for tables in studies)
    rows = made[(made["status"] == MADE) & (made["comparison"] == "as reported")]
    return rows[rows["direction"] == FIRST] if not (rows["direction"] == SECOND).any() else rows.iloc[:0]


def describe_reported(
    rows: pd.DataFrame, studies: Mapping[str, Tables], mentioned: Sequence[str] = ()
) -> str:
    """Return on which corpora masked text is the better training data as the paper compares the two; "" without any.

    In `studies` it is compared with text without its hidden words, too. `mentioned` are the corpora of the sentences before.
    """
    if rows.empty:
        return ""
    corpora = " and ".join(style.ordered(corpus for corpus in rows["corpus"] if corpus not in mentioned))
    about = ", ".join(filter(None, [corpora, word_runs(rows)]))
    metrics = " and ".join(dict.fromkeys(map(style.name_metric, rows["metric"])))
    asked = [tables for tables in studies.values() if len(list_reported([tables]))]
    masked, causal = ({*list_unfilled(asked, [writer])} for writer in (REPORTED, REWRITTEN))
    end = " and beats leaving words out" if masked == {FIRST} else ""
    end += "; causal is worse than leaving words out" if causal == {SECOND} else ""
    return f"In the paper's set-up ({about}), masked leads causal by {span(rows['value'], 2)} {metrics}{end}."


def describe_constant(studies: Mapping[str, Tables], mentioned: Sequence[str]) -> str:
    """Return the corpora on which one constant word is better training data than both texts, in every study with room.

    `mentioned` are the corpora of the sentences before.
    """
    # By corpus and study: whether it is above both texts, and above text without its hidden words.
    outcomes: dict[str, list[tuple[bool, bool]]] = {}
    for tables in studies.values():
        rows = read_study(tables).at_main(tables["headroom"])
        for corpus, of_corpus in rows[rows["room"] == "yes"].groupby("corpus"):
            of_arm = of_corpus.set_index("trained_on")
            if {"constant", "mlm", "clm"} <= set(of_arm.index):
                constant, utility = of_arm.loc["constant"], of_arm["utility"]
                is_useful = find_direction(constant["above_low"], constant["above_high"]) == FIRST
                outcome = bool(constant["utility"] > utility[["mlm", "clm"]].max()), is_useful
                outcomes.setdefault(str(corpus), []).append(outcome)
    named = style.ordered(
        corpus for corpus, pairs in outcomes.items() if len(pairs) > 1 and all(better for better, _ in pairs)
    )
    if not named:
        return ""
    where = "" if named == [*mentioned] else f" on {' and '.join(named)}"
    beats = (
        "beats leaving words out"
        if all(is_useful for corpus in named for _, is_useful in outcomes[corpus])
        else "scores above both"
    )
    return f"{'One' if where else 'There, one'} constant word per blank {beats}{where}."
