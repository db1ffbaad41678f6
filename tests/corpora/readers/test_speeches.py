"""House speeches: the opening formula, author and day."""

import json

import pytest

from mlm_vs_clm.corpora.readers import speeches


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
    assert speeches.clean(speech) == left


def test_speeches_carry_author_and_day(tmp_path):
    row = {"id": "s", "speech": "Mr. Speaker, I rise today to sing.", "bioguide_id": "L1", "date": "15785"}
    path = tmp_path / "s.json"
    path.write_text(json.dumps([row]))
    (document,) = speeches.read(path).documents
    assert (document.author, document.date, document.text) == ("L1", "2013-03-21", "to sing.")
