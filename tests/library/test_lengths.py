"""Lengths that are not the original's: one, free, or given; and how passes share the slots."""

from copy import deepcopy
from math import cos, pi

import pytest
import torch
from refusals import assert_refused
from tiny_models import blank, byte_level

from blankfill import Sampling, fill, fill_causal, fill_infill, fill_masked
from blankfill.decoding.free_length import continues_word
from blankfill.decoding.generation import generate_tokens
from blankfill.slots.orders import Pace, cosine_shares, equal_shares
from blankfill.slots.rows import to_rows
from blankfill.slots.vocabulary import Speller, slot_bias
from blankfill.text import find_words

FILLERS = [fill_causal, fill_infill]


@pytest.fixture(scope="module")
def blanked(texts):
    """Every third word; neighbours; all words; the last word alone; none."""
    n_words = [len(find_words(text)) for text in texts]
    chosen = [[*range(0, n_words[0], 3)], [3, 4, 5], [*range(n_words[2])], [n_words[3] - 1], []]
    return [blank(text, blanks, f"d{i}") for i, (text, blanks) in enumerate(zip(texts, chosen, strict=False))]


@pytest.fixture(scope="module")
def wordy(causal_model, tokenizer):
    """The causal model with a leaning to sub-words that go on a word, so that blanks of every length come up."""
    model = deepcopy(causal_model)
    bias = slot_bias(tokenizer, model.config.vocab_size)
    with torch.no_grad():
        model.cls.predictions.bias += 0.05 * continues_word(tokenizer, bias)
    return model


@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("length", ["one", "free"])
@pytest.mark.parametrize(("temperature", "attention"), [(0.0, "sdpa"), (1.0, "sdpa"), (1.0, "eager")])
def test_neither_batch_nor_order_of_documents_changes_a_text(
    filler, length, temperature, attention, wordy, tokenizer, blanked
):
    settings = {"length": length, "sampling": Sampling(temperature, seed=3)}
    wordy.set_attn_implementation(attention)
    together, cost = filler(wordy, tokenizer, blanked, **settings)
    alone = [filler(wordy, tokenizer, [text], batch_tokens=1, **settings) for text in blanked]
    backwards, same_cost = filler(wordy, tokenizer, blanked[::-1], batch_tokens=150, **settings)
    wordy.set_attn_implementation("sdpa")
    assert cost.token_forwards == sum(ledger.token_forwards for _, ledger in alone)
    assert together == [made for (made,), _ in alone] == backwards[::-1] and cost == same_cost


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_free_length_equals_a_loop_without_a_cache(wordy, tokenizer, blanked, attention):
    """The rule, written plainly: look at the likeliest of all sub-words; go on if it goes on the word."""
    wordy.set_attn_implementation(attention)
    bias = slot_bias(tokenizer, wordy.config.vocab_size)
    going, lengths = continues_word(tokenizer, bias), set()
    filled, ledger = fill_causal(wordy, tokenizer, blanked, length="free", max_length=3)
    wordy.set_attn_implementation("sdpa")
    for text, made in zip(blanked, filled, strict=True):
        row = to_rows([text], tokenizer, 128, [[1] * len(text.blanks)])[0]
        read, answers = [], []
        for place, token in enumerate(row.ids):
            if place not in row.slots:
                read.append(token)
                continue
            answer = [_likeliest(wordy, read, bias[row.kinds[len(answers)]])]
            while len(answer) < 3 and going[token := _likeliest(wordy, read + answer, bias.amax(0))]:
                answer.append(token)
            read += answer
            answers.append(answer)
        lengths |= set(map(len, answers))
        assert made.fills == [Speller(tokenizer)(answer) for answer in answers]
    assert lengths == {1, 2, 3}


def test_free_infilling_equals_a_loop_without_a_cache(wordy, tokenizer, blanked):
    """The same rule at masks behind the text; the mask at which a blank ended stays."""
    bias, mask = slot_bias(tokenizer, wordy.config.vocab_size), tokenizer.mask_token_id
    going, lengths = continues_word(tokenizer, bias), set()
    filled, _ = fill_infill(wordy, tokenizer, blanked, length="free", max_length=3)
    for text, made in zip(blanked, filled, strict=True):
        row = to_rows([text], tokenizer, 128, [[1] * len(text.blanks)])[0]
        row.mask(mask)
        read, places, answers = [*row.ids], [*range(len(row.ids))], []
        for slot, place in enumerate(row.slots):
            answer, kind = [], bias[row.kinds[slot]]
            while len(answer) < 3:
                read, places = [*read, mask], [*places, place + len(answer)]
                token = _likeliest(wordy, read, bias.amax(0) if answer else kind, places)
                if answer and not going[token]:
                    break
                answer, read, places = [*answer, token], [*read, token], [*places, places[-1]]
            answers.append(answer)
        lengths |= set(map(len, answers))
        assert made.fills == [Speller(tokenizer)(answer) for answer in answers]
    assert lengths == {1, 2, 3}


def _likeliest(model, read, bias, places=None):
    about = {} if places is None else {"position_ids": torch.tensor([places])}
    with torch.no_grad():
        return int((model(input_ids=torch.tensor([read]), **about).logits[0, -1] + bias).argmax())


def test_what_continues_a_word_is_told_by_its_characters_and_not_by_the_signs_of_its_bytes():
    """A dash is three signs, and a tab one, that are letters in themselves; a Hebrew letter begins with one that is none."""
    lines = [
        "fever\u2014fell \u00a35 caf\u00e9",
        "a\u05dc b\u05dc c\u05dc d\u05dc",
        "if x:\n\treturn a",
        "red return again",
    ]
    tokenizer = byte_level(lines * 50, pad_token="<pad>")
    continuing = continues_word(tokenizer, slot_bias(tokenizer, len(tokenizer)))
    texts = {tokenizer.decode([token]) for token in continuing.nonzero().flatten().tolist()}
    assert {"fe", "\u00e9", "\u05dc"} <= texts
    assert not [text for text in texts if not text[0].isalnum()]


@pytest.mark.parametrize("filler", FILLERS)
def test_free_length_of_at_most_one_is_one(filler, wordy, tokenizer, blanked):
    free, _ = filler(wordy, tokenizer, blanked, length="free", max_length=1)
    assert free == filler(wordy, tokenizer, blanked, length="one")[0]


@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("length", ["one", "free"])
def test_originals_are_never_counted(filler, length, wordy, tokenizer):
    """Words of one sub-word and of many: the same fills stand in their places."""
    texts = [f"the {word} saw the state" for word in ("captain", "a", "xylophonist")]
    blanked = [blank(text, [1]) for text in texts]
    assert len({one.fills[0] for one in filler(wordy, tokenizer, blanked, length=length)[0]}) == 1


def test_free_length_stays_within_the_model(wordy, tokenizer):
    """126 words and two marks leave no room, so a blank of a text this long takes one sub-word."""
    blanked = [blank(" ".join(["a"] * 126), [*range(0, 126, 5)])]
    free, cost = fill_causal(wordy, tokenizer, blanked, length="free")
    assert cost.tokens_filled == len(blanked[0].blanks)
    assert free == fill_causal(wordy, tokenizer, blanked, length="one")[0]


def test_given_counts(start, wordy, tokenizer):
    """Two masks in the first blank, one in the second."""
    given = {"counts": [[2, 1]], "temperature": 0.0}
    for model, axes in ((start, {}), (wordy, {}), (wordy, {"context": "both"})):
        made = fill(["The ___ saw the ___."], "___", model, tokenizer, **given, **axes)
        assert made.ledger.tokens_filled == 3 and made.texts[0].startswith("The ") and all(made.fills[0])


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ({"counts": [[2]]}, "document 0: 2 blanks need as many token counts"),
        ({"counts": [[0, 1]]}, "each 1 or more"),
        ({"counts": [[1, 1], [1]]}, "1 texts need as many lists of counts"),
        ({"counts": [[1, 1]], "length": "one"}, "length=known"),
        ({"length": "known"}, "give counts"),
        ({"length": "some"}, "length=some"),
        ({"length": "free", "max_length": 0}, "max_length=0"),
    ],
)
def test_lengths_that_do_not_go_together_are_refused(axes, told, wordy, tokenizer):
    assert_refused(told, fill, ["The ___ saw the ___."], "___", wordy, tokenizer, **axes)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
@pytest.mark.parametrize("n_passes", [1, 2, 5, 40])
@pytest.mark.parametrize("share", [equal_shares, cosine_shares])
def test_every_slot_has_its_pass_and_no_pass_is_empty(n, n_passes, share):
    sizes = share(n, min(n, n_passes))
    assert sum(sizes) == n and len(sizes) == min(n, n_passes) and all(size > 0 for size in sizes)


def test_cosine_by_hand():
    """40 slots in 4 passes: 40 cos(22.5, 45, 67.5 degrees) = 36.9, 28.3, 15.3 stay open."""
    assert [int(40 * cos(pi * t / 8)) for t in (1, 2, 3)] == [36, 28, 15]
    assert Pace(passes=4, schedule="cosine").sizes(40) == [4, 8, 13, 15]


def test_schedule_is_a_choice_and_needs_passes(start, tokenizer, blanked):
    cost = fill_masked(start, tokenizer, blanked[:1], order="confidence", passes=3, schedule="cosine")[1]
    assert cost.passes == 3
    for settings, told in ((("cosine", 0), "needs passes"), (("sine", 3), "schedule=sine")):
        assert_refused(told, Pace, schedule=settings[0], passes=settings[1])


def test_encoder_decoder_writes_what_generate_writes(seq2seq_model, tokenizer, texts):
    """Equal to transformers' greedy `generate` with weights so wild that documents finish at all times."""
    model = deepcopy(seq2seq_model)
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.5)
        model.decoder.cls.predictions.bias[tokenizer.sep_token_id] = 2.0
    inputs = tokenizer(texts, padding=True, return_tensors="pt")
    theirs = model.generate(inputs["input_ids"], attention_mask=inputs["attention_mask"], max_new_tokens=40)
    ours = generate_tokens(model, tokenizer, texts, 40)
    assert ours == [[t for t in row if t != tokenizer.pad_token_id] for row in theirs[:, 1:].tolist()]
    assert len({len(row) for row in ours}) > 3
    end = max(ours, key=len)[10]  # a checkpoint may name several tokens that end a text
    model.generation_config.eos_token_id = [tokenizer.sep_token_id, end]
    cut = [row[: row.index(end) + 1] if end in row else row for row in ours]
    assert generate_tokens(model, tokenizer, texts, 40) == cut != ours
