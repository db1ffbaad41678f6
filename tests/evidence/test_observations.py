"""A study is its frames: what is read back from them is what was measured, to the last bit, and nothing names a text."""

import math

import numpy as np
import pandas as pd
import pytest
import yaml
from made_cells import list_models, matched, scored, trained
from refusals import assert_refused

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.evidence.cells import Cell, TrainedCell
from mlm_vs_clm.evidence.documents import COUNTS, list_documents
from mlm_vs_clm.evidence.observations import (
    MEASURE,
    Design,
    Observations,
    describe_design,
    describe_scored,
    is_cut_off,
    list_scored,
    load_observations,
    save_observations,
)
from mlm_vs_clm.evidence.scores import score_measure
from mlm_vs_clm.evidence.units import list_trained, list_units, narrow, order_columns
from mlm_vs_clm.files import STUDY, read_parquet, write_lines, write_parquet
from mlm_vs_clm.metrics import ALONE, FILL_METRICS, METRICS, NATS, PROXIES
from mlm_vs_clm.report.study_folder import refresh_tables

DESIGN = Design("smoke", "matched", "random", 0.5, 50, 0.5)
BLEU = ("document", "bleu")
ROUGE = ("document", "rougeL")


def observe(cells, learned=()):
    """Return the frames of cells."""
    rows = [describe_scored(one) | {"method": one.method} for one in cells]
    about = {"signature": "s", "resamples": 20, "reason": ""}
    measures = [
        describe_scored(one) | about | {"scope": scope, "metric": metric}
        for one in cells
        for scope, metric in one.statistics
    ]
    nothing = pd.DataFrame({"none": []})
    plain = (pd.DataFrame(rows), pd.DataFrame(list_models(learned) or {"none": []}), nothing, nothing)
    measures = pd.DataFrame(measures, columns=MEASURE)
    return Observations(list_documents(cells), measures, list_units(learned), *plain, DESIGN)


def write_and_read(observed, folder):
    """Return frames after they were on disk."""
    save_observations(observed, folder)
    write_lines(folder / "study.yaml", [{"study": describe_design(DESIGN, "0")}])
    return load_observations(folder)


def test_cells_come_back_as_they_were_measured(tmp_path):
    draw = np.random.default_rng(0)
    rouge = np.stack([draw.random(3), np.ones(3)], axis=1)
    rouge[1] = np.nan
    bleu = draw.integers(0, 300, (3, 10)).astype(float)
    place = {"budget": 500, "tokens_seen": 510, "tokens_predicted": 250, "passes": {"plots": 1 / 3}}
    cells = [
        scored("mlm", {BLEU: bleu, ROUGE: rouge}, clusters=["b", "a", "b"], context="both", training="t"),
        scored("clm", {ROUGE: rouge * np.nan}, clusters=["b", "a", "b"], place=place, temperature=0.1),
        matched("none", [1, 2, 3], seed=2),
    ]
    again = list_scored(write_and_read(observe(cells), tmp_path))
    for one, read in zip(cells, again, strict=True):
        assert read.cell == one.cell and read.statistics.keys() == one.statistics.keys()
        for measure, rows in one.statistics.items():
            np.testing.assert_array_equal(read.statistics[measure], rows)
        same = ("context", "training", "temperature", "place", "ledger", "method", "artifact")
        assert [getattr(read, name) for name in same] == [getattr(one, name) for name in same]
    assert again[0].clusters == [2, 1, 2] and again[2].clusters is None
    rows = score_measure(ROUGE, rouge, cells[0].clusters, 50, "s", "")
    assert rows == score_measure(ROUGE, again[0].statistics[ROUGE], again[0].clusters, 50, "s", "")


@pytest.mark.parametrize(
    ("setting", "level", "cut_off"),
    [
        ("arm.right_words", 0, True),
        ("arm.right_words", 1, False),
        ("arm.right_words", -1, False),
        ("arm.per_pass", 0, False),
    ],
)
def test_an_arm_that_sees_no_word_behind_a_blank_reads_the_left_side(setting, level, cut_off):
    assert is_cut_off({"arm": "m", "base": "m", "setting": setting, "level": level}) is cut_off


def test_answers_come_back_with_the_columns_of_their_task_alone(tmp_path):
    tagger = [
        {"task_seed": seed, "id": f"d{n}", "cluster": f"d{n // 2}", "tp": n, "fp": seed, "fn": 1}
        for seed in (0, 1)
        for n in (0, 1, 2)
    ]
    pair = [{"task_seed": 0, "id": "p", "cluster": "author", "same": 1, "score": 0.1}]
    control = TrainedCell(Cell("abstracts", "real", "", math.nan), "ner", units=pd.DataFrame(tagger))
    judge = TrainedCell(Cell("speeches", "mlm", "random", 0.5), "verification", units=pd.DataFrame(pair))
    untrained = trained("clm", [], reason="no model could be trained: x")
    cells = [trained("mlm", tagger, seed=1), control, judge, untrained]
    observed = write_and_read(observe([matched("mlm", [1])], cells), tmp_path)
    again = list_trained(observed.units, observed.task_models)
    assert [one.units.assign(cluster=0).to_dict("records") for one in again[:2]] == [
        [{key: value for key, value in unit.items() if key != "id"} | {"cluster": 0} for unit in tagger]
    ] * 2
    assert [*again[0].units["cluster"]] == [1, 1, 2, 1, 1, 2]
    assert again[2].units.to_dict("records") == [
        {"task_seed": 0, "cluster": 1, "same": 1, "score": float(np.float32(0.1))}
    ]
    assert again[3].units.empty and again[3].reason.startswith("no model")
    assert not observed.units.astype(str).isin(["author", "d0", "p"]).any().any()


def test_columns_of_several_corpora_keep_the_order_of_each():
    lists = [["tp", "fp", "tp b"], ["tp", "fp", "tp a", "tp b"], []]
    assert order_columns(lists) == ["tp", "fp", "tp a", "tp b"]


def test_every_measure_has_columns():
    known = {("fills", name) for name in (*FILL_METRICS, NATS)}
    assert known | {("document", name) for name in (*ALONE, *METRICS)} <= COUNTS.keys()
    assert set(METRICS) >= set(PROXIES) - {"nonword_rate"}


def test_a_measure_without_columns_is_refused():
    with pytest.raises(StudyError, match="metrics.MEASURES"):
        list_documents([scored("mlm", {("document", "new"): np.ones((2, 2))})])


def test_numbers_take_the_least_room_that_holds_them_and_the_bytes_are_the_same(tmp_path):
    table = pd.DataFrame(
        {"word": ["a", "b"], "n": [1, 300], "gap": [np.nan, 2.0], "half": [0.5, 1], "third": [1 / 3, 1]}
    )
    for name in ("one", "two"):
        write_parquet(table, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    from pyarrow import parquet

    kinds = parquet.read_schema(tmp_path / "one")
    assert [str(kind) for kind in kinds.types[1:]] == ["int16", "int8", "float", "double"]
    pd.testing.assert_frame_equal(read_parquet(tmp_path / "one"), table, check_dtype=False)


@pytest.mark.parametrize("frame", ["cells.csv", "measures.parquet"])
@pytest.mark.parametrize("read", [load_observations, refresh_tables])
def test_a_study_without_a_frame_is_one_line(tmp_path, frame, read):
    write_and_read(observe([matched("mlm", [1])]), tmp_path)
    (tmp_path / frame).unlink()
    assert_refused(f"does not hold all frames of a study .*{frame}", read, tmp_path)


def test_a_frame_that_was_cut_off_is_one_line(tmp_path):
    write_and_read(observe([matched("mlm", [1]), matched("clm", [1])]), tmp_path)
    cells = tmp_path / "cells.csv"
    cells.write_bytes(cells.read_bytes()[:-20])
    assert_refused("cells.csv is cut off in its last line", load_observations, tmp_path)


def test_scores_lose_digits_only_where_their_order_and_no_answer_stay():
    near = pd.Series([0.3, 0.3 + 1e-12, 0.7])
    none = pd.Series([0.5, 0.5 + 1e-12, 0.7])
    assert narrow(near).equals(near) and narrow(none).equals(none)
    assert list(narrow(pd.Series([0.1, 0.5]))) == [float(np.float32(0.1)), 0.5]


@pytest.mark.parametrize(
    ("edited", "told"),
    [
        ({"resamples": "many"}, "study.yaml: study.resamples=many: give .*20 to 10,000"),
        ({"variants": ["hot"]}, r"study.yaml: study.variants\[0\] is not keys with values"),
        ({"scored_under": None}, "study.yaml has no study.scored_under"),
    ],
)
def test_a_design_with_a_value_of_another_kind_is_one_line(tmp_path, edited, told):
    write_and_read(observe([matched("mlm", [1])]), tmp_path)
    about = yaml.safe_load((tmp_path / STUDY).read_text())
    (tmp_path / STUDY).write_text(yaml.safe_dump({"study": about["study"] | edited}))
    assert_refused(told, load_observations, tmp_path)
