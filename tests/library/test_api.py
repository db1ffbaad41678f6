"""The public face: blanks as spans or marks, the kind read off the model, one bad document apart from the rest."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from refusals import assert_refused
from tiny_models import blank
from transformers import BertForMaskedLM, GPT2Config, GPT2LMHeadModel

from blankfill import (
    BlankedText,
    DocumentError,
    FillConfig,
    Filler,
    Ledger,
    Sampling,
    fill,
    fill_causal,
    fill_infill,
    fill_masked,
    fill_masked_left,
    fill_seq2seq,
    fill_skipping_failures,
    score,
)
from blankfill.errors import BlankfillError
from blankfill.text import assemble_text, blank_out, find_markers, find_words


@pytest.fixture(scope="module")
def chosen(texts):
    """Every third word of each text, as characters."""
    return [find_words(text)[::3] for text in texts]


@pytest.fixture(scope="module")
def blanked(texts):
    return [blank(text, [*range(0, len(find_words(text)), 3)], str(i)) for i, text in enumerate(texts)]


def test_the_class_of_the_model_says_how(
    start, causal_model, seq2seq_model, tokenizer, texts, chosen, blanked
):
    in_twos = {"order": "left_to_right", "per_pass": 2}
    kept, sentinel = ({"source": source, "max_new_tokens": 9} for source in ("kept", "sentinel"))
    ways = [
        (start, in_twos, fill_masked, in_twos),
        (causal_model, {}, fill_causal, {}),
        (causal_model, {"context": "both"}, fill_infill, {}),
        (causal_model, {"context": "masked_left"}, fill_masked_left, {}),
        (seq2seq_model, kept, fill_seq2seq, kept),
        (seq2seq_model, {"max_new_tokens": 9}, fill_seq2seq, sentinel),
    ]
    for model, axes, function, settings in ways:
        filled = fill(texts, chosen, model, tokenizer, **axes)
        expected, ledger = function(model, tokenizer, blanked, **settings)
        assert filled.texts == [one.text for one in expected]
        assert filled.fills == [one.fills for one in expected]
        assert filled.spans == [
            [one.spans[w] for w in text.blanks] for text, one in zip(blanked, expected, strict=True)
        ]
        assert filled.ledger == ledger and filled.skipped == {}


def test_draws_are_keyed_by_seed_and_id(start, tokenizer, texts, chosen, blanked):
    settings = {"temperature": 1.0, "top_k": 20, "top_p": 0.9, "seed": 7}
    filled = fill(texts, chosen, start, tokenizer, **settings)
    expected, _ = fill_masked(start, tokenizer, blanked, sampling=Sampling(1.0, 20, 0.9, 7))
    assert filled.texts == [one.text for one in expected]
    assert filled.texts != fill(texts, chosen, start, tokenizer, **settings | {"seed": 8}).texts
    renamed = fill(texts, chosen, start, tokenizer, ids=[f"x{i}" for i in range(len(texts))], **settings)
    assert filled.texts != renamed.texts


def test_marks_are_blanks_without_an_original(start, tokenizer):
    text = "Take ___ tablets, ___ a day (___)."
    filled = fill([text], "___", start, tokenizer, length="one")
    written = iter(filled.fills[0])
    assert filled.texts[0] == "".join(
        part + next(written, "") for part in ("Take ", " tablets, ", " a day (", ").")
    )
    assert [filled.texts[0][slice(*span)] for span in filled.spans[0]] == filled.fills[0]
    other = fill([text.replace("___", "[?]")], "[?]", start, tokenizer, length="one")
    assert other.texts == filled.texts
    free = fill([text], "___", start, tokenizer, length="free", order="confidence")
    assert len(free.fills[0]) == 3 and all(free.fills[0])
    assert_refused("has no known length", fill, [text], "___", start, tokenizer, length="known")
    assert fill([text], "___", start, tokenizer) == filled


def test_marks_by_hand():
    assert find_markers("a ___ b ____", "___") == [(2, 5), (8, 12)]
    assert find_markers("[][] []", "[]") == [(0, 2), (2, 4), (5, 7)]
    assert find_markers("nothing", "___") == [] and find_markers("", "___") == []
    assert_refused("a marker such as", find_markers, "a  b", " ")


def test_a_blank_may_hold_several_words_or_part_of_one():
    text = blank_out("d", "The old captain-cook sailed", [(4, 15), (17, 20)])
    words = [text.text[slice(*word)] for word in text.words]
    assert words == ["The", "old captain", "-", "c", "ook", "sailed"]
    assert text.blanks == [1, 4] and text.originals() == ["old captain", "ook"]


@pytest.mark.parametrize(
    "spans", [[(0, 2), (1, 4)], [(5, 6), (0, 2)], [(3, 3)], [(20, 30)], [(-1, 2)], [(3, 6)], [(0, 4)]]
)
def test_wrong_blanks_name_the_document_and_never_its_text(spans, start, tokenizer):
    with pytest.raises(DocumentError, match="^document d9: the blank ") as error:
        fill(["the secret"], [spans], start, tokenizer, ids=["d9"])
    assert "secret" not in str(error.value)


def test_documents_that_cannot_be_filled_are_left_out_and_the_rest_goes_on(start, tokenizer, texts, chosen):
    long = " ".join(texts * 10)
    mixed = [texts[0], long, texts[1], "short", texts[2], long]
    blanks = [chosen[0], [(4, len(long))], chosen[1], [(2, 99)], chosen[2], []]
    names = ["a", "long", "b", "wrong", "c", "long too"]
    filled = fill(mixed, blanks, start, tokenizer, ids=names, on_error="skip", temperature=1.0)
    assert {*filled.skipped} == {"wrong", "long"}
    assert "does not fit" in filled.skipped["long"] and "runs past" in filled.skipped["wrong"]
    alone = [[part[i] for i in (0, 2, 4)] for part in (mixed, blanks, names)]
    good = fill(*alone[:2], start, tokenizer, ids=alone[2], temperature=1.0)
    assert [filled.texts[i] for i in (0, 2, 4)] == good.texts
    assert filled.ledger.passes == good.ledger.passes
    assert filled.texts[1] == "The " and filled.fills[1] == [""]
    assert filled.texts[3] == "short" and filled.fills[3] == [] and filled.texts[5] == long
    assert filled.ledger.documents == 4 and filled.n_unanswered == 0
    with pytest.raises(DocumentError, match="document long: .* does not fit"):
        fill(mixed[:3], blanks[:3], start, tokenizer, ids=names[:3])


def test_what_fits_is_filled_once_and_other_errors_are_raised():
    texts = [BlankedText(str(i), "a b", [(0, 1), (2, 3)], [0]) for i in range(9)]

    def write(given):
        for text in given:
            if text.id in ("2", "3", "8"):
                raise DocumentError(text.id, "too long")
        return [assemble_text(text, [text.id]) for text in given], Ledger(
            documents=len(given), passes=len(given)
        )

    filled, ledger, skipped = fill_skipping_failures(write, texts)
    assert [one.id for one in filled] == ["0", "1", "4", "5", "6", "7"]
    assert ledger == Ledger(documents=6, passes=6)
    assert skipped == {i: f"document {i}: too long" for i in ("2", "3", "8")}
    assert fill_skipping_failures(write, []) == ([], Ledger(), {})

    def refuse(given):
        raise BlankfillError("order=up is unknown")

    assert_refused("order=up", fill_skipping_failures, refuse, texts)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": "upwards"}, "upwards is unknown"),
        (
            {"source": "kept"},
            "a masked model has no setting source: it has context, length, max_length, right_words, order",
        ),
        ({"colour": "red"}, "colour is no setting"),
        ({"temperature": -1}, "temperature=-1"),
        ({"top_k": 5}, "need temperature > 0"),
        ({"on_error": "hide"}, "on_error=hide is unknown: choose raise or skip"),
        ({"ids": ["a"]}, "ids: 6 texts need as many different ids"),
        ({"ids": ["a"] * 6}, "as many different ids, these are 1"),
        ({"blanks": [[]]}, "blanks: 6 texts need as many lists of blanks, these are 1"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(settings, message, start, tokenizer, texts, chosen):
    settings = {"blanks": chosen, "on_error": "skip"} | settings
    assert_refused(message, fill, texts, model=start, tokenizer=tokenizer, **settings)


def test_axes_of_other_kinds_are_refused(causal_model, seq2seq_model, tokenizer, texts, chosen):
    with pytest.raises(BlankfillError, match="a causal model has no setting order"):
        fill(texts, chosen, causal_model, tokenizer, order="random")
    with pytest.raises(
        BlankfillError,
        match="context=leaky is not one of a causal model: left, true_left, prefix, both, masked_left",
    ):
        fill(texts, chosen, causal_model, tokenizer, context="leaky")
    assert_refused("decoded greedily", fill, texts, chosen, seq2seq_model, tokenizer, temperature=0.5)
    assert_refused("BertModel is not a language model", fill, texts, chosen, causal_model.bert, tokenizer)


def test_a_causal_model_in_a_masked_class_is_refused(start, causal_model, tokenizer, texts, chosen):
    dressed = BertForMaskedLM(causal_model.config)
    with pytest.raises(BlankfillError, match="a causal checkpoint .* where a masked one is needed"):
        fill(texts, chosen, dressed, tokenizer)


def test_the_callers_tokenizer_and_texts_are_left_as_they_are(tokenizer, texts, chosen):
    bare = deepcopy(tokenizer)
    bare.pad_token = None
    bare.eos_token = "[SEP]"
    model = GPT2LMHeadModel(
        GPT2Config(vocab_size=len(bare), n_positions=128, n_embd=16, n_layer=1, n_head=1)
    ).eval()
    before = [list(spans) for spans in chosen]
    assert fill(texts, chosen, model, bare).n_unanswered == 0
    assert bare.pad_token is None and chosen == before


def test_no_texts(start, causal_model, seq2seq_model, tokenizer):
    for model in (start, causal_model, seq2seq_model):
        filled = fill([], [], model, tokenizer)
        assert filled.texts == [] and filled.ledger == Ledger()


ONE = "Take two tablets a day."


def test_a_string_is_one_text(start, tokenizer):
    """With its blanks, id and counts alone; never a list of characters."""
    made = fill(ONE, [(5, 8), (19, 22)], start, tokenizer, ids="x", counts=[1, 1], on_error="skip")
    assert made == fill([ONE], [[(5, 8), (19, 22)]], start, tokenizer, ids=["x"], counts=[[1, 1]])
    marked = fill("Take ___ now", "___", start, tokenizer, length="one")
    assert marked == fill(["Take ___ now"], "___", start, tokenizer, length="one") and len(marked.texts) == 1
    alone = score(ONE, [(5, 8)], start, tokenizer, ids="x")
    assert [alone] == score([ONE], [[(5, 8)]], start, tokenizer, ids=["x"])
    assert fill(ONE, [], start, tokenizer).texts == [ONE]


def test_a_score_takes_the_settings_of_a_fill_as_one_object(start, tokenizer):
    settings = {"context": "left", "order": "left_to_right"}
    scored = score(ONE, [(5, 8)], start, tokenizer, config=FillConfig(**settings))
    assert scored == score(ONE, [(5, 8)], start, tokenizer, **settings)
    assert scored == Filler(start, tokenizer, **settings).score(ONE, blanks=[(5, 8)])
    assert scored.nats != score(ONE, [(5, 8)], start, tokenizer).nats


@pytest.mark.parametrize("hold", [tuple, iter, pd.Series, np.array, dict.fromkeys, set])
def test_texts_in_any_container(hold, start, tokenizer):
    held = hold(["Take two.", "Take one."])
    if isinstance(held, dict | set):
        held = [*held]
    blanks = ([(5, 8)] for _ in range(2))
    made = fill(held, blanks, start, tokenizer, ids=np.array([3, 4]), counts=iter([(1,), [1]]))
    assert len(made.texts) == 2 and all(type(text) is str for text in made.texts)


WRONG = {
    "none": ({"texts": None}, "texts: a list is needed, this is a NoneType"),
    "number": ({"texts": 3}, "texts: a list is needed, this is a int"),
    "bytes": ({"texts": b"abc"}, "texts: a list is needed, this is a bytes"),
    "dict": ({"texts": {"a": ONE}}, "texts: a list is needed, this is a dict"),
    "none among texts": ({"texts": [ONE, None]}, "texts: number 1 is a NoneType, not a string"),
    "number among texts": ({"texts": [4.5, ONE]}, "texts: number 0 is a float, not a string"),
    "no blanks": ({"blanks": None}, "blanks: a list is needed"),
    "number for blanks": ({"blanks": [[(5, 8)], 7]}, "blanks of text 1: a list is needed"),
    "triple": ({"blanks": [[(5, 8, 9)], []]}, "blanks of text 0: each is .start, end."),
    "words for numbers": ({"blanks": [[("5", "8")], []]}, "blanks of text 0: each is .start, end."),
    "strings": ({"blanks": ["___", "___"]}, "blanks of text 0: a list is needed, this is a str"),
    "none for an id": ({"ids": ["a", None]}, "ids: number 1 is a NoneType"),
    "one id": ({"ids": "a"}, "ids: 2 texts need as many different ids"),
    "flat counts": ({"counts": [1, 1]}, "counts of text 0: a list is needed"),
    "words for counts": ({"counts": [["a"], []]}, "counts of text 0: each is a whole number"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_types_are_told_without_the_text(wrong, start, tokenizer):
    given = {"texts": [ONE, ONE], "blanks": [[(5, 8)], []]} | WRONG[wrong][0]
    for run in (fill, score)[: 1 if "counts" in given or given["blanks"] is None else 2]:
        with pytest.raises(BlankfillError, match=WRONG[wrong][1]) as error:
            run(model=start, tokenizer=tokenizer, **given)
        assert "tablets" not in str(error.value)
