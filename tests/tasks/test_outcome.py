"""Outcomes: scores from units, and the bootstrap over them."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from task_scores import score

from mlm_vs_clm.documents import Document
from mlm_vs_clm.pipeline.downstream import _score
from mlm_vs_clm.stats import percentile_interval
from mlm_vs_clm.tasks import TASKS
from mlm_vs_clm.tasks.outcome import UNTRAINED, Outcome, divide, draw_cluster_weights, draw_training_set


def measure_mean(table, weights):
    return divide(weights @ table[:, 0], weights.sum(axis=1))


def make_outcome(values):
    units = [{"id": str(i), "cluster": i, "x": value} for i, value in enumerate(values)]
    return Outcome(units, ("x",), {"mean": measure_mean})


def test_resampled_means_spread_as_the_normal_law_says():
    values = np.random.default_rng(1).normal(size=400)
    weights = draw_cluster_weights(range(400), 2000, np.random.default_rng(0))
    low, high = percentile_interval(measure_mean(values[:, None], weights))
    half = 1.96 * values.std() / 20
    assert abs(low - (values.mean() - half)) < 0.02 and abs(high - (values.mean() + half)) < 0.02


def test_units_of_a_cluster_are_drawn_together_and_each_resample_has_as_many_clusters():
    weights = draw_cluster_weights(["b", "a", "b"], 50, np.random.default_rng(0))
    assert (weights[:, 0] == weights[:, 2]).all() and (weights[:, 0] + weights[:, 1] == 2).all()
    again = draw_cluster_weights(["b", "a", "b"], 50, np.random.default_rng(0))
    assert (weights == again).all() and len(np.unique(weights, axis=0)) == 3


def test_no_units_have_no_score():
    outcome = make_outcome([])
    assert math.isnan(score(outcome)["mean"])
    assert draw_cluster_weights([], 10, np.random.default_rng(0)).shape == (10, 0)


@pytest.mark.parametrize("name", TASKS)
def test_a_measure_under_weights_is_the_measure_of_the_units_repeated(name):
    rng = np.random.default_rng(0)
    tables = {
        "ner": rng.integers(4, size=(12, 18)).astype(float),
        "genres": rng.integers(2, size=(12, 9)).astype(float),
        "verification": np.column_stack([rng.integers(2, size=12), rng.integers(11, size=12) / 10]),
    } | dict.fromkeys(("next_sentence", "authors"), rng.integers(2, size=(12, 1)).astype(float))
    weights = draw_cluster_weights(range(12), 5, rng)
    for measure in TASKS[name].measures.values():
        repeated = [tables[name][np.repeat(np.arange(12), row.astype(int))] for row in weights]
        one_by_one = [measure(table, np.ones((1, 12)))[0] for table in repeated]
        assert measure(tables[name], weights) == pytest.approx(one_by_one, nan_ok=True)


def test_the_main_metric_is_a_measure_and_the_table_is_read_without_scikit_learn():
    assert all(task.main_metric in task.measures for task in TASKS.values())
    code = "import sys, mlm_vs_clm.tasks; print({'sklearn', 'scipy', 'torch'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "set()"


def test_seeds_leave_out_other_documents_by_position():
    train = [Document(str(i), "text") for i in range(20)]
    drawn = [draw_training_set(train, seed) for seed in (0, 1)]
    assert [len(documents) for documents in drawn] == [18, 18] and drawn[0] != drawn[1]
    assert draw_training_set(train, 0) == drawn[0]


def test_seeds_without_a_model_count_unless_it_is_all_of_them():
    trained = make_outcome([1, 1, 0, 1])
    failed = replace(make_outcome([0, 0, 0, 0]), notes=(f"{UNTRAINED}: nothing learned",))
    (some,) = _score([trained, failed], 200)
    assert some["value"] == pytest.approx(0.375) and some["low"] < 0.2 < 0.6 < some["high"]
    assert some["reason"].startswith("1 of 2 task seeds") and some["reason"].endswith("nothing learned")
    (every,) = _score([failed, failed], 200)
    assert every["reason"] == f"{UNTRAINED} in 2 of 2 task seeds: nothing learned"
    assert every["value"] == 0 and np.isnan([every["low"], every["high"]]).all()
    (none,) = _score([trained, trained], 200)
    assert none["reason"] == ""
