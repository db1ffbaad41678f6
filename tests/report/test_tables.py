"""Tables: entries, missing ones and their reasons, commands, Markdown, and blocks between markers."""

import numpy as np
import pandas as pd
import pytest
from fake_tables import tidy_fakes

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.report.quality import quality_tables
from mlm_vs_clm.report.rendering import letter_of, to_markdown, write_between_markers
from mlm_vs_clm.report.style import Study, read_study
from mlm_vs_clm.report.tables import Entry, Table, command_for_report, command_for_training

STUDY = Study("smoke", ("random", 0.5))
TABLE = Table(
    name="small",
    title="A small table",
    caption="Nothing.",
    header=("arm_name", "BLEU | 100 %"),
    rows=((Entry("a&b"), Entry("1.0 [0.5, 1.5]", 1.0)), (Entry("c"), Entry("missing", reason="no $ left"))),
    command="make it",
)


def test_markdown_by_hand():
    assert to_markdown(TABLE).splitlines()[2:8] == [
        "| arm_name | BLEU \\| 100 % |",
        "| --- | ---: |",
        "| a&b | 1.0 [0.5, 1.5] |",
        "| c | missing (a) |",
        "",
        "Nothing.",
    ]


def test_footnotes_go_on_after_z():
    assert [letter_of(i) for i in (0, 25, 26, 27, 701, 702)] == ["a", "z", "aa", "ab", "zz", "aaa"]


def test_a_cell_without_a_row_is_missing_in_its_table():
    scores = tidy_fakes()["scores"]
    gone = (scores["arm"] == "clm") & (scores["metric"] == "exact_match") & (scores["ratio"] == 0.5)
    table = next(t for t in quality_tables(scores[~gone], STUDY) if t.name == "quality_abstracts_fills")
    row = next(row for row in table.rows if row[0].text == "clm")
    assert row[table.header.index("exact match")] == Entry("missing", reason="not run")


def test_a_reason_stands_under_its_table():
    scores = tidy_fakes()["scores"]
    lost = (scores["arm"] == "clm") & (scores["metric"] == "bertscore")
    scores.loc[lost, ["value", "low", "high"]] = np.nan
    scores.loc[lost, "reason"] = "the encoder was absent"
    text = to_markdown(quality_tables(scores, STUDY)[0])
    assert "missing (a) |" in text and "(a) the encoder was absent" in text


def test_the_command_of_a_table_names_its_cells():
    command = quality_tables(tidy_fakes()["scores"], STUDY)[0].command
    assert command.startswith("python experiments/score.py -m scale=smoke corpus=abstracts arm=clm,mlm,")
    assert command.endswith("masking=random masking.ratio=0.5")


def test_the_command_of_a_task_names_arms_and_references():
    rows = tidy_fakes()["downstream"]
    arms = rows["trained_on"].isin(["clm", "majority", "real"]) & (
        rows["strategy"].isna() | (rows["ratio"] == 1.0)
    )
    assert command_for_training("smoke", rows[arms]).splitlines() == [
        "python experiments/downstream.py -m scale=smoke corpus=abstracts arm=clm "
        "masking=entities,punctuation,random,stopwords masking.ratio=1",
        "python experiments/downstream.py -m scale=smoke corpus=abstracts trained_on=majority,real",
    ]


README = "before\n<!-- begin: main -->\nold\n<!-- end: main -->\nafter\n"


def test_a_block_goes_between_its_markers_and_stays_when_written_twice():
    once = write_between_markers(README, "main", "| new |\n")
    assert once == "before\n<!-- begin: main -->\n\n| new |\n\n<!-- end: main -->\nafter\n"
    assert write_between_markers(once, "main", "| new |\n") == once


@pytest.mark.parametrize(
    "text", ["", README.replace("end:", "fin:"), README + README, "<!-- end: main --><!-- begin: main -->"]
)
def test_a_missing_or_doubled_marker_is_named(text):
    with pytest.raises(StudyError, match="begin: main"):
        write_between_markers(text, "main", "new")


@pytest.mark.parametrize(
    ("scale", "track", "command"),
    [
        ("desk", "matched", "scale=desk"),
        ("laptop", "runs", "scale=laptop track=runs"),
        ("own", "matched", "scale=own corpus.path=<texts>"),
        ("own", "own_causal", "scale=own track=own_causal corpus.path=<texts> model.source=<model>"),
    ],
)
def test_commands_of_a_study_name_what_it_needs(scale, track, command):
    study = {"scale": scale, "track": track, "main_strategy": "random", "main_ratio": 0.5}
    assert (
        command_for_report(read_study({"study": pd.DataFrame([study])}).scale)
        == f"python experiments/report.py {command}"
    )
