"""Orders by hand and against slow loops; what the left context sees; lengths; what a pass costs."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from tiny_models import blank, ids_shown

from blankfill import ORDERS, Sampling, fill_masked
from blankfill.decoding.masked import MaskedPasses
from blankfill.draws import keyed_rng
from blankfill.errors import BlankfillError
from blankfill.networks.sizes import count_parameters
from blankfill.networks.trimming import trim_sizes
from blankfill.slots.orders import PLANS, SCORES, MaskPredict, Pace, Ranked, make_order
from blankfill.slots.rows import TokenRow, to_rows
from blankfill.slots.vocabulary import Speller, slot_bias
from blankfill.text import assemble_text, find_words


def walk(order, values):
    """Return what an order fills in each pass, when the model's scores of slots (by number) never change."""
    passes = []
    while slots := list(order.candidates()):
        passes.append(order.accept([values[slot] for slot in slots]))
        for slot in passes[-1]:
            order.record(slot, values[slot])
    return passes


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("pace", [Pace(), Pace(3), Pace(passes=3), Pace(passes=20)])
@pytest.mark.parametrize("n", [0, 1, 6, 7])
def test_every_order_fills_everything(order, pace, n):
    pace = Pace(passes=pace.passes or 2) if order == "mask_predict" else pace
    made = make_order(order, n, pace, keyed_rng(0))
    passes = walk(made, [0.5] * n)
    assert set().union(*passes) == set(range(n))
    if order not in ("gibbs", "mask_predict"):
        assert len(passes) == (min(n, 1) if order == "parallel" else len(pace.sizes(n)))
        assert sum(map(len, passes)) == n
        assert order == "parallel" or max(map(len, passes), default=0) <= max(pace.sizes(n), default=0)


def test_plans_by_hand():
    assert PLANS["left_to_right"](5, Pace(2), None) == [[0, 1], [2, 3], [4]]
    assert PLANS["right_to_left"](5, Pace(2), None) == [[4, 3], [2, 1], [0]]
    assert PLANS["spread"](7, Pace(3), None) == [[0, 3, 6], [1, 4], [2, 5]]
    assert PLANS["spread"](4, Pace(1), None) == [[0], [1], [2], [3]]
    assert PLANS["parallel"](3, Pace(1), None) == [[0, 1, 2]]
    assert Pace(passes=3).sizes(7) == [2, 2, 3] and Pace(passes=9).sizes(2) == [1, 1]
    assert Pace(99).sizes(2) == [2]


def test_gibbs_fills_all_then_each_slot_once_a_sweep():
    first, *rest = PLANS["gibbs"](5, Pace(2, sweeps=3), keyed_rng(1))
    assert first == [0, 1, 2, 3, 4] and [len(step) for step in rest] == [2, 2, 1] * 3
    assert all(sorted(sum(rest[3 * i : 3 * i + 3], [])) == first for i in range(3))


def test_ranked_orders_by_hand():
    values = [0.2, 0.9, 0.5, 0.9, 0.4]
    assert walk(Ranked(5, Pace(), None), values) == [[1], [3], [2], [4], [0]]
    assert walk(Ranked(5, Pace(2), None), values) == [[1, 3], [2, 4], [0]]
    assert walk(Ranked(5, Pace(passes=2), None), values) == [[1, 3], [0, 2, 4]]
    assert walk(Ranked(5, Pace(threshold=0.5), None), values) == [[1, 2, 3], [4], [0]]
    entropies = [3.0, 0.5, 0.5, 9.0]
    assert walk(Ranked(4, Pace(entropy_bound=1.0), None), [-e for e in entropies]) == [[1, 2], [0], [3]]


def test_scores_by_hand():
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.4, 0.4, 0.2], [1.0, 0.0, 0.0]]))
    assert SCORES["confidence"](logits).tolist() == pytest.approx([0.5, 0.4, 1.0])
    assert SCORES["margin"](logits).tolist() == pytest.approx([0.25, 0.0, 1.0], abs=1e-6)
    # entropies in bits: 1.5, 1.521928 (0.8 log2 2.5 + 0.2 log2 5), 0
    assert (SCORES["entropy"](logits) / -0.6931472).tolist() == pytest.approx([1.5, 1.521928, 0.0], abs=1e-5)


def test_mask_predict_hides_the_least_likely_by_its_schedule():
    assert walk(MaskPredict(8, Pace(passes=4)), [0.8, 0.1, 0.7, 0.2, 0.6, 0.3, 0.5, 0.4]) == [
        [0, 1, 2, 3, 4, 5, 6, 7],
        [1, 3, 4, 5, 6, 7],
        [1, 3, 5, 7],
        [1, 3],
    ]
    assert [len(step) for step in walk(MaskPredict(3, Pace(passes=5)), [0.5] * 3)] == [3, 2, 1, 1]


@pytest.mark.parametrize("order", SCORES)
@pytest.mark.parametrize("per_pass", [1, 2])
def test_adaptive_orders_equal_a_slow_loop(order, per_pass, start, tokenizer, texts):
    text = blank(texts[1], [1, 2, 6, 8, 12])
    row = to_rows([text], tokenizer, 128)[0]
    bias, left = slot_bias(tokenizer, start.config.vocab_size), list(range(len(row.slots)))
    for place in row.slots:
        row.ids[place] = tokenizer.mask_token_id
    while left:
        with torch.no_grad():
            all_logits = start(input_ids=torch.tensor([row.ids])).logits[0]
        logits = {slot: all_logits[row.slots[slot]] + bias[row.kinds[slot]] for slot in left}
        value = {slot: SCORES[order](logits[slot][None]).item() for slot in left}
        for slot in sorted(left, key=lambda s: (-round(value[s], 6), s))[:per_pass]:
            row.ids[row.slots[slot]] = int(logits[slot].argmax())
            left.remove(slot)
    made = fill_masked(start, tokenizer, [text], order=order, per_pass=per_pass)[0][0]
    assert made.fills == Speller(tokenizer).fills(row, len(text.blanks))


def test_left_context_never_sees_the_right(start, tokenizer):
    axes = {"context": "left", "order": "left_to_right"}
    endings = ("two tablets.", "no boat, and the crew!")
    text, other = (blank(f"The doctor gave the patient {ending}", [1, 4]) for ending in endings)
    a, b = fill_masked(start, tokenizer, [text, other], **axes)[0]
    assert a.fills == b.fills
    seen = ids_shown(lambda: fill_masked(start, tokenizer, [text], **axes))
    row = to_rows([text], tokenizer, 128)[0]
    assert len(seen) == len(row.slots)
    for ids, place in zip(seen, row.slots, strict=True):
        assert ids[place:] == [tokenizer.mask_token_id] * 9


def test_left_context_equals_a_slow_loop(start, tokenizer, texts):
    text = blank(texts[2], [0, 3, 4, 9])
    row, bias = to_rows([text], tokenizer, 128)[0], slot_bias(tokenizer, start.config.vocab_size)
    for place, kind in zip(row.slots, row.kinds, strict=True):
        ids = torch.tensor([row.ids[:place] + [tokenizer.mask_token_id] * 9])
        with torch.no_grad():
            row.ids[place] = int((start(input_ids=ids).logits[0, place] + bias[kind]).argmax())
    made = fill_masked(start, tokenizer, [text], context="left", order="left_to_right")[0][0]
    assert made.fills == Speller(tokenizer).fills(row, len(text.blanks))


def test_length_one_writes_one_subword_a_blank(start, tokenizer, texts):
    long = blank(texts[4], list(range(len(find_words(texts[4])))))
    made, cost = fill_masked(start, tokenizer, [long], length="one")
    assert cost.tokens_filled == len(long.blanks) == cost.passes
    assert all(
        len(tokenizer(f" {fill}", add_special_tokens=False)["input_ids"]) == 1 for fill in made[0].fills
    )


def test_free_length_takes_the_best_mean_by_hand():
    text, longer = blank("one two", [0, 1]), blank("one two three", [0, 1, 2], "longer")
    table = {1: [-2.0, -1.0, -1.0], 2: [-3.0, -0.5, -4.0], 3: [-1.0, -9.0, -9.0]}

    def tokenize(texts, lengths):
        return [
            TokenRow(t.id, [0] * (2 + sum(n)), list(range(1, sum(n) + 1)))
            for t, n in zip(texts, lengths, strict=True)
        ]

    def score(rows):
        n_blanks = {"d": 2, "longer": 3}
        sizes = [len(row.slots) // n_blanks[row.id] for row in rows]
        return [
            [table[size][blank] for blank in range(n_blanks[row.id]) for _ in range(size)]
            for row, size in zip(rows, sizes, strict=True)
        ]

    def choose(texts, max_positions, max_length):
        passes = SimpleNamespace(tokenize=tokenize, best_log_probabilities=score, max_positions=max_positions)
        return MaskedPasses.choose_lengths(passes, "free", texts, max_length)

    assert choose([text], 99, 3) == [[3, 2]] and choose([text], 99, 1) == [[1, 1]]
    # at 3 tokens per blank the longer text has 11 tokens, one more than fit: length 3 is not tried
    assert choose([text, longer], 10, 3) == [[3, 2], [1, 2, 1]]


def test_free_length_depends_on_no_original(start, tokenizer):
    text = blank("the captain saw the doctor and the people", [1, 4])
    other = blank("the unfathomable saw the xyzzy and the people", [1, 4])
    a, b = fill_masked(start, tokenizer, [text, other], length="free", max_length=3)[0]
    assert a.fills == b.fills


def test_ledger_counts_by_hand(start, tokenizer):
    text = blank("the captain saw the doctor and the people", [1, 4, 7])
    row = to_rows([text], tokenizer, 128)[0]
    n, length = len(row.slots), len(row.ids)
    sizes = trim_sizes(start, count_parameters(start), 1)

    def cost(**axes):
        return fill_masked(start, tokenizer, [text], **axes)[1]

    assert cost().flops == 2 * n * (sizes["body"] * length + sizes["head"])
    looked = n * (n + 1) // 2
    adaptive = cost(order="confidence")
    assert adaptive.flops == 2 * (n * sizes["body"] * length + looked * sizes["head"])
    assert (adaptive.passes, adaptive.token_forwards, adaptive.tokens_filled) == (n, n * length, n)
    left = cost(context="left", order="left_to_right")
    assert left.token_forwards == sum(place + 9 for place in row.slots)
    gibbs = cost(order="gibbs", sweeps=2, sampling=Sampling(1.0))
    assert (gibbs.passes, gibbs.tokens_filled) == (1 + 2 * n, 3 * n)
    free = cost(length="free", max_length=2, order="parallel")
    assert free.passes == 3 and free.tokens_filled >= 3
    assert cost(order="mask_predict", passes=2).tokens_filled == n + n // 2


def test_gibbs_draws_anew_at_every_visit(start, tokenizer, texts):
    text = blank(texts[0], [1, 2, 3, 5, 6])
    settings = {"order": "gibbs", "sampling": Sampling(1.0)}
    short, longer = (fill_masked(start, tokenizer, [text], sweeps=n, **settings)[0][0] for n in (1, 2))
    assert short.fills != longer.fills


BAD = [
    ({"order": "zigzag"}, "order=zigzag is unknown"),
    ({"context": "right"}, "context=right is unknown"),
    ({"length": "two"}, "length=two is unknown"),
    ({"per_pass": 0}, "per_pass=0"),
    ({"passes": -1}, "passes=-1"),
    ({"sweeps": 0}, "sweeps=0"),
    ({"order": "confidence", "threshold": 1.5}, "threshold=1.5"),
    ({"order": "confidence", "threshold": float("nan")}, "threshold=nan"),
    ({"order": "random", "threshold": 0.5}, "threshold needs order=confidence"),
    ({"order": "margin", "entropy_bound": 1.0}, "entropy_bound needs order=entropy"),
    ({"order": "confidence", "threshold": 0.5, "passes": 3}, "set one of them"),
    ({"order": "mask_predict"}, "needs passes"),
    ({"order": "gibbs"}, "needs temperature > 0"),
    ({"context": "leaky", "order": "confidence"}, "context=leaky"),
    ({"context": "leaky", "length": "one"}, "context=leaky"),
    ({"context": "left", "order": "random"}, "context=left"),
    ({"context": "left", "order": "left_to_right", "per_pass": 2}, "context=left"),
    ({"length": "free", "max_length": 0}, "max_length=0"),
]


@pytest.mark.parametrize(("axes", "message"), BAD)
def test_impossible_settings_are_refused_in_one_line(axes, message, start, tokenizer):
    with pytest.raises(BlankfillError, match=message):
        fill_masked(start, tokenizer, [blank("a b", [0])], **axes)


def test_work_on_one_document_never_touches_another(start, tokenizer, texts):
    text = blank(texts[0], [1, 5], "same")
    alone = fill_masked(start, tokenizer, [text], order="entropy", per_pass=2)[0][0]
    texts = [replace(text, id="other"), blank("", [], "e"), text]
    beside = fill_masked(start, tokenizer, texts, order="entropy", per_pass=2)[0]
    assert beside[2] == alone and beside[1] == assemble_text(blank("", [], "e"), [])
