"""One sentence per track that answers its own question, from its tables; "" where these do not hold what it needs."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..arms.baselines import base_of
from ..evidence.competence import COMPETENT
from ..evidence.derivation import Tables
from ..evidence.tables import TEXT, over_seeds, pick_kind
from ..evidence.variants import pivot_settings
from ..evidence.verdicts import FIRST, MADE, NONE_SHOWN
from . import style
from .lead_words import span, word_runs
from .usefulness import answer_usefulness
from .wording import join_names

OWN_ARMS = ("mlm_general", "clm_general")  # checkpoints as they come
EXACT, BLEU, REPEATED = ("fills", "exact_match"), ("document", "bleu"), ("fills", "repetition")


def read_cells(tables: Tables, measure: tuple[str, str]) -> pd.DataFrame:
    """Return one row per arm and masking by a measure, seeds averaged, with `base` and a column per setting that varies."""
    scope, metric = measure
    scores = tables["scores"]
    rows = scores[(scores["scope"] == scope) & (scores["metric"] == metric) & scores["value"].notna()]
    cells = over_seeds(rows, ["corpus", "arm", "strategy", "ratio"])
    cells["base"] = cells["arm"].map(base_of)
    return cells.join(pivot_settings(tables["variants"]), on="arm", rsuffix="_trained")


def are_several(cells: pd.DataFrame) -> bool:
    """Return whether there is more than one corpus or strategy of masking, which an answer in one sentence does not tell apart."""
    return len(cells[["corpus", "strategy"]].drop_duplicates()) > 1


def at_ratio(cells: pd.DataFrame, ratio: float) -> pd.DataFrame:
    """Return the cells of one masking ratio."""
    return cells[np.isclose(cells["ratio"], ratio)]


def keep_competent(cells: pd.DataFrame, tables: Tables) -> pd.DataFrame:
    """Return the cells in which an arm is better than its word tables."""
    judged = tables["competence"]
    able = judged[(judged["outcome"] == COMPETENT) & (judged["word_class"] == "all")]
    return cells.merge(able[["corpus", "arm", "strategy", "ratio"]])


def answer_dial(tables: Tables) -> str:
    """Return which masking ratio in training serves which at generation, and what a mixture of both objectives costs.

    Ratios of which no arm is competent are left out.
    """
    cells = read_cells(tables, EXACT)
    if not {"objective.ratio", "objective.masked_share"} <= {*cells} or are_several(cells):
        return ""
    trained = cells[(cells["base"] == "mlm") & cells["objective.ratio"].notna()]
    trained = keep_competent(trained, tables)
    if trained.empty:
        return ""
    top = trained.groupby("ratio")["value"].nlargest(2).groupby("ratio")
    lags = (top.max() - top.min())[top.size() > 1]
    best = trained.loc[trained.groupby("ratio")["value"].idxmax()]
    by_training = {
        ratio: join_names([f"{value:.0%}" for value in sorted(of_training["ratio"])])
        for ratio, of_training in best.groupby("objective.ratio")
    }
    clauses = [f"trained at {ratio:.0%} scores highest at {where}" for ratio, where in by_training.items()]
    main = at_ratio(cells, style.read_study(tables).main[1])
    costs = [_lose_by_mixing(main, *ends) for ends in (("hybrid_masked", 1.0), ("hybrid_causal", 0.0))]
    mixed = (
        f" A network that learns both, half of its batches masked, scores lower by {join_names(costs)}."
        if all(costs)
        else ""
    )
    behind = f" (by {span(lags, 3)}, in single trainings)" if len(lags) else ""
    return f"By exact match, a masked model {'; '.join(clauses)} of words hidden{behind}.{mixed}"


def _lose_by_mixing(cells: pd.DataFrame, base: str, alone: float) -> str:
    """Return how much exact match a mixture of half and half costs one use of a hybrid model; "" where it was not run."""
    values = cells[cells["base"] == base].set_index("objective.masked_share")["value"]
    if not {0.5, alone} <= {*values.index}:
        return ""
    return f"{values[alone] - values[0.5]:.3f} (of {values[alone]:.3f}) as a {base.removeprefix('hybrid_')} model"


def answer_orders(tables: Tables) -> str:
    """Return which order restores most words and which has the best BLEU, and what not knowing the lengths costs."""
    ratio = style.read_study(tables).main[1]
    exact, bleu = (at_ratio(read_cells(tables, measure), ratio) for measure in (EXACT, BLEU))
    if "mlm" not in {*exact["arm"]} & {*bleu["arm"]} or are_several(exact):
        return ""
    best, named = [], []
    for name, cells, digits in (("exact match", exact, 3), ("BLEU", bleu, 1)):
        values = cells[cells["base"] == "mlm"].set_index("arm")["value"]
        named.append(values.idxmax())
        settings = values.idxmax().partition(" ")[2].replace("order=", "").replace("=", " ") or "the default"
        others = {"one pass": values.get("mlm order=parallel"), "default": values["mlm"]}
        beside = [f"{words} {value:.{digits}f}" for words, value in others.items() if value is not None]
        best.append(f"{name} {values.max():.{digits}f} ({'; '.join([settings, *beside])})")
    values = exact[exact["base"] == "mlm"].set_index("arm")["value"]
    lengths = {"one": "one token a word", "free": "lengths left to the model"}
    by_length = [
        f"{words} {values[f'mlm length={name}']:.3f}"
        for name, words in lengths.items()
        if f"mlm length={name}" in values
    ]
    sentence = (
        f" Lengths known: exact match {values['mlm']:.3f}; {'; '.join(by_length)}." if by_length else ""
    )
    return (
        f"With {ratio:.0%} of words hidden, the best of {len(values)} settings of a masked model, chosen on the scored texts, reach {' and '.join(best)}, in one training.{sentence}"
        f"{describe_repeats(read_cells(tables, REPEATED), named)}"
    )


def describe_repeats(cells: pd.DataFrame, arms: Sequence[str]) -> str:
    """Return how much of what arms write repeats itself where most is hidden, beside the default; "" where it was not run."""
    ratio = cells["ratio"].max()
    values = at_ratio(cells, ratio).set_index("arm")["value"]
    if not {*arms, "mlm"} <= {*values.index}:
        return ""
    return (
        f" With {ratio:.0%} hidden, {span(values[[*arms]] * 100, 0)} % of the 4-grams that these two best write repeat earlier ones "
        f"(default {values['mlm'] * 100:.0f} %)."
    )


def answer_repetition(tables: Tables) -> str:
    """Return how far the masked model is ahead of the causal one by unique tokens, and after how many passes each stops improving."""
    told = word_unique_tokens(
        tables, "clm", ("exact_match", "nats_per_character"), "The masked model leads the causal one by"
    )
    if not told:
        return ""
    training, names = tables["training"], {"clm": "causal", "mlm": "masked"}
    losses = training[training["objective"].isin([*names])].dropna(subset=["dev_loss"])
    lowest = losses.loc[losses.groupby(["objective", "scale.training.unique_tokens"])["dev_loss"].idxmin()]
    passes = [
        f"{join_names([f'{value:.0f}' for value in of_objective['passes']])} ({names[str(objective)]})"
        for objective, of_objective in lowest.groupby("objective")
    ]
    return f"{told} Of the passes measured, held-out loss is lowest after {join_names(passes)}."


def answer_repetition_claim(tables: Tables) -> str:
    """Return how far the masked model is ahead of what the paper calls causal, by unique tokens."""
    return word_unique_tokens(
        tables, "seq2seq_kept", ("bleu",), "The masked model leads what the paper calls causal by"
    )


def word_unique_tokens(tables: Tables, second: str, metrics: Sequence[str], pair: str) -> str:
    """Return the differences between `mlm` and a second arm by how many unique tokens both were trained on."""
    clauses: list[str] = []
    runs = ""
    for metric in metrics:
        rows = read_differences(tables, second, metric)
        if rows.empty or are_several(rows):
            continue
        runs = word_runs(rows)
        rows = rows.sort_values("tokens")
        values = [f"{row.value:+.{style.decimals_of(metric)}f}{word_doubt(row)}" for row in rows.itertuples()]
        sizes = f" with {join_names([f'{tokens:,.0f}' for tokens in rows['tokens']])} unique tokens"
        clauses.append(
            f"{join_names(values)} in {style.name_metric(metric).partition(' (')[0]}{sizes * (not clauses)}"
        )
    how = f"{runs} each, on equally many tokens in all; each fills with its best model"
    return f"{pair} {'; '.join(clauses)} ({how})." if clauses else ""


def word_doubt(row: Any) -> str:
    """Return what stands behind a difference that is no lead; nothing behind a lead."""
    if row.status != MADE:
        return " (decides nothing)"
    return " (no lead shown)" if row.direction == NONE_SHOWN else ""


def read_differences(tables: Tables, second: str, metric: str) -> pd.DataFrame:
    """Return the differences at the main cell between variants of `mlm` and of another arm by a metric that have a value.

    Their column `tokens` has the unique tokens that both were trained on; there are none where these do not vary.
    """
    settings = pivot_settings(tables["variants"]).rename(columns={"scale.training.unique_tokens": "tokens"})
    rows = style.read_study(tables).at_main(pick_kind(tables["comparisons"], TEXT))
    rows = rows[(rows["metric"] == metric) & rows["value"].notna() & ("tokens" in settings)]
    rows = rows[(rows["first"].map(base_of) == "mlm") & (rows["second"].map(base_of) == second)]
    return rows.join(settings, on="first")


def answer_temperature(tables: Tables) -> str:
    """Return how many more words the masked model restores at the diversity of the causal one, read off the lines of competent arms."""
    exact, distinct = (read_cells(tables, ("fills", metric)) for metric in ("exact_match", "distinct1"))
    if are_several(exact):
        return ""
    beside = distinct[["arm", "ratio", "value"]]
    paired = keep_competent(exact, tables).merge(beside, on=["arm", "ratio"], suffixes=("", "_distinct"))
    clauses = []
    for ratio, of_ratio in paired.groupby("ratio"):
        lines = {
            base: of_ratio[of_ratio["base"] == base].sort_values("value_distinct") for base in ("mlm", "clm")
        }
        if any(line.empty for line in lines.values()):
            continue
        low = max(line["value_distinct"].min() for line in lines.values())
        high = min(line["value_distinct"].max() for line in lines.values())
        if not low < high:
            continue
        places = np.linspace(low, high, 9)
        masked, causal = (np.interp(places, line["value_distinct"], line["value"]) for line in lines.values())
        leads = masked - causal
        side = "the masked model" if leads.min() > 0 else "the causal model" if leads.max() < 0 else ""
        words = (
            f"{side} restores {span(abs(leads) * 100)} more of 100 words"
            if side
            else f"they cross ({leads.min():+.3f} to {leads.max():+.3f})"
        )
        clauses.append(f"with {ratio:.0%} hidden {words}")
    if not clauses:
        return ""
    return f"At the same diversity (distinct-1 of the fills), {'; '.join(clauses)}; read off the lines of competent arms, without an interval."


def answer_domains(tables: Tables) -> str:
    """Return how much better a model writes on a corpus that it was trained on than one that was trained on others."""
    answers = tables["answers"]
    rows = answers[(answers["claim"] == "C4") & (answers["metric"] == "bleu") & (answers["status"] == MADE)]
    rows = rows[rows["second_arm"].str.endswith("training=elsewhere")]
    if rows.empty:
        return ""
    clauses = []
    for condition, of_condition in rows.groupby("condition", sort=True):
        name, is_everywhere = str(condition).partition(":")[0], (of_condition["direction"] == FIRST).all()
        doubt = "" if is_everywhere else ", not shown on every corpus"
        clauses.append(f"the {name} one by {span(of_condition['effect'])} BLEU points{doubt}")
    lead = "Yes" if (rows["direction"] == FIRST).all() else "Not everywhere"
    return f"{lead}: trained on the corpus that it fills, a model writes better than one trained on the others, {join_names(clauses)}."


def answer_own_model(tables: Tables) -> str:
    """Return on which corpora a checkpoint restores more words than its hardest word table, and how many."""
    judged = style.read_study(tables).at_main(tables["competence"])
    judged = judged[judged["arm"].isin(OWN_ARMS) & (judged["word_class"] == "all") & judged["value"].notna()]
    if judged.empty:
        return ""
    scores = [
        f"{row.value:.3f} on {row.corpus} ({row.floor} {row.floor_value:.3f}; "
        f"{'above it' if row.outcome == COMPETENT else 'not shown to be above it'})"
        for row in judged.sort_values("corpus").itertuples(index=False)
    ]
    able = int((judged["outcome"] == COMPETENT).sum())
    head = {0: "No", len(judged): "Yes"}.get(able, f"On {able} of {len(judged)} corpora")
    ratio = style.read_study(tables).main[1]
    return f"{head}. With {ratio:.0%} of words hidden it restores this share of them, beside the word table that it clears least: {join_names(scores)}."


ANSWERS: dict[str, Callable[[Tables], str]] = {
    "dial": answer_dial,
    "orders": answer_orders,
    "repetition": answer_repetition,
    "repetition_claim": answer_repetition_claim,
    "temperature": answer_temperature,
    "domains": answer_domains,
    "usefulness": answer_usefulness,
    "own_masked": answer_own_model,
    "own_causal": answer_own_model,
}
