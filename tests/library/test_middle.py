"""Filling in the middle with a causal model that was trained for it: what it reads, and what becomes of its answers."""

from copy import deepcopy

import pytest
import torch
from tiny_models import blank
from transformers import GPT2Config, GPT2LMHeadModel

from blankfill import Filler, fill, fill_middle
from blankfill.decoding.middle import FIM_ENDS, FIM_TOKENS, split_at
from blankfill.errors import BlankfillError
from blankfill.text import DocumentError, find_words

MOST = 6


@pytest.fixture(scope="module", params=FIM_TOKENS[:2], ids=["starcoder", "qwen"])
def fim(request, networks):
    """A causal network whose tokenizer has the tokens of filling in the middle."""
    tokenizer = deepcopy(networks["gpt2"][1])
    tokenizer.add_special_tokens({"additional_special_tokens": [*request.param, FIM_ENDS[1]]})
    torch.manual_seed(3)
    config = GPT2Config(
        vocab_size=len(tokenizer),
        n_positions=96,
        n_embd=32,
        n_layer=2,
        n_head=2,
        bos_token_id=0,
        eos_token_id=0,
        tie_word_embeddings=False,
    )
    return GPT2LMHeadModel(config).eval(), tokenizer, request.param


@pytest.fixture(scope="module")
def blanked(texts):
    """Every third word, two adjacent words, the first and the last word, no words."""
    found = [blank(text, [*range(1, len(find_words(text)), 3)], str(i)) for i, text in enumerate(texts[:3])]
    edges = blank(texts[0], [0, len(find_words(texts[0])) - 1], "edges")
    return [*found, blank(texts[1], [1, 2], "pair"), edges, blank(texts[2], [], "none")]


def test_a_gap_is_read_with_the_fills_before_it_and_without_the_gaps_behind_it():
    text = blank("The captain sees the harbour at dawn and wept", [1, 2, 6])
    assert split_at(text, [1, 2], {}) == ("The", " the harbour at and wept")
    assert split_at(text, [6], {1: "dog", 2: "saw"}) == ("The dog saw the harbour at", " and wept")
    assert split_at(text, [6], {1: "dog", 2: ""}) == ("The dog the harbour at", " and wept")


def test_filling_equals_a_plain_loop_whatever_the_batch(fim, blanked):
    model, tokenizer, (before, behind, answer) = fim
    filled, ledger = fill_middle(model, tokenizer, blanked, max_new_tokens=MOST)
    apart = [fill_middle(model, tokenizer, [text], max_new_tokens=MOST) for text in blanked]
    assert filled == [made for (made,), _ in apart]
    assert ledger == sum((cost for _, cost in apart[1:]), apart[0][1])
    ends = {tokenizer.eos_token_id, *tokenizer.convert_tokens_to_ids([before, behind, answer, FIM_ENDS[1]])}
    text, made = blanked[3], filled[3]  # one gap of two blanks
    left, right = split_at(text, text.blanks, {})
    ids = tokenizer(f"{before}{left}{behind}{right}{answer}", add_special_tokens=False)["input_ids"]
    written = []
    while len(written) < MOST and not (written and written[-1] in ends):
        with torch.no_grad():
            written.append(int(model(input_ids=torch.tensor([ids + written])).logits[0, -1].argmax()))
    said = tokenizer.decode([token for token in written if token not in ends])
    assert "".join(made.fills).replace(" ", "") == said.replace(" ", "") != ""
    assert made.text.startswith(left) and made.text.endswith(right.strip())
    assert any(len(find_words(fill)) != 1 for text in filled for fill in text.fills)


def test_the_front_door_fills_in_the_middle(fim):
    model, tokenizer, _ = fim
    filler = Filler(model, tokenizer, context="fim", max_new_tokens=MOST)
    text = "The captain ___ the harbour at ___ ."
    filled = filler(text, "___")
    assert filled.text.startswith("The captain") and "the harbour at" in filled.text
    assert len(filled.fills[0]) == 2
    again = fill(text, "___", model, tokenizer, context="fim", max_new_tokens=MOST)
    assert again.text == filled.text


def test_what_cannot_be_filled_is_one_line(fim, networks, texts):
    model, tokenizer, (before, *_) = fim
    with pytest.raises(BlankfillError, match="trained to fill in the middle"):
        fill(["Take ___ now."], "___", *networks["gpt2"], context="fim")
    with pytest.raises(DocumentError, match="a special token of this tokenizer"):
        fill_middle(model, tokenizer, [blank(f"here and there {before}", [0])])
    with pytest.raises(DocumentError, match="leave no room"):
        fill_middle(model, tokenizer, [blank("a b " * 200, [3])])
    with pytest.raises(BlankfillError, match="temperature"):
        fill(["Take ___ now."], "___", model, tokenizer, context="fim", temperature=0.5)
