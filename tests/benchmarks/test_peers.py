"""The comparison with other libraries: what a row says, also of a peer that does not start. No peer is needed here."""

from types import SimpleNamespace

import pytest

pytest.importorskip("psutil")
from benchmarks import peers


@pytest.fixture
def ours(tokenizer):
    return SimpleNamespace(
        tokenizer=tokenizer, fill=lambda case: [["a"] * len(places) for places in case["places"]]
    )


def use(monkeypatch, start):
    monkeypatch.setitem(peers.PEERS, "minicons masked", (start, lambda ours: ours.fill, "the same"))
    monkeypatch.setattr(peers, "version", lambda package: "1.0")


def test_a_case_has_blanks_at_its_places(tokenizer):
    case = peers.make_case(tokenizer, words=20, documents=3, share=0.3)
    for text, blanks, places in zip(case["texts"], case["blanks"], case["places"], strict=True):
        words = text.split(" ")
        assert len(words) == 20 and len(places) == 6
        assert [text[start:end] for start, end in blanks] == [words[place] for place in places]


def test_a_row_has_both_sides_and_how_much_is_equal(monkeypatch, ours):
    use(
        monkeypatch,
        lambda folders: lambda case: [["a"] + ["b"] * (len(places) - 1) for places in case["places"]],
    )
    (row,) = peers.measure_peer("minicons masked", {}, ours, [(20, 2, 0.5)], rounds=2)
    assert row["status"] == "made" and row["documents"] == 2 and row["precision"] == "fp32"
    assert row["equal"] == 0.1 and row["ratio"] > 0 and row["ours_peak_mb"] > 0


def test_a_peer_that_does_not_start_has_a_row_with_the_reason(monkeypatch, ours):
    def start(folders):
        raise ImportError("no module of that\nname")

    use(monkeypatch, start)
    (row,) = peers.measure_peer("minicons masked", {}, ours, [(20, 2, 0.5)], rounds=1)
    assert row["status"] == "not run" and row["reason"] == "ImportError: no module of that name"


def test_scores_are_equal_within_a_thousandth():
    assert peers.share_equal([1.0, 2.0], [1.0005, 2.1]) == 0.5


def test_one_thing_is_varied_at_a_time():
    cases = peers.list_cases(None)
    assert all(sum(a != b for a, b in zip(case, peers.MAIN, strict=True)) <= 1 for case in cases)
    assert peers.MAIN in cases and len(cases) == len(set(cases)) == 7
    assert peers.list_cases(4) == [(60, 4, 0.3)]
