"""brat as n2c2 2018 track 2 is given out, with the traps of its files; offsets worked by hand."""

import zipfile

import pytest
from corpus_files import collect, put
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora.readers import brat
from mlm_vs_clm.documents import Entity

TEXT = "Gave aspirin 81 mg\ndaily and iron; no rash."
#       0    5       13    18    23  28        39
ANN = (
    "T1\tDrug 5 12\taspirin\n"
    "T2\tStrength 13 18\t81 mg\n"
    "R1\tStrength-Drug Arg1:T2 Arg2:T1\n"
    "E1\tGiven:T1 Dose:T2\n"
    "A1\tNegated T1\n"
    "*\tEquiv T1 T2\n"
    "#1\tAnnotatorNotes T1\tsee page 2\n"
    "T3\tDosage 13 18;19 24\t81 mg daily\n"
    "T4\tReason 25 28;38 42\tand rash\n"
    "T5\tDrug 5 12\taspirin\n"
    "\n"
    "T6\tADE 35 42\tno rash\n"
)
FOUND = (Entity(5, 12, "Drug"), Entity(13, 18, "Strength"), Entity(13, 24, "Dosage"), Entity(35, 42, "ADE"))


def put_pair(folder, name, text, ann):
    put(folder, f"{name}.txt", text)
    return put(folder, f"{name}.ann", ann).parent


def shift(ann, at, by):
    """Return annotations whose offsets from `at` on are moved, as a tool that counts more characters writes them."""
    lines = []
    for line in ann.split("\n"):
        if line.startswith("T"):
            key, place, text = line.split("\t")
            kind, _, offsets = place.partition(" ")
            pieces = [[int(n) for n in piece.split()] for piece in offsets.split(";")]
            moved = ";".join(" ".join(str(n + by * (n > at)) for n in piece) for piece in pieces)
            line = f"{key}\t{kind} {moved}\t{text}"
        lines.append(line)
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text, ann",
    [
        (TEXT, ANN),
        ("\ufeff" + TEXT, "\ufeff" + ANN),
        ("\ufeff" + TEXT, shift(ANN, -1, 1)),
        (TEXT.replace("\n", "\r\n"), ANN.replace("\n", "\r\n")),
        (TEXT.replace("\n", "\r\n"), shift(ANN, 18, 1)),
        ("\ufeff" + TEXT.replace("\n", "\r\n"), shift(shift(ANN, 18, 1), -1, 1)),
    ],
    ids=["plain", "mark", "mark counted", "crlf as one", "crlf as two", "mark and crlf counted"],
)
def test_offsets_hold_whatever_the_tool_counted(tmp_path, text, ann):
    result = brat.read(put_pair(tmp_path / "x", "100035", text, ann))
    (document,) = result.documents
    assert (document.id, document.text) == ("100035", TEXT)
    assert document.entities == FOUND
    assert [row["reason"] for row in result.dropped] == ["discontinuous entity", "repeated entity"]
    lines = [f"{kind} lines (not used)" for kind in ("relation", "event", "attribute", "equivalence", "note")]
    kept = ["entities over a line break (joined)", "overlapping entities (kept)"]
    assert +result.counted == dict.fromkeys([*lines, *kept], 1)


def test_a_files_own_name_is_no_official_split(tmp_path):
    folder = put_pair(put_pair(tmp_path / "x", "test_a", TEXT, ""), "train_b", "Other text.", "")
    assert brat.read(folder).parts == {}


def test_characters_count_and_not_bytes(tmp_path):
    text = "Fièvre 39 °C 😀 après aspirine."
    start = text.index("aspirine")
    folder = put_pair(tmp_path / "x", "a", text, f"T1\tDrug {start} {start + 8}\taspirine\n")
    assert brat.read(folder).documents[0].entities == (Entity(start, start + 8, "Drug"),)


BAD = {
    "T1\tDrug 5 11\taspirin": "a.ann, line 2: the text at offsets 5-11",
    "T1\tDrug 5 99\taspirin": "a.ann, line 2: offsets 5-99 fall outside",
    "T1\tDrug 12 5\taspirin": "a.ann, line 2: offsets 12-5",
    "T1 Drug 5 12 aspirin": "a.ann, line 2: not an annotation",
    "T1\tDrug 5\taspirin": "a.ann, line 2: not an annotation",
    f"{SECRET} ": "a.ann, line 2: not an annotation",
}


@pytest.mark.parametrize("line", BAD)
def test_a_line_that_disagrees_names_file_and_line_alone(tmp_path, line):
    folder = put_pair(
        tmp_path / "x", "a", TEXT.replace("aspirin", SECRET[:7]), f"#1\tNote T1\t{SECRET}\n{line}\n"
    )
    assert_refused(BAD[line], brat.read, folder)


def test_every_mistake_of_a_folder_is_reported_and_the_rest_read(tmp_path):
    put_pair(tmp_path, "a", TEXT, "T1\tDrug 5 11\taspirin\nT2\tDrug 5 12\taspirin\nZ\n")
    put(tmp_path, "b.txt", TEXT)
    put(tmp_path, "c.ann")
    put_pair(tmp_path, "d", b"\xff\xfe", "")
    result, mistakes = collect(brat.read, tmp_path)
    places = [mistake.split(":")[0] for mistake in mistakes]
    assert sorted(places) == ["a.ann, line 1", "a.ann, line 3", "b.txt", "c.ann", "d.txt"]
    assert [(document.id, len(document.entities)) for document in result.documents] == [("a", 1)]


def test_a_zip_reads_as_its_folder(tmp_path):
    folder = put_pair(tmp_path / "x", "a", TEXT, ANN)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, f"x/{file.name}")
        archive.writestr("__MACOSX/x/._a.txt", "noise")
    assert brat.read(tmp_path / "x.zip").documents == brat.read(folder).documents
