"""Intervals, tests and correlations agree with scipy, statsmodels and sacrebleu, or with a hand."""

import numpy as np
import pytest
import scipy.stats
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from statsmodels.stats.multitest import multipletests

from mlm_vs_clm.correlations import CORRELATIONS, correlate, correlate_ranks, partial_spearman, pearson
from mlm_vs_clm.metrics.bleu import make_bleu, score_counts
from mlm_vs_clm.metrics.metric import mean_statistics
from mlm_vs_clm.stats import (
    average_crossed,
    average_runs,
    bootstrap,
    compare_runs,
    draw_weights,
    gain_of_sums,
    gather_units,
    holm,
    normalised_gain,
    point,
    ratio_of_sums,
)

VALUES = np.random.default_rng(0).normal(0.5, 0.2, size=80)


def test_ratio_of_sums_by_hand():
    rows = np.array([[1, 3], [1, 1], [np.nan, np.nan]])
    assert point(rows, ratio_of_sums) == 0.5
    assert np.isnan(ratio_of_sums(np.array([0.0, 0.0])))


def test_bootstrap_agrees_with_scipy():
    ours = bootstrap(mean_statistics(VALUES), ratio_of_sums, n_resamples=4000)
    theirs = scipy.stats.bootstrap((VALUES,), np.mean, method="percentile", n_resamples=4000, rng=1)
    assert ours == pytest.approx(tuple(theirs.confidence_interval), abs=0.004)


def test_bootstrap_repeats_and_ignores_undefined_documents():
    rows = mean_statistics(VALUES)
    holed = np.insert(rows, 5, np.nan, axis=0)
    assert bootstrap(rows, ratio_of_sums) == bootstrap(holed, ratio_of_sums)
    assert (draw_weights(80, 20) != draw_weights(80, 20, seed=1)).any()


def test_bootstrap_needs_two_units():
    assert np.isnan(bootstrap(mean_statistics([0.3]), ratio_of_sums)).all()
    assert np.isnan(bootstrap(np.full((4, 2), np.nan), ratio_of_sums)).all()
    assert np.isnan(bootstrap(mean_statistics([0.3, 0.4]), ratio_of_sums, clusters=["x", "x"])).all()


def test_clusters_are_summed_and_drawn_whole():
    rows = mean_statistics([1, 2, np.nan, 4])
    assert gather_units(rows, ["b", "a", "a", "b"]).tolist() == [[2, 1], [5, 2]]
    copies = mean_statistics(np.repeat(VALUES, 4))
    names = np.repeat(np.arange(80), 4)
    whole = bootstrap(copies, ratio_of_sums, clusters=names)
    assert whole == pytest.approx(bootstrap(mean_statistics(VALUES), ratio_of_sums), abs=1e-12)


def test_gain_by_hand_and_at_its_ends():
    arm, low, high = (mean_statistics(np.full(5, value)) for value in (0.5, 0.2, 0.8))
    gain = normalised_gain(arm, low, high, ratio_of_sums)
    assert (gain.value, gain.low, gain.high, gain.n) == pytest.approx((0.5, 0.5, 0.5, 5))
    assert normalised_gain(low, low, high, ratio_of_sums).value == 0
    assert normalised_gain(high, low, high, ratio_of_sums).value == pytest.approx(1)


def test_the_gain_of_sums_by_hand_and_without_headroom():
    assert gain_of_sums(np.array([6.0, 10, 4, 10, 9, 10]), ratio_of_sums) == pytest.approx(0.4)
    assert np.isnan(gain_of_sums(np.array([6.0, 10, 4, 10, 4, 10]), ratio_of_sums))


def test_gain_says_why_it_is_missing():
    rows = mean_statistics(VALUES)
    assert normalised_gain(rows, None, rows, ratio_of_sums).reason == "unfilled missing"
    assert normalised_gain(rows, rows, rows, ratio_of_sums).reason == "oracle equals unfilled"
    undefined = normalised_gain(rows, np.full((80, 2), np.nan), rows, ratio_of_sums)
    assert np.isnan(undefined.value) and "all scored" in undefined.reason


def write_systems(n=60, seed=3, better=0.55, worse=0.45):
    rng = np.random.default_rng(seed)
    words = np.array([f"w{i}" for i in range(30)])
    references = [rng.choice(words, size=20) for _ in range(n)]

    def damage(share):
        return [" ".join(np.where(rng.random(20) < share, r, rng.choice(words, size=20))) for r in references]

    return damage(better), damage(worse), [" ".join(r) for r in references]


def _test_with_sacrebleu(kind, first, second, references):
    named = [("baseline", second), ("system", first)]
    tested = PairedTest(named, {"BLEU": BLEU()}, [references], test_type=kind, n_samples=2000)()[1]["BLEU"]
    return tested[1], tested[1].score - tested[0].score


def test_paired_bootstrap_agrees_with_sacrebleu():
    """sacrebleu counts one tail: its p is half of ours where the sign is not in doubt."""
    *texts, references = write_systems(better=0.44)
    rows = [make_bleu().statistics(system, references) for system in texts]
    theirs, difference = _test_with_sacrebleu("bs", *texts, references)
    ours = compare_runs([rows], score_counts, n_resamples=2000)
    low, high = bootstrap(rows[0], score_counts, n_resamples=2000)
    assert ours.difference == pytest.approx(difference)
    assert ours.p == pytest.approx(2 * theirs.p_value, abs=0.01)
    assert (high - low) / 2 == pytest.approx(theirs.ci, rel=0.1)


def test_paired_tests_agree_with_scipy_on_means():
    first, second = VALUES, VALUES + np.random.default_rng(1).normal(0.015, 0.08, size=80)
    rows = [mean_statistics(values) for values in (first, second)]
    t = scipy.stats.ttest_rel(first, second)
    compared = compare_runs([rows], ratio_of_sums, n_resamples=4000)
    assert compared.p == pytest.approx(t.pvalue, abs=0.03)
    assert (compared.low, compared.high) == pytest.approx(tuple(t.confidence_interval()), abs=0.004)


def test_equal_systems_are_not_told_apart():
    rows = mean_statistics(VALUES)
    assert compare_runs([(rows, rows)], ratio_of_sums).p == 1


def simulate_runs(rng, n_runs, shared, anew, between, n=80):
    """Return pairs of scores whose true difference is 0: noise of documents, of a document in a run, and of runs."""
    document = rng.normal(0, shared, n)
    runs = [document + rng.normal(0, anew, n) + rng.normal(0, between) for _ in range(n_runs)]
    return [(mean_statistics(0.5 + run), mean_statistics(np.full(n, 0.5))) for run in runs]


@pytest.mark.parametrize("n_runs", [3, 5])
@pytest.mark.parametrize("noise", [(0, 0.1, 0.03), (0.1, 0.1, 0.03), (0.2, 0.1, 0.01), (0.1, 0.1, 0)])
def test_the_interval_over_runs_covers_the_truth(noise, n_runs):
    rng, n_studies = np.random.default_rng(8), 1000
    made = [compare_runs(simulate_runs(rng, n_runs, *noise), ratio_of_sums, 100) for _ in range(n_studies)]
    coverage = np.mean([one.low <= 0 <= one.high for one in made])
    assert 0.92 <= coverage <= 0.99, coverage
    assert np.mean([one.p < 0.05 for one in made]) == pytest.approx(1 - coverage)


def test_one_run_is_a_bootstrap_that_knows_no_training_noise():
    (pair,) = simulate_runs(np.random.default_rng(1), 1, 0.1, 0.1, 0.03)
    one = compare_runs([pair], ratio_of_sums)
    assert (one.low, one.high) == pytest.approx(bootstrap(pair[0] - [0.5, 0], ratio_of_sums))
    assert one.runs == 1 and np.isnan(one.run_deviation)
    assert np.isnan(average_runs(np.array([[np.nan, 0.1, 0.2], [0.1, 0.1, 0.2]]), 10).difference)


def test_one_unit_has_a_value_over_several_runs_and_no_interval():
    with np.errstate(all="raise"):
        one = average_runs(np.array([[0.2, 0.2, 0.2], [0.6, 0.6, 0.6]]), 1)
        alike = average_runs(np.array([[0.2, 0.2, 0.2], [0.2, 0.2, 0.2]]), 1)
    assert one.difference == pytest.approx(0.4) and alike.difference == pytest.approx(0.2)
    assert np.isnan([one.low, one.high, one.p, alike.low, alike.high, alike.p]).all()


def test_intervals_hold_what_seeds_add_to_every_training_alike():
    rng, runs, seeds, n_studies = np.random.default_rng(5), 5, 3, 400
    effects = [
        rng.normal(0, sd, size=(n_studies, *size))
        for sd, size in ((1, (runs, 1)), (2, (1, seeds)), (0.5, (runs, seeds)))
    ]
    held = {"crossed": 0, "averaged": 0}
    for differences in sum(effects):
        drawn = np.repeat(differences[:, :, None], 3, axis=2)  # units add nothing
        of_way = {"crossed": average_crossed(drawn, 100), "averaged": average_runs(drawn.mean(axis=1), 100)}
        for way, estimate in of_way.items():
            assert estimate.difference == pytest.approx(differences.mean())
            held[way] += estimate.low <= 0 <= estimate.high
    assert held["crossed"] > 0.9 * n_studies and held["averaged"] < 0.7 * n_studies, held


def test_seeds_that_add_nothing_and_a_single_seed_change_no_interval():
    by_run = np.random.default_rng(6).normal(size=(4, 1, 50))
    alone, alike = average_crossed(by_run, 30), average_crossed(np.repeat(by_run, 3, axis=1), 30)
    assert alone == average_runs(by_run[:, 0], 30)
    assert (alike.low, alike.high, alike.p) == pytest.approx((alone.low, alone.high, alone.p))
    single, of_seeds = average_crossed(by_run[:1], 30), average_runs(by_run[0], 30)
    assert (single.difference, single.runs, single.n) == (of_seeds.difference, 1, 30)


def test_holm_equals_statsmodels():
    p_values = np.array([0.01, 0.04, 0.03, 0.005, 0.6])
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])
    with_hole = holm(np.insert(p_values, 2, np.nan))
    assert np.isnan(with_hole[2]) and np.delete(with_hole, 2) == pytest.approx(holm(p_values))
    assert holm([]).size == 0


SCIPY = {
    "spearman": lambda x, y: scipy.stats.spearmanr(x, y).statistic,
    "kendall": lambda x, y: scipy.stats.kendalltau(x, y).statistic,
}


@pytest.mark.parametrize("name", CORRELATIONS)
def test_correlations_equal_scipy_on_every_resample(name):
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 6, size=(2, 15)).astype(float)
    weights = draw_weights(15, 30, 0)
    ours = CORRELATIONS[name](weights, x, y)
    for row, value in zip(weights.astype(int), ours, strict=True):
        assert value == pytest.approx(SCIPY[name](np.repeat(x, row), np.repeat(y, row)))
    whole = correlate(CORRELATIONS[name], np.array([x, y]), draw_weights(15, 30, with_whole=True))
    assert whole.value == pytest.approx(SCIPY[name](x, y))


def test_partial_spearman_is_the_correlation_of_rank_residuals():
    rng = np.random.default_rng(5)
    given = rng.normal(size=40)
    x, y = given + rng.normal(size=40), given + rng.normal(size=40)
    ranks = [scipy.stats.rankdata(values) for values in (x, y, given)]
    left = [values - np.polyval(np.polyfit(ranks[2], values, 1), ranks[2]) for values in ranks[:2]]
    expected = np.corrcoef(*left)[0, 1]
    assert partial_spearman(np.ones((1, 40)), x, y, given)[0] == pytest.approx(expected)


def test_correlations_agree_with_fishers_interval():
    rng = np.random.default_rng(6)
    x = rng.normal(size=200)
    y = 0.6 * x + 0.8 * rng.normal(size=200)
    ours = correlate(pearson, np.array([x, y]), draw_weights(200, 2000, with_whole=True))
    theirs = scipy.stats.pearsonr(x, y).confidence_interval()
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs), abs=0.03)


def test_a_constant_has_no_correlation_and_degenerate_resamples_are_left_out():
    constant = correlate_ranks([0.1] * 5, [1, 2, 3, 4, 5])
    assert np.isnan(constant.value) and constant.reason.startswith("a variable does not vary")
    few = correlate_ranks([1, 2, 3, np.nan], [2, 1, 3, 4], 900)
    assert few.n == 3 and few.low < few.value < few.high
    for values in ([1, 2], []):
        assert correlate_ranks(values, values).reason == "fewer than three cells"
