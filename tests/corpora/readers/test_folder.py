"""A folder of .txt files with a table of labels."""

import os

import pytest
from corpus_files import collect, put
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora.readers import folder
from mlm_vs_clm.corpora.readers.files import UNREAD


def test_folder_of_texts_with_a_table_of_labels(tmp_path):
    put(tmp_path, "a.txt", "\ufeffAnn sang.\r\nLoud.")
    put(tmp_path, "b.txt", "Bob ran.")
    put(tmp_path, "labels.csv", "id,labels,author\na.txt,music,ann\nb,sport|run,bob\n")
    result = folder.read(tmp_path)
    assert [(d.id, d.text, d.labels, d.author) for d in result.documents] == [
        ("a", "Ann sang.\nLoud.", ("music",), "ann"),
        ("b", "Bob ran.", ("sport", "run"), "bob"),
    ]


def test_folder_mistakes(tmp_path):
    for name in "ab":
        put(tmp_path, f"{name}.txt", SECRET)
    put(tmp_path, "labels.csv", "id,labels\na,x\na,y\nc,z\n")
    _, mistakes = collect(folder.read, tmp_path)
    places = [mistake.split(":")[0] for mistake in mistakes]
    assert places == ["labels.csv, line 3", "labels.csv, line 4", "b.txt"]
    put(tmp_path, "more.csv", "id\n")
    assert_refused("holds 2 tables", folder.read, tmp_path)


@pytest.mark.parametrize(
    ("link", "target", "says"),
    [
        ("loop.txt", "loop.txt", "loop.txt leads to nothing that can be read"),
        ("gone.txt", "nowhere.txt", "gone.txt leads to nothing that can be read"),
        ("shown", ".store", "shown is a link to a hidden folder"),
    ],
)
def test_a_link_whose_text_cannot_be_read_stops(tmp_path, link, target, says):
    put(tmp_path, "a.txt", "Ann sang.")
    put(tmp_path, ".store/b.txt", SECRET)
    os.symlink(target, tmp_path / link)
    assert_refused(says, folder.read, tmp_path)


def test_a_folder_without_rights_stops(tmp_path, monkeypatch):
    put(tmp_path, "a.txt", "Ann sang.")
    put(tmp_path, "locked/b.txt", "Bob ran.")
    scan = os.scandir

    def refuse(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)  # root may read all
    assert_refused("locked cannot be read .Permission denied.: change its rights", folder.read, tmp_path)


def test_files_that_the_format_does_not_use_are_counted(tmp_path):
    for name in ("a.txt", "b.md", "c.csv.gz", ".hidden"):
        put(tmp_path, name, "Ann sang.")
    assert folder.read(tmp_path).counted == {UNREAD: 2}


def test_a_row_names_a_file_by_its_name_or_its_path(tmp_path):
    for name in ("pos/1", "neg/2"):
        put(tmp_path, f"{name}.txt", f"Text of {name}.")
    put(tmp_path, "labels.csv", "id,labels\npos/1.txt,a\n2,b\n")
    assert [(d.id, d.labels) for d in folder.read(tmp_path).documents] == [("2", ("b",)), ("1", ("a",))]


def test_a_name_in_the_folders_of_two_splits_is_that_of_the_rows_split(tmp_path):
    for name in ("train/1", "test/1"):
        put(tmp_path, f"{name}.txt", f"Text of {name}.")
    put(tmp_path, "labels.csv", "id,labels,split\n1,a,train\n1,b,test\n")
    result = folder.read(tmp_path)
    assert {d.id: d.labels for d in result.documents} == {"train_1": ("a",), "test_1": ("b",)}
    put(tmp_path, "labels.csv", "id,labels\n1,a\n")
    _, mistakes = collect(folder.read, tmp_path)
    assert "labels.csv, line 2: 2 .txt files of that name: give its path" in mistakes[0]
