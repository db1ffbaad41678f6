"""The answers at a glance: which arm a condition found better, in words, and what decides nothing."""

import pandas as pd

from mlm_vs_clm.report.wording import word_lead, word_size

MADE = {"status": "made", "direction": "first", "size": "outside"}
SILENT = {"status": "not competent", "direction": "", "size": ""}


def row(condition, corpus, verdict, metric="bleu", effect=2.5, excluded="", runs=1, unsure=False):
    about = {"claim": "C1", "condition": condition, "corpus": corpus, "kind": "difference"} | verdict
    sides = {"first_arm": "mlm", "second_arm": "clm", "scope": "document"}
    about |= {"excluded": excluded, "unsure": unsure}
    return (
        about
        | sides
        | {
            "metric": metric,
            "runs": runs,
            "effect": effect,
            "low": effect - 1,
            "high": effect + 1,
        }
    )


def test_the_better_arm_is_named_with_its_size():
    small = {"status": "made", "direction": "second", "size": "inside the margin"}
    rows = [
        row("known length", "plots", MADE),
        row("known length", "plots", small),
        row("known length", "plots", SILENT),
        row("known length", "plots", SILENT, excluded="mlm, clm"),
    ]
    words = [
        ", ".join(filter(None, (word_lead(each)[0], word_size(each))))
        for each in pd.DataFrame(rows).itertuples(index=False)
    ]
    assert words == [
        "mlm ahead, outside the margin",
        "clm ahead, inside the margin",
        "undecided (arm not competent)",
        "undecided (mlm and clm not competent)",
    ]
