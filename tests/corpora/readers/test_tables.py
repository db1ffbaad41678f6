"""CSV tables: MPST, and anyone's own documents."""

import gzip
import re
import zipfile

import pytest
from corpus_files import collect, put
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora.readers import tables
from mlm_vs_clm.corpora.readers.files import UNREAD
from mlm_vs_clm.errors import StudyError

HEAD = "imdb_id,title,plot_synopsis,tags,split,synopsis_source\r\n"
MPST = (
    "\ufeff" + HEAD + 'tt01,One,"Ann said ""go"".\r\nThen, she left.","murder, cult, murder",train,imdb\r\n'
    'tt02,"Two, too","Bob\nslept.",violence,val,wikipedia\r\n'
    "tt03,Three,Cy ran.,cult,test,imdb\r\n"
)


def test_mpst_keeps_tags_newlines_and_official_split(tmp_path):
    path = put(tmp_path, "mpst_full_data.csv", MPST)
    put(tmp_path, "README.txt", "read me")
    for given, n_unread in ((path, 0), (tmp_path, 1)):
        result = tables.read_mpst(given)
        assert result.counted[UNREAD] == n_unread
        assert [(d.id, d.text, d.labels) for d in result.documents] == [
            ("tt01", 'Ann said "go".\nThen, she left.', ("murder", "cult")),
            ("tt02", "Bob\nslept.", ("violence",)),
            ("tt03", "Cy ran.", ("cult",)),
        ]
        assert result.parts == {"tt01": "train", "tt02": "dev", "tt03": "test"}


def test_mpst_mistakes_name_the_line_on_which_the_row_begins(tmp_path):
    rows = f'tt04,T,"{SECRET}\r\n{SECRET}",cult,dev2,imdb\r\ntt05,T,{SECRET}\r\n'
    rows += f'tt01,T,{SECRET},,train,imdb\r\ntt06,T,"{SECRET}" bad,cult,train,imdb\r\ntt07,T,x,cult,train,imdb\r\n'
    mistakes = []
    with pytest.raises(StudyError, match="line 11: a bad or open quote in the row, so that no row after it"):
        tables.read_mpst(put(tmp_path, "mpst_full_data.csv", MPST + rows), mistakes.append)
    places = [re.search("line [0-9]+", str(mistake))[0] for mistake in mistakes]
    assert places == ["line 7", "line 9", "line 10"]
    assert "split is none of" in str(mistakes[0]) and "3 cells where the head has 6" in str(mistakes[1])
    assert "used twice" in str(mistakes[2])


def test_an_open_quote_is_told_by_the_row_that_opens_it(tmp_path):
    rows = f'tt1,T,x,,train,\ntt2,T,"{SECRET},,train,\n' + "tt3,T,x,,train,\n" * 3
    with pytest.raises(StudyError, match="line 3: a bad or open quote in the row, .*: correct it"):
        tables.read_mpst(put(tmp_path, "m.csv", HEAD + rows), [].append)


def test_csv_takes_the_columns_that_are_named(tmp_path):
    path = put(tmp_path, "own.tsv", "who\tbody\tkind\nann\tShe sang, loud.\ta;b\nbob\tHe ran.\t\n")
    result = tables.read(path, columns={"text": "body", "labels": "kind", "author": "who"})
    assert [(d.id, d.text, d.labels, d.author) for d in result.documents] == [
        ("line-2", "She sang, loud.", ("a", "b"), "ann"),
        ("line-3", "He ran.", (), "bob"),
    ]
    assert_refused(r"own.tsv, line 1: no column text: .*corpus.columns.text=", tables.read, path)
    assert_refused("no column author2", tables.read, path, columns={"text": "body", "author": "author2"})


def test_a_cell_may_be_as_long_as_a_book(tmp_path):
    path = put(tmp_path, "own.csv", f"id,text\n1,{'word ' * 50_000}\n")
    assert len(tables.read(path).documents[0].text) == 250_000


def test_rows_between_quotes_that_are_text_are_a_mistake(tmp_path):
    """GLUE and Kaggle write tabs without quoting: a text that begins with a quote would take in the rows up to the next."""
    rows = f'id\ttext\n1\t"{SECRET}\n2\tz y\n3\tand so on"\n4\tlast one\n'
    result, mistakes = collect(tables.read, put(tmp_path, "x.tsv", rows))
    assert [document.id for document in result.documents] == ["4"]
    assert len(mistakes) == 1 and mistakes[0].startswith(
        "line 2: a cell in quotes holds tabs and line breaks"
    )


def test_a_packed_table_is_parted_as_its_name_says(tmp_path):
    path = put(tmp_path, "x.tsv.gz", gzip.compress(b"id\ttext\n1\tAnn sang, loud.\n"))
    assert tables.read(path).documents[0].text == "Ann sang, loud."
    put(tmp_path, "readme.md")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(path, "x.tsv.gz")
    assert tables.read(tmp_path / "x.zip").documents[0].text == "Ann sang, loud."
    (tmp_path / "x.zip").unlink()
    assert tables.read(tmp_path).documents[0].text == "Ann sang, loud."
    put(tmp_path, "y.csv", "text\nBob ran.\n")
    assert_refused("holds 2 .csv files: give the path of one", tables.read, tmp_path)


@pytest.mark.parametrize(("name", "ours"), [("Labels", "labels"), ("Label", "labels"), ("Split", "split")])
def test_a_column_in_another_case_is_not_left_out_in_silence(tmp_path, name, ours):
    path = put(tmp_path, "own.csv", f"id,text,{name}\n1,She sang.,train\n")
    assert_refused(f"line 1: a column {name} and none {ours}: rename it", tables.read, path)
    assert len(tables.read(path, columns={ours: name}).documents) == 1


def test_a_row_for_each_label_is_a_mistake(tmp_path):
    path = put(tmp_path, "long.csv", "text,label\nAnn sang.,a\nBob ran.,b\nAnn sang.,b\nBob ran.,b\n")
    result, mistakes = collect(tables.read, path)
    assert len(mistakes) == 1 and "line 4: its text stands in an earlier row" in mistakes[0]
