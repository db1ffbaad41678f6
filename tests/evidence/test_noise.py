"""Of single trainings a difference has the noise between trainings in its interval, and that noise is what was measured."""

import math

import numpy as np
import pytest

from mlm_vs_clm.evidence.claims import find_noise, load_rules
from mlm_vs_clm.evidence.paired import widen
from mlm_vs_clm.evidence.tables import SEED, pick_kind, read_table
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.stats import PairedDifference

RUNS = ROOT / "results" / "records" / "evening-runs"
ONE = PairedDifference(1.0, 0.4, 1.6, 0.001, 0.3, 100, runs=1)


def test_of_one_training_each_the_interval_has_both_errors():
    wide = widen(ONE, 0.4)
    assert wide.standard_error == pytest.approx(0.5)
    assert wide.high - 1 == pytest.approx(math.hypot(0.6, 1.959964 * 0.4))
    assert wide.p == pytest.approx(math.erfc(2 / math.sqrt(2)))
    assert (wide.low < ONE.low, wide.p > ONE.p, wide.difference) == (True, True, 1.0)


@pytest.mark.parametrize("noise", [0.0, math.nan])
def test_without_noise_nothing_changes(noise):
    assert widen(ONE, noise) is ONE


def test_several_trainings_and_absent_differences_stay_as_they_are():
    several = PairedDifference(1.0, 0.4, 1.6, 0.001, 0.3, 5, runs=5)
    absent = PairedDifference(reason="not run: clm")
    assert widen(several, 0.4) is several and widen(absent, 0.4) is absent


def test_the_noise_of_the_rules_is_what_five_trainings_showed():
    runs = pick_kind(read_table("comparisons", RUNS), SEED)
    noise = find_noise(load_rules(ROOT / "conf/claims.yaml", ("random", 0.5)))
    deviations = runs.groupby(["metric", "comparison", "corpus"])["value"].std()
    largest = np.sqrt((deviations**2).groupby(["metric", "comparison"]).mean()).groupby("metric").max()
    assert set(noise) == {
        "bertscore",
        *(name for name in largest.index if name.startswith(("bleu", "exact"))),
    }
    for metric, value in noise.items():
        assert value == pytest.approx(largest[metric], rel=0.02), metric
