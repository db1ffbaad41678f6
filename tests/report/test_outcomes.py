"""The answers at a glance: which arm a condition found better, in words, and what decides nothing."""

import pandas as pd

from mlm_vs_clm.analysis.answers import UNSURE
from mlm_vs_clm.report.outcomes import enter_outcome, grid_table
from mlm_vs_clm.report.style import Study

STUDY = Study("smoke", ("random", 0.5))


def row(condition, corpus, outcome, metric="bleu", effect=2.5, reason="", runs=1):
    about = {"claim": "C1", "condition": condition, "corpus": corpus, "outcome": outcome}
    sides = {"first": "mlm at random 0.5", "second": "clm at random 0.5", "scope": "document"}
    return (
        about
        | sides
        | {
            "metric": metric,
            "reason": reason,
            "runs": runs,
            "effect": effect,
            "low": effect - 1,
            "high": effect + 1,
        }
    )


def test_the_better_arm_is_named_with_its_interval():
    words = [
        enter_outcome(one).text
        for outcome in ("first better", "second better, within the margin", "arm not competent")
        for one in pd.DataFrame([row("known length", "plots", outcome)]).itertuples(index=False)
    ]
    assert words[0] == "mlm better: +2.5 [+1.5, +3.5]"
    assert words[1].startswith("clm better, within the margin: ")
    assert words[2] == "undecided (arm not competent): +2.5 [+1.5, +3.5]"
    gated = row("known length", "plots", "arm not competent", reason="clm is not above bigram_left on plots")
    told = enter_outcome(next(pd.DataFrame([gated]).itertuples(index=False))).text
    assert told.startswith("undecided (clm not competent): ")
    unsure = pd.DataFrame([row("known length", "plots", "first better", reason=f"{UNSURE}: mlm")])
    assert enter_outcome(next(unsure.itertuples(index=False))).text == "mlm better†: +2.5 [+1.5, +3.5]"


def test_one_row_per_condition_and_measure_in_reading_order():
    answers = pd.DataFrame(
        [
            row("known length", "plots", "first better"),
            row("known length", "plots", "equal", metric="exact_match"),
            row("as reported", "abstracts", "not run", effect=float("nan")),
            row("as reported", "all", "not run"),
        ]
    )
    (table,) = grid_table(answers, STUDY, "C1")
    assert [[entry.text for entry in line] for line in table.rows] == [
        ["as reported", "mlm - clm", "BLEU, whole document", "not run", "–"],
        ["known length", "mlm - clm", "BLEU, whole document", "–", "mlm better: +2.5 [+1.5, +3.5]"],
        ["known length", "mlm - clm", "exact match, whole document", "–", "equal: +2.500 [+1.500, +3.500]"],
    ]
    assert grid_table(answers, STUDY, "C9") == []


def test_trainings_have_a_column_where_conditions_differ_in_them():
    rows = [row("known length", "plots", "first better", runs=5), row("as reported", "plots", "equal")]
    (table,) = grid_table(pd.DataFrame(rows), STUDY, "C1")
    assert table.header == ("condition", "difference", "measure", "trainings", "plots")
    assert [line[3].text for line in table.rows] == ["1", "5"]
    (table,) = grid_table(pd.DataFrame(rows[:1]), STUDY, "C1")
    assert "trainings" not in table.header
