"""A list of labels in a cell, and labels of other types."""

import math

import pytest
from corpus_files import put, put_rows, save
from datasets import ClassLabel, Features, List, Value
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora.readers import folder, hub, jsonl, tables
from mlm_vs_clm.corpora.readers.cells import split_labels

LISTS = {
    "['x']": ("x",),
    "['x', 'y']": ("x", "y"),
    '["x","y"]': ("x", "y"),
    "['x' 'y']": ("x", "y"),
    "['x'\n 'y']": ("x", "y"),
    "('x', 'y')": ("x", "y"),
    "('x',)": ("x",),
    "{'x', 'y'}": ("x", "y"),
    "'x', 'y'": ("x", "y"),
    '["x, y"; "z"]': ("x, y", "z"),
    '["it\'s", \'a "b"\']': ("it's", 'a "b"'),
    '["\\u00e9t\\u00e9", "\\ud83d\\ude00"]': ("été", "😀"),
    "[1, 2]": ("1", "2"),
    **dict.fromkeys(("", "[]", " [ ] ", "()", "{}", "set()", "frozenset()"), ()),
    "a, b;c|a": ("a", "b", "c"),
    "犯罪，爱情；战争、家": ("犯罪", "爱情", "战争", "家"),
    "حب، حرب": ("حب", "حرب"),
    "rock 'n' roll, it's": ("rock 'n' roll", "it's"),
    "(post)rock, jazz (cool)": ("(post)rock", "jazz (cool)"),
}


@pytest.mark.parametrize("cell", LISTS)
def test_labels_of_a_cell(cell):
    assert split_labels(cell, "here") == LISTS[cell]


NO_LISTS = [
    f"[{SECRET}, y]",
    "['x', nan]",
    "['x', None]",
    "[['x'], ['y']]",
    "{'x': 1}",
    "['x', 'y'",
    "'x', 'y']",
    "['it''s']",
    "[b'x']",
    "a, ['x']",
    "{x,y}",
    "('x', nan)",
    "['\\x']",
]


@pytest.mark.parametrize("cell", NO_LISTS)
def test_what_looks_like_a_list_and_is_none_is_a_mistake_in_every_table(tmp_path, cell):
    quoted = cell.replace('"', '""')
    says = "line 2: its labels look like a list .*corpus.columns.labels="
    assert_refused(says, tables.read, put(tmp_path, "x.csv", f'id,text,labels\n1,a,"{quoted}"\n'))
    put(tmp_path, "y/1.txt", SECRET)
    put(tmp_path, "y/labels.csv", f'id,labels\n1,"{quoted}"\n')
    assert_refused(says, folder.read, tmp_path / "y")


TEXT = Value("string")


def save_labels(path, labels, feature):
    rows = {"text": [f"{SECRET} {n}" for n in range(len(labels))], "labels": labels}
    return save(path, rows, Features({"text": TEXT, "labels": feature}))


def test_a_written_list_in_a_data_set_or_json_is_its_items(tmp_path):
    for name, given, feature in (
        ("text", ["['x', 'y']", "a, b"], TEXT),
        ("list", [["['x', 'y']"], ["a, b"]], List(TEXT)),
    ):
        documents = hub.read(save_labels(tmp_path / name, given, feature)).documents
        assert [document.labels for document in documents] == [("x", "y"), ("a, b",)]
    path = put_rows(tmp_path, "x.jsonl", [{"id": "1", "text": "a", "labels": ["['x', 'y']", "[z]"]}])
    assert jsonl.read(path).documents[0].labels == ("x", "y", "[z]")


@pytest.mark.parametrize(
    "labels, feature",
    [
        ([[["a"], ["b"]]], List(List(TEXT))),
        ([math.nan], Value("float64")),
        ([[1.0, math.nan]], List(Value("float64"))),
        ([math.inf], Value("float32")),
        ([{"name": "a"}], {"name": TEXT}),
        ([[{"name": "a"}]], List({"name": TEXT})),
        ([b"a"], Value("binary")),
        (["['x', nan]"], TEXT),
    ],
)
def test_labels_of_other_types_are_mistakes(tmp_path, labels, feature):
    assert_refused("x, row 0: its labels", hub.read, save_labels(tmp_path / "x", labels, feature))


@pytest.mark.parametrize("author", [math.nan, {"name": "a"}, ["a"], b"a"])
def test_an_author_is_text_or_a_number(tmp_path, author):
    path = save(tmp_path / "x", {"text": ["one", SECRET], "author": [author, author]})
    assert_refused("row 0: its author is neither", hub.read, path)


def test_an_author_of_number_zero_is_one_and_none_is_none(tmp_path):
    path = save(tmp_path / "x", {"text": ["one", "two"], "author": [0, None]})
    assert [document.author for document in hub.read(path).documents] == ["0", ""]


def test_a_class_outside_of_its_names_is_a_mistake(tmp_path):
    info = save_labels(tmp_path / "x", [0, 1], ClassLabel(names=["a", "b"])) / "dataset_info.json"
    info.write_text(info.read_text().replace('"b"', "").replace(',\n        ""', "").replace('"a",', '"a"'))
    assert_refused("row 1: a label is none of the classes", hub.read, tmp_path / "x")
