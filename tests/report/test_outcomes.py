"""The answers at a glance: which arm a condition found better, in words, and what decides nothing."""

import pandas as pd

from mlm_vs_clm.report.index import describe_condition
from mlm_vs_clm.report.outcomes import enter_answer
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


def test_what_is_no_difference_is_told_in_words_of_its_own():
    made = {"status": "made", "direction": "second", "size": "inside the margin"}
    sides = {
        f"{side}_{key}": value
        for side in ("first", "second")
        for key, value in (("strategy", ""), ("ratio", 0))
    }
    rows = pd.DataFrame(
        [
            row("sharply worse", "plots", made) | {"kind": "at least", "n": 90},
            row("cost", "plots", made, "flops") | {"kind": "cost", "n": 90},
            row("known length", "plots", made) | {"n": 90},
            row("known length", "plots", made | {"direction": "none shown"}) | {"n": 6},
        ]
    ).assign(**sides)
    entries = [[entry.text for entry in enter_answer(each)][5:7] for each in rows.itertuples(index=False)]
    assert entries == [
        ["no", "–"],
        ["clm costs more", "–"],
        ["clm", "inside the margin"],
        ["none shown (too few units: 6)", "inside the margin"],
    ]


def test_a_condition_that_rests_on_fewer_trainings_says_so():
    rows = pd.DataFrame([row("as reported", "plots", MADE)])
    assert describe_condition(rows, ["as reported"], 5) == "plots: masked +2.5 (one training)"
    assert describe_condition(rows.assign(runs=5), ["as reported"], 5) == "plots: masked +2.5"


def test_the_better_arm_is_named_with_its_size():
    small = {"status": "made", "direction": "second", "size": "inside the margin"}
    rows = [
        row("known length", "plots", MADE),
        row("known length", "plots", small),
        row("known length", "plots", SILENT),
        row("known length", "plots", SILENT, excluded="mlm, clm"),
    ]
    words = [
        ", ".join(filter(None, (word_lead(each), word_size(each))))
        for each in pd.DataFrame(rows).itertuples(index=False)
    ]
    assert words == [
        "mlm ahead, outside the margin",
        "clm ahead, inside the margin",
        "undecided (arm not competent)",
        "undecided (mlm and clm not competent)",
    ]
