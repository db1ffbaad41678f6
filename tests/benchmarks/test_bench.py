"""The benchmark's own sums: what it fills, what it counts, what it writes down."""

import json
from copy import deepcopy
from types import SimpleNamespace

import pandas as pd
import pytest
import torch

from benchmarks import bench
from benchmarks.plain_loops import learn_by_loop
from blankfill.networks.sizes import count_parameters
from blankfill.slots.ledger import Ledger
from mlm_vs_clm.errors import StudyError


@pytest.fixture(scope="module")
def documents(tokenizer):
    return bench.write_documents(tokenizer, 3, words=12, share=0.25)


def test_documents_are_the_same_each_time_and_as_blank_as_asked(tokenizer, documents):
    assert documents == bench.write_documents(tokenizer, 3, words=12, share=0.25)
    assert all(len(document.blanks) == 3 and len(document.words) == 12 for document in documents)


def test_a_short_text_is_measured_beside_the_loop(start, tokenizer):
    (row,) = bench.compare_short(start, tokenizer, 1)
    assert row["name"] == "short_text_fp32" and row["n"] == 10 and min(row["ours"], row["theirs"]) > 0


def test_model_flops_by_hand(start):
    # 2 layers 32 wide, read at 10 places: 2 a parameter, 4 a layer, unit and sub-word of the 7; 3 outputs
    layer = 4 * (32 * 32 + 32) + 2 * 64 + (128 * 32 + 128) + (128 * 32 + 32)
    sizes = count_parameters(start)
    outside = sizes["body"] - 2 * layer  # the embeddings' norm
    assert 0 <= outside <= 64
    ledger = Ledger(flops=1000, token_forwards=10, tokens_filled=3)
    by_hand = 10 * (2 * (2 * layer + outside) + 4 * 2 * 32 * 7) + 2 * 3 * sizes["head"]
    assert bench.model_flops(start, ledger, 7) == by_hand


def test_computed_flops_by_hand(start):
    ledger = Ledger(flops=1000, token_forwards=42)
    assert bench.computed_flops(start, ledger, 7) == 1000 + 4 * 1 * 32 * 7 * 42  # one of 2 layers, 32 wide


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"rounds": 0}, "--rounds 0: give 1 or more"),
        ({"documents": 0}, "--documents 0: give 1 or more"),
        ({"only": "training", "documents": 4}, "--documents has no effect with --only training"),
    ],
)
def test_a_benchmark_of_nothing_is_refused_before_any_work(given, told, tmp_path):
    asked = {"rounds": 1, "documents": None, "only": None, "data_dir": tmp_path, "out": tmp_path} | given
    with pytest.raises(StudyError, match=told):
        bench.run(SimpleNamespace(**asked))


def test_a_ratio_is_the_median_of_the_rounds():
    line = bench.result("some", [4.0, 9.0, 2.0], [2.0, 3.0, 4.0], "blanks/s", 5)
    assert line == {"name": "some", "ratio": 2.0, "ours": 4.0, "theirs": 3.0, "unit": "blanks/s", "n": 5}


def test_both_peaks_of_the_machine_by_hand(monkeypatch):
    monkeypatch.setattr(bench, "PRODUCT", (8, 16))
    monkeypatch.setattr(bench, "timed", lambda run, *arguments: (0.5, run(*arguments)))
    assert bench.matrix_peaks(torch.float32) == (2 * 8 * 16 * 16 / 0.5,) * 2


def test_the_lines_of_a_gpu_keep_its_name_beside_those_of_the_processor(
    start, tokenizer, documents, monkeypatch, tmp_path
):
    monkeypatch.setattr(bench, "GPU_WIDTH", 64)
    monkeypatch.setattr(bench, "name_device", lambda device: f"{device} (some)")
    lines = bench.measure_on("cpu", deepcopy(start), tokenizer, documents)
    assert [line["name"] for line in lines] == ["gpu_fill_bf16", "gpu_peak_share_bf16"]
    assert lines[0]["ours"] > 0 and lines[1]["ratio"] > 0 and lines[0]["n"] == 9
    for line in lines:
        line["device"] = "cuda (other)"
    path = tmp_path / "bench.jsonl"
    bench.save_rows([bench.result("fill_fp32", [2.0], [1.0], "blanks/s", 1), *lines], path)
    stored = pd.DataFrame(map(json.loads, path.read_text().splitlines()))
    assert list(stored["device"]) == ["cpu (some)", "cuda (other)", "cuda (other)"]
    assert list(stored["precision"]) == ["fp32", "bf16", "bf16"]
    bench.save_rows([bench.result("fill_fp32", [3.0], [1.0], "blanks/s", 1)], path)
    again = pd.read_json(path, lines=True)
    assert dict(zip(again["name"], again["ratio"], strict=True))["fill_fp32"] == 3 and len(again) == 3


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_all_ways_of_training_lose_as_much_at_each_step(start, tokenizer, precision, monkeypatch):
    monkeypatch.setattr(bench, "LEARNED_WORDS", 12)
    *lines, losses = bench.compare_training(start, tokenizer, precision, 1)
    assert [line["name"] for line in lines] == [f"train_{precision}", f"train_by_trainer_{precision}"]
    assert losses["name"] == f"train_losses_{precision}" and 0 <= losses["ratio"] < 0.01
    assert all(line["ours"] > 0 < line["theirs"] for line in lines)


def test_ways_of_training_that_lose_otherwise_are_refused(start, tokenizer, monkeypatch):
    for name, value in (("LEARNED_WORDS", 12), ("STEPS", 1), ("LOSSES_APART", {"fp32": -1.0})):
        monkeypatch.setattr(bench, name, value)
    with pytest.raises(StudyError, match="losses of the ways"):
        bench.compare_training(start, tokenizer, "fp32", 1)


def test_the_plain_loop_learns(start, tokenizer):
    """Its losses of one batch, seen again and again, fall: no comparison with a loop that does nothing."""
    batch = {name: torch.tensor([[2, 9, 8, 7, 3]]) for name in ("input_ids", "labels")}
    settings = {"weight_decay": 0.0, "max_gradient_norm": 1.0, "precision": "fp32"}
    training = SimpleNamespace(body_learning_rate=1e-2, **settings)
    losses = learn_by_loop(deepcopy(start), [batch] * 5, training)
    assert losses[-1] < losses[0] - 1
