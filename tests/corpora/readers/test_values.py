"""Values that no text may have: halves of characters, numbers without end, deep nesting, columns that count."""

import json
import os

import datasets
import pyarrow
import pytest
from corpus_files import collect, put, put_rows, save
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora.readers import (
    READERS,
    bioc,
    brat,
    folder,
    hub,
    jsonl,
    movies,
    pan,
    pan_pairs,
    speeches,
)
from mlm_vs_clm.corpora.readers.base import NUMBERS
from mlm_vs_clm.corpora.readers.files import Files, fingerprint

HALF, DIGITS, DEEP = r"\ud83d", "9" * 5000, "[" * 100_000
ROW = {"id": "a", "text": SECRET, "labels": ["x"], "author": "b", "date": "c", "entities": [[0, 1, "P"]]}


@pytest.mark.parametrize("value", ["a", SECRET, "x", "b", "c", "P"])
@pytest.mark.parametrize("bad, says", [(HALF, "half of a character"), (r"\u0000", "a NUL character")])
def test_half_a_character_in_any_field_of_json_is_a_mistake_with_its_line(tmp_path, value, bad, says):
    line = json.dumps(ROW).replace(f'"{value}"', f'"{value}{bad}"')
    path = put(tmp_path, "x.jsonl", '{"id": "0", "text": "fine"}\n' + line)
    result, mistakes = collect(jsonl.read, path)
    assert len(result.documents) == 1 and len(mistakes) == 1 and mistakes[0].startswith(f"line 2: {says}")


def test_a_whole_character_in_two_halves_is_one_character(tmp_path):
    path = put(tmp_path, "x.jsonl", r'{"id": "a", "text": "ha \ud83d\ude00"}')
    assert jsonl.read(path).documents[0].text == "ha 😀"


BAD_JSON = {
    f'{{"id": "a", "text": "x", "n": {DIGITS}}}': "a number of too many digits",
    f'{{"id": "a", "text": "x", "n": {DEEP}': "nested too deeply",
    f'{{"id": "a", "text": "x", "n": {DEEP}{"]" * 100_000}}}': "nested too deeply",
    '{"id": "a", "text": "secretword': "not JSON",
    '{"id": "a", "same": true, "pair": ["a", "b"], "text": "secretword", "text": "x"}': "the same key twice",
    '{"id": "a", "same": true, "pair": ["a", "b"], "text": "x", "n": {"m": 1, "m": 2}}': "the same key twice",
    f'{{"id": "a{HALF}", "same": true, "pair": ["a", "b"], "text": "x"}}': "half of a character",
    f'{{"id": "a", "same": true, "pair": ["a", "b{HALF}"], "text": "x", "n": {{"m": ["{HALF}"]}}}}': "half of a",
}


@pytest.mark.parametrize("line", BAD_JSON, ids=BAD_JSON.values())
def test_json_that_cannot_be_read_is_one_line_with_its_place(tmp_path, line):
    says, good = BAD_JSON[line], '{"id": "0", "same": true, "pair": ["One.", "Two."], "text": "Three."}\n'
    assert_refused(f"x.jsonl, line 2: .*{says}", jsonl.read, put(tmp_path, "x.jsonl", good + line))
    for bad, other in (("pairs", "truth"), ("truth", "pairs")):
        put(tmp_path, f"p/{bad}.jsonl", good + line)
        put(tmp_path, f"p/{other}.jsonl", good)
        assert_refused(f"{bad}.jsonl, line 2: .*{says}", pan_pairs.read, tmp_path / "p")


@pytest.mark.parametrize(
    "content",
    [DIGITS, DEEP, "{", f'{{"language": {DIGITS}}}'],
    ids=["digits", "nesting", "not JSON", "digits inside"],
)
def test_files_of_json_that_cannot_be_read_are_one_line(tmp_path, content):
    put(tmp_path, "pan/EN1/unknown.txt", SECRET)
    put(tmp_path, "pan/EN1/known01.txt", SECRET)
    put(tmp_path, "pan/truth.txt", "EN1 Y")
    put(tmp_path, "pan/contents.json", content)
    assert_refused("contents.json", pan.read, tmp_path / "pan")
    assert_refused("data.json: ", speeches.read, put(tmp_path, "data.json", content))
    for name, says in ("state", "state.json: .*: correct it"), ("dataset_info", "cannot be loaded"):
        saved = save(tmp_path / name, {"text": ["one"]})
        put(saved, f"{name}.json", content)
        assert_refused(says, hub.read, saved)


@pytest.mark.parametrize("language", [["en"], {"en": 1}, 5])
def test_a_language_is_a_string(tmp_path, language):
    put(tmp_path, "EN1/unknown.txt", SECRET)
    put(tmp_path, "truth.txt", "EN1 Y")
    put(tmp_path, "contents.json", json.dumps({"language": language}))
    assert_refused("contents.json: its language or genre is not a string", pan.read, tmp_path)


@pytest.mark.parametrize("number", [DIGITS, "9" * 16, "9" * 12, "-1", "1.5", "1e9", ""])
def test_offsets_without_end_are_one_line(tmp_path, number):
    for n, (start, length) in enumerate(((number, "1"), ("0", number))):
        mark = f'<annotation><location offset="{start}" length="{length}"/><text>A</text></annotation>'
        place = f"<passage><offset>0</offset><text>Ann.</text>{mark}</passage>"
        path = put(tmp_path, f"{n}.xml", f"<c><document><id>7</id>{place}</document></c>")
        assert_refused("document 7: ", bioc.read, path)
    passage = f"<passage><offset>{number}</offset><text>Ann.</text></passage>"
    path = put(tmp_path, "x.xml", f"<c><document><id>7</id>{passage}</document></c>")
    assert_refused("document 7: ", bioc.read, path)
    put(tmp_path, "b/a.txt", "Ann sang.")
    put(tmp_path, "b/a.ann", f"T1\tP 0 {number}\tAnn\n")
    assert_refused("a.ann, line 1: ", brat.read, tmp_path / "b")
    row = {"id": "1", "speech": "One.", "bioguide_id": "x", "date": number}
    assert_refused("row 0: the date", speeches.read, put(tmp_path, "s.json", json.dumps([row])))


@pytest.mark.parametrize("encoding", ["no-such", "utf-7", "shift_jis", "utf-16"])
def test_xml_in_an_encoding_that_cannot_be_read_is_one_line(tmp_path, encoding):
    path = put(tmp_path, "x.xml", f'<?xml version="1.0" encoding="{encoding}"?><c>{SECRET}</c>')
    assert_refused("x.xml", bioc.read, path)


def test_half_a_character_in_xml_and_html_is_no_text(tmp_path):
    assert_refused("x.xml", bioc.read, put(tmp_path, "x.xml", "<c><document>&#xD83D;</document></c>"))
    path = put(tmp_path, "x.csv", "ID,Category,Plot\n1,,Ann &#xD83D; sang.\n")
    assert movies.read(path).documents[0].text == "Ann \ufffd sang."


def test_bytes_that_are_no_text_in_a_data_set_are_one_line(tmp_path):
    offsets = pyarrow.array([0, 3], pyarrow.int32()).buffers()[1]
    text = pyarrow.StringArray.from_buffers(1, offsets, pyarrow.py_buffer(b"a\xff\xfe"))
    data = datasets.Dataset(pyarrow.table({"text": text}))
    data.save_to_disk(tmp_path / "x")
    assert_refused("x: a row cannot be read", hub.read, tmp_path / "x")


@pytest.mark.parametrize("column", ["id", "author", "labels", "text"])
def test_a_nul_in_any_column_of_a_data_set_is_a_mistake_with_its_row(tmp_path, column):
    row = {"id": "a", "author": "b", "labels": "c", "text": SECRET}
    path = save(tmp_path / "x", [row, row | {"id": "b"} | {column: "x\0"}])
    assert_refused("row 1: a NUL character", hub.read, path)


@pytest.mark.skipif(os.name != "posix", reason="names of files are bytes on POSIX alone")
def test_a_name_that_is_not_utf_8_is_one_line_that_can_be_printed(tmp_path):
    with open(os.fsencode(tmp_path) + b"/caf\xe9.txt", "w") as file:
        file.write(SECRET)
    assert_refused(r"caf\\udce9.txt' is not UTF-8: rename it$", folder.read, tmp_path)
    assert_refused("rename it", fingerprint, tmp_path)


COUNTS = [["1", "2", "3"], ["0", "1"], ["3.5", "-2"], ["2020-01-01", "2020-01-02"], ["7"]]


def test_a_long_run_of_numbers_is_told_from_numbers_alone_at_once():
    run = "12.5 " * 200_000  # in quadratic time this would take hours
    assert NUMBERS.fullmatch(run) and not NUMBERS.fullmatch(run + "mg")
    assert all(map(NUMBERS.fullmatch, ("7", "1/2 3"))) and not any(map(NUMBERS.fullmatch, ("-", "", "a1")))


@pytest.mark.parametrize("texts", COUNTS)
def test_a_column_of_numbers_is_never_the_text(tmp_path, texts):
    says = "the texts are numbers: name the column of the texts .corpus.columns.text="
    rows = [{"id": f"a{n}", "text": text, "body": f"Text {n}."} for n, text in enumerate(texts)]
    lines = [",".join(row.values()) for row in rows]
    paths = {"csv": put(tmp_path, "x.csv", "\n".join(["id,text,body", *lines]))}
    paths |= {"jsonl": put_rows(tmp_path, "x.jsonl", rows), "datasets": save(tmp_path / "x", rows)}
    for name, path in paths.items():
        assert_refused(says, READERS[name].read, path)
        assert READERS[name].read(path, columns={"text": "body"}).documents[0].text == "Text 0."


def test_a_text_that_is_a_number_among_others_is_a_text(tmp_path):
    path = put(tmp_path, "x.csv", "text\n1984\nThe farm.\nThe days.\n")
    assert [document.text for document in READERS["csv"].read(path).documents][0] == "1984"


def test_two_columns_of_a_name_are_a_mistake(tmp_path):
    path = put(tmp_path, "x.csv", "text,text,id,id\nOne.,Two.,1,1\n")
    assert_refused("line 1: two columns id.*corpus.columns.id=", READERS["csv"].read, path)


def test_a_zip_with_two_files_of_a_name_is_refused(tmp_path):
    import zipfile

    with pytest.warns(UserWarning), zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.txt", SECRET)
        archive.writestr("a.txt", SECRET)
    assert_refused("holds 2 files a.txt", Files, tmp_path / "x.zip")


@pytest.mark.parametrize("format", ["numpy", "pandas", "arrow"])
def test_a_data_set_saved_in_another_format_is_read_as_plain_values(tmp_path, format):
    data = datasets.Dataset.from_dict({"text": ["One.", "Two."], "labels": [["a"], []], "more": [1, 2]})
    data.with_format(format, columns=["more"]).save_to_disk(tmp_path / "x")
    assert [document.labels for document in hub.read(tmp_path / "x").documents] == [("a",), ()]


ODD = ["é", "a#b", "a=b", "[a]", "~a", "a b", "a%20b", "a'b", 'a"b', "a,b", "{a}", "a$b", "a;b", "a@b"]


@pytest.mark.parametrize("name", ODD)
def test_paths_with_odd_characters_are_read(tmp_path, name):
    save(tmp_path / name / "hub", {"text": ["One."]})
    put(tmp_path, f"{name}/texts/{name}.txt", "One.")
    put(tmp_path, f"{name}/{name}.csv", "text\nOne.\n")
    for reader, inner in (("datasets", "hub"), ("folder", "texts"), ("csv", f"{name}.csv")):
        path = tmp_path / name / inner
        assert READERS[reader].read(path).documents[0].text == "One." and fingerprint(path)
