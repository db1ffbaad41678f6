"""An encoder-decoder with marks for its blanks: what it reads, and how its answers are dealt."""

from copy import deepcopy

import pytest
import torch
from tiny_models import blank
from transformers import GenerationConfig

from blankfill import DocumentError, fill_seq2seq
from blankfill.decoding.alignment import split_answer
from blankfill.decoding.generation import generate_tokens
from blankfill.decoding.seq2seq import find_answers, masked_text, settle_answers
from blankfill.errors import BlankfillError
from blankfill.networks.checkpoints import sentinel_tokens
from blankfill.text import group_adjacent_blanks


def test_marks_for_runs_of_blanks_by_hand(tokenizers):
    text = blank("The old captain sailed the (small) boat.", [1, 2, 4, 6, 8])
    assert group_adjacent_blanks(text) == [[1, 2], [4], [6], [8]]
    marks = list(sentinel_tokens(tokenizers["t5"]))
    assert marks[:2] == ["<extra_id_0>", "<extra_id_1>"] and len(marks) == 10
    assert masked_text(text, marks) == "The <extra_id_0> sailed <extra_id_1> (<extra_id_2>) <extra_id_3>."
    made = settle_answers(text, {0: "young brave ship doctor", 1: "a", 3: ""})
    assert made.fills == ["young", "brave ship doctor", "a", "", ""]
    assert made.text == "The young brave ship doctor sailed a () ."
    assert split_answer("one", 2) == ["one", ""] and split_answer("a b c", 2) == ["a", "b c"]


def test_answers_are_read_behind_their_marks(tokenizers):
    tokenizer = tokenizers["t5"]
    ids = tokenizer("<extra_id_1> the boat <extra_id_0> captain <extra_id_1> again")["input_ids"]
    assert find_answers(tokenizer, ids, list(sentinel_tokens(tokenizer).values())) == {
        0: "captain",
        1: "the boat",
    }


def test_too_many_runs_and_too_long_inputs_name_the_document(networks):
    model, tokenizer = networks["t5"]
    text = "boat, " * 30
    with pytest.raises(DocumentError, match="document d: 30 groups of blanks, and the tokenizer has 10"):
        fill_seq2seq(
            model, tokenizer, [blank(text, list(range(0, 60, 2)))], source="sentinel", max_new_tokens=4
        )
    model, tokenizer = networks["bart"]
    for source in ("kept", "sentinel"):
        with pytest.raises(DocumentError, match="document d: .* do not fit the model's 200"):
            fill_seq2seq(model, tokenizer, [blank(text * 5, [0])], source=source, max_new_tokens=4)


def test_bart_reads_one_mask_a_run_and_its_text_is_aligned(networks, monkeypatch):
    model, tokenizer = networks["bart"]
    seen = []

    def write(input_ids, **settings):
        seen.append(tokenizer.decode(input_ids[0]))
        assert settings["max_new_tokens"] == 199
        answer = tokenizer("The young doctor saw a boat.")["input_ids"]
        return torch.tensor([[tokenizer.eos_token_id, *answer, tokenizer.eos_token_id]])

    monkeypatch.setattr(model, "generate", write)
    text = blank("The old captain saw the boat.", [1, 2, 4])
    made, ledger = fill_seq2seq(model, tokenizer, [text], source="sentinel", max_new_tokens=400)
    assert seen == ["<s>The <mask> saw <mask> boat.</s>"]
    assert made[0].fills == ["young", "doctor", "a"] and made[0].text == "The young doctor saw a boat."


def test_unknown_source_and_a_tokenizer_without_marks_are_refused(networks, tokenizers):
    model, tokenizer = networks["t5"]
    with pytest.raises(BlankfillError, match="source=both is unknown: choose one of kept, sentinel"):
        fill_seq2seq(model, tokenizer, [], source="both", max_new_tokens=4)
    with pytest.raises(BlankfillError, match="source=sentinel needs a tokenizer with a mask"):
        fill_seq2seq(model, tokenizers["gpt2"], [], source="sentinel", max_new_tokens=4)


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_writing_is_greedy_whatever_habits_a_checkpoint_has(name, networks, texts):
    """Equal to a loop that takes the likeliest sub-word; the checkpoint's own settings stand again afterwards."""
    model, tokenizer = networks[name]
    own = model.generation_config
    habits = {"no_repeat_ngram_size": 1, "forced_bos_token_id": 5, "min_length": 9, "suppress_tokens": [6]}
    model.generation_config = GenerationConfig(**(own.to_dict() | habits))
    try:
        made = generate_tokens(model, tokenizer, texts[:1], 8)[0]
        assert model.generation_config.no_repeat_ngram_size == 1
    finally:
        model.generation_config = own
    read, written = tokenizer(texts[:1], return_tensors="pt"), [own.decoder_start_token_id]
    with torch.inference_mode():
        while len(written) < 9 and (len(written) == 1 or written[-1] != own.eos_token_id):
            logits = model(input_ids=read["input_ids"], decoder_input_ids=torch.tensor([written])).logits
            written.append(int(logits[0, -1].argmax()))
    assert made == [token for token in written[1:] if token != tokenizer.pad_token_id]


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_the_side_that_a_tokenizer_pads_changes_nothing(name, networks, texts):
    """Positions of BART count from the first token, so that padding before a text would move it."""
    model, tokenizer = (deepcopy(part) for part in networks[name])
    torch.manual_seed(0)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.normal_(std=0.4)
    inputs = ["The old boat sailed.", texts[0]]
    tokenizer.padding_side = "right"
    made = generate_tokens(model, tokenizer, inputs, 8)
    tokenizer.padding_side = "left"
    assert generate_tokens(model, tokenizer, inputs, 8) == made
    assert [generate_tokens(model, tokenizer, [text], 8)[0] for text in inputs] == made
