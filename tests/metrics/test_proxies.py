"""The proxies of coherence and grammar: by hand, and against the models run word by word."""

import numpy as np
import pytest
import torch
from refusals import assert_refused

from mlm_vs_clm.metrics import MEASURES, proxies
from mlm_vs_clm.metrics.proxies import (
    NONWORDS,
    PERPLEXITY,
    count_mistakes,
    make_grammar,
    make_nonwords,
    make_perplexity,
    measure_nats,
)
from mlm_vs_clm.stats import point


def test_a_non_word_stands_in_no_text_and_in_no_inflection_in_wordnet(wordnet, tmp_path):
    metric = make_nonwords(["Aspirin, 30 mg."], wordnet)
    fills = [["aspirin", "doctors", "aspir"], ["12", ",", ""], ["Physician", "dozk mg"]]
    rows = metric.statistics(fills)
    assert rows[[0, 2]].tolist() == [[1, 3], [1, 3]] and np.isnan(rows[1]).all()
    assert point(rows, MEASURES[NONWORDS].aggregate) == 2 / 6 and "wordnet-sha256" in metric.signature()
    assert_refused("WordNet cannot be read", make_nonwords, [], tmp_path / "corpora" / "wordnet")


def test_perplexity_is_of_words_and_long_texts_are_read_in_windows(
    causal_model, tokenizer, tmp_path, monkeypatch
):
    causal_model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    text = "the doctor finds the boat , and a sailor sells the net"
    ids = torch.tensor(tokenizer.encode(text, add_special_tokens=False))
    with torch.no_grad():
        loss = float(causal_model(input_ids=ids[None], labels=ids[None]).loss)
    metric = make_perplexity(tmp_path, "tiny", "fp32", "cpu")
    rows = metric.statistics([text, ""], ["", ""])
    assert rows[0] == pytest.approx([loss * (len(ids) - 1), 12], rel=1e-5) and np.isnan(rows[1]).all()
    assert point(rows, MEASURES[PERPLEXITY].aggregate) == pytest.approx(
        np.exp(loss * (len(ids) - 1) / 12), rel=1e-5
    )
    monkeypatch.setattr(proxies, "WINDOW", 1)
    assert measure_nats(text, tokenizer, causal_model) == 0


@pytest.fixture(scope="module")
def tagger(encoder_folder, tmp_path_factory):
    from transformers import AutoTokenizer, BertConfig, BertForTokenClassification

    tokenizer = AutoTokenizer.from_pretrained(encoder_folder)
    config = BertConfig.from_pretrained(encoder_folder)
    config.id2label = {0: "$KEEP", 1: "$CASE_LOWER", 2: "$DELETE", 3: "$APPEND_,"}
    torch.manual_seed(1)
    return tokenizer, BertForTokenClassification(config).eval()


def test_mistakes_are_the_words_whose_tag_changes_more_than_case(tagger, monkeypatch):
    tokenizer, model = tagger
    words = "the dose of aspirin reduced fever in mice".split()
    with torch.no_grad():
        tags = model(**tokenizer(" ".join(words), return_tensors="pt")).logits[0, 1:-1].argmax(-1)
    expected = int((tags >= 2).sum())
    assert 0 < expected < len(words) and count_mistakes(words, *tagger) == expected
    assert count_mistakes(words * 8, *tagger) == sum(
        count_mistakes(half, *tagger) for half in [words * 4] * 2
    )
    monkeypatch.setattr(proxies, "load_tagger", lambda *asked: tagger)
    metric = make_grammar("", "tiny", "fp32", "cpu")
    rows = metric.statistics([" ".join(words), ""], ["", ""])
    assert rows[0].tolist() == [expected, len(words)] and np.isnan(rows[1]).all()
