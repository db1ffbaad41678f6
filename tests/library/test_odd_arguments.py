"""What `fill` and `score` are given by mistake: one line that says what is wrong, and never another text."""

from copy import deepcopy
from itertools import count

import numpy as np
import pandas as pd
import pytest
import torch
from refusals import assert_refused
from tiny_models import roberta_like
from transformers import BertForMaskedLM

from blankfill import DocumentError, Filler, InfillAugmenter, audit, fill, score
from blankfill.errors import BlankfillError
from blankfill.slots.utf8 import byte_of_sign
from blankfill.text import find_words

TEXT, BLANK = "The old captain sailed.", [(4, 7)]
NO_MODELS = [BertForMaskedLM, {}, 1]


@pytest.mark.parametrize("order", ["random", "gibbs"])
def test_a_seed_of_numpy_is_the_same_seed(order, networks):
    model, tokenizer = networks["bert"]
    plain, same = (
        Filler(model, tokenizer, order=order, temperature=1.0, seed=seed) for seed in (3, np.int64(3))
    )
    spans = find_words(TEXT)
    assert plain(TEXT, spans).texts == same(TEXT, spans).texts
    variants = [InfillAugmenter(model, tokenizer, seed=seed).augment(TEXT, 3) for seed in (3, np.int64(3))]
    assert variants[0] == variants[1]
    if order == "random":
        assert plain.score(TEXT, spans) == same.score(TEXT, spans)
        texts = [TEXT, "A boat."], ["The cold bay.", "A crew."], ["The boat.", "A wheel."]
        assert audit(*texts, model=model, tokenizer=tokenizer, seed=np.int64(3)) == (
            audit(*texts, model=model, tokenizer=tokenizer, seed=3)
        )


@pytest.mark.parametrize("run", [fill, score])
@pytest.mark.parametrize("wrong", NO_MODELS)
def test_a_model_or_tokenizer_that_is_none_is_told(run, wrong, networks):
    model, tokenizer = networks["roberta"]
    for device in ("auto", "cpu"):
        with pytest.raises(BlankfillError, match="a loaded model is needed, this is a"):
            run(TEXT, BLANK, wrong, tokenizer, device=device)
    assert_refused("a loaded tokenizer is needed, this is a", run, TEXT, BLANK, model, wrong)
    assert_refused("a loaded model is needed, this is a", run, TEXT, BLANK, model, tokenizer, second=wrong)


@pytest.mark.parametrize("run", [fill, score])
def test_nothing_in_place_of_a_model_or_tokenizer_is_told(run, networks):
    model, tokenizer = networks["roberta"]
    assert_refused("a loaded model is needed, this is a NoneType", run, TEXT, BLANK, None, tokenizer)
    assert_refused("a RobertaForMaskedLM comes without its tokenizer", run, TEXT, BLANK, model, None)


def test_model_and_tokenizer_in_the_wrong_order_are_told(networks, texts):
    model, tokenizer = networks["roberta"]
    with pytest.raises(BlankfillError, match="a loaded tokenizer is needed, this is a RobertaForMaskedLM"):
        fill(TEXT, BLANK, tokenizer, model)
    with pytest.raises(BlankfillError, match="a loaded tokenizer is needed, this is a Tokenizer"):
        fill(TEXT, BLANK, model, roberta_like(texts).backend_tokenizer)


@pytest.mark.parametrize("text", ["The \ud83d captain", "\udc00 The old", "x The old\ud800"])
@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2", "llama", "t5", "bart"])
def test_half_of_a_character_is_a_mistake_of_its_document(name, text, networks):
    """No tokenizer reads it; the other documents are filled."""
    model, tokenizer = networks[name]
    axes = {"max_new_tokens": 3} if name in ("t5", "bart") else {}
    with pytest.raises(DocumentError, match="document 1: half of a character at"):
        fill([TEXT, text], [BLANK, [(2, 3)]], model, tokenizer, **axes)
    made = fill([TEXT, text], [BLANK, [(2, 3)]], model, tokenizer, on_error="skip", **axes)
    assert made.skipped.keys() == {"1"}
    assert made.fills[0] == fill(TEXT, BLANK, model, tokenizer, **axes).fills[0]
    if not axes:
        with pytest.raises(DocumentError, match="document 0: half of a character"):
            score(text, [(2, 3)], model, tokenizer)


def test_both_halves_are_a_character(networks):
    model, tokenizer = networks["roberta"]
    assert fill("The \U0001f600 old", [(6, 9)], model, tokenizer).texts[0].startswith("The \U0001f600 ")


@pytest.mark.parametrize("wrong", [["left"], {}, 1])
def test_a_choice_of_another_type_is_unknown(wrong, networks):
    for name, axes in (("gpt2", {"context": wrong}), ("bert", {"passes": 2, "schedule": wrong})):
        assert_refused("is unknown|is not one of", fill, TEXT, BLANK, *networks[name], **axes)


@pytest.mark.parametrize("seed", [[1], None, "1", 1.5, True])
def test_score_takes_whole_numbers_as_seed_alone(seed, networks):
    assert_refused("seed", score, TEXT, BLANK, *networks["bert"], seed=seed)


@pytest.mark.parametrize("mark", ["\n", "\r\n", "\u2028", "\x85"])
def test_a_message_is_one_line_whatever_it_names(mark, networks):
    with pytest.raises(BlankfillError) as told:
        fill([TEXT], [BLANK], *networks["bert"], ids=[f"a{mark}b"], counts=[[99_999]])
    assert str(told.value).startswith("document a b: ") and len(str(told.value).splitlines()) == 1
    with pytest.raises(BlankfillError) as told:
        fill(TEXT, BLANK, *networks["bert"], order=f"a{mark}b")
    assert len(str(told.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ids": "ab"}, "ids: a list is needed, this is a str"),
        ({"ids": ["a"]}, "ids: there are 1, and more texts"),
        ({"ids": ["a", "b", "c"]}, "ids: there are more than the 2 texts"),
        ({"blanks": None}, "blanks: a list is needed, this is a NoneType"),
        ({"blanks": 5}, "blanks: a list is needed, this is a int"),
        ({"blanks": [BLANK] * 3}, "blanks: there are more than the 2 texts"),
        ({"blanks": ([BLANK] * 3).__iter__()}, "blanks: there are more than the 2 texts"),
        ({"blanks": [BLANK, 5], "ids": "xy".__iter__()}, "blanks of text y: a list is needed"),
        ({"counts": 5}, "counts: a list is needed, this is a int"),
        ({"counts": [[1]] * 3}, "counts: there are more than the 2 texts"),
    ],
)
def test_a_stream_needs_as_much_for_each_text(wrong, message, networks):
    filler = Filler(*networks["bert"], length="known")
    arguments = {"blanks": [BLANK] * 2} | wrong
    with pytest.raises(BlankfillError, match=message):
        [*filler.iter((text for text in [TEXT, TEXT]), **arguments)]


def test_a_stream_may_take_its_ids_from_a_counter(networks):
    filler = Filler(*networks["bert"])
    assert [answer.id for answer in filler.iter(iter(["a ___", "b"]), ids=count(7))] == ["7", "8"]


@pytest.mark.parametrize("config", [{}, {"order": "random"}, 5])
def test_settings_in_place_of_a_config_are_told(config, networks):
    assert_refused("config: a FillConfig is needed", Filler, *networks["bert"], config=config)


def test_a_table_is_no_list_of_texts(networks):
    """It would give the names of its columns."""
    table = pd.DataFrame({"___": [TEXT], "the text": [TEXT]})
    filler = Filler(*networks["bert"])
    for run in (filler, filler.candidates, filler.score, InfillAugmenter(*networks["bert"]).augment):
        assert_refused("texts: a list is needed, this is a DataFrame", run, table)
    for wrong in (table, np.array(TEXT)):
        assert_refused("train: a list of strings is needed", audit, wrong, [TEXT] * 2, [TEXT] * 2)


def test_nothing_is_no_text_to_score_and_a_generator_is_many(networks):
    assert_refused("texts: a list is needed, this is a NoneType", score, None, None, *networks["bert"])
    scores = score((text for text in [TEXT, TEXT]), None, *networks["gpt2"])
    assert [answer.nats for answer in scores] == [score(TEXT, None, *networks["gpt2"]).nats] * 2


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_a_long_text_without_blanks_has_nothing_to_score(name, networks, texts):
    filler = Filler(*networks[name])
    long = " ".join(texts * 4)
    none, one = filler.score([long, texts[0]], [[], [(0, 3)]])
    assert (none.nats, none.characters, none.tokens) == (0.0, 0, 0) and one.nats > 0


@pytest.mark.parametrize("place", ["~", "~nobody-of-this-name"])
def test_a_folder_below_a_home_is_found_or_told(place, networks, tmp_path, monkeypatch):
    model, tokenizer = networks["bert"]
    monkeypatch.setenv("HOME", str(tmp_path))
    tokenizer.save_pretrained(tmp_path / "mine")
    for given in ((f"{place}/mine", None), (model, f"{place}/mine")):
        if place == "~" and given[0] is model:
            assert Filler(*given).tokenizer.get_vocab() == tokenizer.get_vocab()
        else:
            assert_refused("mine", Filler, *given)


def test_candidates_hold_whole_characters(networks):
    """Two tokens of bytes may make half of a character, though each may stand at its place in a blank."""
    model, tokenizer = deepcopy(networks["roberta"][0]), networks["roberta"][1]
    sign = next(sign for sign, byte in byte_of_sign().items() if byte == 0xE2)
    with torch.no_grad():
        model.lm_head.bias[tokenizer.convert_tokens_to_ids(sign)] += 50.0
    candidates = Filler(model, tokenizer).candidates("He said,(___)", 3, counts=[2], beam=2000)
    assert candidates and not any("\ufffd" in word for answer in candidates for word in answer.words)


@pytest.mark.parametrize(("name", "context"), [("gpt2", "true_left"), ("bert", "leaky")])
def test_lengths_are_refused_where_the_originals_are_read(name, context, networks):
    filler = Filler(*networks[name], context=context)
    assert_refused("leave counts out", filler, [TEXT], [BLANK], counts=[[2]])


def test_a_longer_run_of_the_marker_is_no_original(networks):
    with pytest.raises(DocumentError, match="it has a marker ___"):
        score("The _____ sailed.", [(4, 9)], *networks["bert"])
    score("The _____ sailed.", [(0, 3)], *networks["bert"])


def test_a_score_does_not_ask_for_the_length_of_a_fill(networks):
    model, tokenizer = networks["bert"]
    free = Filler(model, tokenizer, length="free", max_length=3, order="left_to_right").score(TEXT)
    assert free == Filler(model, tokenizer, order="left_to_right").score(TEXT)


def test_an_id_without_a_token_fills_nothing(networks):
    model, tokenizer = networks["bert"]
    other = deepcopy(tokenizer)
    names = other.convert_ids_to_tokens
    other.convert_ids_to_tokens = lambda ids, **more: (
        [None if number == 9 else name for number, name in zip(ids, names(ids, **more), strict=True)]
        if isinstance(ids, list)
        else names(ids, **more)
    )
    assert fill([TEXT], [BLANK], model, other).texts
