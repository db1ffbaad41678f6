"""Blanks of several words and of parts of words: what may stand there is what stands in texts."""

import pytest
import torch
from tiny_models import FAMILIES, bert, roberta
from transformers import BertTokenizer, BertweetTokenizer, PhobertTokenizer

from blankfill import Filler, InfillAugmenter
from blankfill.slots.rows import SlotKind, to_rows
from blankfill.slots.vocabulary import Speller, slot_bias
from blankfill.text import blank_out

MARKS = "[PAD] [UNK] [CLS] [SEP] [MASK]".split()
WORDS = "take two three tablet tablets pills a day un ##able able ##s s ##let , . - 我 爱 中 国".split()
TEXT = "take two tablets a day."
AFTER, INSIDE, FIRST, MORE, ONLY, LAST, ANY, ANY_LAST = (
    SlotKind.AFTER_SPACE,
    SlotKind.CONTINUATION,
    SlotKind.NO_SPACE,
    SlotKind.SPACE_AND_MORE,
    SlotKind.ONLY,
    SlotKind.LAST,
    SlotKind.ANY,
    SlotKind.ANY_LAST,
)


@pytest.fixture(scope="module")
def words():
    return BertTokenizer(vocab={word: number for number, word in enumerate([*MARKS, *WORDS])})


def leaning(build, tokenizer, weights):
    """Return a masked model that leans to some words."""
    torch.manual_seed(3)
    model = build(tokenizer).eval()
    with torch.no_grad():
        for word, weight in weights.items():
            model.get_output_embeddings().bias[tokenizer.convert_tokens_to_ids(word)] += weight
    return model


def row_of(tokenizer, text, spans, counts=None):
    row = to_rows([blank_out("d", text, spans, counts)], tokenizer, None)[0]
    return tokenizer.convert_ids_to_tokens(row.ids)[1:-1], row.kinds


@pytest.mark.parametrize(
    ("text", "span", "first", "second", "phrase"),
    [(TEXT, (5, 16), "three", "pills", "three pills"), ("我爱中国。", (2, 4), "国", "中", "国中")],
)
def test_a_phrase_is_filled_with_as_many_words(text, span, first, second, phrase, words):
    """The likeliest of all ways is the likeliest phrase, as its score says."""
    filler = Filler(leaning(bert, words, {first: 9, second: 8}), words, order="left_to_right", context="left")
    found = {one.words[0]: one for one in filler.candidates(text, 9, [span], beam=10_000)}
    other = text[: span[0]] + phrase + text[span[1] :]
    nats = filler.score(other, [(span[0], span[0] + len(phrase))]).nats
    assert found[phrase].log_probability == pytest.approx(-nats, abs=1e-4)
    assert found[phrase].text == other and max(one.log_probability for one in found.values()) >= -nats
    assert filler(text, [span]).fills[0][0] in (f"{first} {first}", first * 2)
    marked = filler(text.replace(text[slice(*span)], "___"), counts=[2])
    assert marked.fills[0][0] in (f"{first} {first}", first * 2)
    augmenter = InfillAugmenter(filler.model, words, share=1.0, temperature=0.0, order="left_to_right")
    (varied,) = augmenter.augment(text, 1, blanks=[span])
    assert first in varied["text"] and "##" not in varied["text"]


def test_kinds_of_slots_in_a_phrase(words):
    assert row_of(words, TEXT, [(5, 16)]) == (["take", "two", "tablets", "a", "day", "."], [AFTER, AFTER])
    assert row_of(words, "take tablet able-unable", [(5, 23)])[1] == [AFTER, AFTER, AFTER, MORE, LAST]
    assert row_of(words, "take tabletable.", [(5, 15)])[1] == [MORE, LAST]
    assert row_of(words, TEXT, [(5, 16)], [1])[1] == [AFTER]
    assert row_of(words, TEXT, [(5, 16)], [2])[1] == [MORE, ANY_LAST]
    assert row_of(words, "take-two", [(5, 8)], [3])[1] == [FIRST, ANY, ANY_LAST]
    assert to_rows([blank_out("d", TEXT, [(5, 16)])], words, None, [[2]])[0].kinds == [MORE, LAST]


@pytest.mark.parametrize("family", ["wordpiece", *FAMILIES])
def test_the_original_of_a_phrase_could_be_written(family, tokenizers, texts):
    tokenizer, n_words = tokenizers[family], set()
    may = slot_bias(tokenizer, len(tokenizer)) == 0
    for text in (*texts, "well-known 東京 in 1999 (twice)"):
        phrase = text[: len(text) // 2].strip()
        row = to_rows([blank_out("d", text, [(0, len(phrase))])], tokenizer, None)[0]
        tokens = [row.ids[place] for place in row.slots]
        kinds = [*zip(row.kinds, tokens, strict=True)]
        assert all(may[kind, token] or token == tokenizer.unk_token_id for kind, token in kinds)
        n_words.add(sum(kind in (AFTER, MORE, ONLY, FIRST) for kind in row.kinds))
        if tokenizer.unk_token_id not in tokens and not (family == "wordpiece" and {*"-(:;"} & {*phrase}):
            assert Speller(tokenizer)(tokens).lower() == phrase.lower()
    assert min(n_words) > 1


def test_a_blank_beside_letters_is_a_part_of_their_word(words):
    for text, spans, tokens, kinds in (
        ("takes", [(4, 5)], ["take", "##s"], [LAST]),
        ("takelets two", [(4, 12)], ["take", "##let", "##s", "two"], [INSIDE, LAST, AFTER]),
        ("two unsable day", [(6, 7)], ["two", "un", "##s", "##able", "day"], [LAST]),
        ("two sable, day", [(4, 5)], ["two", "s", "##able", ",", "day"], [AFTER]),
        ("takes", [(0, 4), (4, 5)], ["take", "##s"], [ONLY, LAST]),
        ("two-take", [(4, 8)], ["two", "-", "take"], [ONLY]),
        ("take中a", [(4, 5)], ["take", "中", "a"], [ONLY]),
    ):
        assert row_of(words, text, spans) == (tokens, kinds)
    model = leaning(bert, words, {"pills": 9})
    filler = Filler(model, words, order="left_to_right", context="left")
    whole, parts = filler.score("takes"), [filler.score("takes", [span]) for span in ((0, 4), (4, 5))]
    assert whole.nats == pytest.approx(sum(part.nats for part in parts)) and parts[1].tokens == 1
    later = {"able", "s", "let"}
    for settings in ({}, {"length": "one"}, {"counts": [1]}):
        assert filler("take___ two", **settings).fills[0][0] in later
        assert filler("un___able, [x]", **settings).text[2:-9] in later
        assert (
            filler("take ___.", **settings).text == filler("take ~~.", "~~", **settings).text == "take pills."
        )
    assert filler("take-___").text == "take-pills"


@pytest.mark.parametrize("kind", [PhobertTokenizer, BertweetTokenizer])
def test_a_word_that_goes_on_does(kind, tmp_path):
    """`@@` stands behind a token whose word goes on: no fill ends with one."""
    known = "take two three tab@@ lets@@ lets pills . a day".split()
    (tmp_path / "vocab.txt").write_text("".join(f"{token} 1\n" for token in known))
    pairs = ["t a", "ta b", "l e", "le t", "let s</w>", "t w", "tw o</w>", "ta k", "tak e</w>"]
    (tmp_path / "bpe.codes").write_text("".join(f"{pair} 1\n" for pair in pairs))
    tokenizer = kind(str(tmp_path / "vocab.txt"), str(tmp_path / "bpe.codes"))
    text = "take two tablets ."
    assert row_of(tokenizer, text, [(5, 16)]) == (["take", "two", "tab@@", "lets", "."], [AFTER, MORE, LAST])
    model = leaning(roberta, tokenizer, {"tab@@": 9, "lets@@": 8, "lets": 3})
    for settings in ({"order": "left_to_right"}, {"temperature": 1.0, "order": "gibbs"}):
        filler = Filler(model, tokenizer, **settings)
        answers = [filler(text, [(9, 16)]), filler(text, [(5, 16)]), filler("take ___ .")]
        answers += [filler("take ___ .", counts=[n]) for n in (2, 3)]
        if "temperature" not in settings:
            answers.append(filler("take ___ .", length="free"))
            assert answers[0].text == "take two tablets ." and answers[2].text == "take lets ."
        assert all(answer.fills[0][0] and "@" not in answer.text for answer in answers)
    words = [one.words[0] for one in filler.candidates(text, 9, [(9, 16)], order="random")]
    assert "tablets" in words and all(word.startswith(("tab", "lets")) for word in words)
