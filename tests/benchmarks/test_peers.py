"""The comparison with other libraries: what a row says, also of a peer that does not start. No peer is needed here."""

import json
from contextlib import nullcontext

import pytest

from benchmarks.peers import cases, page, turns
from benchmarks.peers.cases import SIZES, Size

KNOWN = ["the", "old", "captain", "sailed", "harbour", "sea"]
PEER = turns.Comparison(
    "minicons, masked", "minicons", "older", "theirs", {"one": "a", "two": "b"}, "the same"
)


class FakeSide:
    """Answers with fills, a fixed time and memory."""

    def __init__(self, fill, seconds=1.0):
        self.fill, self.seconds, self.about = fill, seconds, {"transformers": "4.0"}

    def run(self, case):
        result = [[self.fill] * len(places) for places in case["places"]]
        seconds = self.seconds * len(case["texts"])
        return {"wall": seconds, "processor": seconds, "peak": 100.0, "result": result}


@pytest.fixture
def sides(monkeypatch):
    known = {"theirs": FakeSide("x", 6.0), "a": FakeSide("x", 2.0), "b": FakeSide("y")}
    monkeypatch.setattr(turns, "Side", lambda name, environment, folders: nullcontext(known[name]))
    return known


def test_a_case_has_blanks_at_its_places():
    case = cases.make_case(KNOWN, Size(words=20, documents=3))
    for text, blanks, places in zip(case["texts"], case["blanks"], case["places"], strict=True):
        words = text.split(" ")
        assert len(words) == 20 and len(places) == 6
        assert [text[start:end] for start, end in blanks] == [words[place] for place in places]


def test_a_row_has_both_sides_and_how_much_is_equal(sides):
    first, second = turns.compare(PEER, {}, KNOWN, [Size(words=20, documents=2)], rounds=2)
    assert (first["ours"], first["ratio"], first["equal"]) == ("one", 3.0, 1.0)
    assert (second["ours"], second["ratio"], second["equal"]) == ("two", 6.0, 0.0)
    assert first["their_texts_per_second"] == pytest.approx(1 / 6, abs=1e-3) and first["rounds"] == 1
    assert first["documents"] == 2 and first["precision"] == "float32" and first["our_peak_mb"] == 100


def test_a_size_that_takes_too_long_is_left_out_with_the_reason(sides):
    rows = [*turns.compare(PEER, {}, KNOWN, [Size(documents=2), Size(documents=50)], rounds=1)]
    assert [row["status"] for row in rows] == ["made", "made", "not run"]
    assert rows[2]["reason"] == "about 300 s a run, by the size before"


def test_a_peer_that_does_not_start_has_a_row_with_the_reason(monkeypatch):
    def start(name, environment, folders):
        raise turns.PeerError("ImportError: no such name")

    monkeypatch.setattr(turns, "Side", start)
    (row,) = turns.compare(PEER, {}, KNOWN, [Size()], rounds=1)
    assert row["status"] == "not run" and row["reason"] == "ImportError: no such name"


def test_an_environment_that_is_missing_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(turns, "ENVIRONMENTS", turns.ROOT / "no-such-folder")
    with pytest.raises(turns.PeerError, match="is missing: run `make peers`"):
        turns.Side("joint", "ours", {})


def test_scores_are_equal_within_a_thousandth():
    assert cases.share_equal([1.0, 2.0], [1.0005, 2.1]) == 0.5


def test_one_number_is_varied_at_a_time():
    assert Size() in SIZES and len({*SIZES}) == len(SIZES)
    assert {size.documents for size in SIZES if size.words == 60} == {1, 8, 32, 128}


def test_the_page_shows_the_rows_and_the_reasons(sides, tmp_path):
    about = {"processor": "some", "load_before": 1.0, "torch": "2", "transformers": "5"}
    rows = [*turns.compare(PEER, {}, KNOWN, [Size(documents=2), Size(documents=50)], rounds=1)]
    rows.append({"growth": "documents", "documents": 9, "blanks": 3, "over_linear": 1.25, "our_peak_mb": 7.0})
    path, text = tmp_path / "rows.jsonl", tmp_path / "page.md"
    path.write_text("".join(json.dumps(row | about) + "\n" for row in rows))
    text.write_text("<!-- begin: peers -->\n<!-- end: peers -->\n")
    page.main(path, text, tmp_path)
    shown = text.read_text()
    assert "| minicons, masked | one | 60 | 2 | 30% |" in shown and "about 300 s a run" in shown
    assert "| documents | 9 | 3 |" in shown and (tmp_path / "peers.svg").exists()
