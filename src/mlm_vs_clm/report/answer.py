"""The study's answer in a few sentences, computed from its rows: what a reader sees first."""

import pandas as pd

from mlm_vs_clm.report import style
from mlm_vs_clm.report.reading import PAIR, compare, pick
from mlm_vs_clm.report.tidy import at_main_cell, ordered

QUESTIONS = {  # step of the gap -> what it compares, in words
    "as reported": "As reported (a masked model that sees originals still to be replaced, a causal one that "
    "knows neither blanks nor lengths)",
    "known length": "With the same blanks and lengths for both (the masked model still sees both sides)",
    "left context": "With the left side alone for both",
    "both contexts": "With both sides for both",
}
RELATIONS = {"above": "masked ahead", "below": "causal ahead", "not separated from": "not separated"}
VERDICTS = ("supported", "contradicted", "explained", "inconclusive", "not tested")


def tell_answer(gap: pd.DataFrame, downstream: pd.DataFrame, claims: pd.DataFrame) -> str:
    """Return the answer as a Markdown list: text quality step by step, utility, and the count of verdicts."""
    told = [tell_step(gap, step, words) for step, words in QUESTIONS.items()]
    told += [tell_utility(downstream), tell_verdicts(claims)]
    return "\n".join(f"- {sentence}" for sentence in told if sentence)


def tell_step(gap: pd.DataFrame, step: str, words: str) -> str:
    """Return who is ahead in document BLEU at a step, on how many corpora, and by how much."""
    rows = gap[(gap["step"] == step) & (gap["scope"] == "document") & (gap["metric"] == "bleu")]
    rows = rows[rows["value"].notna()]
    if rows.empty:
        return f"{words}: not measured."
    n = len(rows)
    ahead, behind = int((rows["low"] > 0).sum()), int((rows["high"] < 0).sum())
    counts = {"masked ahead": ahead, "causal ahead": behind, "not separated": n - ahead - behind}
    outcome = ", ".join(f"{name} on {count}" for name, count in counts.items() if count)
    differences = ", ".join(
        f"{row.corpus} {row.value:+.1f} [{row.low:+.1f}, {row.high:+.1f}]"
        for row in rows.itertuples(index=False)
    )
    return f"**{words}: {outcome} of {n} corpora**; BLEU {differences}."


def tell_utility(downstream: pd.DataFrame) -> str:
    """Return how the two arms of the main comparison fare as training data beside real text, task by task."""
    told = []
    for corpus in ordered(downstream["corpus"], style.CORPORA):
        rows = downstream[downstream["corpus"] == corpus]
        metric = style.main_utility(rows, corpus)
        rows = rows[rows["metric"] == metric].rename(columns={"trained_on": "arm"})
        found = pick(pd.concat([rows[rows["strategy"].isna()], at_main_cell(rows)]))
        if not {*PAIR, "real"} <= set(found):
            continue
        masked, causal, real = (found[name] for name in (*PAIR, "real"))
        told.append(
            f"{corpus} {style.name_metric(metric)} {masked.value:.3f} and {causal.value:.3f} "
            f"({RELATIONS[compare(masked, causal)]}; real text {real.value:.3f})"
        )
    return f"**As training data**, text of {PAIR[0]} and {PAIR[1]}: {'; '.join(told)}." if told else ""


def tell_verdicts(claims: pd.DataFrame) -> str:
    """Return how many claims got which verdict."""
    overall = claims[claims["corpus"] == "overall"]
    counts = {verdict: sorted(overall.loc[overall["verdict"] == verdict, "claim"]) for verdict in VERDICTS}
    told = "; ".join(f"{len(ids)} {verdict} ({', '.join(ids)})" for verdict, ids in counts.items() if ids)
    return f"**Of {len(overall)} claims**: {told}." if told else ""
