"""The order of original, arms, floors and unfilled text, by hand."""

import pandas as pd
import pytest

from mlm_vs_clm.evidence.sanity import judge_metrics

MAIN = ("random", 0.5)
COMPETENCE = pd.DataFrame(
    [
        {"corpus": "plots", "strategy": "random", "ratio": 0.5, "word_class": blanks, "outcome": outcome}
        | {"arm": arm, "floor": floor}
        for arm, floor, blanks, outcome in (
            ("mlm", "bigram_both", "all", "competent"),
            ("clm", "bigram_left", "all", "competent"),
            ("infill", "bigram_both", "all", "not competent"),
            ("mlm", "bigram_both", "content", "competent"),
        )
    ]
)


def judge(metric="bleu", **values):
    cell = {
        "corpus": "plots",
        "strategy": "random",
        "ratio": 0.5,
        "seed": 0,
        "scope": "document",
        "metric": metric,
    }
    scores = pd.DataFrame([cell | {"arm": arm, "value": value} for arm, value in values.items()])
    return judge_metrics(scores, COMPETENCE, MAIN).to_dict("records")


LEVELS = dict(oracle=100, mlm=60, clm=50, infill=1, bigram_both=40, bigram_left=35, unfilled=20)


def test_steps_are_shares_of_oracle_minus_unfilled_and_an_incompetent_arm_does_not_count():
    (row,) = judge(**LEVELS)
    assert row["outcome"] == "ranks" and (row["arm"], row["floor"]) == ("clm", "bigram_left")
    steps = [row[name] for name in ("above_arms", "above_floors", "above_unfilled")]
    assert steps == pytest.approx([40 / 80, 15 / 80, 15 / 80])


def test_of_a_metric_of_which_less_is_better_the_order_is_turned():
    lower = {arm: 100 - value for arm, value in LEVELS.items()}
    (row,) = judge("mmd", **lower)
    assert row["outcome"] == "ranks" and (row["arm"], row["arm_value"], row["oracle_value"]) == ("clm", 50, 0)
    assert judge("mmd", **LEVELS)[0]["outcome"] != "ranks"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"clm": 34}, "a floor above an arm"),
        ({"bigram_left": 20}, "unfilled text above a floor"),
        ({"mlm": 101, "unfilled": 36}, "an arm above the original; unfilled text above a floor"),
    ],
)
def test_a_metric_that_misranks_says_where(changed, told):
    assert judge(**LEVELS | changed)[0]["outcome"] == told


def test_arms_are_ranked_over_the_seeds_that_all_have():
    cell = {"corpus": "plots", "strategy": "random", "ratio": 0.5, "scope": "document", "metric": "bleu"}
    scores = pd.DataFrame([cell | {"seed": 0, "arm": arm, "value": value} for arm, value in LEVELS.items()])
    again = scores[scores["arm"] == "bigram_both"].assign(seed=1, value=90)
    one, more = (
        judge_metrics(rows, COMPETENCE, MAIN).to_dict("records")
        for rows in (scores, pd.concat([scores, again]))
    )
    assert one == more


def test_unfilled_text_is_not_ranked_above_itself():
    anew = COMPETENCE[:1].assign(arm="seq2seq_kept", floor="unfilled")
    cell = {
        "corpus": "plots",
        "strategy": "random",
        "ratio": 0.5,
        "seed": 0,
        "scope": "document",
        "metric": "bleu",
    }
    values = LEVELS | {"seq2seq_kept": 22}
    scores = pd.DataFrame([cell | {"arm": arm, "value": value} for arm, value in values.items()])
    (row,) = judge_metrics(scores, pd.concat([COMPETENCE, anew]), MAIN).to_dict("records")
    assert row["outcome"] == "ranks" and row["floor"] == "unfilled"
    assert row["above_unfilled"] == pytest.approx(15 / 80)


def test_what_cannot_be_ranked_has_a_reason_and_no_step():
    (row,) = judge(**LEVELS | {"oracle": 20})
    assert (
        row["outcome"] == "not run" and "oracle and unfilled" in row["reason"] and pd.isna(row["above_arms"])
    )
    (row,) = judge(oracle=1, unfilled=0)
    assert row["reason"] == "no competent arm"


def test_content_words_need_arms_that_are_competent_on_them_and_diversity_is_no_metric_of_quality():
    assert judge("exact_match_content", **LEVELS)[0]["arm"] == "mlm"
    assert judge("distinct1", **LEVELS) == []
