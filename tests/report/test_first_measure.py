"""The measure by which a claim is told is the first of its rule, whatever the order of a table's rows."""

import pandas as pd

from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.wording import at_first_measure


def test_a_claim_is_told_by_the_first_measure_of_its_rule_in_any_order_of_rows():
    answers = pd.read_csv(ROOT / "results" / "laptop" / "answers.csv")
    rows = answers[answers["claim"] == "C2"]
    for order in (rows, rows[::-1]):
        assert {*at_first_measure(order)["metric"]} == {"exact_match_lead"}


def test_a_claim_without_a_rule_of_today_is_told_by_the_whole_document():
    rows = pd.DataFrame(
        {"claim": "X1", "condition": "any", "scope": ["fills", "document"], "metric": ["exact_match", "bleu"]}
    )
    assert list(at_first_measure(rows)["metric"]) == ["bleu"]
