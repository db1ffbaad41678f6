"""The answer in a few lines for README: sentences that hold in the tables, one table, the likelihood, the speed.

A headline stands only where every row that it speaks of has its outcome; else the outcomes are listed corpus by corpus.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..evidence.cells import group_by
from ..evidence.verdicts import FIRST, INSIDE, MADE, NONE_SHOWN, NOT_COMPETENT, SECOND
from . import style
from .ladder import (
    CAUSAL,
    ENCODER,
    LIKELIHOOD,
    LIKELIHOODS,
    Step,
    best_rows,
    list_likelihoods,
    list_steps,
    word_tokens,
)
from .overview import count_tokens, find_start
from .sentences import Tables
from .style import read_study
from .tables import DASH, markdown_row

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
SIDES = {FIRST: "masked", SECOND: "causal"}
BEFORE, BOTH = (ENCODER, "known length"), (ENCODER, "both contexts")
STARTED = ((CAUSAL, "known length"), (CAUSAL, "both contexts"))
ROWS: dict[Step, tuple[str, str]] = {  # of the table: the causal model, and what both models start from
    BEFORE: ("reads before the gap", "encoder"),
    BOTH: ("reads both sides", "encoder"),
    STARTED[0]: ("reads before the gap", "causal model"),
    STARTED[1]: ("reads both sides", "causal model"),
}
BENCH = "fill_fp32"  # the row of the benchmark that fills one token per pass, as the plain loop does


def write_short_blocks(studies: Mapping[str, Tables], rules: Sequence[dict], results: Path) -> dict[str, str]:
    """Return the blocks of README's first screen by marker; a block without anything to say is left out."""
    studies = {name: tables for name, tables in studies.items() if find_start(tables) in (ENCODER, CAUSAL)}
    exact = {name for name, tables in studies.items() if (tables["answers"]["metric"] == LIKELIHOOD).any()}
    steps = list_steps(studies, rules)
    likelihoods = list_likelihoods({name: tables for name, tables in studies.items() if name not in exact})
    blocks = {
        "short-answer": describe_short(steps, studies),
        "short-table": tabulate_short(steps),
        "exact-likelihood": "\n\n".join(filter(None, map(describe_exact, studies.values()))),
        "short-likelihood": describe_likelihood(likelihoods),
        "short-speed": describe_speed(results / "bench" / "bench.jsonl"),
    }
    return {name: text for name, text in blocks.items() if text}


def describe_short(steps: pd.DataFrame, studies: Mapping[str, Tables]) -> str:
    """Return the answer: two questions with a word each where it holds, then a sentence per finding."""
    training, is_neutral = describe_training(studies)
    verdicts = []
    if is_ahead(best_rows(steps, BEFORE), FIRST) and is_small(best_rows(steps, BOTH)):
        verdicts.append("Better text? It depends on what the causal model sees and on the start.")
    if is_neutral:
        verdicts.append("Better training data? Not shown.")
    findings = [
        describe_reported(steps),
        describe_before(best_rows(steps, BEFORE)),
        describe_both(steps),
        describe_started([best_rows(steps, step) for step in STARTED]),
        training,
    ]
    head = [f"**{' '.join(verdicts)}**", ""] if verdicts else []
    return "\n".join([*head, *(f"- {sentence}" for sentence in findings if sentence)])


def describe_reported(steps: pd.DataFrame) -> str:
    """Return how far the masked model is ahead of what the paper calls causal, with and without originals in sight."""
    reported, hidden = (
        best_rows(steps, (ENCODER, "as reported")),
        best_rows(steps, (ENCODER, "no leak")),
    )
    if not (is_ahead(reported, FIRST) and is_ahead(hidden, FIRST)):
        return list_by_corpus("As the paper compares them", hidden)
    return (
        f"{say_single(reported)}**As the paper compares them, masked models are ahead** by {span(reported['effect'])} BLEU points "
        f"({span(hidden['effect'])} without the leak). That causal model is not told where the gaps are."
    )


def describe_before(rows: pd.DataFrame) -> str:
    """Return how the masked model compares with a causal one that reads the text before the gap."""
    if not is_ahead(rows, FIRST):
        return list_by_corpus("Against a causal model that reads only the text before the gap", rows)
    return (
        f"{say_single(rows)}**Told places and lengths, a causal model that reads before the gaps is behind** if both start from an encoder, by "
        f"{span(rows['effect'])} (95 % intervals: {span([*rows['low'], *rows['high']])})."
    )


def describe_both(steps: pd.DataFrame) -> str:
    """Return how the masked model compares with a causal one that reads both sides, also after longer training."""
    rows = best_rows(steps, BOTH)
    if not is_small(rows):
        return list_by_corpus("Against a causal model that reads both sides", rows)
    return (
        f"{say_single(rows)}**One that reads both sides does as well**: {span(rows['effect'].abs())} points apart"
        f"{describe_longer(steps, rows)}.{describe_others(steps, rows)}"
    )


def describe_others(steps: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Return where after another training one side of the step of `rows` is ahead by more than is small; nothing where none is."""
    start, condition = BOTH
    elsewhere = steps[(steps["start"] == start) & (steps["condition"] == condition)]
    elsewhere = elsewhere[(elsewhere["tokens"] != rows["tokens"].max()) & (elsewhere["status"] == MADE)]
    elsewhere = elsewhere[(elsewhere["size"] != INSIDE) & (elsewhere["direction"] != NONE_SHOWN)]
    sentences = [
        f"After {word_tokens(tokens)} tokens ({word_runs(group)}) the {SIDES[str(side)]} model leads by {span(group['effect'].abs())} "
        f"on {' and '.join(style.ordered(group['corpus']))}."
        for (tokens, side), group in elsewhere.groupby(["tokens", "direction"])
    ]
    return "".join(f" {sentence}" for sentence in sentences)


def describe_longer(steps: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Return that the outcomes of a step, which are small, are so after longer training too; nothing where they are not."""
    start, condition = BOTH
    longer = steps[(steps["start"] == start) & (steps["condition"] == condition)]
    longer = longer[longer["tokens"] > rows["tokens"].max()]
    if not is_small(longer):
        return ""
    return " (a longer training too)" if longer["runs"].max() == 1 else " (longer trainings too)"


def describe_started(steps: Iterable[pd.DataFrame]) -> str:
    """Return how the models compare where both start from a causal one."""
    rows = pd.concat(list(steps))
    name = "Where both start from a causal model"
    ahead = rows["direction"] == SECOND
    if not (ahead | (rows["size"] == INSIDE)).all() or not ahead.any() or rows["effect"].max() > 0:
        return " ".join(
            list_by_corpus(f"{name} ({condition})", of_condition)
            for condition, of_condition in rows.groupby("condition", sort=False)
        )
    return (
        f"**{name}, the causal one is as good or better**, by up to {-rows['effect'].min():.1f} "
        f"({word_runs(rows)})."
    )


def describe_training(studies: Mapping[str, Tables]) -> tuple[str, bool]:
    """Return what the texts of `mlm` and `clm` are worth as training data, and whether neither is reliably better.

    Counted are the comparisons in which real text trains a better model than text without its hidden words.
    """
    if not studies:
        return "", False
    rows = pd.concat([tables["utility_gap"] for tables in studies.values()])
    rows = rows[(rows["comparison"] == BEFORE[1]) & (rows["status"] == MADE)]
    if rows.empty:
        return "", False
    masked, causal = (int((rows["direction"] == side).sum()) for side in (FIRST, SECOND))
    none = len(rows) - masked - causal
    small = int(((rows["direction"] == NONE_SHOWN) & (rows["size"] == INSIDE)).sum())
    is_neutral = none > len(rows) / 2 and (masked > 0) == (causal > 0)
    head = (
        "**As training data, neither text is shown to be better.**" if is_neutral else "**As training data:**"
    )
    open_words = "show no difference" if small else "are inconclusive"
    words = {
        name: word_number(count) if count else "none"
        for name, count in {"none": none, "masked": masked, "causal": causal}.items()
    }
    counts = (
        f" Of {word_number(len(rows))} comparisons with the model that reads before the gap {words['none']} {open_words}, "
        f"{words['masked']} favour{'s' * (masked < 2)} masked and {words['causal']} causal text."
    )
    return " ".join(filter(None, [head + counts, describe_constant(studies)])), is_neutral


def describe_constant(studies: Mapping[str, Tables]) -> str:
    """Return the corpora on which one constant word is better training data than both texts, in every study with room."""
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
    return f"On {' and '.join(named)}, one constant word everywhere did better."


def tabulate_short(steps: pd.DataFrame) -> str:
    """Return the table in Markdown: a row per step, then how to read it and the commands that make its rows."""
    rows_of = {step: rows for step in ROWS if len(rows := best_rows(steps, step))}
    if not rows_of:
        return ""
    corpora = style.ordered(pd.concat(rows_of.values())["corpus"])
    header = ["the causal model", "start", *corpora, "trainings×tokens"]
    lines = [markdown_row(header), "|---" * len(header) + "|"]
    for step, rows in rows_of.items():
        by_corpus = {row.corpus: row for row in rows.itertuples(index=False)}
        cells = [enter_short(by_corpus[corpus]) if corpus in by_corpus else DASH.text for corpus in corpora]
        size = f"{rows['runs'].max():.0f}×{shorten_tokens(rows['tokens'].max())}"
        lines.append(markdown_row([*ROWS[step], *cells, size]))
    words = describe_words(pd.concat(rows_of.values()))
    return "\n".join([*lines, "", "```", *list_commands(rows_of), "```", "", words])


def describe_words(rows: pd.DataFrame) -> str:
    """Return how to read the table: what its words mean, as far as they are in it."""
    small = rows[rows["size"] == INSIDE]
    sentences = ["Who is ahead, by how many BLEU points."]
    if len(small):
        sentences.append(f"*Equal*: the whole 95 % interval lies within {small['margin'].max():.2f} points.")
    if (rows["status"] == NOT_COMPETENT).any():
        sentences.append("*Undecided*: a model restores no more words than a table of neighbouring words.")
    return " ".join(sentences)


def enter_short(row: Any) -> str:
    """Return one outcome with the lead of the better model: "masked +6.0"; without a number where none is better."""
    words = word_short(row)
    return words.replace(" better", f" +{abs(row.effect):.1f}")


def word_short(row: Any) -> str:
    """Return a verdict as a reader of README says it: "masked better", "equal" (inside the margin), "undecided"."""
    if row.status != MADE:
        return "undecided"
    if row.direction == NONE_SHOWN:
        return "equal" if row.size == INSIDE else "not settled"
    return f"{SIDES[row.direction]} better" + ", by little" * (row.size == INSIDE)


def shorten_tokens(tokens: float) -> str:
    """Return "768k" or "3.07M"."""
    return f"{tokens / 1e6:.3g}M" if tokens >= 1e6 else f"{tokens / 1e3:,.0f}k"


def list_commands(rows_of: Mapping[Step, pd.DataFrame]) -> list[str]:
    """Return the commands that make the rows of the table, each with the numbers of its rows."""
    by_study = group_by(list(enumerate(rows_of.values(), 1)), lambda row: str(row[1].iloc[0]["study"]))
    commands = {name_command(name): [str(place) for place, _ in rows] for name, rows in by_study.items()}
    width = max(map(len, commands))
    return [
        f"{command:{width}}  # row{'s' * (len(places) > 1)} {' and '.join(places)}"
        for command, places in commands.items()
    ]


def name_command(study: str) -> str:
    """Return the command that makes a folder of results."""
    scale, _, track = study.partition("-")
    is_default = scale == ("evening" if track else "laptop")  # see the Makefile
    settings = ["" if is_default else f"SCALE={scale}", f"TRACK={track}" if track else ""]
    return " ".join(filter(None, ["make reproduce", *settings]))


def describe_exact(tables: Tables) -> str:
    """Return who gives the hidden words the higher exact likelihood, of a study that compares its arms by it; else nothing."""
    answers = tables["answers"]
    rows = answers[(answers["claim"] == "C1") & (answers["metric"] == LIKELIHOOD) & answers["effect"].notna()]
    clauses = []
    for condition, words in LIKELIHOODS.items():
        step = rows[rows["condition"] == condition].itertuples(index=False)
        outcomes = [
            f"{word} on {' and '.join(f'{row.corpus} ({row.effect:+.2f})' for row in group)}"
            for word, group in group_by(step, word_short).items()
        ]
        clauses += [f"{words}: {', '.join(outcomes)}"] if outcomes else []
    if not clauses:
        return ""
    return (
        f"**By exact likelihood of the hidden words**, one token a pass ({word_tokens(count_tokens(tables))} tokens, "
        f"{word_runs(rows)}; the masked model's lead in nats per character). If the {'. If the '.join(clauses)}."
    )


def describe_likelihood(likelihoods: pd.DataFrame) -> str:
    """Return who gives the hidden words the higher likelihood, in nats per character, as far as the tables agree."""
    by_step = {
        (start, condition): likelihoods[
            (likelihoods["start"] == start) & (likelihoods["condition"] == condition)
        ]
        for start in (ENCODER, CAUSAL)
        for condition in LIKELIHOODS
    }
    sentences = [describe_proper(by_step[BOTH]), describe_lengths(by_step[BEFORE])]
    started = pd.concat([by_step[step] for step in STARTED])
    if len(started) and (started["lowest"] > 0).all():
        sentences.append(
            f"Started from a causal model, causal models are ahead, by {span(started['effect'], 2)}."
        )
    return " ".join(sentence for sentence in sentences if sentence)


def describe_proper(rows: pd.DataFrame) -> str:
    """Return the likelihood of a causal model that reads both sides, where it is the higher one in every training."""
    if rows.empty or not (rows["lowest"] > 0).all():
        return ""
    return (
        "**With 16 tokens of a pass taken as independent**, in earlier studies, the causal model that reads both sides is ahead of the masked one "
        f"{word_corpora(rows)}, by {span(rows['effect'], 2)} nats per character."
    )


def describe_lengths(rows: pd.DataFrame) -> str:
    """Return after how much training the masked model has the higher likelihood than a causal one of the left side."""
    ahead = {
        int(tokens): bool((of_length["highest"] < 0).all()) for tokens, of_length in rows.groupby("tokens")
    }
    late, early = [n for n in ahead if ahead[n]], [n for n in ahead if not ahead[n]]
    if not late or (early and max(early) > min(late)):
        return ""
    lead = -rows.loc[rows["tokens"].isin(late), "effect"]
    after = f", and not {word_corpora(rows)} after {' or '.join(map(word_tokens, early))}" if early else ""
    return (
        f"Against one that reads only the text before the gap, the masked model is ahead after "
        f"{' and '.join(map(word_tokens, late))} tokens, by {span(lead, 2)}{after}."
    )


def describe_speed(file: Path) -> str:
    """Return how much faster `fill` is than a plain loop, from the benchmark; nothing where it was not run."""
    if not file.is_file():
        return ""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    row = next((line for line in lines if line["name"] == BENCH and line["device"].startswith("cpu")), None)
    if row is None:
        return ""
    return (
        f"`fill` is {row['ratio']:.1f} times as fast as a plain fill-mask loop over the same model, on "
        f"{word_number(row['threads'])} CPU threads."
    )


def is_ahead(rows: pd.DataFrame, side: str) -> bool:
    """Return whether there are rows, and one side is ahead in all by more than the margin."""
    return len(rows) > 0 and bool(((rows["direction"] == side) & (rows["size"] != INSIDE)).all())


def is_small(rows: pd.DataFrame) -> bool:
    """Return whether there are rows, and all differences are inside the margin."""
    return len(rows) > 0 and bool((rows["size"] == INSIDE).all())


def list_by_corpus(name: str, rows: pd.DataFrame) -> str:
    """Return the outcomes of a step corpus by corpus, for where no headline holds; nothing where it was not run."""
    clauses = [
        f"{words} on {', '.join(row.corpus for row in group)}"
        for words, group in group_by(rows.itertuples(index=False), word_short).items()
    ]
    return f"{say_single(rows)}**{name}**: {'; '.join(clauses)}." if clauses else ""


def say_single(rows: pd.DataFrame) -> str:
    """Return what a sentence begins with where each arm was trained once; nothing where it was trained several times."""
    return "In one training: " if len(rows) and rows["runs"].max() <= 1 else ""


def span(values: Iterable[float], digits: int = 1) -> str:
    """Return the lowest and the highest value: "5.3 to 7.5", or one number where both are written alike."""
    values = list(values)
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low} to {high}"


def word_number(number: int) -> str:
    """Return a small number as a word."""
    return NUMBERS[number] if number < len(NUMBERS) else f"{number:,}"


def word_corpora(rows: pd.DataFrame) -> str:
    """Return "on all three corpora"."""
    corpora = rows["corpus"].nunique()
    return f"on all {word_number(corpora)} corpora" if corpora > 1 else f"on {rows.iloc[0]['corpus']}"


def word_runs(rows: pd.DataFrame) -> str:
    """Return "five trainings"."""
    runs = int(rows["runs"].min())
    return f"{word_number(runs)} training{'s' * (runs > 1)}"
