"""An arm is competent where it restores more words than every floor of what it sees."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_cells import FILLS, MAIN, scored

from mlm_vs_clm.arms.baselines import FLOORS
from mlm_vs_clm.evidence.competence import Competence, exclude, judge_competence

CONTENT = ("fills", "exact_match_content")
PLACE = ("plots", "mlm", *MAIN)


def cell(arm, rate, content=None, seed=0, rng=None, **more):
    """Return a cell of 60 documents with 20 blanks, half of them content words; baselines see nothing."""
    rng = rng or np.random.default_rng([len(arm), seed, int(1000 * rate)])
    rates = {FILLS: (rate, 20), CONTENT: (rate if content is None else content, 10)}
    statistics = {
        key: np.stack([rng.binomial(n, p, 60), np.full(60, n)], axis=1) for key, (p, n) in rates.items()
    }
    return scored(arm, statistics, seed=seed, **more)


def floors(bigram=0.1, constant=0.05, content=0.02, seeds=(0,)):
    rates = {"bigram_both": bigram, "bigram_left": bigram, "bigram_leaky": bigram, "constant": constant}
    return [cell(arm, rate, content, seed) for arm, rate in rates.items() for seed in seeds]


def judge(cells):
    """Return the rows by arm and class of blanks."""
    rows = judge_competence(cells, 100).to_dict("records")
    return {(row["arm"], row["word_class"]): row for row in rows}


@pytest.mark.parametrize(
    ("context", "floor"), [("both", "bigram_both"), ("leaky", "bigram_leaky"), ("left", "bigram_left")]
)
def test_an_arm_is_judged_by_the_hardest_floor_of_its_context(context, floor):
    rows = judge([cell("mlm", 0.3, context=context), *floors()])
    assert list(rows) == [("mlm", "all"), ("mlm", "content")]  # floors are not judged themselves
    row = rows["mlm", "all"]
    assert (row["floor"], row["outcome"], row["n"], row["runs"]) == (floor, "competent", 60, 1)
    assert row["difference"] == pytest.approx(row["value"] - row["floor_value"]) and row["low"] > 0


def test_above_one_floor_and_below_another_is_not_competent():
    rows = judge([cell("mlm", 0.2, context="both"), *floors(bigram=0.3)])
    assert rows["mlm", "all"]["outcome"] == "not competent"
    rows = judge([cell("mlm", 0.2, context="both"), *floors(constant=0.3)])
    assert rows["mlm", "all"]["floor"] == "constant"


def test_scores_are_over_the_seeds_that_arm_and_floor_share():
    seeds = (0, 1, 2)
    once = judge([cell("infill", 0.3, seed=0, context="both"), *floors(seeds=seeds)])["infill", "all"]
    assert once["difference"] == pytest.approx(once["value"] - once["floor_value"])
    thrice = [cell("mlm", 0.3, seed=seed, context="both") for seed in seeds]
    short = judge([*thrice, *floors(seeds=(1,))])["mlm", "all"]
    assert short["difference"] == pytest.approx(short["value"] - short["floor_value"])


def test_function_words_alone_are_not_competence_on_content_words():
    rows = judge([cell("mlm", 0.3, content=0.02, context="both"), *floors()])
    assert [rows["mlm", blanks]["outcome"] for blanks in ("all", "content")] == ["competent", "not competent"]


def test_a_floor_that_was_not_run_is_no_competence():
    (row, *_) = judge([cell("mlm", 0.9, context="both"), *floors()[:1]]).values()
    assert (row["outcome"], row["reason"]) == ("not run", "not run: constant")


def test_an_arm_that_draws_is_judged_by_drawn_floors():
    drawn = [cell("bigram_both_sampled", 0.02), cell("unigram", 0.01)]
    sampled = cell("mlm_sampled", 0.06, context="both", temperature=1.0)
    (row, *_) = judge([sampled, *drawn, *floors()]).values()
    assert (row["floor"], row["outcome"]) == ("bigram_both_sampled", "competent")


def test_a_variant_is_judged_by_the_floors_that_share_most_of_its_settings():
    few, many = (
        [cell(f"{arm} unique_tokens={n}", rate) for arm in FLOORS["both"]] for n, rate in ((8, 0.1), (9, 0.5))
    )
    arm = cell("mlm unique_tokens=8 dropout=0.1", 0.3, context="both")
    (row, *_) = judge([arm, *few, *many]).values()
    assert (row["outcome"], row["reason"]) == ("competent", "")
    (row, *_) = judge([arm, *many, *floors(bigram=0.4)]).values()
    assert row["outcome"] == "not competent" and row["floor_value"] == pytest.approx(0.4, abs=0.05)


def test_an_arm_that_writes_anew_must_beat_the_unfilled_text():
    bleu = {("document", "bleu"): np.tile([8.0, 8, 6, 4, 3, 2, 8, 7, 6, 5], (30, 1))}
    worse = {("document", "bleu"): np.tile([8.0, 8, 4, 1, 0, 0, 8, 7, 6, 5], (30, 1))}
    rows = judge([scored("seq2seq_kept", worse, context="kept"), scored("unfilled", bleu)])
    assert list(rows) == [("seq2seq_kept", "all")]
    assert rows["seq2seq_kept", "all"]["outcome"] == "not competent"
    rows = judge([scored("clm_kept", bleu, context="kept"), scored("unfilled", worse)])
    assert rows["clm_kept", "all"]["floor"] == "unfilled"


def test_runs_that_disagree_are_not_competent_where_each_document_set_is():
    rates = {0: 0.12, 1: 0.5, 2: 0.11}
    cells = [
        cell("mlm", rate, seed=seed, context="both", training=f"t{seed}") for seed, rate in rates.items()
    ]
    row = judge([*cells, *floors(seeds=rates)])["mlm", "all"]
    assert (row["runs"], row["outcome"]) == (3, "not competent") and row["difference"] > 0.1


def test_checkpoints_along_a_curve_are_left_out():
    final = cell("mlm", 0.9, context="both")
    early = replace(final, cell=replace(final.cell, budget=1000))
    assert judge([early, *floors()]) == {}


def test_the_table_says_why_an_arm_may_not_speak():
    found = Competence(judge_competence([cell("mlm", 0.05, context="both"), *floors()], 100))
    assert not found.is_competent(PLACE)
    assert "mlm is not above bigram_both on plots at random 0.5" in found.explain(PLACE)
    assert Competence(judge_competence([], 100)).explain(PLACE) == ""


def test_a_difference_with_an_arm_that_may_not_speak_is_pale():
    arms = [cell("mlm", 0.05, context="both"), cell("clm", 0.4, context="left")]
    rows = pd.DataFrame({"corpus": "plots", "first": ["mlm", "clm"], "second": ["clm", "constant"]})
    pale = exclude(rows, Competence(judge_competence([*arms, *floors()], 100)), MAIN)["excluded_because"]
    assert "mlm is not above" in pale[0] and pale[1] == ""


def test_a_lead_of_less_than_a_tenth_of_the_floor_is_not_enough():
    """0.86 against 0.8 of a floor is above it, and too little; 0.92 is enough."""
    tables = [cell("bigram_both", 0.8), cell("constant", 0.1)]
    arms = (cell("mlm", share, context="both") for share in (0.86, 0.92))
    few, enough = (judge([arm, *tables])["mlm", "all"] for arm in arms)
    assert few["low"] > 0 and few["outcome"] == "not competent" and enough["outcome"] == "competent"


def test_the_hardest_floor_counts_and_a_table_of_more_words_is_one_where_it_was_run():
    pair = [cell("bigram_both", 0.4), cell("constant", 0.1)]
    row = judge([cell("mlm", 0.6, context="both"), *pair, cell("ngram_both", 0.58)])["mlm", "all"]
    assert (row["floor"], row["outcome"]) == ("ngram_both", "not competent")
    row = judge([cell("mlm", 0.6, context="both"), *pair])["mlm", "all"]
    assert (row["floor"], row["outcome"]) == ("bigram_both", "competent")
