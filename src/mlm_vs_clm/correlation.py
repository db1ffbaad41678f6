"""Does better text make better training data? Quality against utility over the cells of a corpus."""

from pathlib import Path

import pandas as pd

from .stats import correlations, equivalence
from .storage import write_table

QUALITY = [("document", "rougeL"), ("document", "bertscore"), ("fills", "exact_match"), ("fills", "bleu")]
UTILITY = {"ner": "f1", "genres": "micro_f1", "verification": "auc"}
COLUMNS = [
    "corpus",
    "quality_metric",
    "quality_scope",
    "utility_metric",
    "statistic",
    "value",
    "low",
    "high",
    "n_cells",
    "bound",
    "decision",
    "reason",
]
CELL = ["corpus", "strategy", "ratio", "seed"]
DECISIONS = {
    "inside": "no strong correlation",
    "outside": "strong correlation",
    "spans": "inconclusive",
    "undefined": "missing",
}


def correlate_tables(
    scores: pd.DataFrame, downstream: pd.DataFrame, resamples: int, bound: float
) -> list[dict]:
    """Return a row for each corpus, quality score, and statistic; the share hidden is held in the partial one.

    Cells whose text is the original or lacks the blanks are left out: no arm wrote them.
    """
    rows = []
    for corpus, utility in downstream.groupby("corpus"):
        metric = UTILITY[utility["task"].iloc[0]]
        useful = utility[utility["metric"] == metric].rename(
            columns={"value": "utility", "trained_on": "arm"}
        )
        for scope, quality in QUALITY:
            good = scores[
                (scores["scope"] == scope) & (scores["metric"] == quality) & (scores["corpus"] == corpus)
            ]
            good = good[~good["arm"].isin(["unfilled", "oracle"])].rename(columns={"value": "quality"})
            pairs = good.merge(useful[[*CELL, "arm", "utility"]], on=[*CELL, "arm"])
            found = correlations(pairs["quality"], pairs["utility"], pairs["share"], resamples)
            about = {
                "corpus": corpus,
                "quality_metric": quality,
                "quality_scope": scope,
                "utility_metric": metric,
            }
            rows += [about | _decide(name, estimate, bound) for name, estimate in found.items()]
    return rows


def _decide(name: str, estimate, bound: float) -> dict:
    decision = DECISIONS[equivalence(estimate.low, estimate.high, bound)]
    values = {"value": estimate.value, "low": estimate.low, "high": estimate.high, "n_cells": estimate.n}
    return {"statistic": name} | values | {"bound": bound, "decision": decision, "reason": estimate.reason}


def correlate_cells(settings: dict, inputs: dict[str, Path], folder: Path) -> None:
    """Write `correlation.csv` from the scored cells and task results among the inputs."""
    from .gathering import gather_downstream, gather_scores

    rows = correlate_tables(
        gather_scores(inputs), gather_downstream(inputs), settings["resamples"], settings["bound"]
    )
    write_table(folder / "correlation.csv", rows, COLUMNS)
