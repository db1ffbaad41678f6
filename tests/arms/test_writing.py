"""The floors count what a training of the same budget reads, and no more; a product is weighed on dev documents."""

import json
from copy import deepcopy

import pytest

from blankfill.networks.checkpoints import make_switchable
from mlm_vs_clm.arms import writing
from mlm_vs_clm.documents import Document
from mlm_vs_clm.files import read_lines
from mlm_vs_clm.pipeline import text_stages
from mlm_vs_clm.pipeline.artifacts import RECORD, Runtime
from mlm_vs_clm.training.batches import order_batches, tokenize

TEXTS = {"a": [f"Alpha {word} beta." for word in ("one", "two", "red", "big")], "b": ["Gamma delta."] * 30}
READ = {"token_budget": 40, "batch_documents": 2, "max_subwords": 64, "seed": 0}


@pytest.fixture
def count(tokenizer, tmp_path, monkeypatch):
    places = {tmp_path / name: texts for name, texts in TEXTS.items()}
    monkeypatch.setattr(
        writing,
        "load_split",
        lambda path, split: [Document(str(i), text) for i, text in enumerate(places[path])],
    )
    tokenizer.save_pretrained(tmp_path / "start")
    inputs = {"start": tmp_path / "start"} | {f"corpus/{name}": tmp_path / name for name in TEXTS}
    return lambda corpus, **read: writing._counts_of_read(
        tuple(writing.list_read(inputs | {"corpus": tmp_path / corpus}, READ | read))
    )


def test_a_floor_counts_the_documents_that_the_training_reads(count, tokenizer):
    lengths = [len(d.ids) for texts in TEXTS.values() for d in tokenize(texts, tokenizer, 64)]
    names = [name for name, texts in TEXTS.items() for _ in texts]
    read = {i for batch in order_batches(lengths, names, 40, 2, 0) for i in batch if names[i] == "a"}
    counts = count("a")
    assert 0 < len(read) < 4 and counts.counts[counts.number["alpha"]] == len(read)
    assert "Alpha" not in counts.number and "gamma" not in counts.number


def test_of_a_document_longer_than_the_training_reads_its_beginning_alone_is_counted(count, tokenizer):
    counts = count("a", token_budget=5000, max_subwords=len(tokenizer("Alpha")["input_ids"]))
    assert counts.counts[counts.number["alpha"]] == 4 and "beta" not in counts.number


def test_a_large_budget_counts_every_document_once(count):
    counts = count("a", token_budget=5000)
    assert counts.counts[counts.number["beta"]] == 4


def test_a_corpus_that_the_training_does_not_read_is_filled_by_the_counts_of_those_that_it_reads(count):
    assert {"alpha", "gamma"} <= count("c").number.keys()


def test_a_floor_counts_the_unique_tokens_that_the_training_may_read(count):
    counts = count("a", token_budget=5000, unique_tokens=6)
    assert 0 < counts.counts[counts.number["beta"]] < 4


def test_the_weight_of_a_product_is_the_best_on_dev_documents(
    start, causal_model, tokenizer, texts, tmp_path, monkeypatch
):
    both = deepcopy(start)
    make_switchable(both)
    for name, model in (("masked", start), ("causal", causal_model), ("hybrid", both)):
        model.save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
    hidden = {"strategy": "random", "ratio": 0.5, "seed": 1, "entities": "gold"}
    (tmp_path / RECORD).write_text(json.dumps({"settings": hidden}))
    splits = {"dev": [Document(str(i), text) for i, text in enumerate(texts)]}
    monkeypatch.setattr(text_stages, "load_split", lambda path, split: splits[split])
    inputs = {"corpus": tmp_path, "corruption": tmp_path}
    arm = {"writer": "product", "weight": "auto", "precision": "fp32"}
    found = []
    for names in (["masked", "causal"], ["hybrid"]):
        folders = [tmp_path / name for name in names]
        weight = text_stages._choose_weight(arm, inputs, folders, tmp_path, "cpu", Runtime())
        rows = {row["weight"]: row["nats_per_character"] for row in read_lines(tmp_path / "weights.jsonl")}
        assert len(set(rows.values())) == len(rows) == 11 and rows[weight] == min(rows.values())
        found.append(rows)
    assert found[0] == found[1]
