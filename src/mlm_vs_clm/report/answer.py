"""The study's answer in a few sentences, computed from its rows: what a reader sees first."""

import pandas as pd

from . import style

QUESTIONS = {  # step of the gap -> what it compares, in words
    "as reported": "As reported (a masked model that sees originals still to be replaced, a causal one that "
    "knows neither blanks nor lengths)",
    "known length": "With the same blanks and lengths for both (the masked model still sees both sides)",
    "left context": "With the left side alone for both",
    "both contexts": "With both sides for both",
}
VERDICTS = ("supported", "contradicted", "explained", "inconclusive", "not tested")


def tell_answer(gap: pd.DataFrame, utility_gap: pd.DataFrame, claims: pd.DataFrame) -> str:
    """Return the answer as a Markdown list: text quality step by step, utility, and the count of verdicts."""
    told = [tell_step(gap, step, words) for step, words in QUESTIONS.items()]
    told += [tell_utility(utility_gap), tell_verdicts(claims)]
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


def tell_utility(utility_gap: pd.DataFrame) -> str:
    """Return who writes the better training data at the same lengths, by paired differences, task by task."""
    rows = utility_gap[utility_gap["step"] == "known length"]
    if rows.empty:
        return ""
    first, second = rows.iloc[0][["first", "second"]]
    told = "; ".join(tell_task(row) for row in rows.itertuples(index=False))
    return f"**As training data**, {first} text less {second} text, same test units: {told}."


def tell_task(row) -> str:
    """Return one task's difference with its interval, and who is ahead by it."""
    name = f"{row.corpus} ({style.name_metric(row.metric)})"
    if pd.isna(row.value):
        return f"{name} missing: {row.reason}"
    ahead = "masked ahead" if row.low > 0 else "causal ahead" if row.high < 0 else "not separated"
    return f"{name} {row.value:+.3f} [{row.low:+.3f}, {row.high:+.3f}], {ahead}"


def tell_verdicts(claims: pd.DataFrame) -> str:
    """Return how many claims got which verdict."""
    overall = claims[claims["corpus"] == "overall"]
    counts = {verdict: sorted(overall.loc[overall["verdict"] == verdict, "claim"]) for verdict in VERDICTS}
    told = "; ".join(f"{len(ids)} {verdict} ({', '.join(ids)})" for verdict, ids in counts.items() if ids)
    return f"**Of {len(overall)} claims**: {told}." if told else ""


def tell_claim(claims: pd.DataFrame, claim: str) -> str:
    """Return a claim with its verdict and reason over all corpora."""
    row = claims[(claims["claim"] == claim) & (claims["corpus"] == "overall")].iloc[0]
    return f"**{claim}** ({row['statement']}) {row['verdict']}: {row['reason']}."
