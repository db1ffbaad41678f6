"""Next-sentence prediction on held-out pairs: which pairs are asked, and what a training writes about them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from safetensors.torch import load_file
from tiny_texts import SHAPE
from tiny_trainings import NOISE, TRAINING

from blankfill.networks.checkpoints import load_model
from mlm_vs_clm.training.noise import TokenizedDocument, TrainedObjective
from mlm_vs_clm.training.pairs import DOCUMENT, HEAD, SENTENCE, list_pairs
from mlm_vs_clm.training.preparation import prepare
from mlm_vs_clm.training.settings import TrainingTexts
from mlm_vs_clm.training.starts import start_from_scratch


def number(first, n_words, sentences):
    ids = np.array([1, *range(first, first + n_words), 2])
    return TokenizedDocument(ids, np.r_[-1, np.arange(n_words), -1], sentences)


def test_each_sentence_has_one_pair_that_follows_and_one_of_each_kind_that_does_not():
    documents = [number(100, 12, (5, 9)), number(200, 12, (5,)), number(300, 6, ())]
    pairs = list_pairs(documents, seed=0)
    kinds = pd.DataFrame([(n, kind, pair.is_next) for n, kind, pair in pairs]).value_counts().to_dict()
    assert kinds == {
        **{(n, DOCUMENT, follows): times for n, times in ((0, 2), (1, 1)) for follows in (True, False)},
        **{(0, SENTENCE, True): 1, (0, SENTENCE, False): 1},
    }
    for n, kind, pair in pairs:
        first, second = pair.ids[: pair.second], pair.ids[pair.second : -1]
        assert (first[:-1] == documents[n].ids[: pair.second - 1]).all() and first[-1] == 2
        assert len(pair.ids) <= len(documents[n].ids)
        if pair.is_next:
            assert second[0] == first[-2] + 1
        else:
            assert second[0] // 100 == (n + 1 if kind == SENTENCE else 2 - n)
            assert second[0] != first[-2] + 1


def test_a_long_document_is_cut_at_two_sentences():
    pairs = list_pairs([number(100, 60, tuple(range(5, 60, 5))), number(200, 12, (5,))], seed=0)
    assert len({pair.second for n, _, pair in pairs if n == 0}) == 2


@pytest.mark.parametrize("n_documents", [1, 0])
def test_a_document_alone_has_no_pair_with_another(n_documents):
    assert {kind for _, kind, _ in list_pairs([number(100, 12, (5, 9))] * n_documents, 0)} <= {SENTENCE}


@pytest.mark.parametrize(
    ("training", "kept"),
    [(TRAINING, 1100), (replace(TRAINING, budgets=4, patience=1, body_learning_rate=3.0), 138)],
)  # one that its patience stops at the first of four budgets
def test_the_head_that_a_training_stores_tells_its_held_out_pairs_again(tokenizer, tmp_path, training, kept):
    rng = np.random.default_rng(0)
    documents = [number(10, 20, (5, 12)) for _ in range(12)]
    for one in documents:
        one.ids[1:-1] = rng.integers(10, 60, 20)
    texts = TrainingTexts({"a": documents[:6]}, {"a": documents[:2]}, {"a": documents[6:]})
    model = start_from_scratch(SHAPE, tokenizer, 1)
    prepare(model, tokenizer, texts, TrainedObjective("mlm_nsp", NOISE), training, tmp_path).train(False)
    assert max(int(path.name) for path in tmp_path.iterdir() if path.name.isdigit()) == kept
    told = (tmp_path / "pairs.csv").read_text()
    totals = pd.read_csv(tmp_path / "pairs.csv").groupby("negatives")[["right", "n"]].sum()
    assert totals["n"].to_dict() == {DOCUMENT: 24, SENTENCE: 12}
    assert (totals["right"] <= totals["n"]).all()

    again = prepare(
        load_model(tmp_path / str(kept), "masked"),
        tokenizer,
        texts,
        TrainedObjective("mlm_nsp", NOISE),
        training,
        tmp_path,
    )
    again.learner.judge.load_state_dict(load_file(tmp_path / HEAD))
    again.write_pairs()
    assert (tmp_path / "pairs.csv").read_text() == told
