"""House speeches: the opening formula, author and day."""

import json

import pytest
from corpus_files import put

from mlm_vs_clm.corpora.readers import speeches
from mlm_vs_clm.errors import StudyError


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


@pytest.mark.parametrize(
    "content, says",
    [
        ('[{"id": "1"}]', "row 0"),
        ("{}", "not a list"),
        ('[{"id": "1", "speech": "", "bioguide_id": "", "date": "x"}]', "row 0: the date"),
    ],
)
def test_what_is_missing_is_named(tmp_path, content, says):
    with pytest.raises(StudyError, match=says):
        speeches.read(put(tmp_path, "s.json", content))
