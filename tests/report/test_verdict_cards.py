"""The card of a text as training data: whose text is better, and that neither beats leaving the words out where that is so."""

import pytest

from mlm_vs_clm.evidence.tables import read_tables
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.overview import name_parts
from mlm_vs_clm.report.style import read_study
from mlm_vs_clm.report.verdict_cards import judge_training_data

NEITHER = "With half the words hidden from both, neither model's text is shown to train better than leaving words out."


@pytest.fixture
def tables():
    return read_tables(ROOT / "results" / "laptop-pretrained")


def judge(tables):
    (card,) = judge_training_data(tables, read_study(tables))
    return card


def test_a_better_text_that_is_not_shown_to_beat_unfilled_text_says_so(tables):
    rows = tables["comparisons"]
    is_asked = (rows["kind"] == "training data") & (rows["comparison"] == "known length")
    rows.loc[is_asked & (rows["status"] == "made"), ["direction", "size"]] = ["first", "outside"]
    assert judge(tables).verdict == "masked better" and judge(tables).why.endswith(NEITHER)
    of_masked = tables["headroom"]["trained_on"] == "mlm"
    tables["headroom"].loc[of_masked, ["above_low", "above_high"]] = [0.1, 0.2]
    assert judge(tables).verdict == "masked better" and NEITHER not in judge(tables).why


def test_a_comparison_that_decides_nothing_says_why_alone(tables):
    tables["comparisons"]["status"] = "no room"
    assert judge(tables).verdict == "undecided" and NEITHER not in judge(tables).why


def test_an_optional_condition_answers_a_claim_only_where_no_other_was_run():
    rule = {"conditions": [{"name": "a"}, {"name": "aside", "optional": True}]}
    assert name_parts(rule, {"a", "aside"}) == {"": ["a"]}
    assert name_parts(rule, {"aside"}) == {"": ["a", "aside"]}
