"""The sentence that answers the question of a track says what the tables of its study hold."""

import pytest

from mlm_vs_clm.evidence.tables import read_tables
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.track_answers import answer_dial


@pytest.fixture
def dial():
    return read_tables(ROOT / "results" / "laptop-dial")


def test_the_dial_names_the_best_training_ratio_where_an_arm_is_competent(dial):
    told = answer_dial(dial)
    assert (
        "trained at 30% is best at 15% and 30%; trained at 50% is best at 50% and 70% of words hidden" in told
    )
    assert "100%" not in told
    judged = dial["competence"]
    judged.loc[(judged["ratio"] == 1) & (judged["arm"] == "mlm ratio=0.15"), "outcome"] = "competent"
    assert "trained at 15% is best at 100%" in answer_dial(dial)


def test_the_dial_says_nothing_where_no_masked_model_is_competent(dial):
    dial["competence"]["outcome"] = "not competent"
    assert answer_dial(dial) == ""
