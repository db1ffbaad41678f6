"""`pipeline("infill")` answers as fill-mask does."""

from math import exp

import pytest
from transformers import pipeline

import blankfill.pipelines  # noqa: F401
from blankfill import BlankfillError, Filler

TEXT = "The old ___ sailed the ___ boat."


def test_answers_are_the_candidates(start, tokenizer):
    infill = pipeline("infill", model=start, tokenizer=tokenizer)
    made, best = infill(TEXT, top_k=3), Filler(start, tokenizer).candidates(TEXT, k=3)
    assert [one["sequence"] for one in made] == [one.text for one in best]
    assert [one["fills"] for one in made] == [one.words for one in best]
    assert [one["score"] for one in made] == pytest.approx([exp(one.log_probability) for one in best])
    assert infill(TEXT.replace("___", "[MASK]"), top_k=3) == made
    assert infill([TEXT, "No blank."], top_k=3, batch_size=2)[1] == [
        {"score": 1.0, "sequence": "No blank.", "fills": []}
    ]


def test_an_encoder_decoder_has_one_answer(networks):
    model, tokenizer = networks["t5"]
    made = pipeline("infill", model=model, tokenizer=tokenizer)(TEXT)
    assert len(made) == 1 and made[0]["score"] is None and len(made[0]["fills"]) == 2


def test_settings_of_the_construction_hold_for_its_calls(start, tokenizer):
    infill = pipeline("infill", model=start, tokenizer=tokenizer, top_k=2, order="left_to_right", marker="XX")
    text = TEXT.replace("___", "XX")
    assert len(infill(text)) == 2 and len(infill(text, top_k=3)) == 3 and len(infill(text)) == 2
    best = Filler(start, tokenizer, order="left_to_right").candidates(TEXT, k=2)
    assert [one["fills"] for one in infill(text)] == [one.words for one in best]
    other = Filler(start, tokenizer, order="left_to_right", context="left").candidates(TEXT, k=2)
    assert [one["fills"] for one in infill(text, context="left")] == [one.words for one in other]
    free = pipeline("infill", model=start, tokenizer=tokenizer, length="free")
    best = Filler(start, tokenizer, length="free", max_length=2).candidates(TEXT, k=5)
    assert [one["fills"] for one in free(TEXT, max_length=2)] == [one.words for one in best]


@pytest.mark.parametrize("wrong", [None, 3, [TEXT, None]])
def test_what_is_no_text_is_told(wrong, start, tokenizer):
    with pytest.raises(BlankfillError, match="texts: a list is needed, this is a"):
        pipeline("infill", model=start, tokenizer=tokenizer)(wrong)


def test_a_folder_of_a_bert_decoder_is_loaded_as_one(causal_model, tokenizer, tmp_path):
    for part in (causal_model, tokenizer):
        part.save_pretrained(tmp_path)
    infill = pipeline("infill", model=str(tmp_path))
    best = Filler(tmp_path).candidates(TEXT, k=2)
    assert [one["fills"] for one in infill(TEXT, top_k=2)] == [one.words for one in best]
