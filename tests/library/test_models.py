"""Filling works with any network: seven tiny classes, saved and loaded, alone and in batches, no download."""

from types import SimpleNamespace

import pytest
import torch
from tiny_models import NETWORKS, neox
from torch import nn
from transformers import AutoTokenizer

from blankfill import DocumentError, Filler, fill, fill_masked
from blankfill.errors import BlankfillError
from blankfill.networks.checkpoints import AUTO_CLASSES, check_kind, find_reason, load_model, model_kind
from blankfill.networks.sizes import (
    count_parameters,
    head_parameters,
    hidden_states,
    output_layer,
    position_limit,
)
from blankfill.slots.rows import to_rows
from blankfill.slots.vocabulary import Speller, slot_bias
from blankfill.text import blank_out, find_words

ODD = "  Naïve café — “ﬁve” 東京\t😀 tests\n\nwith\u00a0odd  spaces! "
AXES = {"masked": {"per_pass": 3}, "causal": {}, "seq2seq": {"max_new_tokens": 12}}
WAYS = [(name, t) for name, row in NETWORKS.items() for t in (0.0, 1.0) if t == 0 or row[2] != "seq2seq"]
KEEPING = [name for name, row in NETWORKS.items() if row[3]]


@pytest.fixture(scope="module")
def spans(texts):
    """Texts and the characters to fill: halves, none, all, neighbours, odd characters, nothing at all."""
    samples = [
        (texts[0], range(0, 17, 2)),
        (texts[1], [3, 4, 5, 9]),
        (texts[2], []),
        (texts[3], range(len(find_words(texts[3])))),
        (ODD, range(0, len(find_words(ODD)), 2)),
        (ODD, range(len(find_words(ODD)))),
        ("", []),
        (" \n ", []),
        ("well-known e.g. (blood)pressure", [2, 4, 7, 9]),
    ]
    return [text for text, _ in samples], [[find_words(text)[i] for i in chosen] for text, chosen in samples]


@pytest.mark.parametrize("name", KEEPING)
def test_every_blank_is_filled_and_the_rest_is_kept_byte_for_byte(name, networks, spans):
    model, tokenizer = networks[name]
    kind = NETWORKS[name][2]
    filled = fill(*spans, model, tokenizer, **AXES[kind])
    for text, blanks, made, fills, places in zip(
        *spans, filled.texts, filled.fills, filled.spans, strict=True
    ):
        assert len(fills) == len(blanks)
        assert kind == "seq2seq" or all(fills)
        assert [made[slice(*place)] if place else "" for place in places] == fills
        assert made == rebuild(text, blanks, fills)
        assert not any(mark in " ".join(fills) for mark in tokenizer.all_special_tokens)
    assert filled.n_unanswered == sum(not one or "\ufffd" in one for fills in filled.fills for one in fills)


def rebuild(text, blanks, fills):
    for (start, end), written in reversed(list(zip(blanks, fills, strict=True))):
        text = text[:start] + written + text[end:]
    return text


@pytest.mark.parametrize(("name", "temperature"), WAYS)
def test_batches_and_order_of_documents_change_nothing(name, networks, spans, temperature):
    model, tokenizer = networks[name]
    kind = NETWORKS[name][2]
    settings = AXES[kind] | {"temperature": temperature, "seed": 4}
    names = [f"t{i}" for i in range(len(spans[0]))]
    together = fill(*spans, model, tokenizer, ids=names, **settings)
    apart = [
        fill([t], [b], model, tokenizer, ids=[n], **settings) for t, b, n in zip(*spans, names, strict=True)
    ]
    backwards = fill(spans[0][::-1], spans[1][::-1], model, tokenizer, ids=names[::-1], **settings)
    assert together.texts == [one.texts[0] for one in apart] == backwards.texts[::-1]
    assert together.fills == [one.fills[0] for one in apart]


@pytest.mark.parametrize("name", NETWORKS)
def test_a_stored_checkpoint_fills_the_same(name, networks, spans, tmp_path):
    model, tokenizer = networks[name]
    kind = NETWORKS[name][2]
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = load_model(tmp_path, kind)
    assert type(loaded) is type(model) and isinstance(
        loaded, type(AUTO_CLASSES[kind].from_pretrained(tmp_path))
    )
    again = fill(*spans, loaded, AutoTokenizer.from_pretrained(tmp_path), **AXES[kind])
    assert again.texts == fill(*spans, model, tokenizer, **AXES[kind]).texts


@pytest.mark.parametrize("name", NETWORKS)
def test_output_layer_of_hidden_states_is_what_the_model_says(name, networks):
    model, tokenizer = networks[name]
    ids = torch.randint(5, len(tokenizer) - 12, (2, 7), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids, "attention_mask": torch.tensor([[1] * 7, [1] * 5 + [0] * 2])}
    if NETWORKS[name][2] == "seq2seq":
        inputs["decoder_input_ids"] = ids[:, :4]
    if name == "bart":
        model.final_logits_bias.normal_(generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected, hidden = model(**inputs).logits, hidden_states(model, inputs)
        assert hidden.shape[-1] == 16
        torch.testing.assert_close(output_layer(model)(hidden[:, 1:3]), expected[:, 1:3])


def test_causal_filling_equals_a_loop_without_a_cache(networks, tokenizers, spans, causal_model):
    unlisted = (neox(len(tokenizers["gpt2"])), tokenizers["gpt2"])
    started = (causal_model, tokenizers["wordpiece"])
    for model, tokenizer in (networks["gpt2"], networks["llama"], unlisted, started):
        may = slot_bias(tokenizer, model.config.vocab_size)
        filled = fill(*spans, model, tokenizer)
        for text, blanks, fills in zip(*spans, filled.fills, strict=True):
            row = to_rows([blank_out("d", text, blanks)], tokenizer, None)[0]
            for place, kind in zip(row.slots, row.kinds, strict=True):
                with torch.no_grad():
                    logits = model(input_ids=torch.tensor([row.ids[:place]])).logits[0, -1]
                row.ids[place] = int((logits + may[kind]).argmax())
            assert fills == Speller(tokenizer).fills(row, len(blanks))


def test_a_class_that_nobody_listed_is_run_whole():
    model = neox(50)
    ids = torch.arange(6)[None]
    with torch.no_grad():
        logits = model(input_ids=ids).logits
        torch.testing.assert_close(output_layer(model)(hidden_states(model, {"input_ids": ids})), logits)
    assert count_parameters(model) == {
        "body": sum(p.numel() for p in model.parameters()) - 2 * 50 * 16,
        "head": 50 * 16,
        "embeddings": 50 * 16,
    }


@pytest.mark.parametrize("name", NETWORKS)
def test_parameters_are_counted_once_and_a_shared_matrix_in_both_places(name, networks):
    model, tokenizer = networks[name]
    sizes = count_parameters(model)
    total = sum(p.numel() for p in model.parameters())
    output = model.get_output_embeddings().weight
    tied = output is model.get_input_embeddings().weight
    assert sum(sizes.values()) == total + (output.numel() if tied else 0)
    own = sum(p.numel() for n, p in model.named_parameters() if n in head_parameters(model))
    assert sizes["head"] == own + (output.numel() if tied else 0)


def test_position_limits(networks):
    limits = {name: position_limit(model) for name, (model, _) in networks.items()}
    assert limits == dict(bert=128, roberta=200, modernbert=200, gpt2=200, llama=300, t5=None, bart=200)
    roberta_model, _ = networks["roberta"]
    longest = torch.full((1, limits["roberta"]), 9)
    assert roberta_model(longest).logits.shape[1] == 200


@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2", "llama"])
def test_positions_count_from_zero_whatever_the_model(name, networks):
    """A model that gets the positions 0, 1, ... reads a text as it does without them, RoBERTa too."""
    model, _ = networks[name]
    ids, places = torch.arange(20, 30)[None], torch.arange(10)[None]
    plain, placed = (
        hidden_states(model, {"input_ids": ids} | more) for more in ({}, {"position_ids": places})
    )
    assert torch.equal(plain, placed)


def test_a_text_may_be_as_long_as_the_positions_and_no_longer(networks):
    model, tokenizer = networks["roberta"]
    assert fill(["(" * 198], [[(0, 1), (197, 198)]], model, tokenizer).n_unanswered == 0
    with pytest.raises(DocumentError, match="document 0: 201 tokens do not fit the model's 200") as error:
        fill_masked(model, tokenizer, [blank_out("0", "(" * 199, [(0, 1)])])
    assert "((" not in str(error.value)
    assert fill(["(" * 199], [[(0, 1)]], model, tokenizer).n_unanswered == 0  # in windows


@pytest.mark.parametrize("name", NETWORKS)
def test_kind_is_read_off_the_class(name, networks):
    kind = NETWORKS[name][2]
    assert model_kind(networks[name][0]) == kind
    for other in {"masked", "causal", "seq2seq"} - {kind}:
        with pytest.raises(BlankfillError, match=f"a {kind} checkpoint.*where a {other} one is needed"):
            check_kind(networks[name][0], other, "here")


def test_checkpoints_of_another_kind_are_refused_with_their_folder(networks, tmp_path):
    for name, kind in (("gpt2", "masked"), ("llama", "seq2seq"), ("bert", "causal"), ("t5", "causal")):
        networks[name][0].save_pretrained(tmp_path / name)
        with pytest.raises(BlankfillError, match=f"/{name}: .* {kind} (model|one)"):
            load_model(tmp_path / name, kind)
    with pytest.raises(BlankfillError, match="nowhere"):
        load_model(tmp_path / "nowhere", "masked")


def test_a_wrapper_names_the_way_to_the_model_inside(networks):
    model, tokenizer = networks["bert"]
    adapted = SimpleNamespace(config=model.config, merge_and_unload=lambda: model)
    for wrapper, way in (
        (torch.compile(model), "model._orig_mod"),
        (nn.DataParallel(model), "model.module"),
        (adapted, "model.merge_and_unload()"),
    ):
        with pytest.raises(BlankfillError) as error:
            Filler(wrapper, tokenizer)
        assert str(error.value) == f"{type(wrapper).__name__} wraps a model: give the one inside, {way}"


def test_a_long_message_of_a_library_ends_where_a_line_a_sentence_or_a_word_ends():
    line = "No connection to 'https://huggingface.co', and no file in the cache."
    offline = f"{line}\nSee how to run offline at 'https://huggingface.co/docs/{'a' * 150}'."
    for said, reason in (
        (offline, line),
        (f"{line} {line} {line} {line}", f"{line} {line}"),
        ("word " * 60, "word " * 39 + "word"),
        ("a\n  b", "a b"),
        ("", "OSError"),
    ):
        assert find_reason(OSError(said)) == reason
