"""METEOR and BERTScore equal their libraries, on a WordNet of two words and an encoder of random weights."""

import os
from pathlib import Path

import evaluate
import numpy as np
import pytest
import torch
from bert_score import score as library_score
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.translate.meteor_score import meteor_score
from transformers import BertConfig, BertModel, BertTokenizerFast

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.metrics import Resources, make_metrics
from mlm_vs_clm.metrics.bertscore import Encoder, make_bertscore
from mlm_vs_clm.metrics.hf import BertScore, Bleu, Meteor, Rouge
from mlm_vs_clm.metrics.meteor import make_meteor
from mlm_vs_clm.stats import point

WORDS = "the a dose of aspirin reduced fever in mice doctor physician cats cat".split()
TEXTBOOK = (
    "it is a guide to action which ensures that the military always obeys the commands of the party",
    "it is a guide to action that ensures that the military will forever heed party commands",
)
REAL_WORDNET = Path(__file__).parents[2] / "data" / "nltk" / "corpora" / "wordnet"


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory):
    """A WordNet with one synset, {doctor, physician}, in the format of its data and index files."""
    folder = tmp_path_factory.mktemp("nltk") / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    head = "  1 WordNet 3.0 Copyright 2006 by nobody\n"
    line = f"{len(head):08d} 00 n 02 doctor 0 physician 0 000 | one who heals  \n"
    index = "".join(f"{word} n 1 0 1 0 {len(head):08d}  \n" for word in ("doctor", "physician"))
    for part in ("adj", "adv", "noun", "verb"):
        (folder / f"data.{part}").write_text(head + (line if part == "noun" else ""))
        (folder / f"index.{part}").write_text(index if part == "noun" else "")
        (folder / f"{part}.exc").write_text("")
    (folder / "index.sense").write_text("")
    (folder / "lexnames").write_text("0\tadj.all\t3\n")
    return folder


@pytest.fixture(scope="module")
def encoder_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]))
    torch.manual_seed(0)
    shape = dict(hidden_size=32, num_hidden_layers=3, num_attention_heads=2, intermediate_size=64)
    BertModel(BertConfig(vocab_size=5 + len(WORDS), max_position_embeddings=40, **shape)).save_pretrained(
        folder
    )
    BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=40).save_pretrained(folder)
    return folder


def make_encoder(folder, precision="float32", layers=2):
    return Encoder(folder, "tiny", layers, precision, "cpu")


def write_pairs(n=12, seed=0, longest=30):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(1, longest))) for _ in range(2 * n)]
    return texts[:n], texts[n:]


def test_meteor_of_the_textbook_example(wordnet):
    assert make_meteor(wordnet).statistics(*([text] for text in TEXTBOOK))[0, 0] == pytest.approx(
        0.6944, abs=5e-5
    )


@pytest.mark.skipif(not REAL_WORDNET.exists(), reason="the data is not fetched")
def test_meteor_of_the_textbook_example_with_the_whole_wordnet():
    rows = make_meteor(REAL_WORDNET).statistics(*([text] for text in TEXTBOOK))
    assert rows[0, 0] == pytest.approx(0.6944, abs=5e-5)


def test_meteor_knows_synonyms_and_stems(wordnet):
    """One matched word in one chunk: F 1, penalty 0.5."""
    rows = make_meteor(wordnet).statistics(["physician", "cats", "aspirin"], ["doctor", "cat", "fever"])
    assert rows[:, 0].tolist() == [0.5, 0.5, 0.0]


@pytest.mark.filterwarnings("ignore:The multilingual functions")
def test_meteor_equals_nltk(wordnet, monkeypatch):
    monkeypatch.setattr("nltk.data.path", [str(wordnet.parents[1])])
    candidates, references = write_pairs(40)
    reader = WordNetCorpusReader(str(wordnet.resolve()), None)
    theirs = [
        meteor_score([r.split()], c.split(), wordnet=reader)
        for c, r in zip(candidates, references, strict=True)
    ]
    rows = make_meteor(wordnet).statistics(candidates, references)
    assert rows[:, 0].tolist() == theirs
    assert point(rows, make_meteor(wordnet).aggregate) == pytest.approx(np.mean(theirs))


def test_meteor_without_text(wordnet):
    rows = make_meteor(wordnet).statistics(["", "cat", ""], ["cat", "", ""])
    assert rows[0].tolist() == [0, 1] and np.isnan(rows[1:]).all()


def test_a_missing_wordnet_is_one_clear_line(tmp_path):
    for use in (lambda m: m.statistics(["a"], ["a"]), lambda m: m.signature()):
        with pytest.raises(StudyError, match="make data") as raised:
            use(make_meteor(tmp_path / "corpora" / "wordnet"))
        assert "\n" not in str(raised.value)


def test_bertscore_equals_bert_score(encoder_folder):
    candidates, references = write_pairs()
    theirs = library_score(candidates, references, model_type=str(encoder_folder), num_layers=2, device="cpu")
    rows = make_bertscore(make_encoder(encoder_folder)).statistics(candidates, references)
    assert rows[:, 0] == pytest.approx(theirs[2].numpy(), abs=1e-6)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_bertscore_does_not_depend_on_its_neighbours(encoder_folder, precision):
    candidates, references = write_pairs(20)
    together = make_bertscore(make_encoder(encoder_folder, precision)).statistics(candidates, references)
    alone = make_bertscore(make_encoder(encoder_folder, precision))
    for pair, row in zip(zip(candidates, references, strict=True), together, strict=True):
        assert alone.statistics(*([text] for text in pair))[0] == pytest.approx(row, abs=1e-6)


def test_bertscore_of_a_text_with_itself_is_one_and_of_nothing_undefined(encoder_folder):
    rows = make_bertscore(make_encoder(encoder_folder)).statistics(
        ["a cat", "", "a cat", ""], ["a cat", "a", "", ""]
    )
    assert rows[0] == pytest.approx([1, 1], abs=1e-6) and np.isnan(rows[1:]).all()


def test_a_long_text_is_halved_at_words_not_cut(encoder_folder):
    encoder = make_encoder(encoder_folder)
    text = " ".join(WORDS * 8)
    windows = encoder.cut_windows(text)
    assert [len(window) for window in windows] == [28, 28, 28, 28]
    assert [token for window in windows for token in window[1:-1]] == [5 + i for i in range(13)] * 8
    different_end = " ".join(WORDS * 7 + ["the"] * 13)
    rows = make_bertscore(encoder).statistics([text, different_end], [text, text])
    assert rows[0, 0] == pytest.approx(1, abs=1e-6) and rows[1, 0] < 0.999


def test_the_encoder_remembers_references_up_to_its_limit(encoder_folder, monkeypatch):
    monkeypatch.setattr("mlm_vs_clm.metrics.bertscore.N_REMEMBERED_TOKENS", 10)
    encoder = make_encoder(encoder_folder)
    first = make_bertscore(encoder).statistics(["the cat", "a cat"], ["a dose of fever", "cats in mice"])
    assert list(encoder.remembered) == ["cats in mice"]
    again = make_bertscore(encoder).statistics(["the cat", "a cat"], ["a dose of fever", "cats in mice"])
    assert first.tolist() == again.tolist()


def test_bertscore_names_its_weights_and_no_path(encoder_folder):
    signature = make_bertscore(make_encoder(encoder_folder)).signature()
    assert "encoder:tiny|sha256:" in signature and "layer:2|float32" in signature
    assert str(encoder_folder) not in signature


def test_a_missing_encoder_or_layer_is_one_clear_line(encoder_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(StudyError, match="neither a folder nor"):
        make_bertscore(make_encoder(tmp_path / "nothing" / "here")).statistics(["a"], ["a"])
    with pytest.raises(StudyError, match="choose 1 to 3"):
        make_bertscore(make_encoder(encoder_folder, layers=9)).statistics(["a"], ["a"])
    with pytest.raises(StudyError, match="safetensors"):
        make_bertscore(make_encoder(tmp_path)).signature()


def test_the_evaluate_metrics_equal_the_tables(wordnet, encoder_folder, tmp_path):
    resources = Resources(wordnet, encoder_folder, "tiny", layers=2, precision="float32")
    candidates, references = write_pairs(6)
    scores = [make(resources, cache_dir=str(tmp_path / "cache")) for make in (Bleu, Rouge, Meteor, BertScore)]
    together = evaluate.combine(scores)
    for start in (0, 3):
        together.add_batch(
            predictions=[text.upper() for text in candidates[start : start + 3]],
            references=references[start : start + 3],
        )
    expected = {
        name: point(metric.statistics(candidates, references), metric.aggregate)
        for name, metric in make_metrics(resources).items()
    }
    assert together.compute() == pytest.approx(expected)
    assert not [file for _, _, files in os.walk(tmp_path) for file in files]
