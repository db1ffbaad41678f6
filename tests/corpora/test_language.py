"""The data card on script, words and what of the scoring is for English alone."""

import pytest

from blankfill.text import BY_CHARACTER
from mlm_vs_clm.corpora.language import (
    SCRIPT_OF,
    describe_language,
    find_script,
    language_lines,
    list_scripts,
)


def say(*texts):
    return "\n".join(language_lines(describe_language(texts)))


def test_shares_of_letters_by_script_worked_by_hand():
    assert list_scripts(["abc д 中文 12 की।"]) == {
        "Latin": 0.4286,
        "Han": 0.2857,
        "Cyrillic": 0.1429,
        "Devanagari": 0.1429,
    }
    assert list_scripts([]) == list_scripts(["12 。"]) == {}


@pytest.mark.parametrize(
    "text, script",
    [
        ("中", "Han"),
        ("か", "Hiragana"),
        ("ไ", "Thai"),
        ("ス", "Katakana"),
        ("ش", "Arabic"),
        ("ש", "Hebrew"),
        ("한", "Hangul"),
    ],
)
def test_the_card_names_the_script_and_the_rule_of_its_words(text, script):
    told = say(text * 30)
    assert f"{script} 100.0%" in told and "seems not to be English" in told
    assert (f"each character of {script}" in told) == (script in BY_CHARACTER)


def test_the_card_says_where_words_cannot_be_found():
    assert "the words of Javanese cannot be found" in say("ꦲꦤꦕꦫꦏ")


def test_english_is_told_by_its_stopwords():
    told = say("The captain of the old boat was not at home and so we left it to her.")
    assert "English stopwords" in told and "seems not" not in told and "METEOR's stemmer" in told
    assert "no words" in say("。")


def test_every_named_script_is_one_of_the_standard():
    assert all(find_script(letter) in SCRIPT_OF for letter in "aдλעअกລខမ가ՀმአཀᠠܐހᏣㄅꦲᬅᥐᦀᨠꪀꀀ")
