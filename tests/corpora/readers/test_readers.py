"""The registry of readers: which one a path asks for, and one clear line for what none can read."""

import gzip
import zipfile

import pytest
from corpus_files import put
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora.readers import READERS, infer

PATHS = {
    "folder": ["x/unknown.txt", "x/labels.csv"],  # a name that problems of PAN have too
    "brat": ["x/train/a.txt", "x/train/a.ann"],
    "pan": ["x/truth.txt", "x/EN01/known01.txt", "x/EN01/unknown.txt"],
    "pan_pairs": ["x/pairs.jsonl", "x/truth.jsonl"],
    "mpst": ["x/mpst_full_data.csv", "x/readme.txt"],
    "datasets": ["x/train/data-00000-of-00001.arrow", "x/train/state.json", "x/dataset_dict.json"],
    "bio": ["x/train.conll", "x/test.conll"],
    "csv": ["x.csv"],
    "jsonl": ["x.jsonl.gz"],
    "bioc": ["x.BioC.xml.gz"],
}


@pytest.mark.parametrize("reader", PATHS)
def test_the_reader_is_inferred_from_the_path(tmp_path, reader):
    for name in PATHS[reader]:
        put(tmp_path, name)
    path = tmp_path / PATHS[reader][0].split("/")[0]
    assert infer(str(path)) == reader


def test_the_reader_is_inferred_from_a_zip_and_asked_for_where_no_name_fits(tmp_path):
    assert infer(str(put_zip(tmp_path / "x.zip", {"x/a.txt": "", "x/a.ann": ""}))) == "brat"
    assert infer("owner/name@main") == "datasets"
    assert_refused(
        "cannot infer the format of .*x.docx: set corpus.reader=<one of", infer, str(put(tmp_path, "x.docx"))
    )


@pytest.fixture
def opened(monkeypatch):
    """The zips that were opened, kept from the collector, which would close them."""
    kept = []

    class Kept(zipfile.ZipFile):
        def __init__(self, *arguments):
            kept.append(self)
            super().__init__(*arguments)

    monkeypatch.setattr("mlm_vs_clm.corpora.readers.files.zipfile.ZipFile", Kept)
    return kept


ZIPPED = {
    "folder": {"a.txt": "Ann sang."},
    "brat": {"a.txt": "Ann sang.", "a.ann": ""},
    "pan": {"truth.txt": "EN01 Y", "EN01/known01.txt": "Ann sang.", "EN01/unknown.txt": "Bob ran."},
    "pan_pairs": {
        "pairs.jsonl": '{"id": "1", "pair": ["Ann sang.", "Bob ran."]}',
        "truth.jsonl": '{"id": "1", "same": true}',
    },
    "mpst": {"mpst_full_data.csv": "imdb_id,plot_synopsis,tags,split\n1,Ann sang.,cult,train\n"},
    "bio": {"t.conll": "Ann B-P\nsang O\n"},
    "csv": {"t.csv": "id,text\n1,Ann sang.\n"},
}


def put_zip(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize("reader", ZIPPED)
def test_a_zip_is_closed_when_it_has_been_read_or_refused(tmp_path, opened, reader):
    path = put_zip(tmp_path / "x.zip", ZIPPED[reader])
    opened.clear()
    assert infer(str(path)) == reader and READERS[reader].read(path).documents
    assert len(opened) == 2 and not any(each.fp for each in opened)
    leaves = " holds a member or link that leaves the zip"
    for number, (name, says) in enumerate((("none.xyz", ""), ("../a.txt", leaves), ("/a.txt", leaves))):
        path = put_zip(tmp_path / f"{number}.zip", {name: SECRET, "b.xyz": SECRET})
        opened.clear()
        assert_refused(f"{path}{says}", READERS[reader].read, path)
        assert len(opened) == 1 and not opened[0].fp


TRUNCATED = {
    "bioc": ("t.xml.gz", gzip.compress(b"<collection><document>" * 90)[:-20]),
    "movies": ("t.csv", b'ID,Title,Category,Plot\n1,A,"","secretword'),
    "speeches": ("t.json", b'[{"id": "1", "speech": "secretword'),
    "dialogue": ("t.json", b'{"x": {"messages": [[{"text": "secretword'),
    "reviews": ("t.csv", b'text,label,source\n"secretword'),
    "messages": ("x/metadata.csv", b"secretword"),
    "jsonl": ("t.jsonl", b'{"id": "1", "text": "secretword'),
    "csv": ("t.csv", b'id,text\n1,"secretword'),
    "mpst": ("mpst_full_data.csv", b'imdb_id,plot_synopsis,tags,split\n1,"secretword'),
    "bio": ("t.conll", b"secretword"),
    "brat": ("x/t.txt", b"secretword"),
    "folder": ("x/labels.csv", b'id,labels\n"secretword'),
    "pan": ("x/unknown.txt", b"secretword"),
    "pan_pairs": ("x/pairs.jsonl", b'{"id": "secretword'),
    "datasets": ("x/state.json", b'{"secretword"'),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_refuses_missing_truncated_and_undecodable_files(tmp_path, name):
    file, content = TRUNCATED[name]
    path = tmp_path / file.split("/")[0]
    assert_refused("missing", READERS[name].read, path)
    for bad in (content, b"\xff\xfe\x00"):
        put(tmp_path, file, bad)
        assert_refused(str(path), READERS[name].read, path)


@pytest.mark.parametrize(
    "name, content, says",
    [
        ("movies", "ID,Title\n", "no column Plot"),
        ("movies", "ID,Title,Category,Plot\n1,A\n", "line 2: 2 cells where the head has 4"),
        ("speeches", '[{"id": "1"}]', "row 0"),
        ("speeches", "{}", "not a list"),
        ("speeches", '[{"id": "1", "speech": "", "bioguide_id": "", "date": "x"}]', "row 0: the date"),
    ],
)
def test_movies_and_speeches_name_what_is_missing(tmp_path, name, content, says):
    assert_refused(says, READERS[name].read, put(tmp_path, "x", content))


NUL = {
    "jsonl": (
        "t.jsonl",
        '{"id": "1", "text": "a"}\n{"id": "2", "text": "secretword\\u0000"}',
        "t.jsonl, line 2",
    ),
    "csv": ("t.csv", "id,text\n1,a\n2,secretword\0", "t.csv, line 3"),
    "folder": ("x/a.txt", "a\nsecretword\0", "x/a.txt, line 2"),
    "bio": ("t.conll", "secretword\0 O", "t.conll, line 1"),
    "movies": ("t.csv", "ID,Title,Category,Plot\n1,A,B,secretword\0", "t.csv, line 2"),
}


@pytest.mark.parametrize("name", NUL)
def test_a_nul_character_is_a_mistake_with_file_and_line(tmp_path, name):
    file, content, place = NUL[name]
    put(tmp_path, file, content)
    assert_refused(f"{place}: a NUL character", READERS[name].read, tmp_path / file.split("/")[0])
