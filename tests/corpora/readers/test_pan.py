"""PAN's authorship corpora of 2013 to 2015, with the traps of the files that PAN gave out."""

import json

import pytest
from corpus_files import collect
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora import CorpusSource, Cutting, Sizes, build, load_problems, save
from mlm_vs_clm.corpora.readers import pan
from mlm_vs_clm.corpora.readers.base import GivenProblem

PAN = CorpusSource("pan", "pan", group_by="author")
WINDOWS = Cutting(max_words=12, min_words=2, seed=0)


def put(folder, name, known, unknown):
    """Write one problem as PAN does: with a byte-order mark and CRLF."""
    path = folder / name
    path.mkdir(parents=True)
    for number, text in enumerate(known, start=1):
        (path / f"known{number:02}.txt").write_text(f"\ufeff{text}", encoding="utf-8", newline="\r\n")
    (path / "unknown.txt").write_text(f"\ufeff{unknown}", encoding="utf-8", newline="\r\n")


def write_truth(folder, lines, genre="essays"):
    (folder / "truth.txt").write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    told = {"language": "English", "genre": genre, "problems": ["EE001", "EE002"]}
    (folder / "contents.json").write_text("\ufeff" + json.dumps(told), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    put(tmp_path, "EE001", ["I rose\nearly.", "I ate bread."], "I slept late.")
    put(tmp_path, "EE002", ["I rose  early!"], "They rowed home.")
    put(tmp_path, "EE003", ["We read."], "We wrote.")
    write_truth(tmp_path, ["EE001 Y", "", "EE002 N", "EE003\tY", "EE004 N", ""])
    return tmp_path


def test_folders_give_problems_authors_and_each_text_once(folder):
    result = pan.read(folder)
    assert {d.id: d.text for d in result.documents}["EE001-known01"] == "I rose\nearly."
    assert result.problems == [
        GivenProblem("EE001", ("EE001-known01", "EE001-known02"), "EE001-unknown", True),
        GivenProblem("EE002", ("EE001-known01",), "EE002-unknown", False),
        GivenProblem("EE003", ("EE003-known01",), "EE003-unknown", True),
    ]
    authors = {d.id: d.author for d in result.documents}
    assert authors["EE001-known01"] == authors["EE001-known02"] == authors["EE001-unknown"]
    assert authors["EE003-known01"] == authors["EE003-unknown"]
    assert len(set(authors.values())) == 3
    assert result.dropped == [{"id": "EE002-known01", "reason": "repeated document"}]
    assert result.counted["answers to absent problems (not used)"] == 1
    assert {d.labels for d in result.documents} == {("English", "essays")}


def test_a_problem_that_contradicts_others_is_left_out(tmp_path):
    put(tmp_path, "A", ["one text"], "two text")
    put(tmp_path, "B", ["one text"], "two text")
    write_truth(tmp_path, ["A Y", "B N"])
    result = pan.read(tmp_path)
    assert [problem.id for problem in result.problems] == ["A"]
    assert result.dropped[-1] == {"id": "B", "reason": "problem whose truth contradicts other problems"}


@pytest.mark.parametrize(
    "lines, says",
    [
        (["EE001 Y", "EE002 N"], "EE003: truth.txt does not answer this problem"),
        (
            ["EE001 Y", f"{SECRET}", "EE002 N", "EE003 Y"],
            "truth.txt, line 2: not a problem's name and Y or N",
        ),
        (["EE001 Y", "EE002 N", "EE003 Y", "EE001 N"], "truth.txt, line 4: a second answer"),
    ],
)
def test_truth_that_does_not_fit_is_told_with_its_line(folder, lines, says):
    write_truth(folder, lines)
    assert_refused(says, pan.read, folder)


def test_no_truth_no_known_document_and_bad_contents_are_reported(folder):
    (folder / "truth.txt").unlink()
    (folder / "EE002" / "known01.txt").unlink()
    (folder / "contents.json").write_text(SECRET)
    assert len(collect(pan.read, folder)[1]) == 4


@pytest.fixture
def pan14(tmp_path):
    """Train and test of twenty problems each; five known texts stand in both, as 142 essays of PAN14 do."""
    for part, other in (("training-corpus", ""), ("test-corpus2", "training-corpus")):
        root = tmp_path / f"pan14-author-verification-{part}-english-essays"
        for n in range(20):
            shared = other and n < 5
            known = f"Known of problem {n} in {other if shared else part}, told at length."
            put(root, f"EE{n:03}", [known], f"Unknown of problem {n} in {part}, told at length.")
        write_truth(root, [f"EE{n:03} {'YN'[n % 2]}" for n in range(20)])
    return tmp_path


def test_texts_in_train_and_test_stay_in_test_with_all_of_their_author(pan14):
    sizes = Sizes(generate=4, dev=2, test=10, per_group=2)
    corpus = build(PAN, {"": pan14}, sizes, WINDOWS)
    dropped = corpus.card["dropped"]
    assert dropped["repeated document of another official split"] == 5
    assert dropped["author of test"] == 3  # of the five problems the three with the answer Y
    assert all("test-corpus2" in d.id for d in corpus.splits["test"])
    train = [d for split in ("pretrain", "generate", "dev") for d in corpus.splits[split]]
    assert all("training-corpus" in d.id for d in train)
    assert not {d.author for d in train} & {d.author for d in corpus.splits["test"]}


def test_test_holds_whole_problems_and_they_are_stored(pan14, tmp_path):
    corpus = build(PAN, {"": pan14}, Sizes(generate=4, dev=2, test=10, per_group=2), WINDOWS)
    save(corpus, tmp_path / "out")
    problems = load_problems(tmp_path / "out", "test")
    ids = {document.id: document.author for document in corpus.splits["test"]}
    assert len(problems) == 5 == corpus.card["counted"]["problems whole in test"]
    assert {id for problem in problems for id in [*problem["known"], problem["unknown"]]} == ids.keys()
    for problem in problems:
        assert (ids[problem["known"][0]] == ids[problem["unknown"]]) == problem["same"]
    assert {problem["same"] for problem in load_problems(tmp_path / "out", "generate")} == {True}


def test_corpora_without_problems_store_none(tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text("".join(json.dumps({"id": str(n), "text": f"Text {n}."}) + "\n" for n in range(9)))
    save(build(CorpusSource("own", "jsonl"), {"": path}, Sizes(1, 1, 1), WINDOWS), tmp_path / "out")
    assert not (tmp_path / "out" / "problems.jsonl").exists()
    assert load_problems(tmp_path / "out", "test") == []
