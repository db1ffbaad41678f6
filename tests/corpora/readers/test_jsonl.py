"""JSON Lines: anyone's own documents."""

import json

import pytest
from refusals import assert_refused

from mlm_vs_clm.corpora.readers import jsonl
from mlm_vs_clm.documents import Entity


def test_jsonl_reads_anyones_own(tmp_path):
    path = tmp_path / "d.jsonl"
    row = {"id": "1", "text": "Ann sang.", "labels": ["a"], "entities": [[0, 3, "Person"]], "author": "x"}
    path.write_text(f'{json.dumps(row)}\n\n{{"id": "2", "text": ""}}\n')
    result = jsonl.read(path)
    assert result.documents[0].entities == (Entity(0, 3, "Person"),)
    assert result.dropped == [{"id": "2", "reason": "empty document"}]


@pytest.mark.parametrize(
    "line, says",
    [
        ('{"id": "1", "text": "secretword', "line 2: not JSON"),
        ('{"id": "1"}', "line 2: not of the shape .*: correct its text"),
        (
            '{"id": "1", "text": "secretword", "entities": [[0, "3", "P"]]}',
            "line 2: .*: correct its entities",
        ),
        (
            '{"id": "1", "text": "secretword", "labels": [1]}',
            "line 2: not of the shape .*: correct its labels",
        ),
        ('{"id": 0, "text": "secretword"}', "line 2: the id 0 is used twice"),
        (
            '{"id": "1", "text": "secretword", "entities": [[3, 99, "P"]]}',
            "line 2, document 1: entity offsets",
        ),
        ('{"id": "0", "text": "secretword"}', "line 2: the id 0 is used twice"),
    ],
)
def test_jsonl_names_the_line_and_not_the_text(tmp_path, line, says):
    path = tmp_path / "d.jsonl"
    path.write_text('{"id": "0", "text": "fine"}\n' + line)
    assert_refused(says, jsonl.read, path)


def test_a_key_in_another_case_is_not_left_out_in_silence(tmp_path):
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps({"id": "1", "text": "Ann sang.", "Labels": ["a"]}) + "\n")
    assert_refused("a column Labels and none labels: rename it", jsonl.read, path)
    assert jsonl.read(path, columns={"labels": "Labels"}).documents[0].labels == ("a",)


def test_rows_as_pandas_writes_them(tmp_path):
    path = tmp_path / "d.jsonl"
    row = {"id": 1, "text": "Ann sang.", "author": 7.0, "labels": None, "date": "2013-06-01T00:00:00.000"}
    path.write_text(json.dumps(row) + "\n")
    (document,) = jsonl.read(path).documents
    assert (document.author, document.labels, document.date) == ("7", (), "2013-06-01")
    path.write_text(json.dumps(row | {"date": "1 June"}))
    assert_refused("line 1: its date is not of the form 2013-06-14", jsonl.read, path)
