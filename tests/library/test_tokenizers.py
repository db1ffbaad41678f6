"""Filling works with any tokenizer: no sub-word crosses a blank, no space is invented, no mark is a fill."""

import json
import logging
from copy import deepcopy

import pytest
import torch
from refusals import assert_refused
from tiny_models import FAMILIES, bert, blank, byte_level, gpt2, gpt2_like, llama_like, roberta_like, t5_like
from tokenizers import AddedToken, Tokenizer, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from blankfill import BlankedText, DocumentError, Filler, fill, fill_causal
from blankfill.errors import BlankfillError
from blankfill.networks.checkpoints import edge_tokens
from blankfill.slots import vocabulary
from blankfill.slots.pieces import PieceEncoder
from blankfill.slots.rows import SlotKind, to_rows
from blankfill.slots.vocabulary import Speller, slot_bias
from blankfill.text import find_words
from blankfill.writers import with_padding


@pytest.mark.parametrize("family", ["wordpiece", *FAMILIES])
def test_pieces_join_to_the_sub_words_of_the_whole_text(family, tokenizers, texts):
    """Blanks at words that the tokenizer splits off anyway change nothing in what the model reads."""
    tokenizer = tokenizers[family]
    text = texts[0]
    row = to_rows([blank(text, [1, 4, 7])], tokenizer, None)[0]
    around = (tokenizer.cls_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.sep_token_id)
    inner = [token for token in row.ids if token not in around]
    assert inner == tokenizer(text, add_special_tokens=False)["input_ids"]
    for number, word in enumerate((1, 4, 7)):
        start, end = find_words(text)[word]
        assert Speller(tokenizer)([row.ids[row.slots[n]] for n in row.slots_of(number)]).lower() == (
            text[start:end].lower()
        )


@pytest.mark.parametrize("family", FAMILIES)
def test_no_space_is_invented_at_a_border(family, tokenizers):
    tokenizer = tokenizers[family]
    encode = PieceEncoder(tokenizer)
    for piece in (")", "pressure", ".", "-known"):
        names = tokenizer.convert_ids_to_tokens(encode([piece])[0])
        assert not names[0].startswith(("▁", "Ġ"))
    spaced = tokenizer.convert_ids_to_tokens(encode([" pressure"])[0])
    assert spaced[0].startswith(("▁", "Ġ"))
    assert encode.adds_space == (family in ("t5", "llama"))
    assert encode.is_space(" ") and encode.is_space("\n") == (family == "t5") and not encode.is_space("x")


def test_tokenizer_that_is_told_to_write_a_space_does_not_at_a_border(texts):
    tokenizer = roberta_like(texts)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    row = to_rows([blank("the (boat)", [2])], tokenizer, None)[0]
    names = tokenizer.convert_ids_to_tokens(row.ids)
    assert names[1][0] == "Ġ" and not any(name.startswith("Ġ") for name in names[-4:-1] if name != "Ġ(")


def test_kinds_of_slots_by_hand(tokenizers):
    text = blank("pre(fixed) better unforeseen", [0, 2, 4, 5])
    row = to_rows([text], tokenizers["roberta"], None, [[1, 2, 1, 3]])[0]
    assert row.kinds == [
        SlotKind.ONLY,
        SlotKind.NO_SPACE,
        SlotKind.LAST,
        SlotKind.AFTER_SPACE,
        SlotKind.SPACE_AND_MORE,
        SlotKind.CONTINUATION,
        SlotKind.LAST,
    ]
    opened = to_rows([text], tokenizers["llama"], None, [[1, 2, 1, 3]])[0]
    assert opened.kinds[0] == SlotKind.AFTER_SPACE and opened.kinds[1:] == row.kinds[1:]


@pytest.mark.parametrize("family", ["wordpiece", *FAMILIES])
def test_what_may_stand_in_a_slot(family, tokenizers):
    tokenizer = tokenizers[family]
    may = slot_bias(tokenizer, len(tokenizer) + 5) == 0
    names = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    sign = {"wordpiece": "##", "roberta": "Ġ", "gpt2": "Ġ"}.get(family, "▁")
    signed = torch.tensor([name.startswith(sign) for name in names])
    assert not may[:, len(names) :].any() and not may[:, tokenizer.all_special_ids].any()
    assert may.any(1).all()
    if family == "wordpiece":
        assert not (may[SlotKind.CONTINUATION, : len(names)] & ~signed).any()
        assert (
            torch.equal(may[SlotKind.AFTER_SPACE], may[SlotKind.NO_SPACE])
            and not (may[SlotKind.AFTER_SPACE, : len(names)] & signed).any()
        )
        return
    assert not (may[SlotKind.AFTER_SPACE, : len(names)] & ~signed).any()
    assert not (may[[SlotKind.CONTINUATION, SlotKind.NO_SPACE], : len(names)] & signed).any()
    lone = tokenizer.convert_tokens_to_ids(sign)
    assert may[SlotKind.SPACE_AND_MORE, lone] and not may[:3, lone].any()
    silent = [i for i, name in enumerate(names) if not tokenizer.convert_tokens_to_string([name]).strip()]
    assert not may[:3, silent].any()


@pytest.mark.parametrize("family", ["wordpiece", *FAMILIES])
def test_every_original_could_be_written(family, tokenizers, texts):
    """With the length known, the sub-words of the original are among those that may stand in its slots."""
    tokenizer = tokenizers[family]
    may = slot_bias(tokenizer, len(tokenizer)) == 0
    for text in (*texts, "東京 in 1999 (twice)"):
        row = to_rows([blank(text, list(range(len(find_words(text)))))], tokenizer, None)[0]
        unknown = tokenizer.unk_token_id
        assert all(
            may[kind, row.ids[place]] or row.ids[place] == unknown
            for kind, place in zip(row.kinds, row.slots, strict=True)
        )


def test_tokenizer_of_another_model_is_refused(tokenizers):
    assert_refused("do not belong together", slot_bias, tokenizers["llama"], 100)


@pytest.mark.parametrize(
    ("words", "blanks"),
    [
        ([(0, 3), (2, 5)], [0]),
        ([(4, 7), (0, 3)], [0]),
        ([(0, 99)], [0]),
        ([(3, 3)], [0]),
        ([(0, 3)], [1]),
        ([(0, 3), (4, 7)], [1, 0]),
        ([(0, 3)], [0, 0]),
        ([(0, 3)], [-1]),
    ],
)
def test_wrong_words_and_blanks_name_the_document_and_not_its_text(words, blanks):
    with pytest.raises(DocumentError, match="document d7: ") as error:
        BlankedText("d7", "secret words", words, blanks)
    assert error.value.id == "d7" and "secret" not in str(error.value)


@pytest.mark.parametrize("length", ["known", "one", "free"])
def test_a_text_that_starts_with_a_blank_needs_a_mark_to_open_it(length, texts):
    """No mark, nothing to go on from: told by document; a text that starts with a kept word is filled."""
    tokenizer = byte_level(texts, pad_token="<pad>")
    torch.manual_seed(3)
    model = gpt2(tokenizer).eval()
    with pytest.raises(
        DocumentError, match="document d: it starts with a blank and the tokenizer has no CLS, BOS or EOS"
    ):
        fill_causal(model, tokenizer, [blank(texts[0], [0, 2])], length=length)
    filled, _ = fill_causal(model, tokenizer, [blank(texts[0], [1, 2])], length=length)
    assert all(filled[0].fills)


def test_a_token_that_is_named_special_later_fills_no_slot(texts):
    tokenizer = byte_level(texts, pad_token="<pad>")
    n_vocabulary, number = len(tokenizer), tokenizer.convert_tokens_to_ids("b")
    assert slot_bias(tokenizer, n_vocabulary)[SlotKind.LAST, number] == 0
    tokenizer.bos_token = "b"
    assert not slot_bias(tokenizer, n_vocabulary)[:, number].isfinite().any()


def test_special_tokens_read_the_vocabulary_once(tokenizers, monkeypatch):
    asked = []
    read = vocabulary.all_tokens
    monkeypatch.setattr(vocabulary, "all_tokens", lambda tokenizer: asked.append(1) or read(tokenizer))
    assert "</s>" in vocabulary.special_tokens(tokenizers["t5"]) and len(asked) == 1


def test_one_copy_of_a_tokenizer_is_padded(networks):
    """The caches of a vocabulary go by the object: they hold for every filler."""
    model, tokenizer = networks["gpt2"]
    assert tokenizer.pad_token is None
    first, second = (Filler(model, tokenizer).tokenizer for _ in range(2))
    assert first is second is not tokenizer and tokenizer.pad_token is None and first.pad_token == "<|end|>"
    grown = deepcopy(tokenizer)
    assert with_padding(grown).mask_token is None
    grown.add_special_tokens({"mask_token": "<mask>"})
    assert with_padding(grown).mask_token == "<mask>"


def test_a_tokenizer_without_a_token_to_pad_with_is_refused(texts, networks):
    model, _ = networks["gpt2"]
    with pytest.raises(BlankfillError, match="no padding, EOS or UNK token.*set its pad_token"):
        fill(texts[:1], [[(0, 3)]], model, byte_level(texts))


def named(tokenizer, *sides):
    return tuple(tokenizer.convert_ids_to_tokens(side) for side in sides)


@pytest.mark.parametrize(
    ("family", "opening", "closing"),
    [
        ("wordpiece", "[CLS]", "[SEP]"),
        ("roberta", "<s>", "</s>"),
        ("gpt2", "<|end|>", "<|end|>"),
        ("t5", "</s>", "</s>"),
        ("llama", "<s>", "</s>"),
    ],
)
def test_edges_of_the_families(family, opening, closing, tokenizers):
    assert named(tokenizers[family], *edge_tokens(tokenizers[family])) == ([opening], [closing])


@pytest.mark.parametrize(
    ("template", "opening", "closing"),
    [
        ("$A", "<|end|>", "<|end|>"),
        ("<x> <y> $A", "<x> <y>", "<|end|>"),
        ("<y> $A <x> <y>", "<y>", "<x> <y>"),
        ("$A <x>", "<|end|>", "<x>"),
    ],
)
def test_a_text_is_opened_and_closed_as_its_tokenizer_does(template, opening, closing, texts):
    """Only on a side where it puts nothing is a token chosen by its name."""
    tokenizer = gpt2_like(texts)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<x>", "<y>"]})
    marks = [(mark, tokenizer.convert_tokens_to_ids(mark)) for mark in ("<x>", "<y>")]
    around = processors.TemplateProcessing(single=template, special_tokens=marks)
    tokenizer.backend_tokenizer.post_processor = around
    assert named(tokenizer, *edge_tokens(tokenizer)) == (opening.split(), closing.split())
    (ids,) = named(tokenizer, to_rows([blank(texts[0], [1])], tokenizer, None)[0].ids)
    inner = tokenizer.tokenize(texts[0])
    assert ids == [*opening.split(), *inner, *closing.split()]


@pytest.mark.parametrize("make", [t5_like, llama_like, roberta_like])
def test_text_behind_an_added_token_is_read_as_the_tokenizer_reads_it(make, texts):
    """Some put a space before each section between added tokens, some before the first alone."""
    tokenizer = make(texts)
    tokenizer.add_tokens([AddedToken("ZIKA-7", normalized=False), AddedToken("newdrug")])
    for text in (
        "ZIKA-7 reduced",
        "the (ZIKA-7), then",
        "a newdrug, newdrugs",
        "newdrug",
        "The ZIKA-7newdrug.",
    ):
        expected = tokenizer(text, add_special_tokens=False)["input_ids"]
        opening, closing = edge_tokens(tokenizer)
        for blanks in ([], [0]) if text.startswith("T") else ([],):
            ids = to_rows([blank(text, blanks)], tokenizer, None)[0].ids
            assert ids == opening + expected + closing, text


def test_a_vocabulary_may_have_ids_without_a_token(tokenizers):
    whole = tokenizers["wordpiece"]
    described = json.loads(whole.backend_tokenizer.to_str())
    last = len(whole) + 40
    described["model"]["vocab"]["[MASK]"] = last
    for token in described["added_tokens"]:
        token["id"] = last if token["content"] == "[MASK]" else token["id"]
    marks = {
        f"{name}_token": getattr(whole, f"{name}_token") for name in ("pad", "unk", "cls", "sep", "mask")
    }
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(json.dumps(described)), **marks)
    assert tokenizer.mask_token_id == last >= len(tokenizer)
    may = slot_bias(tokenizer, last + 3) == 0
    assert may.any(1).all() and not may[:, len(whole) :].any() and not may[:, whole.mask_token_id].any()
    assert "[MASK]" in vocabulary.special_tokens(tokenizer)
    model = bert(whole).eval()
    model.resize_token_embeddings(last + 1, mean_resizing=False)
    assert fill(["The ___ sailed."], "___", model, tokenizer).fills[0]
    assert_refused("do not belong together", slot_bias, tokenizer, last)


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_a_text_longer_than_the_tokenizer_expects_is_no_reason_to_warn(name, networks, caplog):
    """It is read in windows, or refused."""
    model, tokenizer = networks[name][0], deepcopy(networks[name][1])
    tokenizer.model_max_length = 8
    logger = logging.getLogger("transformers")
    logger.addHandler(caplog.handler)
    try:
        Filler(model, tokenizer)("The old ___ sailed the small boat across the cold bay.")
    finally:
        logger.removeHandler(caplog.handler)
    assert not caplog.messages
