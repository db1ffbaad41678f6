"""Results, texts and models as other tools read them."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from aspirin import DOCUMENT
from forged_store import sign
from generated_store import make_store

from mlm_vs_clm.files import ROOT
from mlm_vs_clm.pipeline.artifacts import inputs_of
from mlm_vs_clm.tools import model_card, results_export
from mlm_vs_clm.tools.__main__ import main
from mlm_vs_clm.tools.dataset_export import write_dataset
from mlm_vs_clm.tools.results_export import DIRECTIONS, describe_results, name_record

STUDY = ROOT / "results" / "laptop"
TOP = {"schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info"}
TOP |= {"eval_library", "evaluation_results"}


@pytest.fixture(scope="module")
def records():
    return dict(describe_results(STUDY, 1000.0))


def list_values(value):
    """Return all plain values in nested lists and dictionaries."""
    if isinstance(value, dict):
        return [one for part in value.values() for one in list_values(part)]
    return [one for part in value for one in list_values(part)] if isinstance(value, list) else [value]


def test_a_record_has_what_the_schema_requires(records):
    for arm, record in records.items():
        assert set(record) == TOP and record["evaluation_results"]
        assert {"name", "id", "additional_details"} <= set(record["model_info"]) and record["model_info"][
            "name"
        ] == arm
        details = record["model_info"]["additional_details"]
        assert {"deployment_type", "model_availability"} <= set(details) and all(
            isinstance(v, str) for v in details.values()
        )
        assert record["source_metadata"]["source_type"] == "evaluation_run"
        for result in record["evaluation_results"]:
            assert {"evaluation_name", "source_data", "metric_config", "score_details"} <= set(result)
            assert {"dataset_name", "source_type"} <= set(result["source_data"])
            assert isinstance(result["metric_config"]["lower_is_better"], bool)
            assert all(isinstance(v, str) for v in result["score_details"]["details"].values())
        assert json.loads(json.dumps(record, allow_nan=False)) == record


def test_every_score_of_a_direction_is_there_once(records):
    scores, tasks = (pd.read_csv(STUDY / f"{name}.csv") for name in ("scores", "downstream"))
    wanted = sum(
        table["metric"].isin(DIRECTIONS).mul(table["value"].notna()).sum() for table in (scores, tasks)
    )
    ids = [
        (arm, one["evaluation_result_id"])
        for arm, record in records.items()
        for one in record["evaluation_results"]
    ]
    assert len(ids) == wanted == len(set(ids))


def test_a_score_has_its_interval_its_masking_and_its_direction(records):
    found = {one["evaluation_result_id"]: one for one in records["mlm"]["evaluation_results"]}
    bleu, nats = (
        found["plots/random-0.5/0/document/bleu"],
        found["plots/random-0.5/0/fills/nats_per_character"],
    )
    interval = bleu["score_details"]["uncertainty"]["confidence_interval"]
    assert interval["lower"] < bleu["score_details"]["score"] < interval["upper"]
    assert interval["confidence_level"] == 0.95
    assert not bleu["metric_config"]["lower_is_better"] and nats["metric_config"]["lower_is_better"]
    assert bleu["source_data"]["additional_details"]["licence"]


def test_an_interval_says_how_it_was_made(records):
    """A task model's is that of t over the task seeds, so it lies evenly about the score."""
    tasks = set(pd.read_csv(STUDY / "downstream.csv")["task"])
    is_even = {}
    for one in records["mlm"]["evaluation_results"]:
        details = one["score_details"]
        interval = details.get("uncertainty", {}).get("confidence_interval")
        if interval:
            of_task = one["evaluation_result_id"].split("/")[3] in tasks
            assert interval["method"].startswith("Student's t" if of_task else "bootstrap")
            middle = (interval["lower"] + interval["upper"]) / 2
            is_even.setdefault(of_task, []).append(middle == pytest.approx(details["score"], abs=1e-5))
    assert all(is_even[True]) and not all(is_even[False])


def test_a_score_beyond_a_control_may_lie_below_zero():
    rows = [{"metric": name, "scope": "document", "signature": ""} for name in ("copied", "mmd", "bleu")]
    bounds = [results_export._describe_metric(row) for row in rows]
    assert [(row["min_score"], row["max_score"]) for row in bounds] == [
        (-1, 1),
        ("-Infinity", "Infinity"),
        (0, 100),
    ]


def test_the_same_scores_have_the_same_name_whenever_they_are_written(records):
    later = dict(describe_results(STUDY, 2000.0))
    assert name_record(later["mlm"]) == name_record(records["mlm"]) != name_record(records["clm"])
    assert name_record(records["mlm"])[14] == "4"


def test_the_command_writes_a_file_per_arm_and_refuses_what_is_no_study(tmp_path, capsys, records):
    assert main(["export-results", str(STUDY), "--out", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == len(records) == len([*tmp_path.rglob("*.json")])
    assert main(["export-results", str(tmp_path / "none"), "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def complete(generation):
    """Give the forged artifacts of `make_store` what a card tells of them."""
    stored = inputs_of(generation)
    card = {"name": "notes", "origin": "made up", "files": ["a.txt"], "licence": "CC0"}
    card |= {"differs_from_the_paper": "all"}
    card |= {"rules": {}, "splits": {}, "entities": {}, "labels": {}, "dropped": {}}
    (stored["corpus"] / "card.json").write_text(json.dumps(card))
    hidden = {"strategy": "random", "ratio": 0.5, "seed": 0, "blanks": 3, "words": 6, "share": 0.5}
    (stored["corruption"] / "summary.json").write_text(json.dumps(hidden))
    for folder in stored.values():
        sign(folder)


def test_generated_texts_load_as_a_data_set_with_a_card(tmp_path, capsys):
    from datasets import load_dataset

    generation, out = make_store(tmp_path / "store"), tmp_path / "set"
    complete(generation)
    assert main(["export-dataset", str(generation), "--out", str(out)]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "documents": 1,
        "entities": 2,
        "entity left out of the new text": 1,
    }
    (row,) = load_dataset(str(out), split="generated", cache_dir=str(tmp_path / "cache"))
    assert row["text"] != DOCUMENT.text and [e["type"] for e in row["entities"]]
    card = (out / "README.md").read_text()
    assert card.startswith("---\n") and "3 of 6 words (50.0%)" in card and "**Licence**: CC0" in card
    assert "1 lost: entity left out of the new text" in card and DOCUMENT.text not in card
    assert main(["export-dataset", str(generation), "--out", str(out)]) == 1
    assert "is not empty" in capsys.readouterr().err


def test_a_damaged_store_is_refused_in_a_line(tmp_path, capsys):
    assert main(["export-dataset", str(tmp_path), "--out", str(tmp_path / "set")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_data_set_keeps_every_field(tmp_path):
    from datasets import load_dataset

    schemas = []
    for name, document in (("plain", replace(DOCUMENT, labels=(), entities=())), ("set", DOCUMENT)):
        write_dataset([document], "card", tmp_path / name)
        stored = load_dataset(
            "parquet",
            data_files=str(tmp_path / name / "data" / "*.parquet"),
            split="train",
            cache_dir=str(tmp_path / "cache"),
        )
        schemas.append(stored.features)
        assert [*stored] == [document.to_row()]
    assert schemas[0] == schemas[1]  # also where no document has labels or entities


def test_a_model_card_needs_a_store_and_an_arm_with_a_model(tmp_path, capsys):
    words = ["--results", str(STUDY), "--store", str(tmp_path), "--out", str(tmp_path / "model")]
    for arm, reason in {"mlm": "make reproduce", "nobody": "choose one of"}.items():
        assert main(["model-card", arm, *words]) == 1
        told = capsys.readouterr().err
        assert told.count("\n") == 1 and reason in told


def test_a_checkpoint_that_the_study_did_not_train_has_no_card(tmp_path, capsys, monkeypatch):
    study = ROOT / "results" / "laptop-pretrained"
    ledger = pd.read_csv(study / "ledger.csv")
    for artifact in ledger.loc[ledger["arm"] == "clm_general", "artifact"]:
        (tmp_path / artifact).mkdir(parents=True)
        (tmp_path / artifact / "artifact.json").write_text(json.dumps({"inputs": {"model": "start/0"}}))
    monkeypatch.setattr(model_card, "refuse_damaged", lambda folder: None)
    words = ["--results", str(study), "--store", str(tmp_path), "--out", str(tmp_path / "model")]
    assert main(["model-card", "clm_general", *words]) == 1
    assert "as it comes, which the study did not train" in capsys.readouterr().err
