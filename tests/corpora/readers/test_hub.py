"""Data sets saved by the library `datasets`."""

import json

import datasets
import pytest
from corpus_files import collect
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora.readers import hub
from mlm_vs_clm.documents import Entity


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


@pytest.mark.parametrize(
    ("feature", "given", "labels"),
    [
        (datasets.Value("int64"), [0, 2, -1], [("0",), ("2",), ("-1",)]),
        (datasets.Value("int64"), [-1, -1, -1], [(), (), ()]),
        (datasets.Value("float64"), [1.0, 2.5, None], [("1",), ("2.5",), ()]),
        (datasets.Value("string"), ["a", "", None], [("a",), (), ()]),
        (datasets.Value("bool"), [True, False, None], [("True",), ("False",), ()]),
        (datasets.List(datasets.ClassLabel(names=["a", "b"])), [[0, 1], [1], []], [("a", "b"), ("b",), ()]),
        (datasets.List(datasets.Value("int64")), [[0, 1], [1], None], [("0", "1"), ("1",), ()]),
    ],
)
def test_labels_are_one_value_or_a_list_and_classes_have_names(tmp_path, feature, given, labels):
    features = datasets.Features({"text": datasets.Value("string"), "labels": feature})
    rows = {"text": ["one", "two", "three"], "labels": given}
    datasets.Dataset.from_dict(rows, features).save_to_disk(tmp_path / "saved")
    assert [d.labels for d in hub.read(tmp_path / "saved").documents] == labels


def test_a_class_of_minus_one_is_no_label(tmp_path):
    features = datasets.Features(
        {"text": datasets.Value("string"), "labels": datasets.ClassLabel(names=["a"])}
    )
    rows = {"text": ["one", "two", "three"], "labels": [0, -1, None]}
    datasets.Dataset.from_dict(rows, features).save_to_disk(tmp_path / "saved")
    assert [d.labels for d in hub.read(tmp_path / "saved").documents] == [("a",), (), ()]


GOOD = {"start": 0, "end": 3, "type": "P"}
BAD = [
    {"start": 0, "end": 3, "label": SECRET},
    GOOD | {"text": SECRET},
    GOOD | {"end": None},
    GOOD | {"end": float("inf")},
    GOOD | {"type": None},
    GOOD | {"start": SECRET},
    GOOD | {"end": 99},
    ["0", "3"],
    ["0", SECRET, "P"],
]


def save_entities(path, entities):
    """Save one document for each entity."""
    rows = [{"id": f"d{n}", "text": "Ann sang.", "entities": [entity]} for n, entity in enumerate(entities)]
    datasets.Dataset.from_list(rows).save_to_disk(path)
    return path


@pytest.mark.parametrize("entity", [GOOD, ["0", "3", "P"]])
def test_an_entity_is_a_list_or_has_names(tmp_path, entity):
    (document,) = hub.read(save_entities(tmp_path / "saved", [entity])).documents
    assert document.entities == (Entity(0, 3, "P"),)


@pytest.mark.parametrize("entity", BAD)
def test_a_bad_entity_is_a_mistake_with_the_id_of_its_document(tmp_path, entity):
    result, mistakes = collect(hub.read, save_entities(tmp_path / "saved", [entity]))
    assert not result.documents and len(mistakes) == 1
    assert mistakes[0].startswith("row 0, document d0: ")


def test_entities_in_columns_are_a_mistake(tmp_path):
    columns = {"start": [0], "end": [3], "type": [SECRET]}
    rows = [{"id": "d0", "text": "Ann sang.", "entities": columns}]
    datasets.Dataset.from_list(rows).save_to_disk(tmp_path / "saved")
    assert_refused("document d0: an entity is not of the shape", hub.read, tmp_path / "saved")


def test_types_authors_and_splits_may_be_classes(tmp_path):
    kinds = {
        name: datasets.ClassLabel(names=names)
        for name, names in (("author", ["Ann", "Bob"]), ("split", ["test", "train"]))
    }
    entity = {
        "start": datasets.Value("int32"),
        "end": datasets.Value("int32"),
        "type": datasets.ClassLabel(names=["LOC", "PER"]),
    }
    features = datasets.Features(
        {"text": datasets.Value("string"), "entities": datasets.List(entity), **kinds}
    )
    rows = {
        "text": ["Ann sang.", "Oslo."],
        "entities": [[GOOD | {"type": 1}], [GOOD | {"end": 4, "type": 0}]],
    }
    datasets.Dataset.from_dict(rows | {"author": [0, 1], "split": [1, 0]}, features).save_to_disk(
        tmp_path / "saved"
    )
    result = hub.read(tmp_path / "saved")
    assert [(d.author, d.entities[0].type) for d in result.documents] == [("Ann", "PER"), ("Bob", "LOC")]
    assert list(result.parts.values()) == ["train", "test"]


def test_a_split_of_another_name_is_one_mistake(tmp_path):
    parts = {
        key: datasets.Dataset.from_dict({"text": [f"{key} {n}" for n in range(9)]})
        for key in ("train", "unsupervised")
    }
    datasets.DatasetDict(parts).save_to_disk(tmp_path / "saved")
    result, mistakes = collect(hub.read, tmp_path / "saved")
    assert len(result.documents) == 9 and len(mistakes) == 1
    assert mistakes[0].startswith("split unsupervised: the name is none of train, val, dev and test")


def test_a_folder_of_data_sets_is_none(tmp_path):
    for key in ("train", "test"):
        datasets.Dataset.from_dict({"text": ["one"]}).save_to_disk(tmp_path / key)
    assert_refused(r"holds 2 data sets \(test, train\): give the path of one", hub.read, tmp_path)


@pytest.mark.parametrize("name", ["../far.arrow", "/far.arrow", "..", "a/b.arrow", None])
def test_a_data_set_reads_no_file_from_elsewhere(tmp_path, name):
    folder = tmp_path / "saved"
    datasets.Dataset.from_dict({"text": [SECRET]}).save_to_disk(folder)
    state = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps(state | {"_data_files": [{"filename": name}]}))
    assert_refused("state.json names what lies outside of its folder", hub.read, folder)


def test_a_data_set_has_no_split_from_elsewhere(tmp_path):
    datasets.DatasetDict({"train": datasets.Dataset.from_dict({"text": [SECRET]})}).save_to_disk(
        tmp_path / "saved"
    )
    (tmp_path / "saved/dataset_dict.json").write_text(json.dumps({"splits": ["train", "../other"]}))
    assert_refused("dataset_dict.json names what lies outside", hub.read, tmp_path / "saved")


def test_rows_without_id_that_repeat_a_text_with_another_label_are_mistakes(tmp_path):
    rows = {"text": ["Ann sang.", "Bob ran.", "Ann sang."], "label": ["a", "b", "b"]}
    datasets.Dataset.from_dict(rows).save_to_disk(tmp_path / "long")
    assert_refused("row 2: its text stands in an earlier row", hub.read, tmp_path / "long")
    datasets.Dataset.from_dict(rows | {"id": ["x", "y", "z"]}).save_to_disk(tmp_path / "named")
    assert len(hub.read(tmp_path / "named").documents) == 3


@pytest.mark.parametrize("column, columns", [("entities", {}), ("spans", {"entities": "spans"})])
def test_a_column_of_entities_is_found(tmp_path, column, columns):
    rows = [{"text": "Ann sang.", column: [GOOD]}]
    datasets.DatasetDict({"train": datasets.Dataset.from_list(rows)}).save_to_disk(tmp_path / "saved")
    assert hub.has_entities(str(tmp_path / "saved"), columns)
    assert not hub.has_entities(str(tmp_path / "saved"), {"entities": "others"})
