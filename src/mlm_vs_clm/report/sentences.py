"""What the tables say, in words: no sentence here knows how the study ended."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ..arms.baselines import BASELINES
from ..arms.roles import PAIR
from ..evidence.derivation import Tables
from ..evidence.equal_compute import BASES
from ..evidence.tables import COMPUTE, OVERALL, pick_kind
from . import style
from .correlation import CorrelationLookup, decision_of, keep_defined
from .style import Study, ordered
from .tables import enter, markdown_table
from .wording import join_names, word_verdict

SAME_LENGTHS = "known length"
RATIOS = "FLOPs per document, masked relative to causal, over the corpora"


def format_difference(row: Any, digits: int) -> str:
    """Return a difference with its sign and its interval."""
    return f"{row.value:+.{digits}f} [{row.low:+.{digits}f}, {row.high:+.{digits}f}]"


def describe_utility(differences: pd.DataFrame, headroom: pd.DataFrame, study: Study) -> str:
    """Return whose text is the better training data at the same lengths, task by task, and what both are worth."""
    rows = list(differences[differences["comparison"] == SAME_LENGTHS].itertuples(index=False))
    if not rows:
        return ""
    clauses = "; ".join(
        f"{row.corpus} ({style.name_metric(row.metric)}) {describe_paired(row)}" for row in rows
    )
    sentence = f"**As training data**, {rows[0].first} text minus {rows[0].second} text on the same test units: {clauses}."
    return " ".join(filter(None, [sentence, describe_shares(study.at_main(headroom))]))


def describe_shares(headroom: pd.DataFrame) -> str:
    """Return what the texts of PAIR are worth as training data, and that of the best floor, where there is room."""
    rows = headroom[headroom["value"].notna()].sort_values("value", ascending=False)
    clauses = []
    for corpus in ordered(rows["corpus"]):
        of_corpus = rows[rows["corpus"] == corpus]
        floor = of_corpus[of_corpus["trained_on"].isin(BASELINES)]["trained_on"].head(1)
        chosen = of_corpus[of_corpus["trained_on"].isin([*PAIR, *floor])].itertuples(index=False)
        values = ", ".join(f"{row.trained_on} {format_difference(row, 2)}" for row in chosen)
        clauses.append(f"{corpus} {values}")
    if not clauses:
        return ""
    return f"On a scale from 0 (the text without its masked words) to 1 (real text): {'; '.join(clauses)}."


def describe_paired(row: Any) -> str:
    """Return a paired difference with its verdict, or why it is missing."""
    return f"missing: {row.reason}" if pd.isna(row.value) else word_verdict(row, format_difference(row, 3))


def describe_main_cell(tables: Tables, study: Study) -> str:
    """Return what the summaries are about: masking, actual share, documents, and draws of the blanks if some arms have more."""
    main = study.at_main(tables["scores"])
    if main.empty:
        return ""
    counts = main["n"].dropna()
    documents = (
        f"at most {int(counts.max())} documents per corpus" if len(counts) else "documents not counted"
    )
    about = f"{study.describe_main()} (actual share masked {main['share'].mean():.3f}), {documents}"
    draws = main[main["objective"] != "none"].groupby("arm", sort=False)["seed"].nunique()
    trainings = tables["training"].groupby(["objective", "model", "corpora"])["artifact"].nunique()
    if draws.max() > 1 and trainings.max() == 1:
        about += f"; {draws.max()} draws of the blanks for {join_names(ordered(draws.index[draws == draws.max()], style.ARMS))}"
    return f"{about}."


def describe_decisions(correlation: pd.DataFrame, study: Study) -> tuple[str, ...]:
    """Return a sentence per corpus and one for all together: does quality correlate strongly with utility?"""
    lookup = CorrelationLookup(keep_defined(correlation))
    corpora = [*lookup.corpora, *([OVERALL] if lookup.has_overall else [])]
    return tuple(describe_decision(lookup, corpus) for corpus in corpora)


def describe_decision(lookup: CorrelationLookup, corpus: str) -> str:
    """Return "plots: strong correlation by ROUGE-L (whole document); inconclusive by ...", and by the partial correlation."""
    sides: tuple[dict, dict] = ({}, {})
    for scope, metric in lookup.qualities:
        for side, row in zip(sides, lookup.main(corpus, (scope, metric)), strict=True):
            side.setdefault(decision_of(row), []).append(
                f"{style.name_metric(metric)} ({style.name_scope(scope)})"
            )
    raw, partial = (
        "; ".join(f"{decision} by {', '.join(names)}" for decision, names in s.items()) for s in sides
    )
    return f"{corpus}: {raw}. With the masked share held fixed: {'the same' if raw == partial else partial}."


def describe_costs(ledger: pd.DataFrame, comparisons: pd.DataFrame, study: Study) -> tuple[str, ...]:
    """Return the cost of masked relative to causal generation, and which is better at equal compute."""
    equal = pick_kind(comparisons, COMPUTE)
    ledger = study.at_main(ledger)
    clauses = [f"{name} ({arms}) {times}" for name, arms, times in list_ratios(ledger, equal)]
    ratios = f"{RATIOS}{word_pace(ledger)}: {'; '.join(clauses)}." if clauses else ""
    return tuple(filter(None, (ratios, describe_equal_compute(equal))))


def tabulate_costs(ledger: pd.DataFrame, comparisons: pd.DataFrame, study: Study) -> str:
    """Return what `describe_costs` does, the ratios as a table in Markdown."""
    equal = pick_kind(comparisons, COMPUTE)
    ledger = study.at_main(ledger)
    table = markdown_table(("comparison", "arms", "FLOPs"), list_ratios(ledger, equal))
    return "\n".join([f"{RATIOS}{word_pace(ledger)}:", "", table, "", describe_equal_compute(equal)])


def list_ratios(ledger: pd.DataFrame, equal: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return the FLOPs of the masked arm over those of the causal one by comparison, and those of a single pass: name, arms, times."""
    whole = list_times(equal)
    ratios = []
    for comparison in ordered(whole["comparison"], style.COMPARISONS):
        rows = whole[whole["comparison"] == comparison]
        arms = f"{rows['first'].iloc[0]} against {rows['second'].iloc[0]}"
        ratios.append((comparison, arms, format_range(rows["times"])))
    return ratios + (list_one_pass(ledger) if ratios else [])


def word_pace(ledger: pd.DataFrame) -> str:
    """Return how many tokens the masked arm fills in a pass, which decides its cost; "" where it was not run."""
    rows = ledger[(ledger["arm"] == PAIR[0]) & (ledger["passes"] > 0)]
    if rows.empty:
        return ""
    pace = rows["tokens_filled"].sum() / rows["passes"].sum()
    return f" ({PAIR[0]} fills {pace:.0f} tokens in a pass; fewer in a pass cost more)"


def list_times(equal: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons at equal documents in which both arms cost something, with the first's FLOPs over the second's in `times`."""
    whole = equal[(equal["at"] == BASES[0]) & (equal["flops_first"] > 0) & (equal["flops_second"] > 0)]
    return whole.assign(times=whole["flops_first"] / whole["flops_second"])


def list_one_pass(ledger: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Return the FLOPs of filling all blanks in one pass over those of the causal arm."""
    spent = ledger[ledger["flops"] > 0].assign(cost=ledger["flops"] / ledger["documents"])
    causal = spent[spent["arm"] == PAIR[1]].groupby("corpus")["cost"].mean()
    at_once = spent[spent["order"] == "parallel"]
    times = (at_once.groupby("corpus")["cost"].min() / causal).dropna()
    names = ", ".join(sorted(set(at_once["arm"])))
    arms = f"{names} against {PAIR[1]}"
    return [("all blanks in one pass", arms, format_range(times))] if len(times) else []


def format_range(values: Sequence[float] | pd.Series) -> str:
    """Return the lowest and the highest of some ratios."""
    low, high = (f"{value:.2g}" if value < 10 else f"{value:.0f}" for value in (min(values), max(values)))
    return f"{low} times" if low == high else f"{low} to {high} times"


def describe_equal_compute(equal: pd.DataFrame) -> str:
    """Return the differences in exact match at equal compute, where they are known."""
    rows = equal[(equal["metric"] == "exact_match") & (equal["at"] != BASES[0]) & equal["value"].notna()]
    if rows.empty:
        return "Quality at equal compute is not known: no arm was run at costs on both sides of the other's."
    clauses = []
    for comparison in ordered(rows["comparison"], style.COMPARISONS):
        for basis, whose in zip(BASES[1:], ("second", "first"), strict=True):
            measured = list(
                rows[(rows["comparison"] == comparison) & (rows["at"] == basis)].itertuples(index=False)
            )
            values = "; ".join(f"{row.corpus} {enter(row, 3).text}" for row in measured)
            if measured:
                clauses.append(
                    f"{measured[0].first} - {measured[0].second} at the FLOPs of {getattr(measured[0], whose)}: {values}"
                )
    return f"Difference in exact match [95 % interval] at equal compute: {'. '.join(clauses)}."
