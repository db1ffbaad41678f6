"""Data sets saved by the library `datasets`."""

import datasets
from refusals import assert_refused

from mlm_vs_clm.corpora.readers import hub


def test_saved_data_set_with_class_names_and_official_keys(tmp_path):
    topic = datasets.ClassLabel(names=["a", "b"])
    features = datasets.Features({"body": datasets.Value("string"), "topic": topic})
    parts = {
        key: datasets.Dataset.from_dict({"body": [f"{key} one.", f"{key} two."], "topic": [0, 1]}, features)
        for key in ("train", "validation", "test")
    }
    datasets.DatasetDict(parts).save_to_disk(tmp_path / "saved")
    result = hub.read(tmp_path / "saved", columns={"text": "body", "labels": "topic"})
    assert [(d.id, d.labels) for d in result.documents[:2]] == [("train-0", ("a",)), ("train-1", ("b",))]
    assert result.parts["validation-1"] == "dev"
    assert_refused("split train: no column text", hub.read, tmp_path / "saved")
