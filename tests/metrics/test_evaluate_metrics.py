"""The metrics of the library `evaluate` give the scores of the tables."""

import os

import evaluate
import pytest
from scored_texts import write_pairs

from mlm_vs_clm.metrics import MEASURES, METRICS, PROXIES, Resources, make_metrics
from mlm_vs_clm.metrics.evaluate_metrics import BertScore, Bleu, Distance, Meteor, Rouge
from mlm_vs_clm.stats import point


def test_the_evaluate_metrics_equal_the_tables(wordnet, encoder_folder, tmp_path):
    resources = Resources(wordnet, encoder_folder, "tiny", layers=2, precision="fp32")
    candidates, references = write_pairs(6)
    families = (Bleu, Rouge, Meteor, BertScore, Distance)
    scores = [make(resources, cache_dir=str(tmp_path / "cache")) for make in families]
    together = evaluate.combine(scores)
    for start in (0, 3):
        part = slice(start, start + 3)
        together.add_batch(predictions=[t.upper() for t in candidates[part]], references=references[part])
    metrics = make_metrics(resources)
    expected = {
        name: point(metrics[name].statistics(candidates, references), MEASURES[name].aggregate)
        for name in METRICS
        if name not in PROXIES
    }
    assert together.compute() == pytest.approx(expected)
    assert not [file for _, _, files in os.walk(tmp_path) for file in files]
