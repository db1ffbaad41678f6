"""Readers: each format's traps, and one clear line, free of corpus text, for what cannot be read."""

import gzip
import json

import pytest

from mlm_vs_clm.corpora import READERS
from mlm_vs_clm.corpora.readers.movies import clean as clean_plot
from mlm_vs_clm.corpora.readers.speeches import clean as clean_speech
from mlm_vs_clm.documents import Entity
from mlm_vs_clm.errors import StudyError

SECRET = "secretword"


def annotation(kind, text, *locations):
    spans = "".join(f'<location offset="{start}" length="{length}"/>' for start, length in locations)
    return f'<annotation><infon key="type">{kind}</infon>{spans}<text>{text}</text></annotation>'


def bioc(tmp_path, annotations, abstract="It cures fever.", name="a.xml"):
    """Write one document "Aspirin." + gap + abstract, at the offset 9."""
    path = tmp_path / name
    content = (
        f"<collection><document><id>7</id><passage><offset>0</offset><text>Aspirin.</text></passage>"
        f"<passage><offset>9</offset><text>{abstract}</text>{annotations}</passage></document></collection>"
    ).encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def test_bioc_offsets_hold_across_passages(tmp_path):
    entities = annotation("Disease", "fever", (18, 5)) + annotation("Chemical", "Aspirin", (0, 7))
    reading = READERS["bioc"](bioc(tmp_path, entities, name="a.xml.gz"))
    (document,) = reading.documents
    assert document.text == "Aspirin. It cures fever." and document.id == document.source == "7"
    assert document.entities == (Entity(0, 7, "Chemical"), Entity(18, 23, "Disease"))
    assert reading.dropped == []


def test_bioc_counts_the_entities_it_leaves_out(tmp_path):
    fever = annotation("Disease", "fever", (18, 5))
    entities = fever + fever + annotation("Disease", "It fever", (9, 2), (18, 5))
    reading = READERS["bioc"](bioc(tmp_path, entities + annotation("Disease", "fever", (17, 5))))
    assert reading.documents[0].entities == (Entity(18, 23, "Disease"),)
    assert [row["reason"] for row in reading.dropped] == [
        "repeated entity",
        "discontinuous entity",
        "entity text differs from the text at its offsets",
    ]


def test_bioc_offsets_outside_the_text_name_file_and_document_alone(tmp_path):
    path = bioc(tmp_path, annotation("Disease", SECRET, (18, 50)), abstract=f"{SECRET}.")
    with pytest.raises(StudyError, match="a.xml, document 7: entity offsets 18-68") as error:
        READERS["bioc"](path)
    assert SECRET not in str(error.value)


def test_movies_labels_residue_and_empty_plots(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(
        "\ufeffID,Title,Category,Plot\r\n"
        '1,A,"""Drama"",  ""Action/Adventure""","{{plot}} Ann , a spy ([[Kim  , hides&mdash;\n ""there"" ."\r\n'
        '2,B,"""Drama""","He left.{{cite web|date"\r\n'
        '3,C,"""Drama""","  "\r\n',
        encoding="utf-8",
    )
    reading = READERS["movies"](path)
    (document,) = reading.documents
    assert document.text == 'Ann, a spy (Kim, hides— "there".'
    assert document.labels == ("Drama", "Action/Adventure")
    assert reading.dropped == [
        {"id": "2", "reason": "wiki markup in the plot"},
        {"id": "3", "reason": "empty document"},
    ]
    assert clean_plot(document.text) == document.text


@pytest.mark.parametrize(
    "speech, left",
    [
        ("Mr. Speaker, I rise today to honor Ann.", "to honor Ann."),
        ("  Ms. Speaker, I rise today,  along with Ann.", "along with Ann."),
        ("Mr. Speaker, I yield myself such time as I may consume. Mr. Speaker, I rise today in", "in"),
        ("Mr. Speaker, this week we met.\x7f", "this week we met."),
        ("I rise todays.", "I rise todays."),
        ("We thank Mr. Speaker, I rise today", "We thank Mr. Speaker, I rise today"),
    ],
)
def test_speeches_lose_their_opening_formula(speech, left):
    assert clean_speech(speech) == left


def test_speeches_carry_author_and_day(tmp_path):
    row = {"id": "s", "speech": "Mr. Speaker, I rise today to sing.", "bioguide_id": "L1", "date": "15785"}
    path = tmp_path / "s.json"
    path.write_text(json.dumps([row]))
    (document,) = READERS["speeches"](path).documents
    assert (document.author, document.date, document.text) == ("L1", "2013-03-21", "to sing.")


def test_jsonl_reads_anyones_own(tmp_path):
    path = tmp_path / "d.jsonl"
    row = {"id": "1", "text": "Ann sang.", "labels": ["a"], "entities": [[0, 3, "Person"]], "author": "x"}
    path.write_text(f'{json.dumps(row)}\n\n{{"id": "2", "text": ""}}\n')
    reading = READERS["jsonl"](path)
    assert reading.documents[0].entities == (Entity(0, 3, "Person"),)
    assert reading.dropped == [{"id": "2", "reason": "empty document"}]


@pytest.mark.parametrize(
    "line, says",
    [
        ('{"id": "1", "text": "secretword', "line 2: not JSON"),
        ('{"id": "1"}', "line 2: not of the shape"),
        ('{"id": "1", "text": "secretword", "entities": [[0, "3", "P"]]}', "line 2: not of the shape"),
        ('{"id": "1", "text": "secretword", "labels": [1]}', "line 2: not of the shape"),
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
    with pytest.raises(StudyError, match=says) as error:
        READERS["jsonl"](path)
    assert SECRET not in str(error.value) and "\n" not in str(error.value)


TRUNCATED = {
    "bioc": ("t.xml.gz", gzip.compress(b"<collection><document>" * 90)[:-20]),
    "movies": ("t.csv", b'ID,Title,Category,Plot\n1,A,"","secretword'),
    "speeches": ("t.json", b'[{"id": "1", "speech": "secretword'),
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
    with pytest.raises(StudyError, match="missing"):
        READERS[name](path)
    for bad in (content, b"\xff\xfe\x00"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes(bad)
        with pytest.raises(StudyError, match=str(path)) as error:
            READERS[name](path)
        assert SECRET not in str(error.value) and "\n" not in str(error.value)


def test_movies_and_speeches_name_what_is_missing(tmp_path):
    path = tmp_path / "x"
    for name, content, says in (
        ("movies", "ID,Title\n", "no column Category, Plot"),
        ("movies", "ID,Title,Category,Plot\n1,A\n", "line 2: wrong number"),
        ("speeches", '[{"id": "1"}]', "row 0"),
        ("speeches", "{}", "no list"),
        ("speeches", '[{"id": "1", "speech": "", "bioguide_id": "", "date": "x"}]', "row 0: the date"),
    ):
        path.write_text(content)
        with pytest.raises(StudyError, match=says):
            READERS[name](path)
