"""A claim that names a track is a row of the table of statements, and opens the page of its study."""

import shutil

import pandas as pd
import pytest
import yaml

from mlm_vs_clm.evidence.claims import read_rules
from mlm_vs_clm.evidence.tables import read_tables
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report import study_folder
from mlm_vs_clm.report.headline import answer_question
from mlm_vs_clm.report.statements import tabulate_statements

STATEMENT = "Causal networks continue better."
STUDY = ROOT / "results" / "laptop-long_runs"


@pytest.fixture
def claims(tmp_path, monkeypatch):
    """Return the file of rules with two claims of their own tracks, of which one has a study."""
    rules = [rule for rule in read_rules(study_folder.CLAIMS) if "track" not in rule]
    own = rules[0] | {"statement": STATEMENT, "as_stated": ["second"]}
    rules += [own | {"id": "F2", "track": "continuation"}, own | {"id": "F3", "track": "elsewhere"}]
    file = tmp_path / "claims.yaml"
    file.write_text(yaml.safe_dump(rules))
    monkeypatch.setattr(study_folder, "CLAIMS", file)
    return file


@pytest.fixture
def study(tmp_path, claims):
    """Return the tables of a study of that track: those of a committed study, its answers to C1 as answers to F2."""
    folder = tmp_path / "continuation"
    shutil.copytree(STUDY, folder)
    about = yaml.safe_load((folder / "study.yaml").read_text())
    about["study"]["track"] = "continuation"
    (folder / "study.yaml").write_text(yaml.safe_dump(about))
    rows = pd.read_csv(folder / "answers.csv")
    rows[rows["claim"] == "C1"].assign(claim="F2").to_csv(folder / "answers.csv", index=False)
    return read_tables(folder)


def test_a_statement_has_its_outcome_its_differences_and_its_study(study, claims):
    rows = tabulate_statements({"continuation": study}, read_rules(claims)).splitlines()
    assert len(rows) == 4 and rows[2].startswith("| F2 | Causal networks continue better. | **")
    assert "known length: undecided on" in rows[2] and "../results/continuation/report.html" in rows[2]
    assert "**not tested** | `make reproduce TRACK=elsewhere` runs it" in rows[3]


def test_the_answer_of_a_study_is_the_outcome_of_its_own_claim(study):
    assert answer_question(study).startswith("Causal networks continue better: ")


def test_the_answer_of_another_study_speaks_of_no_statement(claims):
    assert "continue" not in answer_question(read_tables(STUDY))


def test_an_answer_to_a_condition_that_the_rules_no_longer_have_is_left_out(study, claims):
    study["answers"]["condition"] = study["answers"]["condition"].replace(
        "known length", "an older condition"
    )
    told = tabulate_statements({"continuation": study}, read_rules(claims))
    assert "| F2 |" in told and "older" not in told
