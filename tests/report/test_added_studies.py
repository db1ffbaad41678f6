"""A study or a condition that is added as data is told with the others: no Python names one."""

import shutil

import pandas as pd
import yaml
from made_cells import MAIN, RULES

from mlm_vs_clm.evidence.claims import load_rules
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report import blocks

STUDY = ROOT / "results" / "laptop-long_runs"


def add_study(results, name, **about):
    """Copy a committed study under another name with other effects, and alter what it says of itself."""
    shutil.copytree(STUDY, results / name)
    file = results / name / "study.yaml"
    settings = yaml.safe_load(file.read_text())
    settings["study"] |= about
    file.write_text(yaml.safe_dump(settings))
    answers = pd.read_csv(results / name / "answers.csv")
    answers.assign(effect=answers["effect"] + len(name)).to_csv(results / name / "answers.csv", index=False)


def test_a_study_of_another_start_is_a_row_of_every_table_of_studies(tmp_path):
    results = tmp_path / "results"
    add_study(results, "laptop-long_runs")
    add_study(results, "mine", scale="mine", track="matched", starts_from="a state-space model")
    tables = blocks.read_studies(results)
    told = blocks.make_shared_blocks(results, tables, RULES)
    assert "| a state-space model (distilbert_lower) |" in told["evidence"]
    assert "| an encoder (distilbert_lower) |" in told["evidence"]
    assert "|  | mine |" in told["overview"]
    blocks.write_overviews(results, tables, RULES)
    evidence = pd.read_csv(results / "evidence.csv")
    assert set(evidence.loc[evidence["study"] == "mine", "start"]) == {"a state-space model"}
    assert "a state-space model" in (results / "index.html").read_text()


def test_a_study_without_a_start_is_told_by_its_own_question_alone(tmp_path):
    results = tmp_path / "results"
    add_study(results, "laptop-long_runs")
    add_study(results, "mine", starts_from="")
    assert blocks.make_blocks(results / "mine") == {}
    told = blocks.make_shared_blocks(results, blocks.read_studies(results), RULES)
    assert "laptop-long_runs" in told["overview"]
    assert not any("mine" in told[name] for name in ("evidence", "overview", "short-table"))


def test_a_condition_that_is_added_is_a_step_of_the_ladder_and_is_counted(tmp_path):
    results = tmp_path / "results"
    add_study(results, "laptop-long_runs")
    answers = pd.read_csv(results / "laptop-long_runs" / "answers.csv")
    added = answers[(answers["claim"] == "C1") & (answers["condition"] == "known length")]
    added = added.assign(condition="known topic", effect=added["effect"] + 1)
    pd.concat([answers, added]).to_csv(results / "laptop-long_runs" / "answers.csv", index=False)
    rules = yaml.safe_load((ROOT / "conf/claims.yaml").read_text())
    topic = {"name": "known topic", "words": "and the topic told", "as_stated": ["second"]}
    rules[0]["conditions"].append(topic | {"first": {"arm": "mlm"}, "second": {"arm": "clm"}})
    file = tmp_path / "claims.yaml"
    file.write_text(yaml.safe_dump(rules))
    tables, rules = blocks.read_studies(results), load_rules(file, MAIN)
    told = blocks.make_shared_blocks(results, tables, rules)
    assert "| known topic | mlm - clm |" in told["evidence"]
    assert "| laptop-long_runs | 3 | 2 | 4 |" in told["overview"]
    blocks.write_overviews(results, tables, rules)
    assert "and the topic told" in (results / "figures" / "answer.svg").read_text()
