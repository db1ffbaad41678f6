"""Networks that are fine-tuned on real text: who is ahead, where there is room, and the frames they are kept in."""

import numpy as np
import pandas as pd
import pytest
from made_cells import list_models

from mlm_vs_clm.evidence.answers import answer
from mlm_vs_clm.evidence.cells import Cell, TrainedCell
from mlm_vs_clm.evidence.competence import judge_competence
from mlm_vs_clm.evidence.study import Study
from mlm_vs_clm.evidence.units import NAMES, list_trained, list_units

N = 200
CLAIM = {"id": "F1", "kind": "understanding", "margin": {"accuracy": 0.02}, "as_stated": ["first"]}
CLAIM |= {"gate": "none", "main": {"strategy": "random", "ratio": 0.5}}


def network(name, share, examples, seeds=3, task="next_sentence", corpus="abstracts"):
    """Return a network that answers this share of the test units rightly, the same ones at every task seed."""
    right = (np.random.default_rng(0).permutation(N) < share * N).astype(int)
    units = [
        {"task_seed": seed, "id": str(i), "cluster": str(i), "right": int(value)}
        for seed in range(seeds)
        for i, value in enumerate(right)
    ]
    return TrainedCell(
        Cell(corpus, name, "", float("nan")),
        task,
        f"downstream/{name}{examples}",
        pd.DataFrame(units),
        "",
        examples,
    )


def text(arm):
    units = [{"task_seed": 0, "id": "0", "cluster": "0", "tp": 1, "fp": 0, "fn": 0}]
    return TrainedCell(Cell("abstracts", arm, "random", 0.5), "ner", f"downstream/{arm}", pd.DataFrame(units))


def ask(cells, first, second, examples=400, task="next_sentence"):
    rows = [
        {"corpus": one.cell.corpus, "task": one.task, "metric": "accuracy", "network": one.cell.arm}
        | {"examples": one.examples, "value": one.units["right"].mean()}
        for one in cells
    ]
    tables = {"competence": judge_competence([], 100), "understanding": pd.DataFrame(rows)}
    condition = {"name": "x", "first": {"arm": first}, "second": {"arm": second}}
    condition |= {"task": task, "examples": examples}
    return answer([CLAIM | {"conditions": [condition]}], Study([], cells, tables, 200)).to_dict("records")


CELLS = [
    network("mlm", 0.9, 400),
    network("clm", 0.7, 400),
    network("start", 0.9, 400),
    network("majority", 0.5, 400, seeds=1),
]


def test_a_better_network_is_ahead_and_a_row_says_how_much_room_there_was():
    (row,) = ask(CELLS, "mlm", "clm")
    assert (row["status"], row["direction"], row["size"], row["runs"]) == ("made", "first", "outside", 1)
    assert row["effect"] == pytest.approx(0.2)
    assert (row["scope"], row["metric"]) == ("understanding", "accuracy")
    assert row["first_strategy"] == "" and "above the majority answer by 0.400" in row["reason"]
    (row,) = ask(CELLS, "clm", "mlm")
    assert row["direction"] == "second"


def test_equal_networks_are_inside_the_margin():
    (row,) = ask(CELLS, "mlm", "start")
    assert row["size"] == "inside the margin" and row["direction"] == "none shown"


def test_a_task_at_its_majority_answer_decides_nothing():
    cells = [network("mlm", 0.51, 400), network("clm", 0.49, 400), network("majority", 0.5, 400, seeds=1)]
    (row,) = ask(cells, "mlm", "clm")
    assert row["status"] == "no room" and row["direction"] == "" and "0.010" in row["excluded_because"]


def test_a_network_that_was_not_run_is_a_row_and_a_task_of_another_corpus_is_none():
    (row,) = ask(CELLS, "hybrid", "clm")
    assert row["status"] == "not run" and "hybrid" in row["reason"]
    (row,) = ask(CELLS, "mlm", "clm", examples=100)
    assert row["status"] == "not run"
    assert ask(CELLS, "mlm", "clm", task="authors") == []


def test_frames_keep_networks_beside_texts_and_studies_without_networks_have_no_column_of_them():
    cells = [*CELLS, text("mlm")]
    units = list_units(cells)
    models = pd.DataFrame(list_models(cells)).assign(examples=[one.examples for one in cells])
    again = list_trained(units, models)
    assert [one.examples for one in again] == [400, 400, 400, 400, None]
    assert [len(one.units) for one in again] == [3 * N] * 3 + [N, 1]
    names = [[name for name in one.units if name not in ("task_seed", "id", "cluster")] for one in cells]
    assert [[name for name in one.units if name not in ("task_seed", "cluster")] for one in again] == names
    assert "examples" not in list_units([text("mlm")]) and {*NAMES} <= {*list_units([text("mlm")])}
