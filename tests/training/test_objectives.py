"""What each objective reads and predicts, worked by hand, and what holds for every draw of spans."""

from dataclasses import replace

import numpy as np
import pytest
from tiny_models import blank

from blankfill.decoding.seq2seq import masked_text
from blankfill.draws import keyed_rng
from blankfill.networks.layouts import RUNWAY
from blankfill.slots.rows import to_rows
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.training import seq2seq_examples
from mlm_vs_clm.training.batches import find_target_tokens, pad_examples, tokenize
from mlm_vs_clm.training.masked_examples import pair_sentences
from mlm_vs_clm.training.noise import IGNORE, Noise, TargetTokens, TokenizedDocument
from mlm_vs_clm.training.objectives import OBJECTIVES, check_objective, check_target_tokens, reset_unread
from mlm_vs_clm.training.spans import (
    draw_poisson_spans,
    draw_spans,
    find_runs,
    replace_spans,
    shuffle_sentences,
)

NOISE = Noise(ratio=0.5, unit="token", mask_share=0.8, random_share=0.1)
BERT = TargetTokens(mask=3, n_vocabulary=100, start=1)
T5 = TargetTokens(mask=-1, n_vocabulary=100, start=0, sentinels=(90, 91, 92, 93))
BART = TargetTokens(mask=3, n_vocabulary=100, start=2)
EIGHT = TokenizedDocument(
    np.array([1, 10, 11, 12, 13, 14, 15, 16, 17, 2]), np.array([-1, *range(8), -1]), (4,)
)


def make(name, document, noise=NOISE, marks=BERT, seed=0):
    made = OBJECTIVES[name].make_example(document, noise, marks, np.random.default_rng(seed))
    return {key: values.tolist() for key, values in made.items()}


@pytest.fixture
def two_spans(monkeypatch):
    """Of the text's eight sub-words, hide the second and third, and the last."""
    monkeypatch.setattr(seq2seq_examples, "draw_spans", lambda *_: [(1, 2), (7, 1)])
    monkeypatch.setattr(seq2seq_examples, "draw_poisson_spans", lambda *_: [(1, 2), (4, 0), (7, 1)])


def test_masked_objective_by_hand():
    document = TokenizedDocument(np.arange(10, 30), np.array([-1, *range(18), -1]))
    noise = Noise(0.5, "token", mask_share=1.0, random_share=0.0)
    made = OBJECTIVES["mlm"].make_example(document, noise, BERT, np.random.default_rng(0))
    hidden = made["labels"] != IGNORE
    assert hidden.sum() == 9 and not hidden[0] and not hidden[-1]
    assert (made["input_ids"][hidden] == 3).all()
    assert (made["input_ids"][~hidden] == document.ids[~hidden]).all()
    assert (made["labels"][hidden] == document.ids[hidden]).all()


def test_masking_splits_80_10_10():
    document = TokenizedDocument(np.full(10002, 7), np.array([-1, *range(10000), -1]))
    made = OBJECTIVES["mlm"].make_example(document, NOISE, TargetTokens(3, 1000), np.random.default_rng(0))
    hidden = made["labels"] != IGNORE
    shares = [(made["input_ids"][hidden] == value).mean() for value in (3, 7)]
    assert shares == pytest.approx([0.8, 0.1], abs=0.02)


@pytest.mark.parametrize("mean_span", [1.0, 3.0, 8.0])
def test_spans_mask_the_same_share_as_tokens_in_runs_of_their_mean_length(mean_span):
    document = TokenizedDocument(np.arange(10, 212), np.r_[-1, np.arange(200), -1])
    noise = Noise(0.5, "span", 1.0, 0.0, mean_span=mean_span)
    for seed in range(20):
        made = OBJECTIVES["mlm"].make_example(document, noise, BERT, np.random.default_rng(seed))
        hidden = made["labels"] != IGNORE
        assert hidden.sum() == 100 and not hidden[0] and not hidden[-1]
        assert len(find_runs(hidden)) == round(100 / mean_span)
        assert (made["labels"][hidden] == document.ids[hidden]).all()


def test_the_masked_share_of_documents_is_spread_evenly():
    document, rng = TokenizedDocument(np.arange(202), np.r_[-1, np.arange(200), -1]), np.random.default_rng(0)
    noise = Noise(0.5, "token", 0.8, 0.1, spread=0.5)
    shares = [
        np.mean(OBJECTIVES["mlm"].make_example(document, noise, BERT, rng)["labels"] != IGNORE)
        for _ in range(400)
    ]
    assert np.allclose(np.quantile(shares, [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.07)


def test_a_left_view_ends_in_the_masks_that_the_arm_puts():
    """The text is cut off behind a token drawn at random and eight more, all masked; a share of the rest is masked too."""
    document, rng = TokenizedDocument(np.arange(52), np.r_[-1, np.arange(50), -1]), np.random.default_rng(0)
    noise, ends = Noise(0.0, "token", 1.0, 0.0, left_share=1.0), set()
    for _ in range(300):
        made = OBJECTIVES["mlm"].make_example(document, noise, BERT, rng)
        end, cut = len(made["labels"]), int(np.flatnonzero(made["labels"] != IGNORE)[0])
        ends.add((cut, end))
        assert (made["input_ids"][:cut] == np.arange(cut)).all()
        assert (made["input_ids"][cut:] == BERT.mask).all()
        assert (made["labels"][cut:] == np.arange(cut, end)).all()
        assert end == min(cut + 1 + RUNWAY, 52)
    assert len(ends) > 40


def test_causal_objective_predicts_the_next():
    made = make("clm", TokenizedDocument(np.array([1, 5, 6, 2]), np.array([-1, 0, 1, -1])))
    assert made["labels"] == [5, 6, 2, IGNORE]


def test_diffusion_masks_any_number_and_its_loss_bounds_the_text():
    """Where each token costs one nat, the weighted loss is as many nats as the text has tokens, in every draw."""
    found = [make("masked_diffusion", EIGHT, seed=seed) for seed in range(200)]
    numbers = [sum(label != IGNORE for label in made["labels"]) for made in found]
    assert set(numbers) == set(range(1, 9))
    for made, number in zip(found, numbers, strict=True):
        assert sum(made["weights"]) == pytest.approx(8) and max(made["weights"]) == pytest.approx(8 / number)
        masked = [token == BERT.mask for token in made["input_ids"]]
        assert masked == [weight > 0 for weight in made["weights"]]
        assert masked == [label != IGNORE for label in made["labels"]]


@pytest.mark.parametrize(("share", "prefix"), [(0.0, 1), (0.5, 5), (1.0, 9)])
def test_a_prefix_is_read_from_both_sides_and_the_rest_predicted(share, prefix):
    made = make("prefix_lm", EIGHT, replace(NOISE, prefix_share=share))
    assert made["prefix"] == prefix and made["input_ids"] == EIGHT.ids.tolist()
    assert made["labels"] == [IGNORE] * (prefix - 1) + [*EIGHT.ids[prefix:], IGNORE]
    visible = pad_examples([{name: np.array(value) for name, value in made.items()}], 0)["attention_mask"]
    assert visible.tolist() == [[[[j <= i or j < prefix for j in range(10)] for i in range(10)]]]


def test_the_prefix_is_drawn_and_an_empty_one_leaves_the_causal_example():
    noise = replace(NOISE, prefix_share=0.5, spread=0.5)
    assert {make("prefix_lm", EIGHT, noise, seed=seed)["prefix"] for seed in range(99)} == set(range(1, 10))
    empty = make("prefix_lm", EIGHT, replace(NOISE, prefix_share=0.0))
    assert empty["labels"] == make("clm", EIGHT)["labels"]


def test_fill_in_the_middle_moves_a_span_to_the_end():
    """Before: 1 10 ... 15 2; after: text before, mask (3), text after, 2, span, 2. The last two tokens make room."""
    plain, spans = make("clm", EIGHT), set()
    for seed in range(200):
        made = make("fim", EIGHT, seed=seed)
        assert made["labels"] == [*made["input_ids"][1:], IGNORE]
        if made == plain:
            continue
        ids = made["input_ids"]
        gap, middle = ids.index(3), ids[ids.index(2) + 1 : -1]
        assert ids[:gap] + middle + ids[gap + 1 : ids.index(2)] == [1, *range(10, 16)]
        assert ids[-1] == 2 and len(ids) == len(EIGHT.ids)
        spans.add((gap, len(middle)))
    assert len(spans) > 20


def test_half_of_the_pairs_end_as_another_document_does():
    """The text is cut before its second sentence, 13; the ends lack their last tokens, 17 and 27."""
    other = replace(EIGHT, ids=np.array([1, *range(20, 28), 2]), sentences=(6,))
    pairs = [pair_sentences(EIGHT, other, np.random.default_rng(seed)) for seed in range(60)]
    assert {(pair.is_next, tuple(pair.ids.tolist())) for pair in pairs} == {
        (True, (1, 10, 11, 12, 2, 13, 14, 15, 16, 2)),
        (False, (1, 10, 11, 12, 2, 25, 26, 2)),
    }
    assert 20 < sum(pair.is_next for pair in pairs) < 40
    apart = next(pair for pair in pairs if not pair.is_next)
    assert apart.word_of.tolist() == [-1, 0, 1, 2, -1, 13, 14, -1]
    made = make("mlm_nsp", apart)
    assert made["token_type_ids"] == [0] * 5 + [1] * 3 and made["is_next"] == [0]


def test_a_document_of_one_sentence_makes_no_pair():
    alone = replace(EIGHT, sentences=())
    assert pair_sentences(alone, EIGHT, np.random.default_rng(0)) is alone
    made = make("mlm_nsp", alone)
    assert made["is_next"] == [IGNORE] and set(made["token_type_ids"]) == {0}
    assert made["labels"] == make("mlm", alone)["labels"]


def test_kept_objective_hides_whole_words_and_leaves_no_mark():
    document = TokenizedDocument(np.array([1, 5, 6, 7, 8, 2]), np.array([-1, 0, 0, 1, 1, -1]))
    made = make("seq2seq", document, Noise(0.5, "word", 0.8, 0.1))
    assert made["input_ids"] in ([1, 5, 6, 2], [1, 7, 8, 2])
    assert made["decoder_input_ids"] == [1, 5, 6, 7, 8, 2]
    assert made["labels"] == [5, 6, 7, 8, 2, IGNORE]


def test_a_causal_model_reads_the_kept_words_and_predicts_the_text_behind_their_end():
    document = TokenizedDocument(np.array([1, 5, 6, 7, 8, 2]), np.array([-1, 0, 0, 1, 1, -1]))
    made = make("kept", document, Noise(0.5, "word", 0.8, 0.1))
    assert made["input_ids"] in ([1, 5, 6, 2, 5, 6, 7, 8, 2], [1, 7, 8, 2, 5, 6, 7, 8, 2])
    assert made["labels"] == [IGNORE] * 3 + [5, 6, 7, 8, 2, IGNORE]
    assert make("kept", document, Noise(1.0, "word", 0.8, 0.1))["input_ids"] == [1, 2, 5, 6, 7, 8, 2]


def test_kept_objective_writes_from_the_start_of_each_family():
    """BERT's decoder starts with the mark that opens the text; BART's with </s> and T5's with <pad>, before the text."""
    document = TokenizedDocument(np.array([5, 6, 9]), np.array([0, 1, -1]))
    assert make("seq2seq", document, marks=T5)["decoder_input_ids"] == [0, 5, 6, 9]
    assert make("seq2seq", document, marks=T5)["labels"] == [5, 6, 9, IGNORE]
    opened = TokenizedDocument(np.array([1, 5, 6, 2]), np.array([-1, 0, 1, -1]))
    assert make("seq2seq", opened, marks=BART)["decoder_input_ids"] == [2, 1, 5, 6, 2]
    assert make("seq2seq", opened, marks=BART)["labels"] == [1, 5, 6, 2, IGNORE]


def test_span_corruption_has_the_published_layout_of_t5(two_spans):
    """Read: 10 <0> 13 14 15 16 <1> </s>; written: <0> 11 12 <1> 17 <2> </s>."""
    document = TokenizedDocument(np.array([10, 11, 12, 13, 14, 15, 16, 17, 9]), np.array([*range(8), -1]))
    made = make("span_corruption", document, marks=T5)
    assert made["input_ids"] == [10, 90, 13, 14, 15, 16, 91, 9]
    assert made["labels"] == [90, 11, 12, 91, 17, 92, 9, IGNORE]
    assert made["decoder_input_ids"] == [0, 90, 11, 12, 91, 17, 92, 9]


def test_span_corruption_with_a_mask_alone_writes_the_whole_text(two_spans):
    made = make("span_corruption", EIGHT)
    assert made["input_ids"] == [1, 10, 3, 13, 14, 15, 16, 3, 2]
    assert made["labels"] == [*EIGHT.ids[1:], IGNORE]
    assert made["decoder_input_ids"] == EIGHT.ids.tolist()


def test_denoising_puts_a_mask_for_an_empty_span_too(two_spans):
    made = make("denoise", EIGHT, marks=BART)
    assert made["input_ids"] == [1, 10, 3, 13, 3, 14, 15, 16, 3, 2]
    assert made["decoder_input_ids"] == [2, *EIGHT.ids] and made["labels"] == [*EIGHT.ids, IGNORE]


def test_denoising_reads_sentences_in_another_order_and_writes_them_in_theirs():
    noise = Noise(0.0, "token", 0.8, 0.1, permute_sentences=True)
    orders = [make("denoise", EIGHT, noise, BART, seed) for seed in range(8)]
    found = {tuple(made["input_ids"]) for made in orders}
    assert found == {tuple(EIGHT.ids.tolist()), (1, 13, 14, 15, 16, 17, 10, 11, 12, 2)}
    assert all(made["labels"][:-1] == EIGHT.ids.tolist() for made in orders)


def test_sentinel_objective_marks_the_runs_of_what_seq2seq_hides():
    for seed in range(5):
        noise = Noise(0.5, "word", 0.8, 0.1)
        kept, marked = make("seq2seq", EIGHT, noise, seed=seed), make("sentinel", EIGHT, noise, seed=seed)
        assert [token for token in marked["input_ids"] if token != BERT.mask] == kept["input_ids"]
        assert marked["labels"] == kept["labels"]
        assert (3, 3) not in zip(marked["input_ids"], marked["input_ids"][1:], strict=False)


def test_runs_beyond_the_marks_stay_in_the_text(monkeypatch):
    hidden = np.array([False, True, False, True, False, True, False, True, False, False])
    monkeypatch.setattr(seq2seq_examples, "choose_masked", lambda *_: hidden)
    made = make("sentinel", EIGHT, marks=T5)
    assert made["input_ids"] == [1, 90, 11, 91, 13, 92, 15, 16, 17, 2]
    assert made["labels"] == [90, 10, 91, 12, 92, 14, 93, 2, IGNORE]


@pytest.mark.parametrize("family", ["wordpiece", "roberta"])
def test_training_reads_what_the_arm_will_read(family, tokenizers, monkeypatch):
    """The words 1, 2 and 5 hidden: the arm's text with its marks is, but for spaces, what training reads."""
    text = "The old captain sailed the small boat."
    each = tokenizers[family]
    asked = masked_text(blank(text, [1, 2, 5]), [each.mask_token] * 2)
    document = tokenize([text], each, 64)[0]
    monkeypatch.setattr(seq2seq_examples, "choose_masked", lambda *_: np.isin(document.word_of, [1, 2, 5]))
    made = make("sentinel", document, marks=TargetTokens(each.mask_token_id, len(each), each.cls_token_id))
    read = [each.decode(ids).replace(" ", "") for ids in (each(asked)["input_ids"], made["input_ids"])]
    assert read[0] == read[1]


@pytest.mark.parametrize("ratio", [0.0, 0.15, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("n", [1, 7, 200])
def test_spans_hide_the_share_and_lie_apart(ratio, n):
    for seed in range(20):
        drawn = draw_spans(n, ratio, 3.0, None, keyed_rng(seed))
        assert sum(length for _, length in drawn) == round(ratio * n)
        assert all(a + length < b for (a, length), (b, _) in zip(drawn, drawn[1:], strict=False))
        assert all(length > 0 and start >= 0 and start + length <= n for start, length in drawn)
        assert len(draw_spans(n, ratio, 3.0, 2, keyed_rng(seed))) <= 2


def test_spans_are_three_long_on_average_and_reach_both_ends():
    drawn = [draw_spans(200, 0.15, 3.0, None, keyed_rng(seed)) for seed in range(300)]
    assert all(len(each) == 10 for each in drawn)
    assert min(each[0][0] for each in drawn) == 0 and max(sum(each[-1]) for each in drawn) == 200
    starts = np.concatenate([[start for start, _ in each] for each in drawn])
    assert np.mean(starts) == pytest.approx(98.5, abs=3)


@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0])
def test_poisson_spans_hide_the_share_in_order(ratio):
    lengths = []
    for seed in range(200):
        drawn = draw_poisson_spans(100, ratio, 3.0, keyed_rng(seed))
        assert sum(length for _, length in drawn) == round(100 * ratio)
        assert all(a + length <= b for (a, length), (b, _) in zip(drawn, drawn[1:], strict=False))
        lengths += [length for _, length in drawn[:-1]]
    if ratio == 1.0:  # the last is cut to fit
        assert np.mean(lengths) == pytest.approx(3.0, abs=0.1)
        assert np.mean(np.array(lengths) == 0) == pytest.approx(np.exp(-3), abs=0.02)


def test_runs_replacement_and_sentences_by_hand():
    assert find_runs(np.array([True, True, False, True])) == [(0, 2), (3, 1)]
    assert find_runs(np.zeros(3, dtype=bool)) == []
    assert replace_spans(np.arange(5), [(0, 2), (3, 1)], [8, 9]).tolist() == [8, 2, 9, 4]
    shuffled = {
        tuple(shuffle_sentences(np.arange(4), [1, 3], keyed_rng(seed)).tolist()) for seed in range(50)
    }
    assert len(shuffled) == 6 and (3, 1, 2, 0) in shuffled


def test_sentences_are_found_among_the_subwords(texts, tokenizer):
    """`Mr.` ends none; the fourth text's second sentence begins with `The`."""
    documents = tokenize(texts, tokenizer, 64)
    assert [len(document.sentences) for document in documents] == [0, 0, 0, 1, 0, 1]
    place = documents[3].sentences[0]
    assert tokenizer.decode(documents[3].ids[place:]).startswith("the captain")


@pytest.mark.parametrize("family", ["wordpiece", "roberta", "gpt2", "llama"])
def test_a_causal_model_trains_on_the_marks_that_filling_sets(family, tokenizers, texts):
    each, text = tokenizers[family], "The old captain sailed."
    row = to_rows([blank(text, [])], each, None)[0]
    document = tokenize([text], each, 64, "causal")[0]
    assert document.ids.tolist() == row.ids and len(document.word_of) == len(row.ids)
    assert document.word_of[0] == document.word_of[-1] == -1
    assert len(tokenize(texts, each, 9, "causal")[0].ids) == 9


@pytest.mark.parametrize("family", ["wordpiece", "roberta", "gpt2"])
def test_a_special_token_typed_in_a_text_is_text_in_training_too(family, tokenizers):
    each = tokenizers[family]
    for mark in each.all_special_tokens:
        ids = tokenize([f"The old {mark} captain sailed."], each, 64)[0].ids.tolist()
        assert not {*ids[1:-1]} & {*each.all_special_ids} - {each.unk_token_id}


def test_marks_of_every_family(networks, tokenizer):
    made = {name: find_target_tokens(each, model) for name, (model, each) in networks.items()}
    assert made["bert"].start is None and made["bert"].mask == tokenizer.mask_token_id
    assert made["t5"].start == 0 and len(made["t5"].sentinels) == 10 and made["t5"].mask == -1
    assert made["bart"].start == networks["bart"][1].eos_token_id and not made["bart"].sentinels
    check_target_tokens("span_corruption", made["t5"])
    check_target_tokens("clm", made["gpt2"])
    for name, family in (("infill", "gpt2"), ("denoise", "t5"), ("mlm", "llama")):
        with pytest.raises(StudyError, match=f"objective {name} needs a tokenizer with a mask token"):
            check_target_tokens(name, made[family])


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"name": "mtl"}, "objective.name=mtl is unknown: choose one of mlm"),
        ({"name": "mlm", "ratio": 1.5}, "objective.ratio=1.5"),
        ({"name": "mlm", "unit": "letter"}, "objective.unit=letter"),
        ({"name": "mlm", "ratio": 0.3, "spread": 0.4}, "objective.spread=0.4: ratio - spread to ratio"),
        ({"name": "mlm", "left_share": 1.5}, "objective.left_share=1.5 must be between 0 and 1"),
        ({"name": "hybrid", "masked_share": -0.1}, "objective.masked_share=-0.1 must be between 0 and 1"),
        ({"name": "prefix_lm", "prefix_share": 0.7, "spread": 0.5}, "prefix_share - spread to prefix_share"),
        ({"name": "clm", "spread": 0.3}, "objective.spread is not used by objective clm"),
        ({"name": "clm", "mean_span": 3.0}, "objective.mean_span is not used by objective clm"),
        ({"name": "mlm", "mean_span": 3.0}, "objective.mean_span needs objective.unit=span, got token"),
        ({"name": "infill", "unit": "span"}, "objective.unit=span is not used by objective infill"),
        (
            {"name": "hybrid", "schedule": "epochs"},
            "objective.schedule=epochs is unknown: choose one of batches",
        ),
        ({"name": "mlm", "schedule": "phases"}, "objective.schedule is not used by objective mlm"),
        ({"name": "prefix_lm", "prefix_share": 1.0}, "objective.prefix_share=1 leaves nothing of the text"),
        ({"name": "span_corruption", "permute_sentences": True}, "objective.permute_sentences is not used"),
        ({"name": "denoise", "mean_span": 0.0}, "objective.mean_span=0.0: give 1 to 10,000"),
    ],
)
def test_settings_that_no_objective_takes_are_one_line(settings, told):
    with pytest.raises(StudyError, match=told):
        check_objective(**{"ratio": 0.5, "unit": "token"} | settings)


@pytest.mark.parametrize(
    ("name", "kept"),
    [("mlm", {"ratio": 0.3, "mask_share": 1.0}), ("infill", {"ratio": 0.3, "mask_share": 0.8})]
    + [("clm", {"ratio": 0.5, "mask_share": 0.8}), ("unknown", {"ratio": 0.3, "mask_share": 1.0})],
)
def test_what_an_objective_does_not_read_is_the_default_in_its_id(name, kept):
    own = {"spread": 0.2}
    assert (
        reset_unread(name=name, ratio=0.3, mask_share=1.0, **own).items()
        >= ({"name": name} | kept | own).items()
    )
