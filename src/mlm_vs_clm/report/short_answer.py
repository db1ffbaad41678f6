"""The answer in a few lines for README: sentences that hold in the tables, one table, the likelihood, the speed.

A headline stands only where every row that it speaks of has its outcome; else the outcomes are listed corpus by corpus.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from ..evidence.verdicts import FIRST, MADE, NOT_COMPETENT, SECOND
from . import style
from .ladder import (
    BEFORE,
    BOTH,
    ENCODER,
    ENDS,
    PRETRAINED,
    best_rows,
    find_likelihoods,
    list_content,
    list_decided,
    list_steps,
)
from .lead_words import (
    EQUAL,
    NO_ANSWER,
    SIDES,
    is_ahead,
    is_small,
    join_counts,
    list_by_corpus,
    span,
    word_no_lead,
    word_runs,
)
from .likelihood_answer import describe_exact_studies
from .measure_answer import describe_content, find_turned, list_leads
from .overview import count_tokens, find_start
from .quality_answer import describe_levels, describe_one_masking
from .sentences import Tables
from .short_table import FROM, Shown, choose_rows, describe_scale, list_shown, tabulate_short
from .training_answer import describe_training
from .wording import join_names

BENCH = "fill_fp32"  # the row of the benchmark that fills one token per pass, as the plain loop does


def write_short_blocks(every: Mapping[str, Tables], rules: Sequence[dict], results: Path) -> dict[str, str]:
    """Return the blocks of README's first screen by marker, from all studies, and the further findings of the paper; a block without anything to say is left out."""
    studies = {name: tables for name, tables in every.items() if find_start(tables) in ENDS}
    blocks = write_findings(studies, every, list_steps(studies, rules)) if studies else {}
    blocks["short-speed"] = describe_speed(results / "bench" / "bench.jsonl")
    return {name: text for name, text in blocks.items() if text}


def write_findings(
    studies: Mapping[str, Tables], every: Mapping[str, Tables], steps: pd.DataFrame
) -> dict[str, str]:
    """Return the blocks that rest on studies, by marker: `studies` ask the claims of the paper, as `steps` has them."""
    exact = {name: tables for name, tables in studies.items() if len(find_likelihoods(tables["answers"]))}
    shown = choose_rows(steps)
    content, bertscore = (
        list_leads(shown, studies, read)
        for read in (list_content, lambda tables: list_decided(tables, "bertscore"))
    )
    named = list_shown(shown)
    training = describe_training(studies, every, named)
    turned = find_turned(content, steps) | find_turned(bertscore, steps)
    return {
        "short-answer": write_answer(shown, turned, training.answer),
        "short-findings": write_list(
            describe_reported(steps),
            describe_left(steps),
            describe_exact_studies(keep_most_trained(exact)),
            training.finding,
            describe_levels(studies, every),
        ),
        "further-findings": write_list(
            describe_content(content, steps["corpus"].nunique()),
            training.further,
            describe_one_masking(every),
            next((describe_scale(name, studies[name]) for name in named.values()), ""),
        ),
        "short-table": tabulate_short(shown),
    }


def keep_most_trained(studies: Mapping[str, Tables]) -> list[Tables]:
    """Return the tables of each start and number of tokens, those with the most trainings where several studies have them."""
    kept: dict[tuple[str, int], Tables] = {}
    for tables in studies.values():
        key = find_start(tables), count_tokens(tables)
        if key not in kept or count_trainings(tables) > count_trainings(kept[key]):
            kept[key] = tables
    return [*kept.values()]


def count_trainings(tables: Tables) -> float:
    """Return over how many trainings the answers of claim C1 are, at most; 0 where it was not asked."""
    answers = tables["answers"]
    return float(answers.loc[answers["claim"] == "C1", "runs"].fillna(0).max() or 0) if len(answers) else 0.0


def write_list(*sentences: str) -> str:
    """Return a list in Markdown, an item for each of `sentences` that says anything."""
    return "\n".join(f"- {sentence}" for sentence in sentences if sentence)


def write_answer(shown: Shown, turned: set[str], training: str) -> str:
    """Return the answer: each of the two questions with a sentence where it holds, and the outcomes by what the causal model reads.

    `turned` are the corpora on which another measure has the other side ahead; `training` is the answer on training data.
    """
    before, both = (list_rows(shown, step[1]) for step in (BEFORE, BOTH))
    lines = []
    if len(before) and FIRST in set(before["direction"]) and is_closer(both, before):
        turning = " or ".join(
            f"{word} ({join_names(style.ordered(corpora))})"
            for word, corpora in (
                ("checkpoint", find_reversed(pd.concat([before, both]))),
                ("measure", turned),
            )
            if corpora
        )
        end = f" Another {turning} can reverse the lead." if turning else ""
        lines.append(f"**Better text?** It depends on what the causal model reads.{end}")
    reads = "**Causal reads the text before each blank** and knows its length"
    readings = write_list(
        describe_reading(before, reads), describe_reading(both, "**Causal reads both sides**")
    )
    lines += [readings] if readings else []
    if training:
        lines += ["", f"**Better training data?** {training}"]
    return "\n".join(lines)


def list_rows(shown: Shown, condition: str) -> pd.DataFrame:
    """Return the rows of a condition that the table of README shows, of every start."""
    rows = [of_step for (_, name), of_step in shown.items() if name == condition]
    return pd.concat(rows) if rows else pd.DataFrame()


def is_closer(both: pd.DataFrame, before: pd.DataFrame) -> bool:
    """Return whether the masked model leads by no more where the causal one reads both sides, and in one comparison by less with its whole interval.

    Compared are the comparisons of one start and corpus of which both decide.
    """
    decided = (rows[rows["status"] == MADE] for rows in (both, before))
    pairs = pd.merge(*decided, on=["start", "corpus"], suffixes=("", "_before"))
    is_less = pairs["effect"] <= pairs["effect_before"]
    return bool(is_less.all() and (pairs["high"] < pairs["low_before"]).any())


def describe_reported(steps: pd.DataFrame) -> str:
    """Return how far the masked model is ahead of what the paper calls causal, with and without originals in sight."""
    reported, hidden = (best_rows(steps, (ENCODER, name)) for name in ("as reported", "no leak"))
    if not (is_ahead(reported, FIRST) and is_ahead(hidden, FIRST)):
        return list_by_corpus("As the paper compares them", hidden)
    starts = describe_starts(reported, best_rows(steps, PRETRAINED))
    return (
        f"**As the paper compares them, masked leads by {span(reported['effect'])} BLEU** ({starts}). "
        f"With later blanks hidden from masked: {span(hidden['effect'])}."
    )


def describe_starts(reported: pd.DataFrame, pretrained: pd.DataFrame) -> str:
    """Return what both models start from, and over how many trainings; how far masked leads SmolLM2 as the causal one, where it does wherever that is decided."""
    runs, made = word_runs(reported), pretrained[pretrained["status"] == MADE]
    if not is_ahead(made, FIRST):
        return f"both from an encoder, {runs}"
    where = f" on {join_names([*made['corpus']])}" if len(made) < len(pretrained) else ""
    lead, runs_of_other = f"by {span(made['effect'])} over SmolLM2{where}", word_runs(made)
    if runs == runs_of_other:
        return f"both from an encoder; {lead}; {runs} each"
    return f"both from an encoder, {runs}; {lead}, {runs_of_other}"


def find_reversed(rows: pd.DataFrame) -> set[str]:
    """Return the corpora on which causal leads from another start where masked leads from an encoder, whatever it reads there."""
    is_encoder = rows["start"] == ENCODER
    leads = rows[is_encoder & (rows["direction"] == FIRST)]
    led = {*zip(leads["condition"], leads["corpus"], strict=True)}
    others = rows[~is_encoder & (rows["direction"] == SECOND)]
    return {row.corpus for row in others.itertuples() if (row.condition, row.corpus) in led}


def describe_reading(rows: pd.DataFrame, reads: str) -> str:
    """Return how the masked model compares with a causal one, in the comparisons of every start; nothing where none was run."""
    return "" if rows.empty else f"{reads}: {count_outcomes(rows)}."


def count_outcomes(rows: pd.DataFrame) -> str:
    """Return how often which side leads and by how much: "masked leads by 2.0 to 8.4 BLEU in four of five comparisons; no answer in one"."""
    rows_of: dict[str, list] = {FIRST: [], SECOND: [], EQUAL: [], NO_ANSWER: []}
    for row in rows.itertuples(index=False):
        word = word_no_lead(row) or row.direction
        rows_of[word if word in rows_of else NO_ANSWER].append(row)
    counts: list[tuple[str, int]] = []
    for word, counted in rows_of.items():
        starts = {row.start for row in counted}
        is_told = word == SECOND and len(starts) == 1 and ENCODER not in starts
        where = f" ({FROM[starts.pop()]})" if is_told else ""
        leads, unit = ("", "") if any(number for _, number in counts) else (" leads", " BLEU")  # said once
        sizes = span(abs(row.effect) for row in counted) if word in SIDES and counted else ""
        outcome = f"{SIDES[word]}{leads} by {sizes}{unit}{where}" if sizes else word
        counts.append((outcome, len(counted)))
    return join_counts(counts)


def describe_left(steps: pd.DataFrame) -> str:
    """Return that both objectives are equal with the left side alone, where every comparison that decides anything says so."""
    asked = best_rows(steps, (ENCODER, "left context"))
    rows = asked[asked["status"] == MADE]
    if not is_small(rows):
        return ""
    margin = rows["margin"].max()
    corpora = " and ".join(style.ordered(rows["corpus"]))
    elsewhere = " No answer elsewhere." * bool((asked["status"] == NOT_COMPETENT).any())
    return (
        f"**If masked, too, reads only the text before blanks, it is within {margin:.3g} BLEU of causal on {corpora}** "
        f"({span(rows['effect'], sign='+')}; {word_runs(rows)}).{elsewhere}"
    )


def describe_speed(file: Path) -> str:
    """Return how much faster `fill` is than a plain loop, from the benchmark; nothing where it was not run."""
    if not file.is_file():
        return ""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    row = next((line for line in lines if line["name"] == BENCH and line["device"].startswith("cpu")), None)
    if row is None:
        return ""
    return f"Filling many blanks is {row['ratio']:.1f} times as fast as a plain fill-mask loop."
