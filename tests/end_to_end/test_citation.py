"""What a person, an archive and a package index are told of the project is the same."""

import json
import tomllib

import pytest
import yaml

from mlm_vs_clm.files import ROOT

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ZENODO = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
CODEMETA = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
TEMPLATE = yaml.safe_load(
    (ROOT / ".github" / "ISSUE_TEMPLATE" / "reproduction.yml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    "key, zenodo, codemeta", [("title", "title", "name"), ("abstract", "description", "description")]
)
def test_words_are_those_of_the_citation(key, zenodo, codemeta):
    assert ZENODO[zenodo] == CITATION[key] == CODEMETA[codemeta]


def test_version_licence_authors_and_keywords_agree():
    assert {CITATION["version"], ZENODO["version"], CODEMETA["version"], CODEMETA["softwareVersion"]} == {
        PROJECT["version"]
    }
    assert (
        CITATION["license"]
        == ZENODO["license"]
        == PROJECT["license"]
        == CODEMETA["license"].rpartition("/")[2]
    )
    names = [author["name"] for author in CITATION["authors"]]
    assert names == [one["name"] for one in ZENODO["creators"]] == [one["name"] for one in CODEMETA["author"]]
    assert CITATION["keywords"] == ZENODO["keywords"] == CODEMETA["keywords"]


def test_the_paper_and_what_the_library_needs_agree():
    paper = CITATION["references"][0]
    assert CODEMETA["referencePublication"]["name"] == paper["title"]
    assert CODEMETA["referencePublication"]["url"] == paper["url"] == PROJECT["urls"]["Paper"]
    assert ZENODO["related_identifiers"][0]["identifier"] == paper["identifiers"][0]["value"]
    needed = [line.partition(">=")[0] for line in PROJECT["dependencies"]]
    assert CODEMETA["softwareRequirements"] == needed
    assert PROJECT["requires-python"] in CODEMETA["runtimePlatform"]


def test_a_reproduction_is_reported_with_what_the_table_needs():
    asked = {part["id"]: part for part in TEMPLATE["body"] if "id" in part}
    needed = {"who", "machine", "commit", "outcomes"}
    assert all(asked[name]["validations"]["required"] for name in needed)
