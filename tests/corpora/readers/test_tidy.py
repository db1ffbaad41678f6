"""Names that look the same are the same, whatever format they stand in; entities that cannot be used are left out."""

import unicodedata

import pytest
from corpus_files import put, put_rows, save
from refusals import assert_refused

from mlm_vs_clm.corpora.readers import bioc, brat, folder, hub, jsonl, pan_pairs, tables

TEXT = "Aspirin helps."


def read_line(tmp_path, **row):
    """Return what the JSON Lines reader makes of one document."""
    return jsonl.read(put_rows(tmp_path, "x.jsonl", [{"id": "a", "text": TEXT} | row]))


def read_row(tmp_path, **row):
    """Return what the reader of `datasets` folders makes of one document."""
    columns = {name: [value] for name, value in ({"id": "a", "text": TEXT} | row).items()}
    return hub.read(save(tmp_path / "saved", columns))


BOTH = pytest.mark.parametrize("read", [read_line, read_row])


@BOTH
def test_labels_that_look_the_same_are_the_same(tmp_path, read):
    spellings = [" caf\u00e9", "cafe\u0301 ", "caf\u00e9", "two\n words", "", "two words"]
    assert read(tmp_path, labels=spellings).documents[0].labels == ("caf\u00e9", "two words")


@BOTH
@pytest.mark.parametrize(
    ("label", "labels"), [("x", ("x",)), (1, ("1",)), ([1, 2], ("1", "2")), (["x"], ("x",))]
)
def test_a_column_label_has_the_labels_where_no_other_has(tmp_path, read, label, labels):
    if read is read_line and isinstance(label, list):
        label = [*map(str, label)]
    assert read(tmp_path, label=label).documents[0].labels == labels
    assert read(tmp_path / "both", label=label, labels=["y"]).documents[0].labels == ("y",)


def test_a_table_may_have_a_label(tmp_path):
    assert tables.read(put(tmp_path, "x.csv", "text,label\nHello.,x;y\n")).documents[0].labels == ("x", "y")


@BOTH
@pytest.mark.parametrize(("author", "name"), [(" ", ""), (" Ana ", "Ana"), ("Ame\u0301lie", "Am\u00e9lie")])
def test_authors_that_look_the_same_are_the_same(tmp_path, read, author, name):
    assert read(tmp_path, author=author).documents[0].author == name


@pytest.mark.parametrize("type", ["", " "])
def test_an_entity_without_a_type_is_a_mistake(tmp_path, type):
    assert_refused("line 1, document a: an entity has no type", read_line, tmp_path, entities=[[0, 7, type]])


@pytest.mark.parametrize("text", ["\u200b", "\u2060 \u00ad"])
def test_a_document_without_a_word_is_empty(tmp_path, text):
    assert read_line(tmp_path, text=text).dropped == [{"id": "a", "reason": "empty document"}]


@pytest.mark.parametrize(("start", "end", "type"), [(0.7, 7.0, "X"), (True, True, "X"), (0, 7, float("nan"))])
def test_offsets_are_whole_and_a_type_is_text(tmp_path, start, end, type):
    entity = {"start": start, "end": end, "type": type}
    assert_refused("row 0, document a: an entity is not of the shape", read_row, tmp_path, entities=[entity])


@pytest.mark.parametrize("labels", [[1, 0, 1], [1, 0], [0, 0], [0, 1], [False, True]])
def test_a_row_of_zeros_and_ones_is_no_list_of_labels(tmp_path, labels):
    assert_refused("saved: its labels are 0 and 1", read_row, tmp_path, labels=labels)


def test_a_named_key_may_be_absent_from_a_line_but_not_from_all(tmp_path):
    rows = [{"id": "a", "text": "one two", "topics": ["x"]}]
    rows += [{"id": "b", "text": "three four", "labels": ["y"]}]
    path = put_rows(tmp_path, "x.jsonl", rows)
    read = jsonl.read(path, columns={"labels": "topics"}).documents
    assert [document.labels for document in read] == [("x",), ()]
    assert_refused("no line has a key topcs", jsonl.read, path, columns={"labels": "topcs"})


@pytest.mark.parametrize("id", ["caf\u00e9.txt", "cafe\u0301", "./caf\u00e9.TXT"])
def test_a_row_finds_its_file_however_its_name_is_spelt(tmp_path, id):
    put(tmp_path, unicodedata.normalize("NFD", "caf\u00e9.txt"), TEXT)
    put(tmp_path, "labels.csv", f"id,labels\n{id},x\n")
    assert folder.read(tmp_path).documents[0].labels == ("x",)


def test_brat_text_is_compared_composed(tmp_path):
    put(tmp_path, "a.txt", "cafe\u0301 x")
    put(tmp_path, "a.ann", "T1\tX 0 5\tcaf\u00e9\n")
    assert len(brat.read(tmp_path).documents[0].entities) == 1


@pytest.mark.parametrize(
    ("passage", "text"),
    [
        ("<text>A <b>bold</b> word.</text>", "A bold word."),
        ("<text>\n </text><sentence><offset>0</offset><text>One word.</text></sentence>", "One word."),
    ],
)
def test_bioc_text_is_read_whole(tmp_path, passage, text):
    inside = f"<document><id>1</id><passage><offset>0</offset>{passage}</passage></document>"
    read = bioc.read(put(tmp_path, "x.xml", f"<collection>{inside}</collection>"))
    assert read.documents[0].text == text


@pytest.mark.parametrize(
    ("same", "kinds", "says"),
    [
        (False, ["F", "G"], "contradicts its authors"),
        (True, "F", "not a list of two"),
        (True, ["F"], "of two"),
    ],
)
def test_a_pair_that_contradicts_itself_is_a_mistake(tmp_path, same, kinds, says):
    put_rows(tmp_path, "pairs.jsonl", [{"id": "1", "pair": ["text one", "text two"], "fandoms": kinds}])
    put_rows(tmp_path, "truth.jsonl", [{"id": "1", "same": same, "authors": ["x", "x"]}])
    assert_refused(says, pan_pairs.read, tmp_path)


def test_entity_types_that_look_the_same_are_the_same(tmp_path):
    (document,) = read_line(tmp_path, entities=[[0, 7, "caf\u00e9 "], [8, 13, "cafe\u0301"]]).documents
    assert {entity.type for entity in document.entities} == {"caf\u00e9"}


def test_entities_that_cut_words_are_counted(tmp_path):
    counted = read_line(tmp_path, entities=[[0, 4, "Drug"], [8, 13, "Drug"]]).counted
    assert counted == {"entities that begin or end inside a word (kept)": 1}
