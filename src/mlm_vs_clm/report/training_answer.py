"""Sentences for README on what the written texts are worth as training data."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..evidence.tables import TRAINING_DATA, pick_kind
from ..evidence.verdicts import FIRST, MADE, NOT_COMPETENT, SECOND, find_direction
from . import style
from .ladder import BEFORE, BOTH, OWN, Step
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


def describe_training(
    studies: Mapping[str, Tables], every: Mapping[str, Tables], shown: Mapping[Step, str]
) -> tuple[list[str], str]:
    """Return sentences on what texts of masked and causal models are worth as training data, and the answer in few words.

    `studies` ask the claims of the paper; `every` has all studies, for other maskings; `shown` names the study of each row of
    README's table, whose comparisons are counted. The answer is empty where one text is better in more than half of them.
    """
    if not studies:
        return [], ""
    made = pd.concat(
        pick_kind(tables["comparisons"], TRAINING_DATA).assign(start=find_start(tables))
        for tables in studies.values()
    )
    made = made[made["status"] == MADE]
    rows = list_compared(studies, shown)
    if rows.empty:
        return [], ""
    reported = list_reported(made)
    decided = rows[rows["status"] == MADE]
    masked, causal = (int((decided["direction"] == side).sum()) for side in (FIRST, SECOND))
    none = len(rows) - masked - causal
    is_open, is_even = none >= len(rows) / 2, (masked > 0) == (causal > 0)
    head = f"Neither text is {'shown to be' if is_even else 'reliably'} better training data"
    head = head if is_open else "As training data"
    answer = "Not shown, except as the paper compares them." if len(reported) else "Not shown."
    answer = answer if is_even else "Mostly not shown."
    beside_unfilled = [side for tables in studies.values() for side in compare_unfilled(tables)]
    if is_idle := bool(beside_unfilled) and FIRST not in beside_unfilled:
        answer = word_idle(list(studies.values()))
    compared_on = style.ordered(rows["corpus"])
    where = f" on {compared_on[0]}" if len(compared_on) == 1 else ""
    task = name_task(studies, compared_on[0]) if where else ""
    where += f" ({task})" * bool(task) + name_own_start(decided)
    counts = [
        (f"masked beats causal{word_size(decided, FIRST)}", masked),
        (f"causal beats masked{word_size(decided, SECOND)}", causal),
        (NO_ANSWER, none),
    ]
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


def name_own_start(rows: pd.DataFrame) -> str:
    """Return that each model of the comparisons in which masked text is better starts from a checkpoint of its kind, where all of these and no others do."""
    is_better, is_own = rows["direction"] == FIRST, rows["start"] == OWN
    number = {1: "", 2: "both "}.get(int(is_better.sum()), "all ")
    return f", {number}from own-kind checkpoints" if is_better.any() and (is_better == is_own).all() else ""


def word_idle(studies: Sequence[Tables]) -> str:
    """Return that neither text is shown to be better training data than text without its hidden words, at the main cell; and on which corpora, if not on all."""
    ratio = read_study(studies[0]).main[1]
    share = "half the words" if ratio == 0.5 else f"{ratio:.0%} of the words"
    rooms = pd.concat([read_study(tables).at_main(tables["headroom"]) for tables in studies])
    able = rooms.loc[(rooms["room"] == "yes") & rooms["trained_on"].isin(WRITERS), "corpus"]
    others = rooms["corpus"].nunique() - able.nunique()
    where = f" of {' and '.join(style.ordered(able))}" * bool(others)
    end = f"; then the other task{'s' * (others > 1)} cannot tell" * bool(others)
    return f"With {share}{where} hidden from both models, neither's text is shown to train better than leaving words out{end}."


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


def describe_levels(studies: Mapping[str, Tables], every: Mapping[str, Tables]) -> str:
    """Return that better text goes with better training data over masking ratios, where most intervals of claim C5 say so after the longest training.

    Also whether one does where the share of hidden words is held fixed.
    """
    asked = {name: tables["answers"].assign(tokens=count_tokens(tables)) for name, tables in studies.items()}
    rows = pd.concat(asked, names=["study"]).reset_index("study").query("claim == 'C5' and status == @MADE")
    rows = rows[rows["tokens"] == rows["tokens"].max()]
    levels = rows[rows["condition"] == LEVELS]
    directions = [find_direction(row.low, row.high) for row in levels.itertuples()]
    shown, n = levels[[direction == FIRST for direction in directions]], len(levels)
    if SECOND in directions or 2 * len(shown) <= n:
        return ""
    where = f" in {word_number(len(shown))} of {word_number(n)} comparisons" * (len(shown) < n)
    end = describe_partial(levels, [studies[name]["correlation"] for name in levels["study"].unique()])
    return (
        f"**Over masking ratios and ways of filling, better text goes with better training data**{where} (rank correlation "
        f"{span(shown['effect'], 2)}, uncorrected{end}).{describe_one_masking(every)}"
    )


def describe_partial(levels: pd.DataFrame, correlations: Sequence[pd.DataFrame]) -> str:
    """Return in how many of some comparisons better text goes with better training data where the share of hidden words is held fixed."""
    keys = ["corpus", "scope", "metric"]
    rows = pd.concat(correlations).rename(columns={"quality_scope": "scope", "quality_metric": "metric"})
    rows = rows[(rows["statistic"] == "partial_spearman") & rows["value"].notna()]
    rows = rows.merge(levels[keys].drop_duplicates(), on=keys)
    shown = sum(find_direction(row.low, row.high) == FIRST for row in rows.itertuples())
    number = word_number(shown) if shown else "none"
    return f"; in {number} with the hidden share fixed" if len(rows) else ""


def describe_one_masking(studies: Mapping[str, Tables]) -> str:
    """Return the rank correlation of quality and usefulness at one masking, corpus by corpus, by its first measure; "" where not run."""
    asked = pd.concat([tables["answers"] for tables in studies.values()])
    rows = asked[(asked["claim"] == WRITERS_CLAIM) & (asked["status"] == MADE)].sort_values("effect")
    rows = at_first_measure(rows)
    if rows.empty:
        return ""
    clauses = [
        f"{row.effect:.2f} [{row.low:.2f}, {row.high:.2f}] on {row.corpus} ({word_masking(row)})"
        for row in rows.itertuples()
    ]
    measure = style.name_metric(rows["metric"].iloc[0])
    return f" At one masking, by {measure}: {', '.join(clauses)}."


def word_masking(row: Any) -> str:
    """Return which words are hidden: "70 %" of all, or "content words"."""
    share = f"{row.first_ratio:.0%}".replace("%", " %")
    kind = row.first_strategy.replace("_", " ")
    return share if row.first_strategy == "random" else kind if row.first_ratio == 1 else f"{share} of {kind}"


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
    masked, causal = (
        {side for tables in studies.values() for side in compare_unfilled(tables, [writer])}
        for writer in (REPORTED, REWRITTEN)
    )
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
