"""Of single trainings a difference has the noise between trainings in its interval, and that noise is what was measured."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from mlm_vs_clm.evidence import training_questions
from mlm_vs_clm.evidence.claims import find_noise, list_comparisons, load_rules
from mlm_vs_clm.evidence.paired import widen
from mlm_vs_clm.evidence.tables import SEED, pick_kind, read_table
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.stats import PairedDifference

RUNS = ROOT / "results" / "laptop-runs"
ONE = PairedDifference(1.0, 0.4, 1.6, 0.001, 0.3, 100, runs=1, degrees=99)


def test_of_one_training_each_the_interval_has_both_errors():
    wide = widen(ONE, 0.4)
    degrees = 0.5**4 / (0.4**4 / 12 + 0.3**4 / 99)  # Satterthwaite's: the noise has 12
    assert wide.standard_error == pytest.approx(0.5) and wide.degrees == pytest.approx(degrees)
    of_normal = stats.t.ppf(0.975, degrees) / 1.959964
    assert wide.high - 1 == pytest.approx(of_normal * math.hypot(0.6, 1.959964 * 0.4))
    assert wide.p == pytest.approx(2 * stats.t.sf(2, degrees))
    assert (wide.low < ONE.low, wide.p > ONE.p, wide.difference) == (True, True, 1.0)


def test_noise_never_makes_an_estimate_over_few_task_seeds_surer():
    """Its interval is that of t already: without noise to speak of it stays, and p with it."""
    half = float(stats.t.ppf(0.975, 2.2)) * 0.3
    few = PairedDifference(1.0, 1 - half, 1 + half, 0.07, 0.3, 300, run_deviation=0.4, degrees=2.2)
    slight, more = widen(few, 0.001, 4), widen(few, 0.3, 4)
    assert (slight.low, slight.high) == pytest.approx((few.low, few.high), rel=1e-3)
    assert slight.p == pytest.approx(2 * stats.t.sf(1 / 0.3, 2.2), rel=1e-3)
    assert more.degrees < 8 and 0.01 < more.p and more.low < 0.05


SEVERAL = PairedDifference(1.0, 0.4, 1.6, 0.001, 0.3, 5, runs=5)
ABSENT = PairedDifference(reason="not run: clm")


@pytest.mark.parametrize(("estimate", "noise"), [(ONE, 0.0), (ONE, math.nan), (SEVERAL, 0.4), (ABSENT, 0.4)])
def test_without_noise_over_several_trainings_and_where_there_is_none_a_difference_stays(estimate, noise):
    assert widen(estimate, noise) is estimate


def test_the_noise_of_the_rules_is_what_five_trainings_showed():
    rules = load_rules(ROOT / "conf/claims.yaml", ("random", 0.5))
    noise, runs = find_noise(rules), pick_kind(read_table("comparisons", RUNS), SEED)
    runs = pd.concat([runs[["metric", "comparison", "corpus", "value"]], compare_likelihoods(rules)])
    runs = runs[runs["comparison"].isin(["known length", "both contexts"])]
    deviations = runs.groupby(["metric", "comparison", "corpus"])["value"].std()
    largest = np.sqrt((deviations**2).groupby(["metric", "comparison"]).mean()).groupby("metric").max()
    assert set(noise) == set(largest.index)
    for metric, value in noise.items():
        assert value == pytest.approx(largest[metric], rel=0.02), metric


def compare_likelihoods(rules):
    """Return the differences in nats per character of every comparison of claim C1, training by training."""
    scores = read_table("scores", RUNS)
    scores = scores[(scores["metric"] == "nats_per_character") & (scores["n"] > 0)]
    values = scores.set_index(["corpus", "seed", "arm"])["value"].unstack()
    pairs = [pair for pair in list_comparisons(rules) if {*pair.arms} <= set(values)]
    rows = [(values[pair.first] - values[pair.second]).rename("value").reset_index() for pair in pairs]
    named = [row.assign(comparison=pair.name) for row, pair in zip(rows, pairs, strict=True)]
    return pd.concat(named).drop(columns="seed").assign(metric="nats_per_character")


def test_a_comparison_as_training_data_is_widened_by_the_sides_that_were_trained(monkeypatch):
    """A word table has no noise of its own; of one trained side there is half of the variance."""
    monkeypatch.setattr(training_questions, "compare_trained", lambda *_: ONE)
    claim = {"noise": {"f1": 0.4}, "margin": 0.1, "gate": "none"}
    claim |= {"main": {"strategy": "random", "ratio": 0.5}}
    for trained, noise in (([1, 1], 0.4), ([1, 0], 0.4 / math.sqrt(2)), ([0, 0], 0.0)):
        study = SimpleNamespace(
            tasks={"abstracts": "ner"},
            trained={},
            resamples=10,
            find_worth=lambda _: 1.0,
            count_trainings=lambda _, counts=[*trained]: counts.pop(),
        )
        condition = {"name": "known length", "first": {"arm": "mlm"}, "second": {"arm": "clm"}}
        (question,) = training_questions.ask_utility(claim, condition, "abstracts", study)
        assert question.estimate.standard_error == pytest.approx(widen(ONE, noise).standard_error)
