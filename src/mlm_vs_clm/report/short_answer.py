"""The answer in a few lines for README: sentences that hold in the tables, one table, the likelihood, the speed.

A headline stands only where every row that it speaks of has its outcome; else the outcomes are listed corpus by corpus.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from ..evidence.cells import group_by
from ..evidence.verdicts import FIRST, INSIDE, MADE, NONE_SHOWN, NOT_COMPETENT, NOT_SETTLED, SECOND
from . import style
from .ladder import (
    BEFORE,
    BOTH,
    CAUSAL,
    ENCODER,
    ENDS,
    OWN,
    STARTED,
    Step,
    best_rows,
    describe_content,
    find_likelihoods,
    list_steps,
    pick_step,
    word_tokens,
)
from .lead_words import (
    EQUAL,
    is_ahead,
    is_small,
    list_by_corpus,
    say_undecided,
    span,
    word_no_lead,
    word_number,
    word_runs,
)
from .likelihood_answer import describe_exact_studies
from .overview import count_tokens, find_start
from .sentences import Tables
from .short_table import ROWS, enter_short, tabulate_short
from .training_answer import describe_training
from .wording import join_names

STARTS = {CAUSAL: "both start from a causal model", OWN: "each starts from a checkpoint of its kind"}
BENCH = "fill_fp32"  # the row of the benchmark that fills one token per pass, as the plain loop does


def write_short_blocks(studies: Mapping[str, Tables], rules: Sequence[dict], results: Path) -> dict[str, str]:
    """Return the blocks of README's first screen by marker; a block without anything to say is left out."""
    studies = {name: tables for name, tables in studies.items() if find_start(tables) in ENDS}
    exact = {name: of_study for name, of_study in studies.items() if has_likelihood(of_study)}
    steps = list_steps(studies, rules)
    blocks = {
        "short-answer": describe_short(steps, studies),
        "short-table": tabulate_short(steps),
        "exact-likelihood": describe_exact_studies(keep_most_trained(exact)),
        "short-speed": describe_speed(results / "bench" / "bench.jsonl"),
    }
    return {name: text for name, text in blocks.items() if text}


def has_likelihood(tables: Tables) -> bool:
    """Return whether a study measured the likelihood."""
    return len(find_likelihoods(tables["answers"])) > 0


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


def describe_short(steps: pd.DataFrame, studies: Mapping[str, Tables]) -> str:
    """Return the answer: two questions with a word each where it holds, then a sentence per finding."""
    training, answer = describe_training(studies)
    verdicts, rows_of = [], pick_started(steps)
    told_of = pd.concat(rows_of.values())["study"]
    content = describe_content(studies[told_of.iloc[0]]) if len(told_of) else ""
    before, both = (keep_decided(best_rows(steps, step)) for step in (BEFORE, BOTH))
    if is_ahead(before, FIRST) and is_smaller(both, before):
        started = pd.concat([best_rows(steps, step) for step in STARTED if step[1] == BOTH[1]])
        is_reversed = SECOND in set(keep_decided(started)["direction"])
        on = ["what the causal model reads", *["the start"] * is_reversed, *["the measure"] * bool(content)]
        verdicts.append(f"Better text? It depends on {join_names(on)}.")
    if answer:
        verdicts.append(f"Better training data? {answer}")
    findings = [
        describe_reported(steps),
        describe_before(steps),
        describe_both(steps, studies),
        describe_left(steps),
        describe_started(rows_of) + f" {content}" * bool(content),
        training,
    ]
    head = [f"**{' '.join(verdicts)}**", ""] if verdicts else []
    return "\n".join([*head, *(f"- {sentence}" for sentence in findings if sentence)])


def keep_decided(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of which both sides may speak."""
    return rows[rows["status"] == MADE]


def is_smaller(both: pd.DataFrame, before: pd.DataFrame) -> bool:
    """Return whether on every corpus of two steps the whole interval of the one lies below that of the other."""
    highest, lowest = both.set_index("corpus")["high"], before.set_index("corpus")["low"]
    shared = highest.index.intersection(lowest.index)
    return len(shared) > 0 and bool((highest[shared] < lowest[shared]).all())


def describe_reported(steps: pd.DataFrame) -> str:
    """Return how far the masked model is ahead of what the paper calls causal, with and without originals in sight."""
    reported, hidden = (
        best_rows(steps, (ENCODER, "as reported")),
        best_rows(steps, (ENCODER, "no leak")),
    )
    if not (is_ahead(reported, FIRST) and is_ahead(hidden, FIRST)):
        return list_by_corpus("As the paper compares them", hidden)
    return (
        f"**As the paper compares them, masked models are ahead** by {span(reported['effect'])} BLEU "
        f"({word_runs(reported)}; {span(hidden['effect'])} with originals hidden)."
    )


def describe_before(steps: pd.DataFrame) -> str:
    """Return how the masked model compares with a causal one that reads the text before the gap."""
    whole = best_rows(steps, BEFORE)
    rows = keep_decided(whole)
    if not is_ahead(rows, FIRST):
        return list_by_corpus("Against a causal model that reads only the text before the gap", whole)
    ends = rows["low"].min(), rows["high"].max()
    return (
        f"**Told gap places and lengths, a causal model that reads up to each gap is behind** by {span(rows['effect'])}{say_where(rows, whole)} "
        f"(intervals {ends[0]:.1f} to {ends[1]:.1f}; {word_size(rows)})."
        f"{say_undecided(whole[whole['status'] != MADE])}"
    )


def describe_both(steps: pd.DataFrame, studies: Mapping[str, Tables]) -> str:
    """Return how the masked model compares with a causal one that reads both sides, also after another training."""
    whole = best_rows(steps, BOTH)
    rows = keep_decided(whole)
    if rows.empty:
        return list_by_corpus("Against a causal model that reads both sides", whole)
    before = best_rows(steps, BEFORE)
    size = word_size(rows) if set(before["study"]) != set(rows["study"]) else word_runs(rows)  # told there
    return (
        f"{name_both(rows, whole, keep_decided(before))} ({size}).{say_undecided(whole[whole['status'] != MADE])}"
        f"{describe_words_restored(rows, studies)}{describe_others(steps, rows)}"
    )


def name_both(rows: pd.DataFrame, whole: pd.DataFrame, before: pd.DataFrame) -> str:
    """Return what the rows of BOTH say in a headline: equal, less than a margin apart, nearer than BEFORE, or the outcomes alone."""
    where, entries = say_where(rows, whole), list_entries(rows)
    if is_small(rows):
        return f"**One that reads both sides is equal in BLEU{where}**: {span(rows['effect'].abs())} points apart"
    is_led = all(row.direction == FIRST or word_no_lead(row) == EQUAL for row in rows.itertuples(index=False))
    if is_led and ((is_near := (rows["effect"].abs() < rows["margin"]).all()) or is_smaller(rows, before)):
        return f"**One that reads both sides is {'nearly as good' if is_near else 'closer'} in BLEU{where}**: {entries}"
    return f"**Against one that reads both sides{where}**: {entries}"


def describe_words_restored(rows: pd.DataFrame, studies: Mapping[str, Tables]) -> str:
    """Return how many fewer of the words the causal model of a step restores; nothing where it does not on every corpus."""
    answers = studies[rows.iloc[0]["study"]]["answers"]
    answers = answers[(answers["claim"] == "C1") & (answers["condition"] == BOTH[1])]
    effects = answers.loc[(answers["metric"] == "exact_match") & (answers["status"] == MADE), "effect"]
    if effects.empty or not (effects > 0).all():
        return ""
    return f" It restores {span(effects * 100)} fewer of 100 hidden words."


def describe_others(steps: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Return how the step of `rows` came out in studies of as many trainings in which another side is ahead on some corpus."""
    elsewhere = keep_decided(pick_step(steps, BOTH))
    elsewhere = elsewhere[elsewhere["runs"] >= rows["runs"].min()]
    ahead = elsewhere["corpus"].map(rows.set_index("corpus")["direction"])
    others = set(elsewhere.loc[elsewhere["direction"] != ahead, "study"])
    sentences = []
    for network, of_network in elsewhere[elsewhere["study"].isin(others)].groupby("network"):
        clauses = [
            f"after {word_tokens(tokens)} tokens ({word_runs(of_tokens)}) {describe_sides(of_tokens)}"
            for tokens, of_tokens in of_network.groupby("tokens")
        ]
        other = "from another encoder " * (network not in set(rows["network"]))
        told = f"{other}{'; '.join(clauses)}"
        sentences.append(f" {told[0].upper()}{told[1:]}.")
    return "".join(sentences)


def describe_sides(rows: pd.DataFrame) -> str:
    """Return which side leads by how much where one does, else that both are equal, or that it is not settled."""
    decided = rows[rows["direction"] != NONE_SHOWN]
    word = EQUAL if is_small(rows) else NOT_SETTLED
    return list_entries(decided) if len(decided) else f"{word} ({span(rows['effect'], sign='+')})"


def describe_left(steps: pd.DataFrame) -> str:
    """Return that both objectives are equal with the left side alone, where every comparison that decides anything says so."""
    asked = best_rows(steps, (ENCODER, "left context"))
    rows, weak = asked[asked["status"] == MADE], asked[asked["status"] == NOT_COMPETENT]
    if not is_small(rows):
        return ""
    corpora = " and ".join(style.ordered(rows["corpus"]))
    return (
        f"**A masked model that reads only the text before the gap equals a causal one on {corpora}** "
        f"({span(rows['effect'], sign='+')}; {word_runs(rows)}).{say_undecided(weak)}"
    )


def word_size(rows: pd.DataFrame) -> str:
    """Return "five trainings of 768,000 tokens"."""
    return f"{word_runs(rows)} of {word_tokens(rows['tokens'].max())} tokens"


def pick_started(steps: pd.DataFrame) -> dict[Step, pd.DataFrame]:
    """Return the rows of each step from one of STARTS: that from which most comparisons are decided."""
    decided = keep_decided(pd.concat([best_rows(steps, step) for step in STARTED]))["start"].value_counts()
    start = max(STARTS, key=lambda name: decided.get(name, 0))
    return {step: best_rows(steps, step) for step in STARTED if step[0] == start}


def describe_started(rows_of: Mapping[Step, pd.DataFrame]) -> str:
    """Return how the models compare where they start from one of STARTS; `rows_of` has the rows of its steps."""
    rows, start = pd.concat(rows_of.values()), next(iter(rows_of))[0]
    name = f"Where {STARTS[start]}"
    ahead = rows["direction"] == SECOND
    if not (ahead | (rows["size"] == INSIDE)).all() or not ahead.any() or rows["effect"].max() > 0:
        entries = {step: list_entries(keep_decided(of_step)) for step, of_step in rows_of.items()}
        clauses = [f"{ROWS[step][0]}, {told}." for step, told in entries.items() if told]
        if not clauses:
            return ""
        told = f"If the causal one {' If it '.join(clauses)}"
        return f"**{name}** (BLEU, {word_runs(rows)}). {told}{say_undecided(rows[rows['status'] != MADE])}"
    most = f"{-rows['effect'].min():.1f} ({word_runs(rows)})"
    return f"**{name}, the causal one is as good or better**, by up to {most}."


def say_where(rows: pd.DataFrame, whole: pd.DataFrame) -> str:
    """Return " on abstracts and plots", where these are not all corpora of a step."""
    return f" on {' and '.join(style.ordered(rows['corpus']))}" * (len(rows) < len(whole))


def list_entries(rows: pd.DataFrame) -> str:
    """Return the outcomes of a step: "causal +2.5 on abstracts and plots, equal on speeches", "masked +2.0 to +3.1" of all."""
    ahead = set(rows["direction"])
    if len(rows) > 2 and ahead in ({FIRST}, {SECOND}):
        return f"{'masked' if FIRST in ahead else 'causal'} {span(rows['effect'].abs(), sign='+')}"
    by_entry = group_by(rows.itertuples(index=False), enter_short)
    return ", ".join(
        f"{entry} on {' and '.join(row.corpus for row in group)}" for entry, group in by_entry.items()
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
        f"Filling is {row['ratio']:.1f} times as fast as a plain fill-mask loop over the same model, on "
        f"{word_number(row['threads'])} CPU threads."
    )
