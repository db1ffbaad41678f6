"""A network as task model: what it sees, what it is read at, what of it is trained, and that it learns."""

import numpy as np
import pytest
import torch
from transformers import AlbertConfig, AlbertForMaskedLM

from blankfill.text import find_words
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.examples import CLASSES, LABELS, WORDS, Example, Head
from mlm_vs_clm.training.finetuning import Finetuner, Finetuning, HeadedNetwork, draw_batches

HOW = {"learning_rate": 1e-2, "steps": 60, "batch_examples": 8}
ANIMALS, PLANTS = ("boat", "captain", "crew"), ("tablet", "doctor", "fever")


@pytest.fixture(scope="module")
def stored(tmp_path_factory, start, causal_model, networks, tokenizer):
    """Folders of tiny networks by name, with their kind."""
    folder, kinds = tmp_path_factory.mktemp("networks"), {}
    models = {"bert": (start, tokenizer, "masked"), "bert_causal": (causal_model, tokenizer, "causal")}
    models |= {name: (*networks[name], "causal") for name in ("gpt2", "llama")}
    models |= {"roberta": (*networks["roberta"], "masked")}
    for name, (model, own, kind) in models.items():
        model.save_pretrained(folder / name)
        own.save_pretrained(folder / name)
        kinds[name] = kind
    return lambda name, kind="", **how: Finetuner(
        folder / name, kind or kinds[name], Finetuning(**(HOW | how))
    )


def write(i):
    rng = np.random.default_rng(i)
    kind = i % 2
    words = [str(rng.choice((ANIMALS, PLANTS)[kind])) for _ in range(3)]
    return Example("The " + " and the ".join(words) + ".", np.array([kind]))


def to_head(kind, i):
    """Return a text for a head: its class, that class beside a label which all have, or which of its words is a thing."""
    one = write(i)
    targets = {CLASSES: one.target, LABELS: np.array([one.target[0], 1]), WORDS: mark(one.text)}
    return Example(one.text, targets[kind])


@pytest.mark.parametrize("kind", [CLASSES, LABELS, WORDS])
@pytest.mark.parametrize("name", ["bert", "bert_causal"])
def test_a_network_learns_what_each_head_asks(stored, name, kind):
    texts = [to_head(kind, i) for i in range(8)]
    (answers,) = stored(name)(Head(kind, 2), texts, [texts], 0)
    for scores, one in zip(answers, texts, strict=True):
        told = scores > 0.5 if kind == LABELS else scores.argmax(-1).reshape(-1)
        assert told.astype(int).tolist() == one.target.tolist()
        assert kind == LABELS or np.allclose(scores.sum(-1), 1)


@pytest.mark.parametrize("name", ["gpt2", "llama", "roberta"])
def test_other_families_answer_every_head_and_pairs(stored, name):
    for kind in (CLASSES, LABELS, WORDS):
        texts = [to_head(kind, i) for i in range(3)]
        (answers,) = stored(name, steps=1)(Head(kind, 2), texts, [texts], 0)
        n_places = [len(one.target) if kind == WORDS else 1 for one in texts]
        assert [scores.size // 2 for scores in answers] == n_places
    pairs = [Example("The captain.", np.array([1]), "The boat.")]
    assert stored(name, steps=1)(Head(CLASSES, 2), pairs, [pairs], 0)[0][0].shape == (2,)


def mark(text):
    return np.array([int(text[start:end] in (*ANIMALS, *PLANTS)) for start, end in find_words(text)])


def test_a_pair_is_told_from_the_same_sentences_apart(stored):
    seconds = [(1, "The boat."), (0, "The fever.")] * 6
    same = [Example("The captain.", np.array([kind]), second) for kind, second in seconds]
    (answers,) = stored("bert")(Head(CLASSES, 2), same, [same[:2]], 0)
    assert [int(one.argmax()) for one in answers] == [1, 0]


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_both_texts_of_a_pair_have_room_whether_or_not_a_token_parts_them(stored, name):
    tuner = stored(name, max_subwords=20)
    first, second = "The captain. " * 30, "The boat fever. " * 30
    held = tuner.tokenizer.decode(tuner.encode(Example(first, np.array([1]), second)).ids).lower()
    assert "captain" in held and "fever" in held


def states_of(tuner, text):
    body = tuner.load_body().eval()
    batch = tuner._collate([tuner.encode(Example(text, np.zeros(0)))])
    with torch.inference_mode():
        return body(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state[0]


@pytest.mark.parametrize(
    ("name", "sides", "sees_right"),
    [
        ("bert", "own", True),
        ("bert_causal", "own", False),
        ("bert_causal", "both", True),
        ("gpt2", "own", False),
        ("gpt2", "both", True),
        ("llama", "both", True),
    ],
)
def test_each_network_attends_as_it_was_trained_unless_the_right_side_is_opened(
    stored, name, sides, sees_right
):
    tuner = stored(name, sides=sides)
    one, other = (states_of(tuner, f"The captain saw the {word}") for word in ("boat", "fever"))
    assert torch.allclose(one[1], other[1], atol=1e-6) != sees_right


@pytest.mark.parametrize(
    ("name", "sides", "pooling"),
    [("bert", "own", "mean"), ("bert_causal", "own", "last"), ("bert_causal", "both", "mean")],
)
def test_a_network_is_read_where_it_has_seen_the_text(stored, name, sides, pooling):
    tuner = stored(name, sides=sides)
    assert tuner.pooling == pooling
    body = tuner.load_body()
    texts = ("The captain saw the boat.", "The crew")
    long, short = (tuner.encode(Example(text, np.zeros(0))) for text in texts)
    batch = tuner._collate([long, short])
    model = HeadedNetwork(body, Head(CLASSES, 3), tuner.pooling).eval()
    with torch.inference_mode():
        states = body(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state
        n = len(short.ids)
        read = states[1, n - 1] if pooling == "last" else states[1, :n].mean(0)
        assert torch.allclose(model(batch)[1], model.output(read), atol=1e-5)


def test_a_word_of_several_sub_words_is_read_at_the_first_by_both_sides_and_at_the_last_from_the_left(stored):
    text = "hypercholesterolaemia fell"
    masked, causal = (stored(name).encode(Example(text, np.zeros(0))) for name in ("bert", "bert_causal"))
    assert masked.ids == causal.ids and masked.places[0] == 1
    assert causal.places[0] == masked.places[1] - 1 > 1


def test_words_beyond_the_limit_have_the_first_class(stored):
    example = Example("The captain saw the boat and the crew.", np.array([1] * 9))
    (answers,) = stored("bert", max_subwords=8)(Head(WORDS, 2), [example], [[example]], 0)
    assert answers[0].shape == (9, 2) and answers[0][-1].tolist() == [1, 0] and answers[0][0, 1] > 0.5


def test_only_the_upper_layers_are_trained_and_no_embeddings(stored):
    bodies = [stored("bert", upper_layers=layers).load_body() for layers in (0, 1)]
    whole, upper = ([n for n, p in body.named_parameters() if p.requires_grad] for body in bodies)
    assert not any("word_embeddings" in name for name in whole) and any("layer.0" in name for name in whole)
    assert upper and all("layer.1" in name or "pooler" in name for name in upper)


def test_the_same_seed_gives_the_same_answers_and_another_seed_others(stored):
    texts = [write(i) for i in range(8)]
    made = [stored("bert", steps=3)(Head(CLASSES, 2), texts, [texts], seed)[0] for seed in (0, 0, 1)]
    assert np.array_equal(made[0], made[1]) and not np.allclose(made[0], made[2])


def test_every_example_is_seen_before_one_is_seen_again():
    batches = list(draw_batches(5, 2, 5, 0))
    assert sorted(sum(batches, [])) == sorted([*range(5)] * 2)
    assert all(len(batch) == 3 for batch in draw_batches(3, 8, 4, 0))


@pytest.mark.parametrize(
    ("how", "kind", "words"),
    [
        ({"sides": "left"}, "masked", "finetuning.sides=left is unknown"),
        ({"pooling": "max"}, "masked", "finetuning.pooling=max is unknown"),
        ({"sides": "both"}, "masked", "sees both sides already"),
        ({}, "seq2seq", "takes a masked or a causal network"),
        ({"upper_layers": 9}, "masked", "the network has 2"),
        ({"learning_rate": 1e30}, "masked", "lower finetuning.learning_rate"),
    ],
)
def test_mistakes_are_refused(stored, how, kind, words):
    texts = [write(i) for i in range(8)]
    with pytest.raises(StudyError, match=words):
        stored("bert", kind, **how)(Head(CLASSES, 2), texts, [texts], 0)


def test_a_network_whose_layers_share_their_weights_is_trained_as_a_whole(tmp_path, tokenizer):
    shape = {"embedding_size": 8, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = AlbertConfig(vocab_size=len(tokenizer), intermediate_size=16, **shape)
    AlbertForMaskedLM(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    texts = [write(i) for i in range(4)]
    (answers,) = Finetuner(tmp_path, "masked", Finetuning(steps=1))(Head(CLASSES, 2), texts, [texts], 0)
    assert len(answers) == 4
    with pytest.raises(StudyError, match="the network has 0 with weights of their own"):
        Finetuner(tmp_path, "masked", Finetuning(upper_layers=1)).load_body()


def test_a_text_that_is_longer_than_the_network_is_refused(stored):
    texts = [Example("The captain. " * 1_000, np.array([0]))]
    with pytest.raises(StudyError, match="finetuning.max_subwords=5000: a text has .* positions: lower it"):
        stored("bert", max_subwords=5_000)(Head(CLASSES, 2), texts, [texts], 0)
