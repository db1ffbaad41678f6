"""JSON Lines: anyone's own documents."""

import pytest
from corpus_files import put_rows
from refusals import assert_refused

from mlm_vs_clm.corpora.readers import jsonl
from mlm_vs_clm.documents import Entity

ROW = {"id": "1", "text": "Ann sang."}


def test_jsonl_reads_anyones_own(tmp_path):
    row = ROW | {"labels": ["a"], "entities": [[0, 3, "Person"]], "author": "x"}
    result = jsonl.read(put_rows(tmp_path, "d.jsonl", [row, "", {"id": "2", "text": ""}]))
    assert result.documents[0].entities == (Entity(0, 3, "Person"),)
    assert result.dropped == [{"id": "2", "reason": "empty document"}]


@pytest.mark.parametrize(
    "row, says",
    [
        ({"id": "1"}, "line 2: not of the shape .*: add its text"),
        ({"text": "a"}, "line 2: not of the shape .*: add its id"),
        ({"id": "", "text": "a"}, "line 2: not of the shape .*: correct its id"),
        (ROW | {"entities": [[0, "3", "P"]]}, "line 2: .*: correct its entities"),
        (ROW | {"labels": [1]}, "line 2: not of the shape .*: correct its labels"),
        (ROW | {"id": 0}, "line 2: the id 0 is used twice"),
        (ROW | {"entities": [[3, 99, "P"]]}, "line 2, document 1: entity offsets"),
    ],
)
def test_jsonl_names_the_line_and_not_the_text(tmp_path, row, says):
    rows = [{"id": "0", "text": "fine"}, row | ({"text": "secretword"} if "text" in row else {})]
    assert_refused(says, jsonl.read, put_rows(tmp_path, "d.jsonl", rows))


def test_a_key_in_another_case_is_not_left_out_in_silence(tmp_path):
    path = put_rows(tmp_path, "d.jsonl", [ROW | {"Labels": ["a"]}])
    assert_refused("a column Labels and none labels: rename it", jsonl.read, path)
    assert jsonl.read(path, columns={"labels": "Labels"}).documents[0].labels == ("a",)


def test_rows_as_pandas_writes_them(tmp_path):
    row = ROW | {"id": 1, "author": 7.0, "labels": None, "date": "2013-06-01T00:00:00.000"}
    (document,) = jsonl.read(put_rows(tmp_path, "d.jsonl", [row])).documents
    assert (document.author, document.labels, document.date) == ("7", (), "2013-06-01")
    path = put_rows(tmp_path, "d.jsonl", [row | {"date": "1 June"}])
    assert_refused("line 1: its date is not of the form 2013-06-14", jsonl.read, path)
