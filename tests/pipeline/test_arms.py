"""The floors count what a training of the same budget reads, and no more."""

from types import SimpleNamespace

import pytest

from mlm_vs_clm.models.training.batches import order_batches, tokenize
from mlm_vs_clm.pipeline import arms

TEXTS = {"a": [f"Alpha {word} beta." for word in ("one", "two", "red", "big")], "b": ["Gamma delta."] * 30}
READ = {"token_budget": 40, "batch_documents": 2, "max_subwords": 64, "seed": 0}


@pytest.fixture
def count(tokenizer, tmp_path, monkeypatch):
    places = {tmp_path / name: texts for name, texts in TEXTS.items()}
    monkeypatch.setattr(
        arms, "load_split", lambda path, split: [SimpleNamespace(text=text) for text in places[path]]
    )
    tokenizer.save_pretrained(tmp_path / "start")
    corpora = tuple((f"corpus/{name}", tmp_path / name) for name in TEXTS)
    return lambda corpus, **read: arms._counts_of_read(
        tmp_path / "start", corpora, tmp_path / corpus, tuple(sorted((READ | read).items()))
    )


def test_a_floor_counts_the_documents_that_the_training_reads(count, tokenizer):
    lengths = [len(d.ids) for texts in TEXTS.values() for d in tokenize(texts, tokenizer, 64)]
    names = [name for name, texts in TEXTS.items() for _ in texts]
    read = {i for batch in order_batches(lengths, names, 40, 2, 0) for i in batch if names[i] == "a"}
    counts = count("a")
    assert 0 < len(read) < 4 and counts.counts[counts.number["alpha"]] == len(read)
    assert "Alpha" not in counts.number and "gamma" not in counts.number


def test_a_large_budget_counts_every_document_once(count):
    counts = count("a", token_budget=5000)
    assert counts.counts[counts.number["beta"]] == 4


def test_a_corpus_that_the_training_does_not_read_is_filled_by_the_counts_of_those_that_it_reads(count):
    assert {"alpha", "gamma"} <= count("c").number.keys()


def test_a_floor_counts_the_unique_tokens_that_the_training_may_read(count):
    counts = count("a", token_budget=5000, unique_tokens=6)
    assert 0 < counts.counts[counts.number["beta"]] < 4
