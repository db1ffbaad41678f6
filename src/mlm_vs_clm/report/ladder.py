"""The ladder: how far masked models are ahead of causal ones, step by step, each taking one advantage away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ..arms.baselines import MATCHED_TABLES
from ..evidence.claims import index_conditions
from ..evidence.competence import COMPETENT
from ..evidence.derivation import Tables
from ..evidence.tables import TEXT, pick_kind
from ..evidence.verdicts import INSIDE, MADE, NONE_SHOWN, SECOND
from ..stats import FEWEST_UNITS
from .lead_words import span
from .overview import ZERO_SHOT, count_tokens, find_start, list_comparisons, name_network
from .study_folder import find_rules
from .style import ordered, read_study

# What both sides start from: `track.starts_from`.
ENCODER, CAUSAL, OWN = "an encoder", "a causal model", "checkpoints of their kinds"
ENDS = {  # of a step's words
    ENCODER: "",
    CAUSAL: ", started from a causal model",
    OWN: ", each started from a checkpoint of its kind",
}
Step = tuple[str, str]  # what both models start from, and the condition of claim C1
BEFORE, BOTH = (ENCODER, "known length"), (ENCODER, "both contexts")
UNTRAINED = (ENCODER, ZERO_SHOT)
PRETRAINED = (OWN, "as reported, pretrained")  # SmolLM2 as what the paper calls causal
# By condition: what the causal model does.
READS = {"known length": "reads before the blank", "both contexts": "reads both sides"}
STARTED = tuple((start, name) for start in (CAUSAL, OWN) for name in READS)
SAME_AS_TABLES = (BEFORE[1], UNTRAINED[1])  # conditions whose two sides have the contexts of MATCHED_TABLES
LIKELIHOOD, CONTENT = "nats_per_character", "exact_match_content"
LEAD = ("condition", "corpus", "effect", "low", "high", "runs")  # of the answers by likelihood
TOO_FEW = "too few units"  # in place of a status
LIKELIHOODS = {name: f"causal model {reads}" for name, reads in READS.items()}


def list_steps(studies: Mapping[str, Tables], rules: Sequence[dict]) -> pd.DataFrame:
    """Return one row per step, study and corpus that was run: the answer, with `start`, `network`, `tokens`, `words` and `tables`.

    The answers are those by BLEU. A step is a condition of claim C1 to which the rules give words, in their order, from each of ENDS. `tokens` is what an arm
    read in training at most, in full thousands; `tables` the BLEU difference between MATCHED_TABLES, where the two sides differ in
    context as these do.
    """
    with_start = {name: tables for name, tables in studies.items() if find_start(tables) in ENDS}
    if not with_start:
        return pd.DataFrame(
            columns="condition corpus study start network words tokens tables effect runs status direction size".split()
        )
    steps = [
        {"start": start, "condition": name, "words": f"{condition['words']}{end}"}
        for start, end in ENDS.items()
        for (claim, name), condition in index_conditions(rules).items()
        if claim == "C1" and "words" in condition
    ]
    about = [
        {"study": name, "start": find_start(tables), "tokens": count_tokens(tables)}
        | {"network": name_network(tables)}
        for name, tables in with_start.items()
    ]
    rows = list_comparisons(with_start)
    rows = rows[(rows["claim"] == "C1") & (rows["metric"] == "bleu") & rows["effect"].notna()]
    ranked = pd.DataFrame(steps).rename_axis("place").reset_index()
    rows = rows.merge(pd.DataFrame(about), on="study").merge(ranked, on=["start", "condition"])
    gaps = {name: compare_tables(tables) for name, tables in with_start.items()}
    differences = [
        gaps[row.study].get(row.corpus) if row.condition in SAME_AS_TABLES else None
        for row in rows.itertuples(index=False)
    ]
    return rows.assign(tables=differences).sort_values("place", kind="stable").drop(columns="place")


def list_own_steps(tables: Tables) -> pd.DataFrame:
    """Return the rows of `list_steps` of one study alone, as if it had started from an encoder, whatever it started from."""
    return list_steps({"": _from_encoder(tables)}, find_rules(tables))


def _from_encoder(tables: Tables) -> Tables:
    return {**tables, "study": tables["study"].assign(starts_from=ENCODER)}


def compare_tables(tables: Tables) -> dict[str, float]:
    """Return by how much BLEU the first of MATCHED_TABLES is ahead of the second at the main cell, by corpus."""
    scores = read_study(tables).at_main(tables["scores"])
    scores = scores[(scores["metric"] == "bleu") & scores["arm"].isin(MATCHED_TABLES)]
    means = scores.groupby(["corpus", "arm"])["value"].mean().unstack()
    if not set(MATCHED_TABLES) <= set(means):
        return {}
    return (means[MATCHED_TABLES[0]] - means[MATCHED_TABLES[1]]).dropna().to_dict()


def best_rows(steps: pd.DataFrame, step: Step) -> pd.DataFrame:
    """Return the rows of a step from one study.

    It is the study of most corpora; of these that of most trainings, of most corpora that are decided, and at last of the longest
    training.
    """
    rows = steps[(steps["start"] == step[0]) & (steps["condition"] == step[1])]
    if rows.empty:
        return rows
    decided = rows.loc[rows["status"] == MADE, "study"].value_counts()
    ranked = rows.assign(
        corpora=rows["study"].map(rows["study"].value_counts()), decided=rows["study"].map(decided).fillna(0)
    )
    ranked = ranked.sort_values(["corpora", "runs", "decided", "tokens"], kind="stable")
    return rows[rows["study"] == ranked.iloc[-1]["study"]]


def list_likelihoods(studies: Mapping[str, Tables]) -> pd.DataFrame:
    """Return the lead of the masked model in nats per character, as the answers have it.

    One row per study, condition of LIKELIHOODS and corpus; `status` says whether both arms may speak.
    """
    rows = [
        {"study": name, "start": start, "tokens": count_tokens(tables)}
        | {column: getattr(row, column) for column in LEAD}
        | {"status": TOO_FEW if has_too_few(row) else row.status}
        for name, tables in studies.items()
        if (start := find_start(tables)) in ENDS
        for row in find_likelihoods(tables["answers"]).itertuples(index=False)
        if row.condition in LIKELIHOODS
    ]
    return pd.DataFrame(rows, columns=["study", "start", "tokens", *LEAD, "status"])


def find_likelihoods(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the answers to claim C1 by likelihood: above 0 the masked model is ahead."""
    rows = answers[(answers["claim"] == "C1") & (answers["metric"] == LIKELIHOOD)]
    return rows[rows["effect"].notna()]


def list_own_likelihoods(tables: Tables) -> pd.DataFrame:
    """Return the rows of `list_likelihoods` of one study alone, as `list_own_steps` does."""
    return list_likelihoods({"": _from_encoder(tables)})


def has_too_few(row: Any) -> bool:
    """Return whether an answer is not settled, and has too few units (authors, where they repeat) for an interval to rely on."""
    return row.status == MADE and row.direction == NONE_SHOWN and row.size != INSIDE and row.n < FEWEST_UNITS


def list_decided(tables: Tables, metric: str) -> pd.DataFrame:
    """Return the decided differences in a measure against the causal models of READS, at the main cell."""
    texts = pick_kind(tables["comparisons"], TEXT)
    is_asked = (texts["metric"] == metric) & texts["comparison"].isin([*READS])
    rows = texts[is_asked & (texts["status"] == MADE)]
    return read_study(tables).at_main(rows) if len(rows) else rows


def list_content(tables: Tables) -> pd.DataFrame:
    """Return the decided differences in content words against the causal models of READS, of arms that are competent on these."""
    rows = list_decided(tables, CONTENT)
    judged = read_study(tables).at_main(tables["competence"])
    judged = judged[(judged["word_class"] == "content") & (judged["outcome"] == COMPETENT)]
    able = {*zip(judged["corpus"], judged["arm"], strict=True)}
    return rows[[{(row.corpus, row.first), (row.corpus, row.second)} <= able for row in rows.itertuples()]]


def count_content(tables: Tables) -> tuple[str, str]:
    """Return how many of 100 content words the causal model restores more, "1.4 to 2.5", and " on plots" where not on all corpora.

    Both are "" where it does not in every comparison that decides.
    """
    rows = list_content(tables)
    if rows.empty or not (rows["direction"] == SECOND).all():
        return "", ""
    corpora = ordered(rows["corpus"])
    n_corpora = pick_kind(tables["comparisons"], TEXT)["corpus"].nunique()
    return span(-rows["value"] * 100), f" on {' and '.join(corpora)}" * (len(corpora) < n_corpora)


def word_tokens(tokens: float) -> str:
    """Return "768,000" or "3.07 million"."""
    return f"{tokens / 1e6:.3g} million" if tokens >= 1e6 else f"{tokens:,.0f}"
