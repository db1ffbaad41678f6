"""What is kept of the first layer from pass to pass: the same texts as when nothing is, and only what is new computed."""

import copy

import numpy as np
import pytest
import torch
from tiny_models import SMALL
from transformers import AutoConfig, AutoModelForMaskedLM

from mlm_vs_clm.documents import find_words
from mlm_vs_clm.fill import BlankedText, Sampling, fill_masked
from mlm_vs_clm.models.kernels import first_layer
from mlm_vs_clm.models.kernels.attention import as_filling
from mlm_vs_clm.models.kernels.first_layer import Kept, keep_for, positions_of, room_of
from mlm_vs_clm.models.kernels.trimming import TRIMMED, can_keep, can_trim, states_at
from mlm_vs_clm.models.sizes import output_layer
from mlm_vs_clm.pipeline.bench import DTYPES

WAYS = {
    "random": {},
    "three a pass": {"order": "left_to_right", "per_pass": 3},
    "left": {"context": "left", "order": "left_to_right"},
    "leaky": {"context": "leaky"},
    "confidence": {"order": "confidence", "per_pass": 2},
    "mask_predict": {"order": "mask_predict", "passes": 4},
    "gibbs": {"order": "gibbs", "sweeps": 2, "sampling": Sampling(1.0)},
    "free length": {"length": "free"},
}


@pytest.fixture(scope="module")
def blanked(texts):
    words = [find_words(text) for text in texts]
    return [
        BlankedText(f"d{n}", text, found, list(range(n % 2, len(found), 2)))
        for n, (text, found) in enumerate(zip(texts, words, strict=True))
    ]


@pytest.fixture(params=["bert fp32", "bert bf16", "roberta fp32", "roberta bf16"])
def network(request, networks):
    """Return a network of one class in one precision, and its tokenizer."""
    kind, precision = request.param.split()
    model, tokenizer = networks[kind]
    return copy.deepcopy(model).to(DTYPES[precision]), tokenizer


def count_embedded(model, run):
    """Return what `run` returns, and how many sub-words went through the embeddings meanwhile."""
    counts = []
    handle = model.base_model.embeddings.register_forward_pre_hook(
        lambda module, args, kwargs: counts.append(kwargs["input_ids"].numel()), with_kwargs=True
    )
    made = run()
    handle.remove()
    return made, sum(counts)


@pytest.mark.parametrize("way", WAYS)
def test_texts_and_costs_are_the_same_as_when_nothing_is_kept(network, blanked, way, monkeypatch):
    model, tokenizer = network
    kept, embedded = count_embedded(model, lambda: fill_masked(model, tokenizer, blanked, **WAYS[way]))
    monkeypatch.setattr(first_layer, "MOST_KEPT", 0)
    plain, all_embedded = count_embedded(model, lambda: fill_masked(model, tokenizer, blanked, **WAYS[way]))
    assert [text.text for text in kept[0]] == [text.text for text in plain[0]]
    assert kept[1] == plain[1] and embedded < all_embedded


@pytest.mark.parametrize("way", WAYS)
def test_room_for_some_documents_changes_no_text(network, blanked, way, monkeypatch):
    model, tokenizer = network
    whole = fill_masked(model, tokenizer, blanked, **WAYS[way])
    monkeypatch.setattr(first_layer, "MOST_KEPT", room_of(model.base_model, 60))
    assert fill_masked(model, tokenizer, blanked, **WAYS[way]) == whole


def test_only_what_was_filled_is_embedded_again(start, tokenizer, texts):
    words = find_words(texts[0])
    text = BlankedText("d", texts[0], words, [1, 4, 6])
    (_, ledger), embedded = count_embedded(start, lambda: fill_masked(start, tokenizer, [text]))
    length = ledger.token_forwards // ledger.passes
    assert embedded == length + ledger.tokens_filled - 1


@pytest.mark.parametrize("padded", [False, True])
def test_states_equal_those_of_new_readings_bit_for_bit(network, padded):
    model, _ = network
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(5, model.config.vocab_size, (3, 20), generator=generator)
    seen = torch.arange(20) < torch.tensor([20, 12, 17])[:, None] if padded else None
    kept, slots = keep_for(model.base_model, [20, 20, 30]), [[3], [0, 11], [5]]
    with torch.no_grad(), as_filling(model):
        assert can_keep(model)
        for step in range(4):
            if step:
                ids[:, step * 3 : step * 4] = 4 + step
            if step == 2 and padded:  # texts grow and shrink
                seen = torch.arange(20) < torch.tensor([9, 20, 18])[:, None]
                slots = [[3], [0, 19], [5]]
            told = states_at(model, ids, seen, slots, kept)
            assert torch.equal(told, states_at(model, ids, seen, slots))
            assert torch.equal(told, states_at(model, ids, seen, slots, kept))  # nothing changed


def test_changes_by_hand(start):
    one = Kept(start.base_model, 5)
    assert one.changed(np.array([7, 8, 9])).tolist() == [0, 1, 2]
    states, asked = torch.ones(3, 32), torch.ones(3, 2, 3, 16)
    one.put(np.arange(3), np.array([7, 8, 9]), states, asked)
    assert one.changed(np.array([7, 5, 9, 6])).tolist() == [1, 3]
    assert one.changed(np.array([7, 8])).tolist() == []
    one.put(np.array([1]), np.array([7, 5]), 2 * states[:1], 3 * asked[:, :, :1])
    assert one.hidden[:3, 0].tolist() == [1, 2, 1] and one.asked[2, 1, :3, 15].tolist() == [1, 3, 1]


def test_what_is_kept_of_a_text_by_hand(start, monkeypatch):
    assert (
        room_of(start.base_model, 10) == 10 * 4 * 32 * 4
    )  # a state and three projections, 32 wide, 4 bytes each
    monkeypatch.setattr(first_layer, "MOST_KEPT", room_of(start.base_model, 25))
    assert [one is not None for one in keep_for(start.base_model, [10, 10, 10])] == [True, True, False]


def test_one_layer_keeps_nothing(tokenizer, blanked):
    from mlm_vs_clm.models.starts import start_from_scratch

    shape = {"layers": 1, "width": 32, "heads": 2, "positions": 128}
    single = start_from_scratch(shape, tokenizer, seed=1).eval()
    assert not can_keep(single)
    assert len(fill_masked(single, tokenizer, blanked)[0]) == len(blanked)


def test_positions_are_those_of_the_network_s_own_counting(networks):
    roberta, _ = networks["roberta"]
    pad = roberta.config.pad_token_id
    ids = torch.tensor([[9, 8, pad, 7, 6, pad]])
    own = roberta.base_model.embeddings.create_position_ids_from_input_ids(ids, pad)
    assert positions_of(roberta.config, ids[0].numpy()).tolist() == own[0].tolist()
    assert positions_of(networks["bert"][0].config, ids[0].numpy()).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("kind", TRIMMED)
def test_last_layer_at_the_slots_equals_the_whole_network(kind, monkeypatch):
    config = AutoConfig.for_model(kind, vocab_size=90, max_position_embeddings=40, pad_token_id=1, **SMALL)
    torch.manual_seed(0)
    model = AutoModelForMaskedLM.from_config(config).eval()
    ids = torch.randint(5, model.config.vocab_size, (2, 14), generator=torch.Generator().manual_seed(0))
    seen, slots = torch.arange(14) < torch.tensor([14, 9])[:, None], [[3, 13], [0]]
    ids[~seen] = model.config.pad_token_id
    with torch.no_grad():
        assert can_trim(model)
        trimmed = states_at(model, ids, seen, slots)
        kept = states_at(model, ids, seen, slots, keep_for(model.base_model, [14, 9]))
        monkeypatch.setattr("mlm_vs_clm.models.kernels.trimming.TRIMMED", ())
        assert not can_trim(model)
        whole = states_at(model, ids, seen, slots)
        logits = model(input_ids=ids, attention_mask=seen.long()).logits[[0, 0, 1], [3, 13, 0]]
    assert torch.allclose(output_layer(model)(trimmed), logits, atol=1e-5)
    assert torch.allclose(trimmed, whole, atol=1e-5) and torch.allclose(kept, whole, atol=1e-5)
