"""The answer in a few lines for README: sentences that hold in the tables, one table, the likelihood, the speed.

A headline stands only where every row that it speaks of has its outcome; else the outcomes are listed corpus by corpus.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from ..evidence.competence import COMPETENT
from ..evidence.tables import TRAINING_DATA, pick_kind
from ..evidence.verdicts import FIRST, INSIDE, MADE, NONE_SHOWN, NOT_RUN, SECOND
from . import style
from .evidence_table import find_edition
from .ladder import (
    BEFORE,
    BOTH,
    CAUSAL,
    ENCODER,
    LIKELIHOOD,
    STARTED,
    Step,
    best_rows,
    list_likelihoods,
    list_steps,
    word_tokens,
)
from .lead_words import (
    SIDES,
    is_ahead,
    is_small,
    list_by_corpus,
    span,
    word_number,
    word_runs,
)
from .likelihood_answer import describe_exact, describe_likelihood
from .overview import count_tokens, find_start
from .sentences import Tables
from .short_table import tabulate_short
from .style import read_study

TOLD = ("mlm", "clm", "infill")  # whose content words are told
MANY = 1 / 3  # at most this share of models is few, at least twice it is most
BENCH = "fill_fp32"  # the row of the benchmark that fills one token per pass, as the plain loop does


def write_short_blocks(studies: Mapping[str, Tables], rules: Sequence[dict], results: Path) -> dict[str, str]:
    """Return the blocks of README's first screen by marker; a block without anything to say is left out."""
    studies = {name: tables for name, tables in studies.items() if find_start(tables) in (ENCODER, CAUSAL)}
    exact = [name for name, tables in studies.items() if (tables["answers"]["metric"] == LIKELIHOOD).any()]
    steps = list_steps(studies, rules)
    likelihoods = list_likelihoods({name: tables for name, tables in studies.items() if name not in exact})
    blocks = {
        "short-answer": describe_short(steps, studies),
        "short-table": tabulate_short(steps),
        "exact-likelihood": "\n\n".join(
            filter(None, map(describe_exact, keep_most_trained({name: studies[name] for name in exact})))
        ),
        "short-likelihood": describe_likelihood(likelihoods),
        "short-speed": describe_speed(results / "bench" / "bench.jsonl"),
    }
    return {name: text for name, text in blocks.items() if text}


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
    training, is_neutral = describe_training(studies)
    verdicts = []
    if is_ahead(best_rows(steps, BEFORE), FIRST) and is_small(best_rows(steps, BOTH)):
        verdicts.append("Better text? It depends on what the causal model sees and on the start.")
    if is_neutral:
        verdicts.append("Better training data? Not shown.")
    findings = [
        describe_reported(steps),
        describe_before(steps),
        describe_both(steps),
        describe_started([best_rows(steps, step) for step in STARTED]),
        describe_content(studies),
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
        f"**As the paper compares them, masked models are ahead** by {span(reported['effect'])} BLEU points "
        f"({word_size(reported)}; {span(hidden['effect'])} without the leak). That causal model is not told where the gaps are."
    )


def describe_before(steps: pd.DataFrame) -> str:
    """Return how the masked model compares with a causal one that reads the text before the gap, also after less training."""
    rows = best_rows(steps, BEFORE)
    if not is_ahead(rows, FIRST):
        return list_by_corpus("Against a causal model that reads only the text before the gap", rows)
    shorter = pick_step(steps, BEFORE)
    shorter = shorter[(shorter["tokens"] < rows["tokens"].max()) & (shorter["status"] == MADE)]
    less = f" After fewer it is {span(shorter['effect'])}." if is_ahead(shorter, FIRST) else ""
    ends = rows["low"].min(), rows["high"].max()
    return (
        f"**Told places and lengths, a causal model that reads before the gaps is behind** if both start from an encoder, by "
        f"{span(rows['effect'])} [{ends[0]:.1f}, {ends[1]:.1f}] ({word_size(rows)}).{less}"
    )


def describe_both(steps: pd.DataFrame) -> str:
    """Return how the masked model compares with a causal one that reads both sides, also after longer training."""
    rows = best_rows(steps, BOTH)
    if not is_small(rows):
        return list_by_corpus("Against a causal model that reads both sides", rows)
    return (
        f"**One that reads both sides does as well**: {span(rows['effect'].abs())} points apart "
        f"({word_size(rows)}{describe_longer(steps, rows)}).{describe_others(steps, rows)}"
    )


def describe_others(steps: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Return where after another training the step of `rows` is not small: which side is ahead, or that it is not settled."""
    elsewhere = pick_step(steps, BOTH)
    elsewhere = elsewhere[(elsewhere["tokens"] != rows["tokens"].max()) & (elsewhere["status"] == MADE)]
    elsewhere = elsewhere[elsewhere["size"] != INSIDE]
    sentences = []
    for (tokens, side), group in elsewhere.groupby(["tokens", "direction"]):
        after = f" After {word_tokens(tokens)} tokens ({word_runs(group)})"
        corpora, effects = " and ".join(style.ordered(group["corpus"])), group["effect"]
        if side == NONE_SHOWN:
            ends = " to ".join(dict.fromkeys(f"{end:+.1f}" for end in (effects.min(), effects.max())))
            sentences.append(f"{after} it is not settled on {corpora} ({ends}).")
        else:
            sentences.append(
                f"{after} the {SIDES[str(side)]} model leads by {span(effects.abs())} on {corpora}."
            )
    return "".join(sentences)


def describe_longer(steps: pd.DataFrame, rows: pd.DataFrame) -> str:
    """Return the differences of a step, which are small, after longer training; nothing where they are not small there."""
    longer = pick_step(steps, BOTH)
    longer = longer[longer["tokens"] > rows["tokens"].max()]
    if not is_small(longer):
        return ""
    ends = (longer["effect"].min(), longer["effect"].max())
    size = " to ".join(dict.fromkeys(f"{end:+.1f}" for end in ends))
    return f"; {size} in {word_runs(longer).partition(' ')[0]} of {word_tokens(longer['tokens'].max())}"


def pick_step(steps: pd.DataFrame, step: Step) -> pd.DataFrame:
    """Return the rows of a start and condition, of all studies."""
    return steps[(steps["start"] == step[0]) & (steps["condition"] == step[1])]


def word_size(rows: pd.DataFrame) -> str:
    """Return "five trainings of 768,000 tokens"."""
    return f"{word_runs(rows)} of {word_tokens(rows['tokens'].max())} tokens"


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


def describe_content(studies: Mapping[str, Tables]) -> str:
    """Return how often models beat their word table on content words, each on each corpus, after the shortest and the longest training.

    Compared are the studies of one network and one edition of the rules, those with the longest training.
    """
    by_kind: dict[tuple, dict[int, list[bool]]] = {}
    for tables in keep_most_trained(studies):
        rows = read_study(tables).at_main(tables["competence"])
        rows = rows[(rows["word_class"] == "content") & rows["arm"].isin(TOLD) & (rows["outcome"] != NOT_RUN)]
        if find_start(tables) == ENCODER and len(rows):
            kind = find_edition(tables), *sorted(set(tables["training"]["model"].dropna()))
            cases = by_kind.setdefault(kind, {}).setdefault(count_tokens(tables), [])
            cases.extend(rows["outcome"] == COMPETENT)
    above = max(by_kind.values(), key=lambda by_tokens: max(by_tokens), default={})
    if len(above) < 2 or sum(above[max(above)]) / len(above[max(above)]) < 2 * MANY:
        return ""
    (short, few), (long, most) = min(above.items()), max(above.items())
    if sum(few) > MANY * len(few):
        return ""
    return (
        f"**Content words need longer training.** After {word_tokens(short)} tokens the same networks beat their word table on them in "
        f"{sum(few)} of {len(few)} cases, after {word_tokens(long)} in {sum(most)} of {len(most)}."
    )


def describe_training(studies: Mapping[str, Tables]) -> tuple[str, bool]:
    """Return what the texts of `mlm` and `clm` are worth as training data, and whether neither is reliably better.

    Counted are the comparisons in which real text trains a better model than text without its hidden words.
    """
    if not studies:
        return "", False
    rows = pd.concat([pick_kind(tables["comparisons"], TRAINING_DATA) for tables in studies.values()])
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
        f" Of {word_number(len(rows))} comparisons with the left-reading model {words['none']} {open_words}, "
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
    return f"On {' and '.join(named)}, one constant word in every gap did better than both."


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
