"""Comparisons of arms as text and as training data: paired, per corpus, and explicit about what is missing."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sacrebleu
import scipy.stats
from made_cells import COMPARISONS, FILLS, matched, scored, trained

from mlm_vs_clm.evidence.differences import compare_by_seed, compare_text, compare_utility, summarise_seeds
from mlm_vs_clm.metrics.bleu import count_ngrams
from mlm_vs_clm.stats import compare_runs, ratio_of_sums


def compare(cells, resamples=50):
    return compare_text(cells, COMPARISONS, resamples).to_dict("records")


def pick(rows, comparison, measure=FILLS):
    return next(r for r in rows if (r["comparison"], r["scope"], r["metric"]) == (comparison, *measure))


def test_difference_by_hand():
    cells = [matched("mlm", [5, 7, 6]), matched("clm", [2, 4, 3])]
    row = pick(compare(cells, 200), "known length")
    assert row["value"] == pytest.approx(0.3) and (row["low"], row["high"]) == pytest.approx((0.3, 0.3))
    names = [row[key] for key in ("corpus", "first", "second", "n", "reason")]
    assert names == ["plots", "mlm", "clm", 3, ""]


def test_it_is_the_paired_bootstrap_of_the_stored_statistics():
    rng = np.random.default_rng(1)
    first, second = rng.integers(0, 10, (2, 40))
    row = pick(compare([matched("mlm", first), matched("infill", second)], 300), "both contexts")
    rows = [np.stack([m, np.full(40, 10.0)], axis=1) for m in (first, second)]
    made = compare_runs([rows], ratio_of_sums, 300)
    assert (row["value"], row["low"], row["high"], row["p"]) == (made.difference, made.low, made.high, made.p)


def test_authors_who_repeat_are_one_unit():
    authors = ["a", "a", "b", "b"]
    cells = [matched(arm, [1, 2, 3, 4], clusters=authors) for arm in ("mlm", "clm")]
    assert pick(compare(cells, 50), "known length")["n"] == 2


def test_seeds_are_put_together_and_unshared_ones_left_out():
    cells = [matched("mlm", [5, 5], 0), matched("mlm", [7, 7], 1), matched("mlm", [9, 9], 2)]
    cells += [matched("clm", [1, 1], 0), matched("clm", [1, 1], 1)]
    row = pick(compare(cells, 50), "known length")
    assert row["value"] == pytest.approx(0.5) and row["n"] == 2


def test_other_blanks_for_one_training_are_summed_over_each_document():
    rng = np.random.default_rng(2)
    hits = {arm: rng.integers(0, 8, (4, 60)) for arm in ("mlm", "clm")}
    named = ((arm, seed, some) for arm, found in hits.items() for seed, some in enumerate(found))
    cells = [matched(arm, some, seed, training=arm) for arm, seed, some in named]
    authors = list(range(60)) * 4  # as one cell whose documents come four times
    once = [matched(arm, found.ravel(), clusters=authors) for arm, found in hits.items()]
    row, wanted = (pick(compare(some, 400), "known length") for some in (cells, once))
    keys = ("value", "low", "high", "p", "n")
    assert [row[key] for key in keys] == [wanted[key] for key in keys] and row["n"] == 60
    alone = pick(compare(cells[::4], 400), "known length")
    assert row["high"] - row["low"] < 0.7 * (alone["high"] - alone["low"])


def test_an_interval_over_runs_holds_what_documents_alone_do_not_tell():
    cells = [matched("clm", [1] * 9, seed) for seed in (0, 1, 2)]
    for seed, gain in enumerate((1, 2, 6)):
        cells.append(matched("mlm", [1 + gain] * 9, seed, training=f"run {seed}"))
    row = pick(compare(cells, 500), "known length")
    assert row["n"] == 9
    theirs = scipy.stats.ttest_1samp([0.1, 0.2, 0.6], 0)  # each run alone has no width at all
    assert (row["value"], row["p"]) == pytest.approx((0.3, theirs.pvalue))
    assert (row["low"], row["high"]) == pytest.approx(tuple(theirs.confidence_interval()))


def test_runs_draw_the_same_documents_and_leave_out_what_one_has_not():
    rng = np.random.default_rng(3)
    hits = rng.integers(0, 10, (2, 30))
    runs = [tuple(np.stack([row, np.full(30, 10)], axis=1).astype(float) for row in hits)] * 2
    clusters = [[f"d{i // 2}" for i in range(30)]] * 2
    twice = compare_runs(runs, ratio_of_sums, 400, clusters=clusters)
    once = compare_runs(runs[:1], ratio_of_sums, 400, clusters=clusters[:1])
    assert (twice.difference, twice.n, twice.runs) == pytest.approx((once.difference, once.n, 2))
    assert twice.standard_error == pytest.approx(once.standard_error)  # equal runs add nothing to tell
    holed = [(runs[0][0].copy(), runs[0][1]), runs[1]]
    holed[0][0][0] = np.nan
    made = compare_runs(holed, ratio_of_sums, 400)
    wanted = (compare_runs([holed[0]], ratio_of_sums).difference + once.difference) / 2
    assert made.difference == pytest.approx(wanted)
    holed[0][0][:] = np.nan
    assert np.isnan(compare_runs(holed, ratio_of_sums, 50).difference)


def test_every_run_has_its_row_and_one_run_has_none():
    cells = [
        matched(arm, [n, n + 1], seed, training=f"{arm} {seed}")
        for arm, n in (("mlm", 5), ("clm", 3))
        for seed in (0, 4)
    ]
    rows = compare_by_seed(cells, [], COMPARISONS, 50)
    known = rows[(rows["comparison"] == "known length") & (rows["metric"] == "exact_match")]
    assert list(known["at"]) == ["0", "4"] and set(known["kind"]) == {"seed"}
    assert np.allclose(known["value"], 0.2)
    assert compare_by_seed(cells[:1], [], COMPARISONS, 50).empty
    trained_once = [replace(one, training=one.cell.arm) for one in cells]
    assert compare_by_seed(trained_once, [], COMPARISONS, 50).empty
    once = compare_by_seed([*cells, matched("infill", [4, 5], 4)], [], COMPARISONS, 50)
    assert set(once["comparison"]) == {"known length"}


def test_the_mean_and_deviation_of_seeds_by_hand_need_every_seed():
    assert summarise_seeds(pd.Series([0.5, -0.5, 1.5])) == (0.5, 1.0)
    assert np.isnan(summarise_seeds(pd.Series([0.5, np.nan]))).all()


def test_missing_is_a_row_with_its_reason():
    rows = compare([matched("mlm", [1, 2]), matched("clm", [1, 2], seed=1)], 50)
    assert {row["comparison"] for row in rows} == {"known length"}  # the others were not run
    assert all(pd.isna(row["value"]) and row["reason"] for row in rows)
    assert pick(rows, "known length")["reason"] == "the arms share no seed"
    one = compare([matched("mlm", [1]), matched("clm", [1])], 50)
    assert "1 of the units" in pick(one, "known length")["reason"]


def test_bleu_is_of_the_corpus_and_not_a_mean():
    texts = ["the captain saw the old boat", "a doctor gave two small tablets"]
    rows = {("document", "bleu"): count_ngrams(texts, texts)}
    worse = {("document", "bleu"): count_ngrams(["the captain", "a doctor gave two"], texts)}
    cells = [scored("mlm", rows), scored("clm", worse)]
    row = pick(compare(cells, 50), "known length", ("document", "bleu"))
    theirs = sacrebleu.corpus_bleu(["the captain", "a doctor gave two"], [texts], lowercase=True).score
    assert row["value"] == pytest.approx(100 - theirs)


def compare_trained(cells, resamples=50):
    """Return the rows by comparison."""
    rows = compare_utility(cells, COMPARISONS, resamples).to_dict("records")
    return {row["comparison"]: row for row in rows}


def answers(counts: list[tuple[int, int, int]], seeds: int = 1) -> list[dict]:
    """Return units with strict counts (tp, fp, fn), the same in each task seed; one type."""
    return [
        {"task_seed": seed, "id": f"d{i}", "cluster": f"d{i}"}
        | dict(zip(("tp", "fp", "fn"), row, strict=True))
        | {f"lenient_{name}": 0 for name in ("tp", "fp", "fn")}
        for seed in range(seeds)
        for i, row in enumerate(counts)
    ]


def test_the_difference_is_that_of_the_scores_and_seeds_are_averaged():
    """F1 of the first: 2*3/(2*3+1) = 6/7; of the second: 2*1/(2*1+3) = 2/5."""
    first = trained("mlm", answers([(2, 0, 0), (1, 1, 0)], seeds=3))
    second = trained("clm", answers([(1, 1, 1), (0, 0, 1)], seeds=3))
    rows = compare_trained([first, second], 200)
    found = rows["known length"]
    assert found["value"] == pytest.approx(6 / 7 - 2 / 5)
    assert found["low"] <= found["value"] <= found["high"] and found["n"] == 2
    assert {*rows} == {"known length"}  # the others were not run


def test_the_same_answers_differ_by_nothing():
    same = answers([(2, 0, 1), (1, 1, 0), (0, 1, 1)])
    found = compare_trained([trained("mlm", same), trained("clm", same)])["known length"]
    assert (found["value"], found["low"], found["high"], found["p"]) == (0, 0, 0, 1)


def test_a_training_set_that_taught_nothing_is_missing_and_not_zero():
    units = answers([(1, 0, 0), (1, 0, 0)])
    untrained = trained("clm", units, reason="no model could be trained")
    found = compare_trained([trained("mlm", units), untrained])["known length"]
    assert pd.isna(found["value"]) and found["reason"] == "clm: no model could be trained"


def test_task_seeds_that_disagree_widen_the_interval():
    good, bad = [(2, 0, 0)] * 6, [(1, 1, 1)] * 6
    steady = trained("mlm", answers(bad, seeds=3))
    mixed = [dict(unit, task_seed=seed) for seed in range(3) for unit in answers(bad if seed else good)]
    found = compare_trained([trained("clm", mixed), steady], 500)["known length"]
    assert found["value"] == pytest.approx(-0.5 / 3)  # F1 of 1 in one seed of three, else of 0.5
    theirs = scipy.stats.ttest_1samp([-0.5, 0, 0], 0)
    assert (found["low"], found["high"]) == pytest.approx(tuple(theirs.confidence_interval()))
    assert found["p"] == pytest.approx(theirs.pvalue)


def test_other_numbers_of_task_seeds_are_not_compared():
    pair = [trained(arm, answers([(1, 0, 0)] * 3, seeds=n)) for arm, n in (("mlm", 1), ("clm", 3))]
    found = compare_trained(pair)["known length"]
    assert pd.isna(found["value"]) and found["reason"] == "not trained with as many task seeds"
