"""Look-ahead equals a search without a cache, one document and one candidate at a time."""

import pytest
import torch
from tiny_models import NETWORKS, SMALL, blank, blank_awkwardly
from transformers import AutoConfig, AutoModelForCausalLM

from blankfill import DocumentError, fill, fill_causal, fill_lookahead
from blankfill.errors import BlankfillError
from blankfill.networks.sizes import attention_window, count_parameters, forward_flops
from blankfill.slots.rows import to_rows, unknown_id
from blankfill.slots.vocabulary import Speller, slot_bias
from blankfill.text import find_words
from blankfill.writers import with_padding

CAUSAL = [name for name, row in NETWORKS.items() if row[2] == "causal"]


@pytest.fixture(scope="module")
def blanked(texts):
    return blank_awkwardly(texts)


@torch.inference_mode()
def search_plainly(model, tokenizer, blanked, k, cap):
    """Return the fills by whole forward passes over each candidate; the tokens of each document left as they are."""
    bias, spell = slot_bias(tokenizer, model.config.vocab_size), Speller(tokenizer)
    rows = to_rows(blanked, tokenizer, None)

    def logits(ids):
        return model(input_ids=torch.tensor([ids])).logits[0].float()

    for row in rows:
        row.mask(unknown_id(tokenizer))
        for number in range(len({*row.blank_of})):
            slots = row.slots_of(number)
            start, after = row.slots[slots[0]], row.slots[slots[-1]] + 1
            following = slots[-1] + 1
            end = row.slots[following] if following < len(row.slots) else len(row.ids)
            found = []
            for token in (logits(row.ids[:start])[-1] + bias[row.kinds[slots[0]]]).topk(k).indices.tolist():
                answer = [token]
                for slot in slots[1:]:
                    legal = logits(row.ids[:start] + answer)[-1] + bias[row.kinds[slot]]
                    answer.append(int(legal.argmax()))
                whole = row.ids[:start] + answer + row.ids[after : min(end, after + cap)]
                read = torch.tensor(whole[start:])[:, None]
                likely = logits(whole).log_softmax(-1)[start - 1 : -1].gather(1, read).sum()
                found.append((round(float(likely), 4), answer))
            best = max(found, key=lambda one: one[0])[1]
            row.ids[start:after] = best
    return [spell.fills(row, len(text.blanks)) for text, row in zip(blanked, rows, strict=True)]


@pytest.mark.parametrize(("name", "cap"), [(name, 2) for name in ("bert", *CAUSAL)] + [("bert", 16)])
def test_it_equals_a_search_without_a_cache(name, cap, networks, causal_model, tokenizer, blanked):
    model, words = (causal_model, tokenizer) if name == "bert" else networks[name]
    words = with_padding(words)
    made, _ = fill_lookahead(model, words, blanked, candidates=4, lookahead=cap)
    assert [one.fills for one in made] == search_plainly(model, words, blanked, 4, cap)


@pytest.mark.parametrize("name", ["bert", *CAUSAL])
def test_batches_and_order_of_documents_change_nothing(name, networks, causal_model, tokenizer, blanked):
    model, words = (causal_model, tokenizer) if name == "bert" else networks[name]
    words = with_padding(words)
    together, cost = fill_lookahead(model, words, blanked)
    alone, cost_alone = fill_lookahead(model, words, blanked[::-1], batch_tokens=1)
    assert together == alone[::-1] and cost == cost_alone


def test_one_candidate_is_the_causal_arm(causal_model, tokenizer, blanked):
    made, _ = fill_lookahead(causal_model, tokenizer, blanked, candidates=1)
    assert made == fill_causal(causal_model, tokenizer, blanked)[0]
    assert made != fill_lookahead(causal_model, tokenizer, blanked)[0]


def test_cost_by_hand(causal_model, tokenizer):
    text = blank("a b c a", [1, 3], "d")  # [CLS] a _ c _ [SEP], every word one token
    _, ledger = fill_lookahead(causal_model, tokenizer, [text], candidates=3)
    assert ledger.token_forwards == 2 + 3 * 2 + 3 * 2  # the opening, then each candidate and what follows it
    assert (ledger.passes, ledger.tokens_filled) == (3, 2)
    # The first slot, c after each candidate, the second slot, [SEP] after each candidate.
    scored = 1 + 3 + 1 + 3
    assert ledger.flops == forward_flops(count_parameters(causal_model), ledger.token_forwards, scored)


def test_the_public_function_looks_ahead_and_refuses_to_draw(causal_model, tokenizer, blanked):
    text, spans = blanked[0].text, [blanked[0].words[i] for i in blanked[0].blanks]
    made = fill([text], [spans], causal_model, tokenizer, context="both", candidates=8)
    assert made.fills == [fill_lookahead(causal_model, tokenizer, blanked[:1])[0][0].fills]
    with pytest.raises(BlankfillError, match="look-ahead is decoded greedily"):
        fill([text], [spans], causal_model, tokenizer, context="both", candidates=8, temperature=1.0)


def test_more_candidates_than_tokens_are_refused(causal_model, tokenizer, blanked):
    n = causal_model.config.vocab_size
    with pytest.raises(BlankfillError, match=f"candidates={n + 1}: .* {n} tokens"):
        fill_lookahead(causal_model, tokenizer, blanked, candidates=n + 1)


def test_a_token_that_may_not_stand_there_is_no_candidate(causal_model, tokenizer, blanked):
    n = causal_model.config.vocab_size
    n_legal = int((slot_bias(tokenizer, n) == 0).sum(-1).min())
    every, legal = (
        fill_lookahead(causal_model, tokenizer, blanked[:2], candidates=k)[0] for k in (n, n_legal)
    )
    assert n_legal < n and every == legal


WINDOW, HALF = 24, ["sliding_attention", "full_attention"]
WINDOWED = {
    "mistral": {"sliding_window": WINDOW},
    "gemma3_text": {"sliding_window": WINDOW, "layer_types": HALF},
    "cohere2": {"sliding_window": WINDOW, "layer_types": HALF},
    "llama4_text": {"attention_chunk_size": WINDOW, "num_local_experts": 2},
    "gpt_neo": {"window_size": WINDOW, "attention_types": [[["global", "local"], 1]], "num_layers": 2},
}


def windowed(name, n_vocabulary, **settings):
    shape = {"vocab_size": n_vocabulary, "max_position_embeddings": 300}
    heads = {} if name == "gpt_neo" else {"num_key_value_heads": 1, "head_dim": 8}
    about = {n: value for n, value in SMALL.items() if name != "gpt_neo" or n != "num_hidden_layers"}
    torch.manual_seed(1)
    return AutoModelForCausalLM.from_config(
        AutoConfig.for_model(name, **shape, **heads, **about | settings)
    ).eval()


@pytest.mark.parametrize("name", WINDOWED)
def test_a_text_longer_than_the_window_of_a_layer_is_refused(name, tokenizers, texts):
    """Its masks would let the layer read the whole text; a text within the window is filled as ever."""
    words = with_padding(tokenizers["gpt2"])
    model = windowed(name, len(words), **WINDOWED[name])
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.normal_(std=0.3)
    short, long = texts[0][:40], " ".join(texts[:2])
    blanks = [find_words(short)[2:4], find_words(long)[3::6]]
    made = fill([short, long], blanks, model, words, context="both", candidates=1, on_error="skip")
    assert attention_window(model) == WINDOW and made.skipped.keys() == {"1"}
    assert made.fills[0] == fill(short, blanks[0], model, words).fills[0]
    with pytest.raises(DocumentError, match=f"too many for look-ahead, .* read {WINDOW} at most"):
        fill([short, long], blanks, model, words, context="both", candidates=2)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("cohere2", {"sliding_window": 9, "layer_types": ["full_attention"] * 2}),
        ("qwen2", {"sliding_window": 9}),
    ],
)
def test_a_window_that_no_layer_has_changes_nothing(name, settings):
    assert attention_window(windowed(name, 400, **settings)) is None
