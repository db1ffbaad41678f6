"""Writing a text anew from its kept words: as training lays it out, whatever the batch, until the text is closed."""

import pytest
import torch
from tiny_models import blank

from blankfill import fill, fill_kept
from blankfill.errors import BlankfillError
from blankfill.networks.checkpoints import edge_tokens
from blankfill.text import DocumentError, find_words
from mlm_vs_clm.training import causal_examples
from mlm_vs_clm.training.batches import tokenize
from mlm_vs_clm.training.noise import IGNORE

MOST = 12


@pytest.fixture(scope="module")
def blanked(texts):
    """Every second word; all words, twice; no words."""
    halves = [blank(text, [*range(0, len(find_words(text)), 2)], str(i)) for i, text in enumerate(texts[:4])]
    whole = [blank(text, [*range(len(find_words(text)))], f"all {i}") for i, text in enumerate(texts[:2])]
    return [*halves, *whole, blank(texts[2], [], "none")]


@pytest.mark.parametrize("name", ["bert_decoder", "gpt2"])
def test_writing_equals_a_loop_without_a_cache_whatever_the_batch(
    name, networks, causal_model, tokenizer, blanked
):
    model, tokens = (causal_model, tokenizer) if name == "bert_decoder" else networks[name]
    filled, ledger = fill_kept(model, tokens, blanked, max_new_tokens=MOST)
    apart = [fill_kept(model, tokens, [text], max_new_tokens=MOST) for text in blanked]
    assert filled == [made for (made,), _ in apart]
    assert ledger == sum((cost for _, cost in apart[1:]), apart[0][1])
    (closing,) = edge_tokens(tokens)[1]
    # The kept words are nothing, or all of the text.
    for text, made in zip(blanked[4:], filled[4:], strict=True):
        (document,) = tokenize([text.text if text.id == "none" else ""], tokens, 128, "causal")
        ids = document.ids.tolist()
        n_read = len(ids)
        while len(ids) < n_read + MOST and (len(ids) == n_read or ids[-1] != closing):
            with torch.no_grad():
                ids.append(int(model(input_ids=torch.tensor([ids])).logits[0, -1].argmax()))
        written = tokens.decode(ids[n_read:], skip_special_tokens=True, clean_up_tokenization_spaces=True)
        assert made.text.split() == written.split()


def test_what_is_read_is_what_the_objective_trains(causal_model, tokenizer, blanked, monkeypatch):
    seen = []
    monkeypatch.setattr(
        "blankfill.decoding.kept.walk", lambda model, walks, *_: seen.extend(one.ids for one in walks)
    )
    fill_kept(causal_model, tokenizer, blanked[:1])
    (document,) = tokenize([blanked[0].text], tokenizer, 128, "causal")
    monkeypatch.setattr(causal_examples, "choose_masked", lambda one, *_: one.word_of % 2 == 0)
    made = causal_examples.kept_then_text(document, None, None, None)
    # All but the last of the text, whose label is there too.
    n_kept = int((made["labels"] == IGNORE).sum())
    assert seen == [made["input_ids"][:n_kept].tolist()]


def test_the_public_face_and_its_mistakes(causal_model, tokenizer, blanked, texts):
    spans = [[text.words[i] for i in text.blanks] for text in blanked[:4]]
    made = fill(texts[:4], spans, causal_model, tokenizer, context="kept", max_new_tokens=MOST)
    direct, _ = fill_kept(causal_model, tokenizer, blanked[:4], max_new_tokens=MOST)
    assert made.texts == [one.text for one in direct]
    marked = fill(["Take ___ now."], "___", causal_model, tokenizer, context="kept", max_new_tokens=MOST)
    assert len(marked.fills[0]) == 1
    with pytest.raises(BlankfillError, match="max_new_tokens is no setting of context=left"):
        fill(texts[:4], spans, causal_model, tokenizer, max_new_tokens=MOST)
    with pytest.raises(DocumentError, match="no room in the model's 128"):
        fill_kept(causal_model, tokenizer, [blank("a " * 200, [0], "long")])
