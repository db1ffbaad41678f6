"""Outcomes: scores from units, and the bootstrap over them."""

import math

import numpy as np

from mlm_vs_clm.documents import Document
from mlm_vs_clm.tasks.outcome import Outcome, draw_training_set, group_rows


def measure_mean(table):
    return float(table.mean()) if len(table) else math.nan


def make_outcome(values, clusters):
    units = [
        {"id": str(i), "cluster": c, "x": v} for i, (v, c) in enumerate(zip(values, clusters, strict=True))
    ]
    return Outcome(units, ("x",), {"mean": measure_mean})


def test_interval_of_a_mean_is_near_the_normal_one():
    values = np.random.default_rng(1).normal(size=400)
    outcome = make_outcome(values, range(400))
    low, high = outcome.interval("mean", 2000, np.random.default_rng(0))
    half = 1.96 * values.std() / 20
    assert abs(low - (values.mean() - half)) < 0.02 and abs(high - (values.mean() + half)) < 0.02


def test_interval_is_the_same_twice_and_wider_over_clusters():
    values, clusters = np.repeat(np.arange(20.0), 10), np.repeat(np.arange(20), 10)
    outcome = make_outcome(values, clusters)
    clustered = outcome.interval("mean", 500, np.random.default_rng(0))
    assert clustered == outcome.interval("mean", 500, np.random.default_rng(0))
    alone = outcome.interval("mean", 500, np.random.default_rng(0), clusters=range(200))
    assert clustered[1] - clustered[0] > 2 * (alone[1] - alone[0])


def test_no_units_have_no_score_and_no_interval():
    outcome = make_outcome([], [])
    assert outcome.n == 0 and math.isnan(outcome.metrics["mean"])
    assert all(math.isnan(bound) for bound in outcome.interval("mean", 10, np.random.default_rng(0)))


def test_rows_are_grouped_in_order():
    assert [rows.tolist() for rows in group_rows(["b", "a", "b"])] == [[0, 2], [1]]


def test_seeds_leave_out_other_documents_by_position():
    train = [Document(str(i), "text") for i in range(20)]
    drawn = [draw_training_set(train, seed) for seed in (0, 1)]
    assert [len(documents) for documents in drawn] == [18, 18] and drawn[0] != drawn[1]
    assert draw_training_set(train, 0) == drawn[0]
