"""PAN's pairs of texts of 2020 to 2023, and the mistakes in them."""

import json

import pytest
from corpus_files import collect
from refusals import SECRET, assert_refused

from mlm_vs_clm.corpora.readers import pan_pairs
from mlm_vs_clm.corpora.readers.base import GivenProblem


def write_pairs(folder, pairs, truth, names=("pairs.jsonl", "truth.jsonl")):
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


@pytest.mark.parametrize("names", [("pairs.jsonl", "truth.jsonl"), ("pan20.jsonl", "pan20-truth.jsonl")])
def test_pairs_with_authors_fandoms_and_repeated_texts(tmp_path, names):
    result = pan_pairs.read(write_pairs(tmp_path / "x", PAIRS, TRUTH, names))
    found = [(d.id, d.author, *d.labels) for d in result.documents]
    assert found == [("p1-a", "7", "A"), ("p1-b", "7", "B"), ("p2-b", "8", "C")]
    assert result.problems[1] == GivenProblem("p2", ("p1-a",), "p2-b", False)
    assert result.counted["answers to absent problems (not used)"] == 1


def test_a_text_without_a_named_author_has_the_name_of_the_others_by_its_author(tmp_path):
    pairs = [PAIRS[0], {"id": "p2", "pair": ["one TEXT", "Three."]}, {"id": "p3", "pair": ["Four.", "Five."]}]
    truth = [TRUTH[0], {"id": "p2", "same": True}, {"id": "p3", "same": False}]
    result = pan_pairs.read(write_pairs(tmp_path / "x", pairs, truth))
    assert [d.author for d in result.documents] == ["7", "7", "7", "p3-a", "p3-b"]


def test_pairs_of_discourse_types_without_named_authors(tmp_path):
    row = {"id": "p", "pair": ["Dear Ann.", "So, um."], "discourse_types": ["email", "interview"]}
    result = pan_pairs.read(write_pairs(tmp_path / "x", [row], [{"id": "p", "same": True}]))
    one, other = result.documents
    assert one.author == other.author and (one.labels, other.labels) == (("email",), ("interview",))


def test_pairs_tell_every_mistake_with_its_line(tmp_path):
    few, many = ({"id": f"p{n}", "pair": [SECRET] * (n - 2)} for n in (3, 4))
    bad = [PAIRS[0], f'{{"id": "{SECRET}', few, many]
    folder = write_pairs(tmp_path / "x", [*bad, PAIRS[0]], [TRUTH[0], {"id": "p2", "same": "yes"}, SECRET])
    _, mistakes = collect(pan_pairs.read, folder)
    places = [f"truth.jsonl, line {n}" for n in (2, 3)] + [f"pairs.jsonl, line {n}" for n in (2, 3, 4, 5)]
    assert [mistake.split(":")[0] for mistake in mistakes] == places
    assert "the truth has no line for this pair" in mistakes[4]


def test_pairs_without_truth_are_refused(tmp_path):
    assert_refused(
        "pairs.jsonl: its truth.jsonl is missing", pan_pairs.read, write_pairs(tmp_path / "x", PAIRS, None)
    )
