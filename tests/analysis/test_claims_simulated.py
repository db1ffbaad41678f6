"""Verdicts on tables whose truth is known, since it was simulated: the rates at which the rules find it."""

from collections import Counter

import numpy as np
import pytest
from simulated_claims import ROUGE, Simulated, find_rule, verdict_of, with_ones

N_STUDIES = 40
CORPORA = ("abstracts", "plots")
METEOR = ROUGE | {"metric": "meteor"}


def count_verdicts(simulate, rule, resamples=100):
    """Return how often each verdict was given, as a share of the simulated studies."""
    rngs = map(np.random.default_rng, range(N_STUDIES))
    given = Counter(verdict_of(simulate(rng).decide([rule], resamples))["verdict"] for rng in rngs)
    return {verdict: count / N_STUDIES for verdict, count in given.items()}


def simulate_arms(rng, centres, n_documents=120, noise=0.015):
    """Return scores that share each document's difficulty; METEOR follows ROUGE-L with noise of its own."""
    made = Simulated()
    for corpus in CORPORA:
        difficulty = rng.normal(0, 0.1, n_documents)
        for arm, centre in centres.items():
            scores = {
                ("document", metric): with_ones(centre + difficulty + rng.normal(0, noise, n_documents))
                for metric in ("rougeL", "meteor")
            }
            made.score(corpus, arm, scores)
    return made


NONE = dict.fromkeys(("mlm_leaky", "mlm", "mlm_left", "seq2seq_kept", "clm", "infill"), 0.5)
KNOWN = NONE | {"mlm_leaky": 0.62, "mlm": 0.6, "mlm_left": 0.56, "seq2seq_kept": 0.45}
EXPLAINED = KNOWN | {"mlm_left": 0.5, "infill": 0.6}


@pytest.mark.parametrize(
    ("centres", "bounds"),
    [
        (KNOWN, {"supported": (0.9, 1)}),
        (NONE, {"supported": (0, 0.1), "contradicted": (0.8, 1)}),
        (EXPLAINED, {"explained": (0.8, 1), "supported": (0, 0.1)}),
    ],
    ids=["known effect", "no effect", "explained by context"],
)
def test_context_claim_finds_the_simulated_truth(centres, bounds):
    rates = count_verdicts(lambda rng: simulate_arms(rng, centres), find_rule("C1", measures=[ROUGE, METEOR]))
    for verdict, (lowest, highest) in bounds.items():
        assert lowest <= rates.get(verdict, 0) <= highest, rates


def test_too_little_data_is_mostly_inconclusive():
    rule = find_rule("C1", measures=[ROUGE, METEOR])
    weak = NONE | {"mlm_leaky": 0.52, "mlm": 0.52}
    rates = count_verdicts(lambda rng: simulate_arms(rng, weak, n_documents=12, noise=0.06), rule)
    assert rates.get("inconclusive", 0) >= 0.8, rates


def simulate_ratios(rng, accuracies, n_documents=100):
    """Return a document score of 1 - share * (1 - accuracy): copies count, so it falls with the ratio by itself."""
    made = Simulated()
    for ratio, accuracy in accuracies.items():
        n_blanks = np.full(n_documents, round(100 * ratio))
        matched = {"mlm": rng.binomial(n_blanks, accuracy), "unfilled": 0 * n_blanks, "oracle": n_blanks}
        for arm, right in matched.items():
            document = with_ones(1 - ratio + right / 100 + rng.normal(0, 1e-3, n_documents))
            fills = np.stack([right, n_blanks], axis=1)
            scores = {("document", "rougeL"): document, ("fills", "exact_match"): fills}
            made.score("plots", arm, scores, ratio=ratio)
    return made


@pytest.mark.parametrize(
    ("accuracies", "verdict"),
    [({0.15: 0.5, 0.5: 0.4, 1.0: 0.2}, "supported"), ({0.15: 0.3, 0.5: 0.3, 1.0: 0.4}, "explained")],
    ids=["filling gets worse", "only copying does"],
)
def test_ratio_claim_tells_filling_from_copying(accuracies, verdict):
    fills = ROUGE | {"role": "matched", "scope": "fills", "metric": "exact_match", "negligible": 0.02}
    gain = fills | {"scope": "document", "metric": "rougeL_gain"}
    rule = find_rule("C2", arms=["mlm"], measures=[ROUGE | {"role": "reported"}, fills, gain])
    rates = count_verdicts(lambda rng: simulate_ratios(rng, accuracies), rule, 200)
    assert rates.get(verdict, 0) >= 0.9, rates


def simulate_tagger(rng, recalls, n_units=80, n_seeds=2):
    """Return test units of six entities, found with the recall of each training set, and a wrong span or so."""
    made = Simulated()
    for trained_on, recall in recalls.items():
        units = [
            {"task_seed": seed, "id": f"u{i}", "cluster": f"u{i}", "tp": found, "fn": 6 - found, "fp": wrong}
            for seed in range(1 if trained_on == "majority" else n_seeds)
            for i, found, wrong in zip(
                range(n_units), rng.binomial(6, recall, n_units), rng.poisson(1, n_units), strict=True
            )
        ]
        cell = () if trained_on in ("real", "shuffled", "majority") else ("random", 1.0)
        made.task(trained_on, units, *cell)
    return made


FLOORS = {"shuffled": 0.05, "majority": 0.2, "unfilled": 0.02}


@pytest.mark.parametrize(
    ("recalls", "verdict"),
    [
        ({"real": 0.8, "mlm_leaky": 0.6, "mlm": 0.5}, "supported"),
        ({"real": 0.8, "mlm_leaky": 0.8, "mlm": 0.8}, "contradicted"),
        ({"real": 0.8, "mlm_leaky": 0.6, "mlm": 0.05}, "explained"),
        ({"real": 0.8, "mlm_leaky": 0.05, "mlm": 0.05}, "contradicted"),
    ],
    ids=["lower but usable", "not lower", "usable by the leak alone", "not usable"],
)
def test_entity_claim_finds_the_simulated_truth(recalls, verdict):
    rates = count_verdicts(lambda rng: simulate_tagger(rng, recalls | FLOORS), find_rule("C6"))
    assert rates.get(verdict, 0) >= 0.9, rates
