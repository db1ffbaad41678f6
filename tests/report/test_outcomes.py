"""The answers at a glance: which arm a condition found better, in words, and what decides nothing."""

import pandas as pd

from mlm_vs_clm.report.outcomes import enter_outcome, grid_table
from mlm_vs_clm.report.style import Study

STUDY = Study("smoke", ("random", 0.5))


MADE = {"status": "made", "direction": "first", "size": "outside"}
EQUAL = {"status": "made", "direction": "none shown", "size": "inside the margin"}
SILENT = {"status": "not competent", "direction": "", "size": ""}
NOT_RUN = {"status": "not run", "direction": "", "size": ""}


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


def test_the_better_arm_is_named_with_its_interval():
    small = {"status": "made", "direction": "second", "size": "inside the margin"}
    rows = [
        row("known length", "plots", MADE),
        row("known length", "plots", small),
        row("known length", "plots", SILENT),
        row("known length", "plots", SILENT, excluded="mlm, clm"),
        row("known length", "plots", MADE, unsure=True),
    ]
    words = [enter_outcome(one).text for one in pd.DataFrame(rows).itertuples(index=False)]
    assert words == [
        "mlm ahead, +2.5 [+1.5, +3.5], outside the margin",
        "clm ahead, +2.5 [+1.5, +3.5], inside the margin",
        "undecided (arm not competent), +2.5 [+1.5, +3.5]",
        "undecided (mlm and clm not competent), +2.5 [+1.5, +3.5]",
        "mlm ahead†, +2.5 [+1.5, +3.5], outside the margin",
    ]


def test_one_row_per_condition_and_measure_in_reading_order():
    answers = pd.DataFrame(
        [
            row("known length", "plots", MADE),
            row("known length", "plots", EQUAL, metric="exact_match"),
            row("as reported", "abstracts", NOT_RUN, effect=float("nan")),
        ]
    )
    (table,) = grid_table(answers, STUDY, "C1")
    assert [[entry.text for entry in line] for line in table.rows] == [
        ["as reported", "mlm - clm", "BLEU, whole document", "not run", "–"],
        [
            "known length",
            "mlm - clm",
            "BLEU, whole document",
            "–",
            "mlm ahead, +2.5 [+1.5, +3.5], outside the margin",
        ],
        [
            "known length",
            "mlm - clm",
            "exact match, whole document",
            "–",
            "no difference shown, +2.500 [+1.500, +3.500], inside the margin",
        ],
    ]
    assert grid_table(answers, STUDY, "C9") == []


def test_trainings_have_a_column_where_conditions_differ_in_them():
    rows = [row("known length", "plots", MADE, runs=5), row("as reported", "plots", EQUAL)]
    (table,) = grid_table(pd.DataFrame(rows), STUDY, "C1")
    assert table.header == ("condition", "difference", "measure", "trainings", "plots")
    assert [line[3].text for line in table.rows] == ["1", "5"]
    (table,) = grid_table(pd.DataFrame(rows[:1]), STUDY, "C1")
    assert "trainings" not in table.header
