"""Sentences for README on what the written texts are worth as training data."""

from collections.abc import Mapping, Sequence

import pandas as pd

from ..evidence.tables import TRAINING_DATA, pick_kind
from ..evidence.verdicts import FIRST, MADE, NONE_SHOWN, SECOND, find_direction
from . import style
from .ladder import BEFORE, BOTH, OWN
from .lead_words import NO_ANSWER, join_counts, span, word_number, word_runs
from .overview import count_tokens, find_start
from .sentences import Tables
from .style import read_study
from .wording import at_first_measure

SIDES = {BEFORE[1]: "text before the blank", BOTH[1]: "both sides read"}  # condition -> the causal model's
WRITERS = ("mlm", "clm", "infill")  # of SIDES
REPORTED, REWRITTEN = "mlm_leaky", "seq2seq_kept"  # the masked and the causal text of the paper
LEVELS = "over corruption levels"  # the condition of claim C5
TASKS = {"ner": "entity recognition", "genres": "genres", "verification": "authorship"}
WRITERS_CLAIM = "U1"  # a correlation over many writers, at one masking


def describe_training(studies: Mapping[str, Tables], every: Mapping[str, Tables]) -> tuple[list[str], str]:
    """Return sentences on what texts of masked and causal models are worth as training data, and the answer in few words.

    `studies` ask the claims of the paper; `every` has all studies, for other maskings. The answer is empty where one text is
    better in most comparisons. Counted are the comparisons in which real text trains a better model than text without its
    hidden words.
    """
    if not studies:
        return [], ""
    made = pd.concat(
        pick_kind(tables["comparisons"], TRAINING_DATA).assign(start=find_start(tables))
        for tables in studies.values()
    )
    made = made[made["status"] == MADE]
    rows = made[made["comparison"].isin([*SIDES])]
    if rows.empty:
        return [], ""
    reported = list_reported(made)
    masked, causal, none = (int((rows["direction"] == side).sum()) for side in (FIRST, SECOND, NONE_SHOWN))
    is_open, is_even = none > len(rows) / 2, (masked > 0) == (causal > 0)
    head = f"Neither text is {'shown to be' if is_even else 'reliably'} better training data"
    head = head if is_open else "As training data"
    answer = "Not shown, except as the paper compares them." if len(reported) else "Not shown."
    answer = answer if is_even else "Mostly not shown."
    beside_unfilled = [side for tables in studies.values() for side in compare_unfilled(tables)]
    if is_idle := bool(beside_unfilled) and FIRST not in beside_unfilled:
        answer = word_idle(next(iter(studies.values())))
    compared_on = style.ordered(rows["corpus"])
    where = f" on {compared_on[0]}" if len(compared_on) == 1 else ""
    task = name_task(studies, compared_on[0]) if where else ""
    where += f" ({task})" * bool(task) + name_own_start(rows)
    counts = [("masked beats causal", masked), ("causal beats masked", causal), (NO_ANSWER, none)]
    outcomes = join_counts(counts, where)
    told = [
        f"**As training data**: {outcomes}." if is_idle else f"**{head}.** Of the two, {outcomes}.",
        describe_constant(studies, compared_on),
        count_other_maskings(every) if is_idle else "",
        describe_reported(reported, studies, compared_on),
    ]
    return [" ".join(filter(None, told)), describe_levels(studies, every)], (
        answer if is_idle or is_open else ""
    )


def name_task(studies: Mapping[str, Tables], corpus: str) -> str:
    """Return the task of a corpus, "entity recognition"; "" for one without a name here."""
    rooms = pd.concat([tables["headroom"] for tables in studies.values()])
    tasks = {TASKS.get(task, "") for task in rooms.loc[rooms["corpus"] == corpus, "task"]}
    return tasks.pop() if len(tasks) == 1 else ""


def name_own_start(rows: pd.DataFrame) -> str:
    """Return that each model of the comparisons in which masked text is better starts from a checkpoint of its kind, where all of these and no others do."""
    is_better, is_own = rows["direction"] == FIRST, rows["start"] == OWN
    number = {1: "", 2: "both "}.get(int(is_better.sum()), "all ")
    return f", {number}from own-kind checkpoints" if is_better.any() and (is_better == is_own).all() else ""


def word_idle(tables: Tables) -> str:
    """Return that neither text is shown to be better training data than text without its hidden words, at the main cell."""
    ratio = read_study(tables).main[1]
    share = "half the words" if ratio == 0.5 else f"{ratio:.0%} of the words"
    return f"With {share} hidden from both models, neither's text is shown to train better than leaving words out."


def count_other_maskings(studies: Mapping[str, Tables]) -> str:
    """Return at how many other maskings a text of WRITERS is shown to beat text without its hidden words; "" where none was run."""
    by_masking: dict[tuple, list[str]] = {}
    for tables in studies.values():
        rows, main = tables["headroom"], read_study(tables)
        rows = rows[(rows["room"] == "yes") & rows["trained_on"].isin(WRITERS)]
        for row in rows.drop(main.at_main(rows).index).itertuples(index=False):
            masking = row.corpus, row.strategy, row.ratio
            by_masking.setdefault(masking, []).append(find_direction(row.above_low, row.above_high))
    better = sum(FIRST in directions for directions in by_masking.values())
    if not better:
        return ""
    return f"Exploratory (uncorrected): in {word_number(better)} of {word_number(len(by_masking))} other maskings, a model's text beats leaving words out."


def compare_unfilled(tables: Tables, writers: Sequence[str] = WRITERS) -> list[str]:
    """Return for the text of each writer whether it or text without its hidden words is shown to be the better training data, at the main cell."""
    rows = read_study(tables).at_main(tables["headroom"])
    rows = rows[(rows["room"] == "yes") & rows["trained_on"].isin(writers)]
    return [find_direction(row.above_low, row.above_high) for row in rows.itertuples(index=False)]


def describe_levels(studies: Mapping[str, Tables], every: Mapping[str, Tables]) -> str:
    """Return that better text goes with better training data over masking ratios, where all of claim C5 says so after the longest training."""
    asked = [tables["answers"].assign(tokens=count_tokens(tables)) for tables in studies.values()]
    rows = pd.concat(asked).query("claim == 'C5' and status == @MADE")
    rows = rows[rows["tokens"] == rows["tokens"].max()]
    levels = rows[rows["condition"] == LEVELS]
    if {find_direction(row.low, row.high) for row in levels.itertuples()} != {FIRST}:
        return ""
    return (
        f"**Hiding fewer words improves text and training data together** (rank correlation over masking ratios "
        f"{span(levels['effect'], 2)}).{describe_one_masking(every)}"
    )


def describe_one_masking(studies: Mapping[str, Tables]) -> str:
    """Return the rank correlation of quality and usefulness at one masking, corpus by corpus, by its first measure; "" where not run."""
    asked = pd.concat([tables["answers"] for tables in studies.values()])
    rows = asked[(asked["claim"] == WRITERS_CLAIM) & (asked["status"] == MADE)].sort_values("effect")
    rows = at_first_measure(rows)
    if rows.empty:
        return ""
    clauses = [
        f"{row.effect:.2f} [{row.low:.2f}, {row.high:.2f}] on {row.corpus}" for row in rows.itertuples()
    ]
    return f" Over ways of filling at one masking: {', '.join(clauses)}."


def list_reported(made: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons as the paper makes them in which masked text is the better training data; none where one says otherwise."""
    rows = made[made["comparison"] == "as reported"]
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
    interval = f" [{rows['low'].min():.2f}, {rows['high'].max():.2f}]" if len(rows) == 1 else ""
    masked, causal = (
        {side for tables in studies.values() for side in compare_unfilled(tables, [writer])}
        for writer in (REPORTED, REWRITTEN)
    )
    end = " and beats leaving words out" if masked == {FIRST} else ""
    end += "; causal is worse than leaving words out" if causal == {SECOND} else ""
    return f"As in the paper ({about}), masked leads causal by {span(rows['value'], 2)} {metrics}{interval}{end}."


def describe_constant(studies: Mapping[str, Tables], mentioned: Sequence[str]) -> str:
    """Return the corpora on which one constant word is better training data than both texts, in every study with room.

    `mentioned` are the corpora of the sentences before.
    """
    better: dict[str, list[bool]] = {}
    for tables in studies.values():
        rows = read_study(tables).at_main(tables["headroom"])
        for corpus, of_corpus in rows[rows["room"] == "yes"].groupby("corpus"):
            utility = of_corpus.set_index("trained_on")["utility"]
            if {"constant", "mlm", "clm"} <= set(utility.index):
                better.setdefault(str(corpus), []).append(utility["constant"] > utility[["mlm", "clm"]].max())
    named = style.ordered(
        corpus for corpus, outcomes in better.items() if len(outcomes) > 1 and all(outcomes)
    )
    if not named:
        return ""
    where = "" if named == [*mentioned] else f" on {' and '.join(named)}"
    return f"One constant word per blank scores above both{where}."
