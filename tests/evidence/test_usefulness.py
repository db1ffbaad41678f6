"""Quality against usefulness over writers: who is one, the correlation with its interval, and the tables."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from mlm_vs_clm.evidence import usefulness
from mlm_vs_clm.evidence.answers import answer
from mlm_vs_clm.evidence.cells import Cell, ScoredCell, TrainedCell
from mlm_vs_clm.evidence.study import Study
from mlm_vs_clm.evidence.tables import COLUMNS, tidy
from mlm_vs_clm.evidence.usefulness import correlate_writers, estimate_correlation, find_kind, list_usefulness

N, DOCUMENTS, UNITS = 24, 40, 60
PLACE = {"corpus": "abstracts", "strategy": "random", "ratio": 0.7}
ARMS = [f"mlm temperature={n}" for n in range(N)]
DROPPED = f"{ARMS[0]} label_policy=dropped"
KINDS = {
    "mlm temperature=1": "network",
    "bigram_both_sampled": "word table",
    "ngram_left table_order=3": "word table",
    "neutral": "floor",
    "mention": "reference",
    "oracle": "reference",
}


def test_kinds_of_writers():
    assert {arm: find_kind(arm) for arm in KINDS} == KINDS


@pytest.mark.parametrize(("sign", "expected"), [(1, 1.0), (-1, -1.0), (0, 0.0)])
def test_the_interval_holds_the_correlation(sign, expected):
    rng = np.random.default_rng(0)
    quality = np.repeat(np.arange(200.0)[:, None], 301, axis=1)
    follows = sign * quality if sign else rng.permuted(quality, axis=0)[:, :1] + 0 * quality
    made = estimate_correlation(quality, follows + rng.normal(0, 1, (200, 301)), 300)
    assert made.low < made.value < made.high and made.value == pytest.approx(expected, abs=0.15)


def test_noise_of_test_units_widens_the_interval():
    rng = np.random.default_rng(0)
    quality = np.repeat(rng.normal(size=(30, 1)), 201, axis=1)
    still = np.repeat(quality[:, :1] + rng.normal(0, 1, (30, 1)), 201, axis=1)
    shaken = still.copy()
    shaken[:, 1:] += rng.normal(0, 1, (30, 200))
    widths = [one.high - one.low for one in (estimate_correlation(quality, u, 200) for u in (still, shaken))]
    assert widths[1] > 1.1 * widths[0]


@cache
def make_study(slope=1.0):
    """Return cells and tables of N writers whose usefulness follows their quality with a slope, `unfilled` and a variant of the labels.

    Not to be changed.
    """
    rng = np.random.default_rng(0)
    scored, trained, scores, downstream, headroom = [], [], [], [], []
    for number, arm in enumerate([*ARMS, "unfilled", DROPPED]):
        quality = 0.1 + 0.6 * number / N
        rate = 0.5 + slope * 0.6 * (number / N - 0.5) if arm != "unfilled" else 0.1
        place, about = Cell("abstracts", arm, "random", 0.7), PLACE | {"trained_on": arm, "value": rate}
        units = [
            {"task_seed": seed, "cluster": unit}
            | {f"{mode}{name}": count for mode in ("", "lenient_") for name, count in counts}
            for seed in range(2)
            for unit in range(UNITS)
            for hits in [rng.binomial(10, rate)]
            for counts in [(("tp", hits), ("fp", 10 - hits), ("fn", 10 - hits))]
        ]
        trained.append(TrainedCell(place, "ner", units=pd.DataFrame(units)))
        downstream.append(about | {"task": "ner", "metric": "f1", "low": rate - 0.1, "high": rate + 0.1})
        headroom.append(about | {"low": 0.0, "high": 1.0, "headroom": 0.2, "detectable": 0.04})
        if arm != DROPPED:
            hits = rng.binomial(20, quality, DOCUMENTS)
            rows = {("fills", "exact_match"): np.stack([hits, np.full(DOCUMENTS, 20)], axis=1)}
            scored.append(ScoredCell(place, statistics=rows))
            named = PLACE | {"arm": arm, "scope": "fills", "metric": "exact_match"}
            scores.append(named | dict.fromkeys(("value", "low", "high"), quality))
    shared = {"seed": 0, "n": 9, "share": 0.7, "reason": ""}
    tables = {"scores": pd.DataFrame(scores).assign(**shared), "headroom": pd.DataFrame(headroom)}
    return scored, trained, tables | {"downstream": pd.DataFrame(downstream).assign(**shared)}


@cache
def relate(slope=1.0):
    """Return the table `writers` of such a study."""
    return correlate_writers(*make_study(slope), 200, 0.5)


@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_a_strong_relation_is_decided_either_way(slope):
    rows = tidy("writers", relate(slope)).set_index("statistic")
    assert rows.loc["spearman", "decision"] == "strong correlation"
    assert rows.loc["spearman", "value"] * slope > 0.9
    assert rows.loc["spearman", "n_writers"] == N and rows.loc["room", "value"] == pytest.approx(5)
    assert 0.8 < rows.loc["reliability", "value"] <= 1
    assert rows.loc["threshold_p", "decision"] == "no threshold shown"


def test_of_each_text_there_is_quality_and_usefulness_and_a_label_policy_has_its_text():
    rows = tidy("usefulness", list_usefulness(make_study()[2])).set_index("arm")
    assert len(rows) == N + 2 and rows.loc["unfilled", "kind"] == "reference"
    assert rows.loc[DROPPED, "quality"] == rows.loc[ARMS[0], "quality"]
    assert rows.loc[DROPPED, "value"] != rows.loc[ARMS[0], "value"]


def test_a_study_of_few_writers_has_no_such_tables(monkeypatch):
    monkeypatch.setattr(usefulness, "FEWEST_WRITERS", N + 1)
    assert list_usefulness(make_study()[2]).empty and correlate_writers(*make_study(), 50, 0.5).empty


def test_writers_of_whose_texts_no_task_model_could_be_trained_have_no_rows():
    scored, trained, tables = make_study()
    untrained = [replace(model, reason="no model could be trained") for model in trained]
    assert correlate_writers(scored, untrained, tables, 50, 0.5).empty


def test_a_text_that_was_scored_at_another_seed_is_left_out():
    scored, trained, tables = make_study()
    moved = [replace(scored[0], cell=replace(scored[0].cell, seed=7)), *scored[1:]]
    rows = correlate_writers(moved, trained, tables, 50, 0.5)
    assert set(rows["n_writers"]) == {N - 1}


def ask(room, slope=1.0, task="ner", detectable=0.04):
    scored, trained, tables = make_study(slope)
    headroom = tables["headroom"].assign(room="yes", reason="", detectable=detectable)
    competence = pd.DataFrame(columns=COLUMNS["competence"])
    tables = tables | {"writers": relate(slope), "headroom": headroom, "competence": competence}
    cell = {"strategy": "random", "ratio": 0.7}
    condition = {"name": "entities", "statistic": "spearman", "task": task, "cells": cell}
    claim = {"id": "U1", "kind": "writers", "margin": 0.5, "gate": "task", "room": room, "main": cell}
    claim |= {"measures": [{"scope": "fills", "metric": "exact_match"}], "conditions": [condition]}
    return answer([claim], Study(scored, trained, tables, 100)).to_dict("records")


def test_a_claim_on_writers_is_decided_where_the_task_has_the_room_that_is_asked():
    (row,) = ask(4)
    assert (row["status"], row["direction"], row["size"], row["n"]) == ("made", "first", "outside", N)
    (row,) = ask(4, slope=-1.0)
    assert row["direction"] == "second"
    (row,) = ask(6)
    assert row["status"] == "no room" and "headroom is 5.0 times" in row["excluded_because"]
    (row,) = ask(4, detectable=np.nan)
    assert row["status"] == "no room" and row["excluded_because"].startswith("no headroom was measured")
    assert ask(4, task="genres") == []
