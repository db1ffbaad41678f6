"""Words, sentences and hashes of any script: marks belong to words, offsets to the text as it is given."""

import math
import sys
import unicodedata

import pytest

from blankfill.draws import keyed_rng
from blankfill.text import (
    BY_CHARACTER,
    BlankedText,
    assemble_text,
    find_words,
    fold_case,
    split_words,
)
from mlm_vs_clm.arms.recasing import insert_missing_spaces
from mlm_vs_clm.corpora.windows import Cutting, cut
from mlm_vs_clm.documents import (
    SENTENCE_END,
    Document,
    classify_word,
    find_sentence_starts,
    hash_text,
    measure_stopwords,
)
from mlm_vs_clm.masking import STRATEGIES, mask_words, note_language

# Each text with "|" between its words, where no space is.
TEXTS = {
    "hindi": "मैं आज शाम को अपने दोस्त के साथ बाज़ार जाऊँगा|।",
    "chinese": "中|文|文|本|测|试|。",
    "japanese": "コ|ー|ヒ|ー|を|飲|む|。",
    "thai": "ไ|ท|ย|น้|ำ",
    "khmer": "ខ្|មែ|រ",
    "lao": "ລ|າ|ວ",
    "myanmar": "မြ|န်|မာ",
    "persian": "می\u200cخواهم بروم|؟",
    "hebrew": "שָׁלוֹם עֲלֵיכֶם|!",
    "korean": "오늘 날씨가 좋다|.",
    "vietnamese": "Hôm nay trời đẹp|,|ộ",
    "turkish": "İstanbul|'|da güzel",
    "mixed": "a|中|b 3|月|5|日 x²",
    "emoji": "👨\u200d👩\u200d👧|🇺🇸|🇬🇧 👍🏽|❤\ufe0f|☕ ©",
    "unseen": "so\u00adft a\u200b|b \u200fשלום\u200f|.",
    "english": "the patient|'|s B|-|12 α|_|β|, naïve|…",
}
FORMS = ("NFC", "NFD")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", TEXTS)
def test_words_worked_by_hand(name, form):
    marked = unicodedata.normalize(form, TEXTS[name])
    seen = marked.translate(dict.fromkeys(map(ord, "\u200b\u200f"), " "))
    words = [word for word in seen.replace("|", " ").split() if word.strip()]
    text = marked.replace("|", "")
    assert split_words(text) == words
    assert [text[start:end] for start, end in find_words(text)] == words


@pytest.mark.parametrize("name", TEXTS)
def test_words_hash_and_folded_text_are_the_same_composed_and_decomposed(name):
    composed, decomposed = (unicodedata.normalize(form, TEXTS[name]) for form in FORMS)
    assert hash_text(composed) == hash_text(decomposed)
    assert fold_case(composed) == fold_case(decomposed) == fold_case(fold_case(decomposed))
    assert len(find_words(composed)) == len(find_words(decomposed))


def test_characters_of_all_kinds_are_one_word_in_both_forms_and_marks_belong_to_the_letter_before():
    for code in (*range(0x3000), *range(0x3000, sys.maxunicode + 1, 23)):
        character = chr(code)
        kind = unicodedata.category(character)
        if kind[0] in "CZ":
            continue
        forms = [unicodedata.normalize(form, character) for form in FORMS]
        assert fold_case(forms[0]) == fold_case(forms[1]) == fold_case(fold_case(character)), hex(code)
        if kind[0] in "LN":
            assert find_words(character) == [(0, 1)] and classify_word(character) != "punctuation", hex(code)
        if kind[0] in "PS":
            assert find_words(character) == [(0, 1)] and classify_word(character) == "punctuation", hex(code)
        if kind[0] == "M":
            assert find_words(f"a{character}") == [(0, 2)], hex(code)
            assert classify_word(character) == "content", hex(code)


@pytest.mark.parametrize("word", ["ि", "\u0301", "हिन्दी", "cafe\u0301", "中", "x²"])
def test_a_mark_is_no_punctuation(word):
    assert classify_word(word) == "content"


def test_texts_that_differ_in_one_vowel_sign_are_two():
    assert hash_text("की") != hash_text("का") and hash_text("café") != hash_text("cafe")
    assert hash_text("शब्द १") != hash_text("शब्द २")
    assert hash_text("Καφές, ΤΣΆΙ!") == hash_text("καφές τσάι")
    assert hash_text("中文，测试") == hash_text("中文 测试")
    assert hash_text("cap\u00adtain") == hash_text("cap\u200btain") == hash_text("captain")
    assert hash_text("😀😀") == hash_text("😀 😀") != hash_text("💔")
    assert hash_text("می\u200cخواهم") != hash_text("میخواهم")


@pytest.mark.parametrize(
    "text",
    [
        "Он пришёл домой. |Она спала. |Всё было тихо.",
        "Это был я. |Она ушла. |Т. е. так.",
        "我来了。|你呢？|他说：“好！”|走吧。",
        "他说：“好！”",
        "です．|次は３．５です。|終わり",
        "यह है। |वह था।|अच्छा॥ |हाँ",
        "Er ging. |„Komm mit.“ |Sie kam. |»Nein!« |Dann war es still.",
        "«\u00a0Viens.\u00a0» |Elle vint. |« Non ! » |Puis rien.",
        "ذهب الرجل. |هل عاد؟ |نعم۔ |لا",
        "שלום לך. |מה שלומך? |טוב",
        "그는 갔다. |비가 온다! |5시다.",
        "მოვიდა. |წავიდა.",
        "Եկավ։ |Գնաց։",
        "ሰላም ነው። |ደህና",
        "Él vino. |¿Cuándo? |¡Ayer! |Éxito.",
        "He sang. |Éric left. |Štěpán stayed. |İsmail too. vs. none",
    ],
)
@pytest.mark.parametrize("form", FORMS)
def test_sentences_worked_by_hand_in_many_scripts(text, form):
    pieces = unicodedata.normalize(form, text).split("|")
    starts = [sum(map(len, pieces[:n])) for n in range(1, len(pieces))]
    assert find_sentence_starts("".join(pieces)) == starts


@pytest.mark.parametrize("mark", [".", "。", "?", ".»", " ", "\n", '"', ". "])
def test_a_long_run_of_marks_takes_no_longer_than_its_length(mark):
    """In quadratic time the dots of a table of contents would take hours, and the timeout ends the test."""
    starts = [end.end() for end in SENTENCE_END.finditer(f"Page{mark * 200_000}", timeout=60)]
    assert len(starts) <= 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_blanks_are_whole_words_and_the_originals_give_the_text_back(strategy):
    for marked in TEXTS.values():
        text = unicodedata.normalize("NFD", marked.replace("|", ""))
        corruption = mask_words(Document("d", text), strategy, 0.5, keyed_rng(0, "d"))
        blanked = BlankedText("d", text, corruption.words, corruption.blanks)
        filled = assemble_text(blanked, blanked.originals())
        assert insert_missing_spaces(blanked, filled).text == filled.text == text


def test_punctuation_of_chinese_and_hindi_is_masked_and_no_mark_is():
    for text, marks in (("中文，测试。", "，。"), ("हिन्दी में लिखी किताब।", "।"), ("की-का।", "।")):
        corruption = mask_words(Document("h", text), "punctuation", 1.0, keyed_rng(0, "h"))
        assert "".join(text[slice(*corruption.words[i])] for i in corruption.blanks) == marks


def test_a_space_keeps_a_fill_from_running_into_hindi_and_none_is_put_into_chinese():
    for text, fill, expected in (("की।", "में", "कीमें"), ("中，文", "和", "中和文"), ("a,b", "c", "a c b")):
        blanked = BlankedText("d", text, find_words(text), [1])
        spaced = insert_missing_spaces(blanked, assemble_text(blanked, [fill])).text
        assert spaced == (expected if text[0] != "क" else "की में")


@pytest.mark.parametrize("name", TEXTS)
def test_windows_are_slices_that_hold_every_word(name):
    text = (TEXTS[name].replace("|", "") + " ") * 9
    windows = cut([Document("d", text)], Cutting(7, 1, seed=0)).documents
    assert all(window.text in text and len(split_words(window.text)) <= 7 for window in windows)
    assert [word for window in windows for word in split_words(window.text)] == split_words(text)


def test_a_strategy_of_english_stopwords_says_when_the_texts_are_not_english():
    hindi = [Document("h", TEXTS["hindi"].replace("|", ""))]
    english = [Document("e", "The captain of the old boat was not at home and so we left it to her.")]
    for strategy in STRATEGIES:
        reads = strategy.removeprefix("random_as_") in ("stopwords", "content_words", "part_of_speech")
        assert bool(note_language(strategy, hindi)) == reads and not note_language(strategy, english)
    assert "0.0% of the words" in note_language("stopwords", hindi)
    assert measure_stopwords(["the cat, the dog"]) == 0.5 and math.isnan(measure_stopwords(["。"]))


def test_the_scripts_without_spaces_are_those_that_the_docs_name():
    assert BY_CHARACTER == ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar")
