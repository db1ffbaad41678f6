"""Quality at equal compute, read off two runs of a method and worked by hand."""

import numpy as np
import pandas as pd
import pytest
from made_cells import COMPARISONS, scored

from mlm_vs_clm.evidence.differences import MEASURES, compare_text
from mlm_vs_clm.evidence.equal_compute import (
    BASES,
    compare_at_equal_compute,
    interpolate_runs,
    name_method,
    repeat_text,
    sum_costs,
)


def run(arm, flops, correct, method="m", n=40, seed=0, training=""):
    """A run whose every document restores `correct` of 10 blanks, so that its exact match is correct / 10."""
    rows = np.tile([float(correct), 10.0], (n, 1))
    bleu = np.full((n, 10), 5.0)
    statistics = {("fills", "exact_match"): rows, ("document", "bertscore"): rows, ("document", "bleu"): bleu}
    ledger = {"flops": flops * n, "documents": n}
    return scored(arm, statistics, "abstracts", seed, method=method, ledger=ledger, training=training)


def vary_documents(*runs):
    """Return runs whose documents differ."""
    rng = np.random.default_rng(1)
    for one in runs:
        one.statistics["fills", "exact_match"][:, 0] += rng.integers(-2, 3, 40)
    return [*runs]


def compare(cells, resamples=50):
    return compare_at_equal_compute(cells, COMPARISONS, resamples).to_dict("records")


def exact(rows, comparison, basis):
    wanted = {"comparison": comparison, "at": basis, "metric": "exact_match"}
    return next(row for row in rows if all(row[key] == value for key, value in wanted.items()))


def test_at_equal_compute_the_score_lies_between_the_nearest_runs_in_log_flops():
    runs = [run("mlm_parallel", 1e9, 2), run("mlm", 4e9, 6), run("clm", 2e9, 3, "c")]
    rows = compare(runs, 50)
    assert exact(rows, "known length", BASES[0])["value"] == pytest.approx(0.6 - 0.3)
    halfway = exact(rows, "known length", BASES[1])
    assert halfway["value"] == pytest.approx(0.4 - 0.3) and halfway["flops_first"] == 2e9
    assert pd.isna(halfway["low"]) and "does not vary over units" in halfway["reason"]
    assert "clm was run at a single cost (2 GFLOPs" in exact(rows, "known length", BASES[2])["reason"]
    assert {row["comparison"] for row in rows} == {"known length"}  # the others were not run
    assert len(rows) == len(MEASURES) * len(BASES)


def test_at_equal_documents_the_interval_is_that_of_the_gap():
    runs = vary_documents(run("mlm", 4e9, 6), run("clm", 2e9, 3, "c"))
    made = exact(compare(runs, 300), "known length", BASES[0])
    gap = exact(compare_text(runs, COMPARISONS, 300).assign(at="").to_dict("records"), "known length", "")
    keys = ("value", "low", "high", "n")
    assert [made[key] for key in keys] == pytest.approx([gap[key] for key in keys])


def test_one_document_or_a_score_defined_nowhere_is_missing():
    alone = [run("mlm", 4e9, 6, n=1), run("clm", 2e9, 3, "c", n=1)]
    told = exact(compare(alone, 50), "known length", BASES[0])["reason"]
    assert told == "defined for 1 of the units, two are needed"
    alone[0].statistics["fills", "exact_match"][:] = np.nan
    told = exact(compare(alone, 50), "known length", BASES[0])["reason"]
    assert told == "defined for 0 of the units, two are needed"


def test_a_cost_outside_the_runs_of_a_method_is_missing_on_either_side():
    family = [run("mlm_parallel", 2e9, 2), run("mlm", 4e9, 6), run("mlm_leaky", 1e9, 9, "leaky")]
    less, more = (interpolate_runs(family[1], flops, family)[1] for flops in (1e9, 5e9))
    assert "1 GFLOPs per document is less than any run of mlm's method" in less
    assert "is more than any run" in more
    mix, reason = interpolate_runs(family[1], 4e9, family)
    assert not reason and mix == [("mlm", 1.0)]


def test_of_runs_at_equal_cost_that_of_the_arm_itself_is_taken():
    family = [run(arm, flops, 3) for arm, flops in (("mlm", 2e9), ("mlm z", 2e9), ("mlm a", 8e9))]
    mix, _ = interpolate_runs(family[0], 4e9, family)
    assert [arm for arm, _ in mix] == ["mlm", "mlm a"]


def test_arms_of_other_trainings_are_no_runs_of_one_method():
    runs = [run("mlm_parallel", 1e9, 2, training="b"), run("mlm", 4e9, 6, training="a")]
    runs.append(run("clm", 2e9, 3, "c"))
    assert "mlm was run at a single cost" in exact(compare(runs), "known length", BASES[1])["reason"]
    runs[0] = run("mlm_parallel", 1e9, 2, training="a")
    assert exact(compare(runs), "known length", BASES[1])["value"] == pytest.approx(0.4 - 0.3)


def test_at_equal_documents_a_row_repeats_that_of_the_texts_with_its_verdict():
    same = {"corpus": "plots", "comparison": "known length", "first": "mlm", "second": "clm"}
    same |= {"strategy": "random", "ratio": 0.5, "scope": "document", "metric": "bleu"}
    judged = {"value": 1.0, "p": 0.3, "p_holm": 0.3, "margin": 1.0, "n": 9, "runs": 1, "excluded_because": ""}
    text = same | judged | {"kind": "text", "at": "", "low": -0.1, "high": 2.1, "direction": "none shown"}
    text |= {"status": "made", "size": "not settled"}
    equal = text | {"kind": "compute", "at": BASES[0], "low": 0.5, "high": 1.5, "direction": "first"}
    moved = equal | {"at": BASES[1]}
    rows = repeat_text(pd.DataFrame([text, equal, moved], index=[4, 7, 9]))
    assert list(rows["direction"]) == ["none shown", "none shown", "first"]
    assert list(rows["low"]) == [-0.1, -0.1, 0.5] and list(rows["kind"]) == ["text", "compute", "compute"]


def test_single_trainings_have_the_noise_between_trainings():
    runs = vary_documents(run("mlm", 4e9, 6), run("clm", 2e9, 3, "c"))
    widths = []
    for noise in ({}, {"exact_match": 0.1}):
        rows = compare_at_equal_compute(runs, COMPARISONS, 300, noise).to_dict("records")
        row = exact(rows, "known length", BASES[0])
        widths.append(row["high"] - row["low"])
    assert widths[1] > 2 * 1.96 * 0.1 > widths[0]


def test_a_method_shares_all_but_order_and_pace():
    one = {"name": "mlm", "writer": "masked", "context": "both", "order": "random", "per_pass": 16, "seed": 0}
    assert name_method(one) == name_method(one | {"name": "mlm_parallel", "order": "parallel", "per_pass": 1})
    assert name_method(one) != name_method(one | {"context": "leaky"})
    assert name_method(one) != name_method(one | {"temperature": 1.0})


def test_several_seeds_have_the_interval_over_runs():
    costs = sum_costs({1: run("mlm", 4e9, 6, seed=1), 0: run("mlm", 2e9, 2)})
    assert costs.flops == 3e9
    seeds = [
        run(*arm, seed=seed, training=f"run {seed}")
        for seed in (0, 1)
        for arm in (("mlm", 4e9, 6 - seed), ("clm", 2e9, 3, "c"))
    ]
    made, gap = exact(compare(seeds), "known length", BASES[0]), compare_text(seeds, COMPARISONS, 50)
    wanted = exact(gap.assign(at="").to_dict("records"), "known length", "")
    assert made["n"] == 40 and made["value"] == pytest.approx(0.55 - 0.3) and made["low"] < 0
    assert [made["low"], made["high"]] == pytest.approx([wanted["low"], wanted["high"]])
