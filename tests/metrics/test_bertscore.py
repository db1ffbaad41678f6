"""BERTScore equals bert-score, on an encoder of random weights."""

import numpy as np
import pytest
from bert_score import score as library_score
from refusals import assert_refused
from scored_texts import WORDS, write_pairs

from mlm_vs_clm.metrics.bertscore import Encoder, make_bertscore


def make_encoder(folder, precision="fp32", layers=2):
    return Encoder(folder, "tiny", layers, precision, "cpu")


def test_bertscore_equals_bert_score(encoder, encoder_folder):
    candidates, references = write_pairs()
    theirs = library_score(candidates, references, model_type=str(encoder_folder), num_layers=2, device="cpu")
    rows = make_bertscore(encoder).statistics(candidates, references)
    assert rows[:, 0] == pytest.approx(theirs[2].numpy(), abs=1e-6)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_bertscore_does_not_depend_on_its_neighbours(encoder_folder, precision):
    candidates, references = write_pairs(20)
    together = make_bertscore(make_encoder(encoder_folder, precision)).statistics(candidates, references)
    alone = make_bertscore(make_encoder(encoder_folder, precision))
    for pair, row in zip(zip(candidates, references, strict=True), together, strict=True):
        assert alone.statistics(*([text] for text in pair))[0] == pytest.approx(row, abs=1e-6)


def test_bertscore_of_a_text_with_itself_is_one_and_of_nothing_undefined(encoder):
    candidates, references = ["a cat", "", "a cat", ""], ["a cat", "a", "", ""]
    rows = make_bertscore(encoder).statistics(candidates, references)
    assert rows[0] == pytest.approx([1, 1], abs=1e-6) and np.isnan(rows[1:]).all()


def test_a_long_text_is_halved_at_words_not_cut(encoder):
    text = " ".join(WORDS * 8)
    windows = encoder.cut_windows(text)
    assert [len(window) for window in windows] == [2 * len(WORDS) + 2] * 4
    tokens = [token for window in windows for token in window[1:-1]]
    assert tokens == list(range(5, 5 + len(WORDS))) * 8
    different_end = " ".join(WORDS * 7 + ["the"] * len(WORDS))
    rows = make_bertscore(encoder).statistics([text, different_end], [text, text])
    assert rows[0, 0] == pytest.approx(1, abs=1e-6) and rows[1, 0] < 0.999


def test_the_encoder_remembers_references_up_to_its_limit(encoder_folder, monkeypatch):
    monkeypatch.setattr("mlm_vs_clm.metrics.bertscore.N_REMEMBERED_TOKENS", 10)
    encoder = make_encoder(encoder_folder)
    pairs = ["the cat", "a cat"], ["a dose of fever", "cats in mice"]
    first = make_bertscore(encoder).statistics(*pairs)
    assert list(encoder.remembered) == ["cats in mice"]
    assert make_bertscore(encoder).statistics(*pairs).tolist() == first.tolist()


def test_bertscore_names_its_weights_and_no_path(encoder, encoder_folder):
    signature = make_bertscore(encoder).signature()
    assert "encoder:tiny|sha256:" in signature and "layer:2|float32" in signature
    assert str(encoder_folder) not in signature


def test_a_missing_encoder_or_layer_is_one_clear_line(encoder_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    absent, unweighted = make_encoder(tmp_path / "nothing" / "here"), make_encoder(tmp_path)
    assert_refused("does not exist", make_bertscore(absent).statistics, ["a"], ["a"])
    shallow = make_bertscore(make_encoder(encoder_folder, layers=9))
    assert_refused("choose 1 to 3", shallow.statistics, ["a"], ["a"])
    assert_refused("safetensors", make_bertscore(unweighted).signature)
