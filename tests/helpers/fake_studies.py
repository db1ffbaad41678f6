"""Tables of the studies on claim C1, as far as README's first screen reads them; every number is invented."""

import pandas as pd

SIDES = {  # condition -> first, second, effect, direction, size
    "as reported": ("mlm_leaky", "seq2seq_kept", 20.0, "first", "outside"),
    "no leak": ("mlm", "seq2seq_kept", 12.0, "first", "outside"),
    "known length": ("mlm", "clm", 6.0, "first", "outside"),
    "both contexts": ("mlm", "infill", 0.2, "none shown", "inside the margin"),
    "SmolLM2 as it comes": ("mlm", "clm_smollm2", 4.0, "first", "outside"),
}
STUDIES = {  # folder of results -> tokens, trainings by condition, what the effects are multiplied by
    "desk": (3_072_000, {"as reported": 1, "no leak": 1, "known length": 5, "both contexts": 1}, 1),
    "laptop-long_runs": (768_000, {"known length": 5, "both contexts": 5}, 0.5),
    "laptop-causal_start": (240_000, {"known length": 1, "both contexts": 1}, -1),
    "laptop": (240_000, {"known length": 1, "SmolLM2 as it comes": 1}, 1),
}
BLEU = {"bigram_both": 28.0, "bigram_left": 24.0}
STARTS = {
    "desk": "an encoder",
    "laptop": "an encoder",
    "laptop-long_runs": "an encoder",
    "laptop-causal_start": "a causal model",
}
BY_LIKELIHOOD = {"scope": "fills", "metric": "nats_per_character", "effect": 0.1, "low": 0.05, "high": 0.2}


def make_studies(corpora=("abstracts", "plots"), names=("desk", "laptop-long_runs")) -> dict[str, dict]:
    """Return the tables of the named studies by folder of results."""
    return {name: make_study(name, corpora) for name in names}


def make_study(name: str, corpora) -> dict[str, pd.DataFrame]:
    """Return the tables of one study; corpora differ by one point of BLEU in a step that is not equal."""
    tokens, runs, factor = STUDIES[name]
    cell = {"strategy": "random", "ratio": 0.5}
    answers = [
        answer_row(condition, corpus, place, runs[condition], factor)
        for condition in runs
        for place, corpus in enumerate(corpora)
    ]
    scores = [
        cell | {"corpus": corpus, "arm": arm, "seed": 0, "metric": "bleu", "value": value}
        for corpus in corpora
        for arm, value in BLEU.items()
    ]
    gaps = [
        {
            "kind": "training data",
            "metric": "f1",
            "corpus": corpus,
            "comparison": "known length",
            "value": 0.0,
            "low": -0.01,
            "high": 0.01,
            "runs": runs["known length"],
        }
        | {"status": "made", "direction": "none shown", "size": "not settled"}
        for corpus in corpora
    ]
    room = [
        cell
        | {"task": "ner", "corpus": corpus, "trained_on": arm, "room": "yes", "utility": utility}
        | {"above_low": 0.1, "above_high": 0.2}
        for corpus in corpora[:1]
        for arm, utility in {"constant": 0.7, "mlm": 0.6, "clm": 0.6}.items()
    ]
    competence = [
        cell
        | {"corpus": corpus, "arm": arm, "word_class": "content"}
        | {"outcome": "competent" if tokens > 1e6 or arm == "clm" else "not competent"}
        for corpus in corpora
        for arm in ("mlm", "clm", "infill")
    ]
    scale, _, track = name.partition("-")
    study = {"scale": scale, "track": track or "matched", "main_strategy": "random", "main_ratio": 0.5}
    return {
        "study": pd.DataFrame([study | {"starts_from": STARTS[name], "rules": "0"}]),
        "answers": pd.DataFrame(answers),
        "scores": pd.DataFrame(scores),
        "training": pd.DataFrame(
            {"objective": ["mlm", "clm"], "tokens_seen": [tokens + 51, tokens], "model": "minilm"}
        ),
        "comparisons": pd.DataFrame(gaps),
        "headroom": pd.DataFrame(room),
        "competence": pd.DataFrame(competence),
    }


def add_likelihoods(tables: dict[str, pd.DataFrame], **values) -> None:
    """Add to a study the answers by likelihood, with `values` in their columns."""
    answers = tables["answers"]
    asked = answers[answers["condition"].isin(["known length", "both contexts"])]
    by_likelihood = asked.assign(**BY_LIKELIHOOD | values)
    tables["answers"] = pd.concat([answers, by_likelihood], ignore_index=True)


def answer_row(condition: str, corpus: str, place: int, runs: int, factor: float) -> dict:
    """Return one answer to claim C1."""
    first, second, effect, direction, size = SIDES[condition]
    effect *= factor
    if factor < 0:
        effect, direction, size = -3.0, "second", "outside"
    if direction != "none shown":
        effect -= place
    return {
        **{"claim": "C1", "condition": condition, "kind": "difference", "corpus": corpus},
        **{"status": "made", "direction": direction, "size": size},
        **{"first_arm": first, "first_strategy": "random", "first_ratio": 0.5},
        **{"second_arm": second, "second_strategy": "random", "second_ratio": 0.5},
        **{
            "metric": "bleu",
            "scope": "document",
            "effect": effect,
            "low": effect - 0.5,
            "high": effect + 0.5,
        },
        **{"margin": 1.0, "p": 0.001, "runs": runs, "n": 300, "reason": "", "needs": ""},
    }
