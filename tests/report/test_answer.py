"""The answer says what the rows say, and nothing where there are none."""

import pandas as pd
import pytest

from mlm_vs_clm.pipeline import publish as publishing
from mlm_vs_clm.report import read_tables, write_between_markers
from mlm_vs_clm.report.answer import tell_answer, tell_claim, tell_step, tell_utility, tell_verdicts

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


def test_utility_is_told_by_its_paired_difference():
    about = {"step": "known length", "first": "mlm", "second": "clm", "metric": "f1", "reason": ""}
    rows = [about | {"corpus": "a", "value": 0.02, "low": 0.01, "high": 0.03}]
    rows.append(about | {"corpus": "b", "value": None, "low": None, "high": None, "reason": "not made: clm"})
    told = tell_utility(pd.DataFrame(rows))
    assert "a (F1) +0.020 [+0.010, +0.030], masked ahead; b (F1) missing: not made: clm" in told
    assert tell_utility(pd.DataFrame(rows).iloc[:0]) == ""


def test_verdicts_are_counted_overall():
    claims = pd.DataFrame(
        [("C1", "overall", "supported"), ("C1", "a", "inconclusive"), ("C2", "overall", "not tested")],
        columns=["claim", "corpus", "verdict"],
    )
    assert tell_verdicts(claims) == "**Of 2 claims**: 1 supported (C1); 1 not tested (C2)."


def test_nothing_measured_is_said():
    gap = pd.DataFrame(columns=["corpus", *STEP, "value", "low", "high"])
    downstream = pd.DataFrame(columns=["corpus", "step", "metric", "value"])
    claims = pd.DataFrame(columns=["claim", "corpus", "verdict"])
    assert tell_answer(gap, downstream, claims).count("not measured") == 4


def test_a_claim_is_told_over_all_corpora():
    columns = ["claim", "corpus", "statement", "verdict", "reason"]
    claims = pd.DataFrame(
        [("C4", "a", "S.", "supported", "r"), ("C4", "overall", "S.", "inconclusive", "b")], columns=columns
    )
    assert tell_claim(claims, "C4") == "**C4** (S.) inconclusive: b."


@pytest.mark.parametrize("name", publishing.BLOCKS)
def test_the_pages_say_what_the_committed_results_say(name):
    results = publishing.ROOT / "results" / name
    claims = pd.read_csv(results / "claims.csv", keep_default_na=False)
    pages = [page.read_text(encoding="utf-8") for page in publishing.PAGES]
    for marker, text in publishing.BLOCKS[name](read_tables(results), claims).items():
        page = next(page for page in pages if f"<!-- begin: {marker} -->" in page)
        assert write_between_markers(page, marker, text) == page
