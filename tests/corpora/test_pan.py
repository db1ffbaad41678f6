"""PAN's authorship corpora in both of their formats, with the traps of the files that PAN gave out."""

import json

import pytest

from mlm_vs_clm.corpora import READERS, Sizes, Source, build, load_problems, save
from mlm_vs_clm.corpora.readers.base import GivenProblem
from mlm_vs_clm.errors import StudyError

SECRET = "secretword"
PAN = Source("pan", "pan", group_by="author")
WINDOWS = {"max_words": 12, "min_words": 2, "seed": 0}


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
    reading = READERS["pan"](folder)
    assert {d.id: d.text for d in reading.documents}["EE001-known01"] == "I rose\nearly."
    assert reading.problems == [
        GivenProblem("EE001", ("EE001-known01", "EE001-known02"), "EE001-unknown", True),
        GivenProblem("EE002", ("EE001-known01",), "EE002-unknown", False),
        GivenProblem("EE003", ("EE003-known01",), "EE003-unknown", True),
    ]
    authors = {d.id: d.author for d in reading.documents}
    assert authors["EE001-known01"] == authors["EE001-known02"] == authors["EE001-unknown"]
    assert authors["EE003-known01"] == authors["EE003-unknown"]
    assert len(set(authors.values())) == 3
    assert reading.dropped == [{"id": "EE002-known01", "reason": "repeated document"}]
    assert reading.counted["answers to absent problems (not used)"] == 1
    assert {d.labels for d in reading.documents} == {("English", "essays")}


def test_a_problem_that_contradicts_others_is_left_out(tmp_path):
    put(tmp_path, "A", ["one text"], "two text")
    put(tmp_path, "B", ["one text"], "two text")
    write_truth(tmp_path, ["A Y", "B N"])
    reading = READERS["pan"](tmp_path)
    assert [problem.id for problem in reading.problems] == ["A"]
    assert reading.dropped[-1] == {"id": "B", "reason": "problem whose truth contradicts other problems"}


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
    with pytest.raises(StudyError, match=says) as error:
        READERS["pan"](folder)
    assert SECRET not in str(error.value)


def test_no_truth_no_known_document_and_bad_contents_are_reported(folder):
    (folder / "truth.txt").unlink()
    (folder / "EE002" / "known01.txt").unlink()
    (folder / "contents.json").write_text(SECRET)
    mistakes = []
    READERS["pan"](folder, mistakes.append)
    assert len(mistakes) == 4 and not any(SECRET in str(mistake) for mistake in mistakes)


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
    corpus = build(PAN, {"": pan14}, sizes, **WINDOWS)
    dropped = corpus.card["dropped"]
    assert dropped["repeated document of another official split"] == 5
    assert dropped["author of test"] == 3  # of the five problems the three with the answer Y
    assert all("test-corpus2" in d.id for d in corpus.splits["test"])
    train = [d for split in ("pretrain", "generate", "dev") for d in corpus.splits[split]]
    assert all("training-corpus" in d.id for d in train)
    assert not {d.author for d in train} & {d.author for d in corpus.splits["test"]}


def test_test_holds_whole_problems_and_they_are_stored(pan14, tmp_path):
    corpus = build(PAN, {"": pan14}, Sizes(generate=4, dev=2, test=10, per_group=2), **WINDOWS)
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
    save(build(Source("own", "jsonl"), {"": path}, Sizes(1, 1, 1), **WINDOWS), tmp_path / "out")
    assert not (tmp_path / "out" / "problems.jsonl").exists()
    assert load_problems(tmp_path / "out", "test") == []


def pairs(folder, pairs, truth, names=("pairs.jsonl", "truth.jsonl")):
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in zip(names, (pairs, truth), strict=True):
        if rows is not None:
            lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
            (folder / name).write_text("\ufeff" + "\r\n".join(lines) + "\r\n", encoding="utf-8")
    return folder


PAIRS = [
    {"id": "p1", "pair": ["One text.", "Two text."], "fandoms": ["A", "B"]},
    {"id": "p2", "pair": ["one TEXT", "Three."], "fandoms": ["A", "C"]},
]
TRUTH = [
    {"id": "p1", "same": True, "authors": ["7", "7"]},
    {"id": "p2", "same": False, "authors": ["7", "8"]},
    {"id": "p9", "same": False, "authors": ["1", "2"]},
]


@pytest.mark.parametrize(
    "names", [("pairs.jsonl", "truth.jsonl"), ("pan20-small.jsonl", "pan20-small-truth.jsonl")]
)
def test_pairs_with_authors_fandoms_and_repeated_texts(tmp_path, names):
    reading = READERS["pan_pairs"](pairs(tmp_path / "x", PAIRS, TRUTH, names))
    assert [(d.id, d.author, d.labels) for d in reading.documents] == [
        ("p1-a", "7", ("A",)),
        ("p1-b", "7", ("B",)),
        ("p2-b", "8", ("C",)),
    ]
    assert reading.problems[1] == GivenProblem("p2", ("p1-a",), "p2-b", False)
    assert reading.counted["answers to absent problems (not used)"] == 1


def test_pairs_of_discourse_types_without_named_authors(tmp_path):
    row = {"id": "p", "pair": ["Dear Ann.", "So, um."], "discourse_types": ["email", "interview"]}
    reading = READERS["pan_pairs"](pairs(tmp_path / "x", [row], [{"id": "p", "same": True}]))
    one, other = reading.documents
    assert one.author == other.author and (one.labels, other.labels) == (("email",), ("interview",))


def test_pairs_tell_every_mistake_with_its_line(tmp_path):
    bad = [
        PAIRS[0],
        f'{{"id": "{SECRET}',
        {"id": "p3", "pair": [SECRET]},
        {"id": "p4", "pair": [SECRET, SECRET]},
    ]
    folder = pairs(tmp_path / "x", [*bad, PAIRS[0]], [TRUTH[0], {"id": "p2", "same": "yes"}, SECRET])
    mistakes = []
    READERS["pan_pairs"](folder, mistakes.append)
    told = [str(mistake).removeprefix(f"{folder}/") for mistake in mistakes]
    assert [line.split(":")[0] for line in told] == [
        *("truth.jsonl, line 2", "truth.jsonl, line 3"),
        *("pairs.jsonl, line 2", "pairs.jsonl, line 3", "pairs.jsonl, line 4", "pairs.jsonl, line 5"),
    ]
    assert not any(SECRET in line for line in told)
    assert "the truth has no line for this pair" in told[4]


def test_pairs_without_truth_are_refused(tmp_path):
    with pytest.raises(StudyError, match="pairs.jsonl: its truth.jsonl is missing"):
        READERS["pan_pairs"](pairs(tmp_path / "x", PAIRS, None))
