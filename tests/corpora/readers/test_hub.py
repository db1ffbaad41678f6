"""Data sets saved by the library `datasets`."""

import json

import pytest
from corpus_files import collect, save, save_splits
from datasets import ClassLabel, Features, List, Value
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora.readers import hub
from mlm_vs_clm.documents import Entity

TEXT = Value("string")


def test_saved_data_set_with_class_names_and_official_keys(tmp_path):
    parts = {
        key: {"body": [f"{key} one.", f"{key} two."], "topic": [0, 1]}
        for key in ("train", "validation", "test")
    }
    features = Features({"body": TEXT, "topic": ClassLabel(names=["a", "b"])})
    path = save_splits(tmp_path / "saved", features, **parts)
    result = hub.read(path, columns={"text": "body", "labels": "topic"})
    assert [(d.id, d.labels) for d in result.documents[:2]] == [("train-0", ("a",)), ("train-1", ("b",))]
    assert result.parts["validation-1"] == "dev"
    assert_refused("split train: no column text", hub.read, path)


@pytest.mark.parametrize(
    ("feature", "given", "labels"),
    [
        (Value("int64"), [0, 2, -1], [("0",), ("2",), ("-1",)]),
        (Value("int64"), [-1, -1, -1], [(), (), ()]),
        (Value("float64"), [1.0, 2.5, None], [("1",), ("2.5",), ()]),
        (TEXT, ["a", "", None], [("a",), (), ()]),
        (Value("bool"), [True, False, None], [("True",), ("False",), ()]),
        (List(ClassLabel(names=["a", "b"])), [[0, 1], [1], []], [("a", "b"), ("b",), ()]),
        (List(Value("int64")), [[0, 1], [1], None], [("0", "1"), ("1",), ()]),
        (ClassLabel(names=["a"]), [0, -1, None], [("a",), (), ()]),  # -1 is no label
    ],
)
def test_labels_are_one_value_or_a_list_and_classes_have_names(tmp_path, feature, given, labels):
    rows = {"text": ["one", "two", "three"], "labels": given}
    path = save(tmp_path / "saved", rows, Features({"text": TEXT, "labels": feature}))
    assert [d.labels for d in hub.read(path).documents] == labels


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
    return save(path, [{"id": "d0", "text": "Ann sang.", "entities": entities}])


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
    path = save_entities(tmp_path / "saved", {"start": [0], "end": [3], "type": [SECRET]})
    assert_refused("document d0: an entity is not of the shape", hub.read, path)


def test_types_authors_and_splits_may_be_classes(tmp_path):
    entity = {"start": Value("int32"), "end": Value("int32"), "type": ClassLabel(names=["LOC", "PER"])}
    features = {"text": TEXT, "entities": List(entity), "author": ClassLabel(names=["Ann", "Bob"])}
    features |= {"split": ClassLabel(names=["test", "train"])}
    rows = {"text": ["Ann sang.", "Oslo."], "author": [0, 1], "split": [1, 0]}
    rows |= {"entities": [[GOOD | {"type": 1}], [GOOD | {"end": 4, "type": 0}]]}
    result = hub.read(save(tmp_path / "saved", rows, Features(features)))
    assert [(d.author, d.entities[0].type) for d in result.documents] == [("Ann", "PER"), ("Bob", "LOC")]
    assert list(result.parts.values()) == ["train", "test"]


def test_a_split_of_another_name_is_one_mistake(tmp_path):
    parts = {key: {"text": [f"{key} {n}" for n in range(9)]} for key in ("train", "unsupervised")}
    result, mistakes = collect(hub.read, save_splits(tmp_path / "saved", **parts))
    assert len(result.documents) == 9 and len(mistakes) == 1
    assert mistakes[0].startswith("split unsupervised: the name is none of train, val, dev and test")


def test_a_folder_of_data_sets_is_none(tmp_path):
    for key in ("train", "test"):
        save(tmp_path / key, {"text": ["one"]})
    assert_refused(r"holds 2 data sets \(test, train\): give the path of one", hub.read, tmp_path)


@pytest.mark.parametrize("name", ["../far.arrow", "/far.arrow", "..", "a/b.arrow", ".far.arrow", None])
def test_a_data_set_reads_no_file_from_elsewhere(tmp_path, name):
    folder = save(tmp_path / "saved", {"text": [SECRET]})
    state = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps(state | {"_data_files": [{"filename": name}]}))
    assert_refused("state.json names what lies outside of its folder", hub.read, folder)


def test_a_data_set_has_no_split_from_elsewhere(tmp_path):
    folder = save_splits(tmp_path / "saved", train={"text": [SECRET]})
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "../other"]}))
    assert_refused("dataset_dict.json names what lies outside", hub.read, folder)


def test_no_hidden_link_leads_out_of_a_data_set(tmp_path):
    """The fingerprint of the folder and its check of links leave out what is hidden."""
    far = save(tmp_path / "far", {"text": [SECRET]})
    folder = save_splits(tmp_path / "saved", train={"text": ["one"]})
    (folder / ".test").symlink_to(far)
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": ["train", ".test"]}))
    assert_refused("dataset_dict.json names what lies outside of its folder or is hidden", hub.read, folder)


def test_rows_without_id_that_repeat_a_text_with_another_label_are_mistakes(tmp_path):
    rows = {"text": ["Ann sang.", "Bob ran.", "Ann sang."], "label": ["a", "b", "b"]}
    says = "row 2: its text stands in an earlier row"
    assert_refused(says, hub.read, save(tmp_path / "long", rows))
    named = save(tmp_path / "named", rows | {"id": ["x", "y", "z"]})
    assert len(hub.read(named).documents) == 3


@pytest.mark.parametrize("column, columns", [("entities", {}), ("spans", {"entities": "spans"})])
def test_a_column_of_entities_is_found(tmp_path, column, columns):
    path = str(save_splits(tmp_path / "saved", train={"text": ["Ann sang."], column: [[GOOD]]}))
    assert hub.has_entities(path, columns)
    assert not hub.has_entities(path, {"entities": "others"})
