"""The sentence that answers the question of a track says what the tables of its study hold."""

import pandas as pd
import pytest

from mlm_vs_clm.evidence.tables import read_tables
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.headline import UNTOLD, answer_question
from mlm_vs_clm.report.track_answers import answer_dial, answer_repetition


@pytest.fixture
def dial():
    return read_tables(ROOT / "results" / "laptop-dial")


def test_the_dial_names_the_best_training_ratio_where_an_arm_is_competent(dial):
    told = answer_dial(dial)
    assert (
        "trained at 30% scores highest at 15% and 30%; trained at 50% scores highest at 50% and 70% of words hidden"
        in told
    )
    assert "100%" not in told
    judged = dial["competence"]
    judged.loc[(judged["ratio"] == 1) & (judged["arm"] == "mlm ratio=0.15"), "outcome"] = "competent"
    assert "trained at 15% scores highest at 100%" in answer_dial(dial)


def test_the_dial_says_nothing_of_several_strategies_nor_where_no_masked_model_is_competent(dial):
    several = dial["scores"].assign(strategy="spans")
    assert answer_dial(dial | {"scores": pd.concat([dial["scores"], several])}) == ""
    dial["competence"]["outcome"] = "not competent"
    assert answer_dial(dial) == ""


def test_repetition_tells_leads_by_unique_tokens_and_when_each_model_stops_improving():
    tables = read_tables(ROOT / "results" / "laptop-repetition")
    told = answer_repetition(tables)
    assert told.startswith(
        "The masked model leads the causal one by +0.085, +0.095 and +0.091 in exact match with 7,500, 30,000"
    )
    assert "lowest after 4, 2 and 1 (causal) and 8, 4 and 1 (masked)." in told
    rows = tables["comparisons"]
    is_largest = rows["first"].str.endswith("=240000") & (rows["metric"] == "exact_match")
    rows.loc[is_largest, "status"] = "not competent"
    assert "+0.091 (decides nothing) in exact match" in answer_repetition(tables)
    rows.loc[is_largest, ["status", "direction"]] = ["made", "none shown"]
    assert "+0.091 (no lead shown) in exact match" in answer_repetition(tables)
    tables["comparisons"] = rows.iloc[:0]
    assert answer_repetition(tables) == ""


def test_a_track_without_its_sentence_is_not_told_as_a_study_that_compared_nothing():
    tables = read_tables(ROOT / "results" / "laptop-temperature")
    assert answer_question(tables).startswith("At the same diversity")
    several = pd.concat([tables["scores"], tables["scores"].assign(strategy="spans")])
    assert answer_question(tables | {"scores": several}) == UNTOLD
