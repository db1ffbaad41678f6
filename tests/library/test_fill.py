"""Every arm fills every blank, leaves the rest alone, and does not care how its work is batched."""

import math
from functools import cache, partial

import pytest
import torch
from tiny_models import blank, ids_shown

from blankfill import ORDERS, Sampling, fill_causal, fill_infill, fill_masked, fill_masked_left, fill_seq2seq
from blankfill.decoding.alignment import align
from blankfill.draws import keyed_uniform
from blankfill.errors import BlankfillError
from blankfill.slots import sampling
from blankfill.slots.orders import PLANS
from blankfill.slots.rows import to_rows
from blankfill.slots.sampling import GREEDY
from blankfill.text import assemble_text, find_words
from mlm_vs_clm.arms.recasing import Recaser, insert_missing_spaces


def outside(text, spans, blanks):
    """Return the characters that stand outside the blanks."""
    cut, kept = 0, []
    for number, span in enumerate(spans):
        if number in blanks and span:
            kept.append(text[cut : span[0]])
            cut = span[1]
    return "".join([*kept, text[cut:]])


ONCE = [order for order in PLANS if order != "gibbs"]
MASKED = {
    **{f"both {order} 1": {"order": order} for order in PLANS},
    **{f"both {order} 3": {"order": order, "per_pass": 3} for order in ORDERS if order != "parallel"},
    **{
        f"leaky {order} {k}": {"context": "leaky", "order": order, "per_pass": k}
        for order in ONCE
        for k in (1, 3)
    },
    "left": {"context": "left", "order": "left_to_right"},
    "both one": {"length": "one"},
    "both free": {"length": "free", "per_pass": 3, "max_length": 3},
    "left one": {"context": "left", "order": "left_to_right", "length": "one"},
    "threshold": {"order": "confidence", "threshold": 0.006},
    "entropy bound": {"order": "entropy", "entropy_bound": 18.0},
    "margin passes": {"order": "margin", "passes": 4},
}
for axes in MASKED.values():
    if axes.get("order") == "mask_predict":
        axes["passes"] = 2 + axes.pop("per_pass")
WAYS = [*MASKED, "causal", "true_left", "infill", "masked_left"]
PACED = [way[:-1] for way in MASKED if way.endswith("1") and f"{way[:-1]}3" in MASKED]
WARM = [way for way, axes in MASKED.items() if axes.get("order") == "gibbs"]  # drawn at every temperature
# Every way greedily and with draws; where it is there at both paces, one word a pass greedily and three with draws.
TEMPERATURES = [
    (way, temperature)
    for way in WAYS
    for temperature in (0.0, 1.0)
    if way not in WARM or temperature == 0
    if way in WARM or way.endswith("3") == bool(temperature) or way[:-1] not in PACED
]


@pytest.fixture(scope="module")
def fill(start, causal_model, tokenizer):
    """The call of each way: texts, sampling and tokens of a batch."""

    def masked(axes):
        lowest = 1.0 if axes.get("order") == "gibbs" else 0.0

        def write(b, s=None, n=4096):
            warm = Sampling(max(s.temperature if s else 0.0, lowest), seed=5)
            return fill_masked(start, tokenizer, b, sampling=warm, batch_tokens=n, **axes)

        return write

    def causal(write):
        return lambda b, s=GREEDY, n=4096: write(causal_model, tokenizer, b, sampling=s, batch_tokens=n)

    made = {way: masked(axes) for way, axes in MASKED.items()}
    return made | {
        "causal": causal(fill_causal),
        "true_left": causal(partial(fill_causal, context="true_left")),
        "infill": causal(fill_infill),
        "masked_left": causal(fill_masked_left),
    }


@pytest.fixture(scope="module")
def together(fill, blanked):
    """What a way makes of all texts at once, at a temperature, and its cost."""
    return cache(lambda way, temperature: fill[way](blanked, Sampling(temperature, seed=5)))


@pytest.mark.parametrize("way", WAYS)
def test_every_blank_is_filled_and_the_rest_is_kept_byte_for_byte(together, blanked, way):
    filled, ledger = together(way, dict(TEMPERATURES)[way])
    for text, made in zip(blanked, filled, strict=True):
        assert all(made.fills) and len(made.fills) == len(text.blanks)
        hidden = set(text.blanks)
        assert outside(made.text, made.spans, hidden) == outside(text.text, text.words, hidden)
        assert [made.text[slice(*made.spans[w])] for w in text.blanks] == made.fills
        assert not {"[MASK]", "[PAD]", "[CLS]", "[SEP]", "[UNK]"} & set(" ".join(made.fills).split())
    assert ledger.documents == len(blanked) and ledger.blanks == sum(len(t.blanks) for t in blanked)
    assert ledger.tokens_filled >= ledger.blanks


@pytest.mark.parametrize(("way", "temperature"), TEMPERATURES)
def test_batching_and_order_of_documents_change_nothing(fill, together, blanked, way, temperature):
    sampling = Sampling(temperature, seed=5)
    whole, cost = together(way, temperature)
    apart = [fill[way]([text], sampling, n=1)[0][0] for text in blanked[::2]]
    backwards, cost_backwards = fill[way](blanked[::-1], sampling, n=200)
    assert whole == backwards[::-1] and whole[::2] == apart and cost == cost_backwards


@pytest.mark.parametrize("way", ["both random 3", "left", "causal"])
def test_the_number_of_threads_changes_nothing(fill, blanked, way):
    sampling, before = Sampling(1.0, seed=5), torch.get_num_threads()
    made = {}
    try:
        for threads in (1, 3):
            torch.set_num_threads(threads)
            made[threads] = fill[way](blanked, sampling)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert made[1] == made[3]


def test_honest_arm_never_sees_an_original_and_the_leaky_one_does(start, tokenizer):
    text = "the captain saw the doctor and the people"
    other = text.replace("captain", "state").replace("doctor", "schools").replace("people", "better")
    blanks = [1, 4, 7]
    a, b = fill_masked(start, tokenizer, [blank(text, blanks), blank(other, blanks)])[0]
    rows = to_rows([blank(text, blanks), blank(other, blanks)], tokenizer, 128)
    assert rows[0].slots == rows[1].slots
    assert a.fills == b.fills
    doctor = tokenizer.convert_tokens_to_ids("doctor")
    assert doctor in _hidden_inputs(start, tokenizer, blank(text, blanks), "leaky")[0]
    assert not any(doctor in ids for ids in _hidden_inputs(start, tokenizer, blank(text, blanks), "both")[:2])


def _hidden_inputs(model, tokenizer, text, context):
    return ids_shown(lambda: fill_masked(model, tokenizer, [text], context=context, order="left_to_right"))


@pytest.mark.parametrize(("name", "value"), [("temperature", -1), ("top_p", 0), ("top_k", -2)])
def test_impossible_sampling_is_refused(name, value):
    with pytest.raises(BlankfillError, match=f"^{name}={value}"):
        Sampling(**{name: value})


def test_sampling_follows_the_distribution():
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.2]])).repeat(4000, 1)
    drawn = Sampling(1.0, seed=1)(logits, [("d", i) for i in range(4000)])
    shares = [drawn.count(i) / 4000 for i in range(3)]
    assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.03)


def draw_plainly(logits, draw, top_k, top_p, temperature):
    """Draw a token from all of a row, sorted as float64."""
    logits = logits.double() / temperature
    order = logits.sort(descending=True, stable=True).indices
    shares = logits.softmax(-1)[order]
    shares[top_k or len(shares) :] = 0
    shares = shares / shares.sum()
    kept = shares.masked_fill(shares.cumsum(-1) - shares >= top_p, 0.0).cumsum(-1)
    return order[(kept <= draw * kept[-1]).sum()].item()


@pytest.mark.parametrize("n_ranked", [3, 20, 60])
@pytest.mark.parametrize("ways", [{}, {"top_p": 0.9}, {"top_k": 4}, {"top_k": 30, "top_p": 0.5}])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_a_draw_is_that_of_a_sort_of_all_tokens_however_many_are_ranked(dtype, ways, n_ranked, monkeypatch):
    monkeypatch.setattr(sampling, "RANKED", n_ranked)
    logits = 3 * torch.randn(200, 60, generator=torch.Generator().manual_seed(1))
    logits[:100] = logits[:100].round()  # equally likely tokens, 0.0 and -0.0 among them
    logits[::3, 5:30] = -math.inf
    logits, keys = logits.to(dtype), [("d", i) for i in range(200)]
    before, draws = logits.clone(), [keyed_uniform(2, "sample", *key) for key in keys]
    settings = {"top_k": 0, "top_p": 1.0, "temperature": 0.7} | ways
    expected = [draw_plainly(row, draw, **settings) for row, draw in zip(logits, draws, strict=True)]
    assert Sampling(**settings, seed=2)(logits, keys) == expected
    assert torch.equal(logits, before)


def test_alignment_by_hand():
    text = "the cat sat down on it"
    aligned = align(blank(text, [1, 3]), "The dog sat there now on it")
    assert aligned.fills == ["dog", "there now"]
    assert [aligned.text[slice(*s)] for s in aligned.spans] == ["The", "dog", "sat", "there now", "on", "it"]


def test_alignment_deals_words_to_neighbouring_blanks_and_leaves_the_missing_without_a_place():
    text = "a b c d e"
    assert align(blank(text, [1, 2, 3]), "a x y e").fills == ["x", "y", ""]
    assert align(blank(text, [1, 2]), "a x y z d e").fills == ["x", "y z"]
    assert align(blank(text, [0, 1, 2, 3, 4]), "p q").fills == ["p", "q", "", "", ""]
    assert align(blank(text, [1]), "").spans == [None] * 5


def test_seq2seq_reads_the_kept_words_alone(seq2seq_model, tokenizer, texts):
    text = "The captain saw the boat"
    shown, other = blank(text, [1]), blank(text.replace("captain", "doctor"), [1])
    a, b = fill_seq2seq(seq2seq_model, tokenizer, [shown, other], max_new_tokens=8)[0]
    assert a.text == b.text
    every = [blank(t, [0, 2]) for t in texts]
    one, many = (
        fill_seq2seq(seq2seq_model, tokenizer, every, max_new_tokens=8, batch_documents=n)[0] for n in (1, 6)
    )
    assert one == many


def test_recasing_by_hand():
    recase = Recaser(["He saw Dr. Smith in Paris.", "Then Smith left. He hid.", "We saw smith"])
    text = blank("Then xxx met xxx. xxx ran.", [1, 3, 5])
    made = assemble_text(text, ["smith", "paris", "he"])
    assert recase.fill(text, made).text == "Then Smith met Paris. He ran."
    assert recase.text("in paris he hid. then") == "In Paris he hid. Then"


def test_a_word_put_for_a_mark_is_set_apart_from_its_neighbours():
    text = blank("Well, it is 3.5 (mg)!", [1, 5, 7, 9])
    made = insert_missing_spaces(text, assemble_text(text, ["the", "of", ",", "and"]))
    assert made.text == "Well the it is 3 of 5 ,mg and!"
    assert [made.text[slice(*made.spans[w])] for w in text.blanks] == ["the", "of", ",", "and"]
    adjacent = blank("3.5%", [0, 1, 2, 3])
    assert insert_missing_spaces(adjacent, assemble_text(adjacent, ["a", "b", "c", ""])).text == "a b c"
    kept = blank("a-b, c", [0])
    assert insert_missing_spaces(kept, assemble_text(kept, ["x"])).text == "x-b, c"


def test_equal_inputs_are_read_once_and_cost_as_much_as_each_alone(seq2seq_model, tokenizer, texts):
    empty = [blank(text, [*range(len(find_words(text)))], f"d{i}") for i, text in enumerate(texts[:3])]
    cost = lambda some: fill_seq2seq(seq2seq_model, tokenizer, some, max_new_tokens=7)[1]  # noqa: E731
    first, second, third = (cost([one]) for one in empty)
    assert first.flops and cost(empty) == first + second + third
