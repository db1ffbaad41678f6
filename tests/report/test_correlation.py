"""Quality against utility: tables and figures follow the rows, with whatever is missing."""

import numpy as np
import pandas as pd
import pytest
from correlation_tables import make_tables
from fake_tables import STUDY as STUDY_ROW
from fake_tables import tidy_fakes

from mlm_vs_clm.evidence.correlation import OVERALL, STRONG, correlate_tables
from mlm_vs_clm.evidence.tables import tidy
from mlm_vs_clm.report.build import make_tables as make
from mlm_vs_clm.report.correlation import CorrelationLookup, describe_sensitivity
from mlm_vs_clm.report.rendering import to_markdown
from mlm_vs_clm.report.sentences import describe_decisions
from mlm_vs_clm.report.style import Study

ROUGE = ("document", "rougeL")
STUDY = Study("smoke", ("random", 0.5))


@pytest.fixture(scope="module")
def tables():
    scores, downstream = make_tables(lambda quality: quality)
    rows = pd.DataFrame(correlate_tables(scores, downstream, 0.5, 50))
    shared = {"objective": "", "context": "", "length": "", "order": "", "artifact": ""}
    noted = {"low": np.nan, "high": np.nan, "n": 40}
    return {
        "study": tidy("study", pd.DataFrame([STUDY_ROW])),
        "scores": tidy("scores", scores.assign(**shared, **noted)),
        "downstream": tidy("downstream", downstream.assign(share=0.5, artifact="", **noted)),
        "correlation": tidy("correlation", rows),
    }


def one_row(statistic, value, low, high, decision, corpus="plots"):
    numbers = {"value": value, "low": low, "high": high, "n_cells": 40, "bound": 0.5}
    names = {"corpus": corpus, "quality_metric": "rougeL", "quality_scope": "document"}
    return names | {"utility_metric": "f1", "statistic": statistic, "decision": decision} | numbers


def sensitivity_of(*rows, corpus=OVERALL):
    table = tidy("correlation", pd.DataFrame([one_row(*row, corpus=corpus) for row in rows]))
    return describe_sensitivity(CorrelationLookup(table), corpus, ROUGE)


def test_what_would_change_a_decision_is_told_from_the_rows():
    strong = ("pooled_spearman", 0.8, 0.62, 0.9, STRONG)
    without = ("left_out_plots", 0.6, 0.3, 0.8, "inconclusive"), ("left_out_speeches", 0.8, 0.6, 0.9, STRONG)
    assert sensitivity_of(strong, *without) == "holds up to a bound of ±0.62; without plots: inconclusive"
    assert sensitivity_of(strong, without[1]) == "holds up to a bound of ±0.62; no corpus left out changes it"
    none = ("spearman", 0.0, -0.41, 0.3, "no strong correlation")
    assert sensitivity_of(none, corpus="plots") == "holds down to a bound of ±0.41"
    assert sensitivity_of(("spearman", 0.3, -0.1, 0.6, "inconclusive"), corpus="plots") == "–"


def test_each_corpus_and_all_together_have_a_sentence(tables):
    told = describe_decisions(tables["correlation"], STUDY)
    assert [sentence.split(":")[0] for sentence in told] == ["abstracts", "plots", OVERALL]
    assert all("strong correlation by ROUGE-L (whole document)" in sentence for sentence in told)
    assert all("exact match (fills only)" in sentence for sentence in told)


def test_the_tables_render_and_hold_every_estimate(tables):
    made = {table.name: table for table in make("correlation", tables)}
    names = ["decisions", "shapes", "overall"]
    assert list(made) == [*(f"correlation_{name}" for name in names), "correlation"]
    assert len(made["correlation_decisions"].rows) == 3 * 3
    assert "pooled, without plots" in to_markdown(made["correlation_overall"])
    assert "holds up to a bound of ±0." in to_markdown(made["correlation_decisions"])


def test_rows_without_all_statistics_and_no_rows_break_nothing():
    few = tidy_fakes(("speeches",))
    assert "missing" in describe_decisions(few["correlation"], STUDY)[0]
    assert len(make("correlation", few)) == 2
    empty = {name: table.iloc[:0] for name, table in few.items()} | {"study": few["study"]}
    assert make("correlation", empty) == []
    assert describe_decisions(empty["correlation"], STUDY) == ()
