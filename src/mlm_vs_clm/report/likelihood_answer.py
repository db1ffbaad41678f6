"""Sentences for README on the likelihood of the hidden words."""

from collections.abc import Sequence

import pandas as pd

from ..evidence.cells import group_by
from ..evidence.verdicts import MADE
from . import style
from .ladder import (
    BEFORE,
    BOTH,
    CAUSAL,
    ENCODER,
    LIKELIHOOD,
    LIKELIHOODS,
    STARTED,
    has_too_few,
    word_tokens,
)
from .lead_words import span, word_corpora, word_runs, word_short
from .overview import count_tokens, find_start
from .sentences import Tables

READS = {"known length": "before the gap", "both contexts": "both sides"}  # as LIKELIHOODS


def describe_exact_studies(studies: Sequence[Tables]) -> str:
    """Return who gives the hidden words the higher exact likelihood, a paragraph per start, most trainings first."""
    ranked = sorted(studies, key=lambda tables: -float(tables["answers"]["runs"].max()))
    by_start = group_by(ranked, find_start)
    paragraphs = [
        " ".join(filter(None, [describe_exact(first), *map(add_exact, others)]))
        for first, *others in by_start.values()
    ]
    return "\n\n".join(filter(None, paragraphs))


def add_exact(tables: Tables) -> str:
    """Return the outcomes of a further study of one start in few words."""
    rows, clauses = list_exact(tables)
    told = "; ".join(f"{READS[condition]} {outcomes}" for condition, outcomes in clauses.items())
    told = f"{told}.{'' if rows['is_decided'].all() else ' Not decided elsewhere.'}" if told else ""
    return f"After {word_tokens(count_tokens(tables))} tokens ({word_runs(rows)}): {told}" if told else ""


def list_exact(tables: Tables) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the rows of the exact likelihood, and by condition the outcomes of those that are decided, in words."""
    answers = tables["answers"]
    rows = answers[(answers["claim"] == "C1") & (answers["metric"] == LIKELIHOOD) & answers["effect"].notna()]
    decided = rows[[row.status == MADE and not has_too_few(row) for row in rows.itertuples(index=False)]]
    clauses = {}
    for condition in LIKELIHOODS:
        step = decided[decided["condition"] == condition].itertuples(index=False)
        if outcomes := [
            f"{word} on {' and '.join(f'{row.corpus} ({round(row.effect, 2) + 0.0:+.2f})' for row in group)}"
            for word, group in group_by(step, word_short).items()
        ]:
            clauses[condition] = ", ".join(outcomes)
    return rows.assign(is_decided=rows.index.isin(decided.index)), clauses


def describe_exact(tables: Tables) -> str:
    """Return who gives the hidden words the higher exact likelihood, where a study decides that; else nothing."""
    rows, outcomes = list_exact(tables)
    clauses = [f"{LIKELIHOODS[condition]}: {told}" for condition, told in outcomes.items()]
    if not clauses:
        return ""
    told = (
        f"If the {'. If the '.join(clauses)}.{'' if rows['is_decided'].all() else ' Not decided elsewhere.'}"
    )
    if find_start(tables) == CAUSAL:
        return f"**Where both start from a causal model** ({word_runs(rows)}). {told}"
    return (
        f"**By exact likelihood** ({word_tokens(count_tokens(tables))} tokens, "
        f"{word_runs(rows)}; the masked model's lead in nats per character). {told}"
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
    return (
        f"Against one that reads only the text before the gap, the masked model is ahead after "
        f"{' and '.join(map(word_tokens, late))} tokens, by {span(lead, 2)}."
        f"{describe_early(rows[rows['tokens'].isin(early)])}"
    )


def describe_early(rows: pd.DataFrame) -> str:
    """Return where after shorter trainings the causal model is ahead in each of them, by how much; "" without any."""
    if rows.empty:
        return ""
    after = " or ".join(map(word_tokens, sorted({*rows["tokens"]})))
    behind = rows.groupby("corpus")["lowest"].min() > 0
    corpora = style.ordered(behind.index[behind])
    if not corpora:
        return f" After {after} neither is."
    lead = span(rows.loc[rows["corpus"].isin(corpora), "effect"], 2)
    return f" After {after} the causal one is, on {' and '.join(corpora)}, by {lead}."
