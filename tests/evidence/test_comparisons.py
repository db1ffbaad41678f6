"""Comparisons at every masking: the same differences as at the main cell, and no row for what was not run."""

import numpy as np
import pandas as pd

from mlm_vs_clm.evidence.cells import Cell, Comparison, ScoredCell
from mlm_vs_clm.evidence.comparisons import compare_maskings
from mlm_vs_clm.evidence.study import Study
from mlm_vs_clm.evidence.tables import COLUMNS

MATCHES = ("fills", "exact_match")


def score(arm, ratio, right, seed=0):
    """Return a cell of four documents with ten blanks each, of which `right` are restored in every document."""
    statistics = {MATCHES: np.array([[right + shift, 10] for shift in (0, 1, 0, 1)], dtype=float)}
    return ScoredCell(
        Cell("plots", arm, "random", ratio, seed), statistics=statistics, context="both", training="t"
    )


def make_study(*cells):
    competence = pd.DataFrame(columns=COLUMNS["competence"])
    return Study(cells, [], {"competence": competence, "downstream": pd.DataFrame()}, 50)


def test_both_arms_are_compared_wherever_both_were_run():
    study = make_study(
        score("mlm", 0.15, 6),
        score("clm", 0.15, 5),
        score("mlm", 0.5, 5),
        score("clm", 0.5, 2),
        score("mlm", 1.0, 1),
    )
    table = compare_maskings([Comparison("known length", "mlm", "clm")], study, {})
    assert table["ratio"].tolist() == [0.15, 0.5]
    assert table["value"].round(9).tolist() == [0.1, 0.3]
    assert table["excluded_because"].tolist() == ["", ""] and table["runs"].tolist() == [1, 1]


def test_a_measure_that_one_arm_lacks_has_no_row():
    plain, likely = score("mlm", 0.5, 5), score("clm", 0.5, 2)
    likely.statistics["fills", "nats_per_character"] = np.ones((4, 2))
    table = compare_maskings([Comparison("known length", "mlm", "clm")], make_study(plain, likely), {})
    assert table["metric"].tolist() == ["exact_match"]
    assert compare_maskings([Comparison("both", "mlm", "infill")], make_study(plain, likely), {}).empty
