"""The answer says what the rows say, and nothing where there are none."""

import pandas as pd

from mlm_vs_clm.report.answer import tell_answer, tell_step, tell_utility, tell_verdicts

STEP = {"step": "known length", "scope": "document", "metric": "bleu"}


def test_a_step_counts_who_is_ahead_by_the_intervals():
    rows = [("a", 1.0, 0.5, 1.5), ("b", -0.7, -1.1, -0.2), ("c", 0.1, -0.3, 0.5)]
    gap = pd.DataFrame(
        [STEP | dict(zip(("corpus", "value", "low", "high"), row, strict=True)) for row in rows]
    )
    told = tell_step(gap, "known length", "Same lengths")
    assert "masked ahead on 1, causal ahead on 1, not separated on 1 of 3 corpora" in told
    assert "b -0.7 [-1.1, -0.2]" in told
    assert tell_step(gap, "left context", "Left alone") == "Left alone: not measured."


def test_utility_stands_beside_real_text():
    rows = [("mlm", 0.61, 0.6, 0.62), ("clm", 0.5, 0.49, 0.51), ("real", 0.7, 0.69, 0.71)]
    downstream = pd.DataFrame(
        {
            "task": "ner",
            "corpus": "abstracts",
            "trained_on": arm,
            "strategy": None if arm == "real" else "random",
            "ratio": None if arm == "real" else 0.5,
            "share": 0.5,
            "seed": 0,
            "metric": "f1",
            "value": value,
            "low": low,
            "high": high,
            "n": 9,
            "reason": "",
        }
        for arm, value, low, high in rows
    )
    assert "abstracts F1 0.610 and 0.500 (masked ahead; real text 0.700)" in tell_utility(downstream)
    assert tell_utility(downstream[downstream["trained_on"] != "clm"]) == ""


def test_verdicts_are_counted_overall():
    claims = pd.DataFrame(
        [("C1", "overall", "supported"), ("C1", "a", "inconclusive"), ("C2", "overall", "not tested")],
        columns=["claim", "corpus", "verdict"],
    )
    assert tell_verdicts(claims) == "**Of 2 claims**: 1 supported (C1); 1 not tested (C2)."


def test_nothing_measured_is_said():
    gap = pd.DataFrame(columns=["corpus", *STEP, "value", "low", "high"])
    downstream = pd.DataFrame(columns=["task", "corpus", "trained_on", "metric", "value"])
    claims = pd.DataFrame(columns=["claim", "corpus", "verdict"])
    assert tell_answer(gap, downstream, claims).count("not measured") == 4
