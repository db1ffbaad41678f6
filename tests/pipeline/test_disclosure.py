"""What a cell gives away: which texts stand on each side, and that an over-trained model is caught by its loss."""

from types import SimpleNamespace

import numpy as np
import pytest
from over_training import train
from refusals import assert_refused

from blankfill.draws import keyed_rng
from mlm_vs_clm.documents import Document
from mlm_vs_clm.metrics import DISCLOSURE
from mlm_vs_clm.pipeline import disclosure
from mlm_vs_clm.training.starts import as_kind

WORDS = "captain boat bay doctor fever tablets people state roads schools storm crew deck wheel pain towns".split()


def make(name, n, words=12, window=0):
    rng = keyed_rng(name)
    texts = [" ".join(rng.choice(WORDS, words)) for _ in range(n)]
    return [Document(f"{name}{i}-{window}", text, origin_id=f"{name}{i}") for i, text in enumerate(texts)]


def choose(monkeypatch, read, held_out):
    monkeypatch.setattr(disclosure, "list_read", lambda *about: tuple(read))
    monkeypatch.setattr(
        disclosure, "load_documents", lambda corpus, split: held_out if split == "dev" else []
    )
    return disclosure.choose_sides({"read": {}}, {"start": "s", "corpus": "c", "corpus/own": "c"})


def test_only_first_windows_as_long_as_the_held_out_ones_are_read(monkeypatch):
    read = [*make("a", 5), *make("b", 5, window=1), *make("c", 5, words=4)]
    first, second = choose(monkeypatch, read, make("h", 5))
    assert {one.id[0] for one in first} == {"a"} and len(first) == len(second) == 5
    assert choose(monkeypatch, read, make("h", 5)) == (first, second)
    assert_refused("1 texts read and 5 held out", choose, monkeypatch, read[:1], make("h", 5))


def test_both_sides_have_about_as_many_words():
    first, second = disclosure.cut_equal(make("a", 50), make("h", 20, words=20))
    assert len(first) == 33 and len(second) == 20


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_an_over_trained_model_is_caught_and_an_honest_one_is_not(monkeypatch, start, tokenizer, kind):
    read, held_out = make("a", 16), make("h", 16)
    objective = {"masked": "mlm", "causal": "clm"}[kind]
    record = SimpleNamespace(settings={"name": "own", "objective": {"name": objective}})
    monkeypatch.setattr(disclosure, "inputs_of", lambda path: {"model": "m"})
    monkeypatch.setattr(disclosure, "read_record", lambda path: vars(record))
    monkeypatch.setattr(disclosure, "choose_budget", lambda path, corpus: ("folder", {}))
    model = as_kind(start, kind, tokenizer).eval()
    found = {}
    for name in ("honest", "over-trained"):
        texts = [one.text for one in read]
        asked = model if name == "honest" else train(model, tokenizer, texts, 150, kind == "masked")
        monkeypatch.setattr(
            "blankfill.networks.checkpoints.load_model", lambda folder, kind, asked=asked: asked
        )
        monkeypatch.setattr("blankfill.networks.checkpoints.load_tokenizer", lambda folder: tokenizer)
        inputs = {"generation": "g", "corpus": "c"}
        rows = disclosure.ask_model(inputs, read, held_out, 20, "cpu")
        assert rows.shape == (20, 2) and np.isnan(rows[16:]).all()
        found[name] = float(DISCLOSURE["membership"].aggregate(np.nansum(rows, axis=0)))
    assert found["over-trained"] > 0.9 and 0.2 < found["honest"] < 0.8
