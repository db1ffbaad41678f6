"""The ladder shows each step from the tables: who is ahead, how sure that is, and what two word tables differ by."""

import numpy as np
import pandas as pd
import pytest
from fake_studies import add_likelihoods, make_studies
from made_cells import RULES

from mlm_vs_clm.evidence.verdicts import NOT_COMPETENT
from mlm_vs_clm.report import drawing, ladder, ladder_figure, svg
from mlm_vs_clm.report.index import describe_condition

CORPORA = ("abstracts", "plots")


@pytest.fixture
def studies():
    return make_studies(CORPORA)


def draw(studies) -> str:
    with drawing.style_context():
        made = ladder_figure.draw_ladder(ladder.list_steps(studies, RULES), ladder.list_likelihoods(studies))
        return svg.to_svg(made.figure)


def test_a_step_is_taken_from_most_trainings_and_then_from_the_longest(studies):
    steps = ladder.list_steps(studies, RULES)
    best = ladder.best_rows(steps, (ladder.ENCODER, "both contexts"))
    assert set(best["study"]) == {"laptop-long_runs"} and set(best["tokens"]) == {768_000}
    assert set(ladder.best_rows(steps, (ladder.ENCODER, "known length"))["study"]) == {"desk"}
    assert ladder.best_rows(steps, (ladder.ENCODER, "left context")).empty


def test_of_equal_trainings_a_study_that_decides_more_is_taken(studies):
    answers = studies["desk"]["answers"]
    answers.loc[answers["corpus"] == "plots", "status"] = NOT_COMPETENT
    steps = ladder.list_steps(studies, RULES)
    assert set(ladder.best_rows(steps, ladder.BEFORE)["study"]) == {"laptop-long_runs"}


def test_of_two_studies_with_as_much_training_one_is_drawn(studies):
    studies["other"] = make_studies(CORPORA, ("laptop-long_runs",))["laptop-long_runs"]
    answers = studies["other"]["answers"]
    answers.loc[:, ["runs", "effect"]] = [3, 1.0]
    studies["other"]["training"]["model"] = "bert"
    steps = ladder.list_steps(studies, RULES)
    assert "other" in set(steps["study"])
    kept = ladder_figure.keep_best(steps)
    assert not kept.duplicated(["start", "condition", "tokens", "corpus"]).any()
    assert "other" not in set(kept["study"])


def test_word_tables_are_compared_where_the_sides_differ_in_context_as_they_do(studies):
    steps = ladder.list_steps(studies, RULES)
    told = steps.set_index(["condition", "study", "corpus"])["tables"]
    assert told["known length", "desk", "plots"] == pytest.approx(4.0)
    assert np.isnan(told["both contexts", "desk", "plots"])


def test_a_likelihood_is_that_of_the_answers_with_its_status(studies):
    add_likelihoods(studies["desk"], status=NOT_COMPETENT)
    found = ladder.list_likelihoods(studies).set_index(["study", "condition", "corpus"])
    assert set(found.index.get_level_values("study")) == {"desk"}
    row = found.loc[("desk", "known length", "plots")]
    assert (row["effect"], row["low"], row["high"], row["runs"]) == (0.1, 0.05, 0.2, 5)
    assert row["status"] == NOT_COMPETENT


def test_marks_are_filled_for_several_trainings_and_grey_where_an_arm_may_not_speak(studies):
    assert ladder_figure.GREY not in draw(studies)
    answers = studies["desk"]["answers"]
    answers.loc[answers["condition"] == "known length", "status"] = NOT_COMPETENT
    assert ladder_figure.GREY in draw(studies)
    legend = ladder_figure.draw_ladder(
        ladder.list_steps(studies, RULES), ladder.list_likelihoods(studies)
    ).figure.legends[0]
    words = [text.get_text() for text in legend.get_texts()]
    assert {"abstracts", "plots", "3.07 million tokens", "filled: 5 trainings"} <= set(words)
    assert any(one.startswith("grey: ") for one in words)


def test_steps_without_rows_are_left_out_and_the_same_tables_give_the_same_bytes(studies):
    for tables in studies.values():
        add_likelihoods(tables)
    svg = draw(studies)
    assert svg == draw(studies)
    assert (
        "started from a causal model" not in svg and "originals hidden" in svg and "left side only" not in svg
    )
    assert "nats per character" in svg
    assert "nats per character" not in draw(make_studies(CORPORA))


def test_the_alternative_text_has_the_lowest_and_the_highest_difference_of_each_step(studies):
    told = ladder_figure.describe_ladder(ladder.list_steps(studies, RULES))
    assert "originals hidden: +11.0 to +12.0" in told and "left side only" not in told


def test_a_difference_by_another_measure_is_not_told_as_points_of_bleu(studies):
    tables = studies["desk"]
    answers = tables["answers"][tables["answers"]["metric"] == "bleu"].assign(metric="exact_match")
    assert ladder.list_steps({"desk": tables | {"answers": answers}}, RULES).empty
    assert describe_condition(answers, ["known length"]) == ""


def test_no_study_has_no_step():
    assert ladder.list_steps({}, RULES).empty and ladder.list_likelihoods({}).empty
    assert isinstance(
        ladder.best_rows(pd.DataFrame(columns=["start", "condition"]), ("a", "b")), pd.DataFrame
    )


def test_more_corpora_and_lengths_of_training_than_there_are_looks_are_drawn():
    studies = make_studies([f"corpus {place:02}" for place in range(12)])
    assert "corpus 11" in draw(studies)
    lengths = range(10_000, 90_000, 10_000)
    assert [*ladder_figure.colour_lengths(lengths)] == [*reversed(lengths)]
