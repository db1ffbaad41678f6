"""The first words of a page: the title of a study, its question, and the answer as a sentence with numbers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..arms.roles import PAIR
from ..evidence.cells import group_by
from ..evidence.competence import COMPETENT
from ..evidence.derivation import Tables
from ..evidence.verdicts import FEWEST_UNITS, FIRST, INSIDE, MADE, NOT_RUN, NOT_SETTLED, SECOND
from . import style, track_answers
from .ladder import UNTRAINED, count_content, count_tokens, list_own_steps, word_tokens
from .lead_words import SIDES, enter_lead, span, word_number, word_runs
from .style import read_study
from .verdict_cards import VerdictCard, list_own_verdicts
from .wording import join_names

QUESTION = "Does masked language modelling write better text than causal?"  # of a study that names no other
OWN_QUESTION = "Which kind of model writes better on your texts, one that sees both sides of a blank or one that sees the left?"
MOST_STATEMENTS = 3  # that open a page in full
NO_ANSWER = "This study compared no masked model with a causal one by BLEU on its main cell."
# Of a track that has a sentence of its own, where it does not hold.
UNTOLD = "No one sentence answers this: see the figures and tables."
READER = "a causal model that reads "
STEPS = {  # condition of claim C1 -> the causal model of the sentence
    "known length": f"{READER}the text before the blank",
    "both contexts": f"{READER}both sides",
    UNTRAINED[1]: "SmolLM2, a pretrained causal model that was not trained on these texts",
    "no leak": "what the paper calls causal, with no originals in sight",
    "no leak, pretrained": "SmolLM2, trained to write the whole text anew without knowing where blanks are",
}
AHEAD = {FIRST: "masked {points} BLEU points ahead", SECOND: "causal {points} BLEU points ahead"}
LEVEL = "level (masked {points}, within the margin)"
WHOLE = {  # outcome -> the sentence where all corpora have it
    AHEAD[FIRST]: "The masked model is {points} BLEU points ahead of {other}",
    AHEAD[SECOND]: "The masked model is {points} BLEU points behind {other}",
    LEVEL: "It is level in BLEU with {other} ({points}, within the margin)",
}
SIZE_OPEN = " (size not settled)"  # behind AHEAD
NONE = "no difference shown in BLEU (masked {points})"
UNDECIDED = "there a model is not clearly above a word table or unfilled text"
NO_FLOOR = "no word table was run that a model could be held against"


@dataclass(frozen=True)
class StepTable:
    """The first table of a page: the corpora across, and in each row a causal model with who is ahead on each corpus."""

    corpora: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]


def name_study(about: Mapping[str, Any], tables: Tables) -> str:
    """Return the title of a study: its own, else its trainings and their tokens."""
    if about.get("title"):
        return str(about["title"])
    runs = tables["answers"]["runs"].max()
    trainings = int(runs) if pd.notna(runs) else 1
    if tables["training"].empty:
        return "Masked and causal models as they come"
    models = "each model" if trainings == 1 else "the deciding models"
    size = f"{word_number(trainings).capitalize()} training{'s' * (trainings > 1)} of {models}, {word_tokens(count_tokens(tables))} tokens"
    track = str(tables["study"].iloc[0]["track"])
    if track in ("matched", "runs", "long_runs"):
        return size
    return f"{track.replace('_', ' ').capitalize()}: {size[0].lower()}{size[1:]}"


def ask(about: Mapping[str, Any]) -> str:
    """Return the question of a study."""
    question = OWN_QUESTION if str(about["scale"]).partition(" ")[0] == style.OWN else QUESTION
    return str(about.get("question") or question)


def name_next(about: Mapping[str, Any], tables: Tables) -> str:
    """Return what a user's own study leads to: more texts, or longer training where a model may not speak yet; "" for another."""
    scale, _, track = str(about["scale"]).partition(" track=")
    if track in style.OWN_TRACKS:
        return "make own CORPUS=<texts>"
    if scale != style.OWN:
        return ""
    judged = read_study(tables).at_main(tables["competence"])
    judged = judged[judged["arm"].isin(PAIR) & (judged["word_class"] == "all")]
    if judged.empty:
        return ""
    if judged["n"].eq(0).all():  # else their texts would be called too few
        return "the same command with the word tables that scale.grid.also has in conf/scale/own.yaml"
    n_filled = int(judged["n"].max()) if judged["n"].notna().any() else 0
    if n_filled < FEWEST_UNITS:
        return f"more texts: {n_filled} were filled, and {FEWEST_UNITS} are the fewest that can decide"
    is_able = (judged["outcome"] == COMPETENT).all()
    return f"the same command with ARGS={'corpus.show_examples=true' if is_able else 'scale.minutes=60'}"


def answer_question(tables: Tables) -> str:
    """Return the answer to the question of a study: its track's own sentence and its own claims, else how far masked models are ahead, step by step."""
    answer = track_answers.ANSWERS.get(str(tables["study"].iloc[0]["track"]))
    verdicts = list_own_verdicts(tables)
    sentence = answer(tables) if answer else ""
    is_enough = sentence and len(verdicts) > MOST_STATEMENTS  # ids say nothing beside a sentence
    clauses = [sentence, describe_verdicts(verdicts) if verdicts and not is_enough else ""]
    if words := " ".join(filter(None, clauses)):
        return words
    steps, (more, where) = list_own_steps(tables), count_content(tables)
    told = [
        describe_steps(steps, find_unjudged(tables)),
        describe_other_measures(steps, tables["answers"]),
        f"Of 100 content words the causal one restores {more} more{where}." if more else "",
    ]
    return " ".join(filter(None, told)) or (UNTOLD if answer else NO_ANSWER)


def describe_verdicts(cards: list[VerdictCard]) -> str:
    """Return whether each claim of a study's own holds: its statement and how often; many are told by verdict, without counts."""
    statements = [card.why.rstrip(".") for card in cards]
    if len(cards) <= MOST_STATEMENTS:
        told = zip(statements, cards, strict=True)
        return " ".join(f"{statement}: {card.verdict} ({card.number})." for statement, card in told)
    by_verdict = group_by(zip(statements, cards, strict=True), lambda pair: pair[1].verdict)
    return " ".join(
        f"{verdict.capitalize()}: {'; '.join(f'“{statement}”' for statement, _ in pairs)}."
        for verdict, pairs in by_verdict.items()
    )


def find_unjudged(tables: Tables) -> set[tuple[str, str]]:
    """Return (corpus, arm) where no floor was run at the main cell that an arm could be held against."""
    judged = read_study(tables).at_main(tables["competence"])
    judged = judged[(judged["outcome"] == NOT_RUN) & (judged["word_class"] == "all")]
    return {*zip(judged["corpus"], judged["arm"], strict=True)}


def _split_steps(steps: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows against each causal model of STEPS that was run, by its words."""
    return {words: rows for name, words in STEPS.items() if len(rows := steps[steps["condition"] == name])}


def describe_steps(steps: pd.DataFrame, unjudged: Collection[tuple[str, str]]) -> str:
    """Return, against each causal model of STEPS, how far the masked model is ahead in BLEU; nothing where none was run.

    `unjudged` are (corpus, arm) without a floor, which is another reason than one that is not cleared.
    """
    rows_of = _split_steps(steps)
    if not rows_of:
        return ""
    decided = {
        words: of_step for words, rows in rows_of.items() if len(of_step := rows[rows["status"] == MADE])
    }
    runs = list(dict.fromkeys(word_runs(rows) for rows in rows_of.values()))
    sentences = [
        f"{_describe_step(words, rows, rows_of[words])}{f' ({word_runs(rows)})' * (len(runs) > 1)}."
        for words, rows in decided.items()
    ]
    total, made = (sum(map(len, steps_of.values())) for steps_of in (rows_of, decided))
    if total > made:
        which = f"{word_number(total - made).capitalize()} of {word_number(total)}" if made else "All"
        verb = "is" if made and total - made == 1 else "are"
        rows = pd.concat(rows_of.values())
        silent = rows[rows["status"] != MADE].itertuples(index=False)
        pairs = {(row.corpus, arm) for row in silent for arm in (row.first_arm, row.second_arm)}
        reason = NO_FLOOR if pairs & {*unjudged} else UNDECIDED
        sentences.append(f"{which} comparisons {verb} undecided: {reason}.")
    sentences += [f"({runs[0].capitalize()} of each trained model.)"] if len(runs) == 1 else []
    return " ".join(sentences)


def describe_other_measures(steps: pd.DataFrame, answers: pd.DataFrame) -> str:
    """Return by which other measures of claim C1 a side is ahead where BLEU shows neither; nothing where none is."""
    silent = steps[(steps["status"] == MADE) & ~steps["direction"].isin([*AHEAD])][["condition", "corpus"]]
    rows = answers[(answers["claim"] == "C1") & (answers["status"] == MADE)]
    rows = rows[rows["direction"].isin([*AHEAD]) & (rows["metric"] != "bleu")]
    rows = rows.merge(silent[silent["condition"].isin([*STEPS])].drop_duplicates())
    return " ".join(
        f"By {style.name_metric(metric).partition(' (')[0]} {SIDES[side]} is ahead on {join_names(style.ordered(group['corpus']))} "
        f"({STEPS[condition].removeprefix(READER)})."
        for (condition, metric, side), group in rows.groupby(["condition", "metric", "direction"], sort=False)
    )


def tabulate_steps(steps: pd.DataFrame) -> StepTable | None:
    """Return what each corpus says against each causal model of STEPS; None where none was run."""
    rows_of = _split_steps(steps)
    if not rows_of:
        return None
    corpora = style.ordered(pd.concat(rows_of.values())["corpus"])
    rows = []
    for words, of_step in rows_of.items():
        by_corpus = {row.corpus: enter_lead(row) for row in of_step.itertuples(index=False)}
        rows.append((words, [by_corpus.get(corpus, "–") for corpus in corpora]))
    return StepTable(corpora, rows)


def _describe_step(words: str, rows: pd.DataFrame, of_step: pd.DataFrame) -> str:
    """Return "The masked model is 6.0 to 7.5 BLEU points ahead of a causal model that reads both sides"; by corpus where these differ.

    `rows` are those of `of_step` in which both models may speak.
    """
    by_outcome = group_by(rows.itertuples(index=False), judge)
    points = {outcome: _write_points(outcome, group) for outcome, group in by_outcome.items()}
    outcome = next(iter(by_outcome))
    whole = WHOLE.get(outcome.removesuffix(SIZE_OPEN))
    if len(by_outcome) == 1 and whole and len(rows) == len(of_step):
        end = SIZE_OPEN if outcome.endswith(SIZE_OPEN) else ""
        return whole.format(points=points[outcome], other=words) + end
    clauses = [
        f"{outcome.format(points=points[outcome])} on {join_names(style.ordered(row.corpus for row in group))}"
        for outcome, group in by_outcome.items()
    ]
    return f"Against {words}: {'; '.join(clauses)}"


def judge(row: Any) -> str:
    """Return what a difference of claim C1 says in words, with a place for its points."""
    if row.size == INSIDE:
        return LEVEL
    if row.direction not in AHEAD:
        return NONE
    return AHEAD[row.direction] + SIZE_OPEN * (row.size == NOT_SETTLED)


def _write_points(outcome: str, rows: list[Any]) -> str:
    if outcome.removesuffix(SIZE_OPEN) in AHEAD.values():
        return span(abs(row.effect) for row in rows)
    return span((row.effect for row in rows), sign="+").replace("+0.0", "0.0")
