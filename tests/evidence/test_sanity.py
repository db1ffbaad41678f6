"""The order of original, arms, floors and unfilled text, by hand."""

import pandas as pd
import pytest

from mlm_vs_clm.evidence.sanity import judge_metrics

MAIN = ("random", 0.5)
PLACE = {"corpus": "plots", "strategy": "random", "ratio": 0.5}
COMPETENCE = pd.DataFrame(
    [
        PLACE | {"arm": arm, "floor": floor, "word_class": blanks, "outcome": outcome}
        for arm, floor, blanks, outcome in (
            ("mlm", "bigram_both", "all", "competent"),
            ("clm", "bigram_left", "all", "competent"),
            ("infill", "bigram_both", "all", "not competent"),
            ("mlm", "bigram_both", "content", "competent"),
        )
    ]
)
LEVELS = dict(oracle=100, mlm=60, clm=50, infill=1, bigram_both=40, bigram_left=35, unfilled=20)


def list_scores(values, metric="bleu", seed=0):
    cell = PLACE | {"seed": seed, "scope": "document", "metric": metric}
    return pd.DataFrame([cell | {"arm": arm, "value": value} for arm, value in values.items()])


def judge(scores, competence=COMPETENCE):
    return judge_metrics(scores, competence, MAIN).to_dict("records")


def test_steps_are_shares_of_oracle_minus_unfilled_and_an_incompetent_arm_does_not_count():
    (row,) = judge(list_scores(LEVELS))
    assert row["outcome"] == "ranks" and (row["arm"], row["floor"]) == ("clm", "bigram_left")
    steps = [row[name] for name in ("above_arms", "above_floors", "above_unfilled")]
    assert steps == pytest.approx([40 / 80, 15 / 80, 15 / 80])


def test_of_a_metric_of_which_less_is_better_the_order_is_turned():
    (row,) = judge(list_scores({arm: 100 - value for arm, value in LEVELS.items()}, "mmd"))
    assert row["outcome"] == "ranks" and (row["arm"], row["arm_value"], row["oracle_value"]) == ("clm", 50, 0)
    assert judge(list_scores(LEVELS, "mmd"))[0]["outcome"] != "ranks"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"clm": 34}, "a floor above an arm"),
        ({"bigram_left": 20}, "unfilled text above a floor"),
        ({"mlm": 101, "unfilled": 36}, "an arm above the original; unfilled text above a floor"),
    ],
)
def test_a_metric_that_misranks_says_where(changed, told):
    assert judge(list_scores(LEVELS | changed))[0]["outcome"] == told


def test_arms_are_ranked_over_the_seeds_that_all_have():
    scores = list_scores(LEVELS)
    assert judge(scores) == judge(pd.concat([scores, list_scores({"bigram_both": 90}, seed=1)]))


def test_unfilled_text_is_not_ranked_above_itself():
    anew = COMPETENCE[:1].assign(arm="seq2seq_kept", floor="unfilled")
    (row,) = judge(list_scores(LEVELS | {"seq2seq_kept": 22}), pd.concat([COMPETENCE, anew]))
    assert row["outcome"] == "ranks" and row["floor"] == "unfilled"
    assert row["above_unfilled"] == pytest.approx(15 / 80)


def test_what_cannot_be_ranked_has_a_reason_and_no_step():
    (row,) = judge(list_scores(LEVELS | {"oracle": 20}))
    assert row["outcome"] == "not run" and "oracle and unfilled" in row["reason"]
    assert pd.isna(row["above_arms"])
    (row,) = judge(list_scores({"oracle": 1, "unfilled": 0}))
    assert row["reason"] == "no competent arm"


def test_content_words_need_arms_that_are_competent_on_them_and_diversity_is_no_metric_of_quality():
    assert judge(list_scores(LEVELS, "exact_match_content"))[0]["arm"] == "mlm"
    assert judge(list_scores(LEVELS, "distinct1")) == []
