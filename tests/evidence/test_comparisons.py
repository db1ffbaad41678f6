"""Comparisons at every masking: the same differences as at the main cell, and no row for what was not run."""

from dataclasses import replace

import numpy as np
import pytest
from made_cells import MAIN, make_study, matched, scored

from mlm_vs_clm.evidence.cells import Comparison
from mlm_vs_clm.evidence.comparisons import compare_maskings


def score(arm, ratio, right):
    """Return a cell of four documents with ten blanks each, of which about `right` are restored."""
    made = matched(arm, [right, right + 1] * 2, context="both", training="t")
    return replace(made, cell=replace(made.cell, ratio=ratio))


def test_both_arms_are_compared_wherever_both_were_run():
    cells = (("mlm", 0.15, 6), ("clm", 0.15, 5), ("mlm", 0.5, 5), ("clm", 0.5, 2), ("mlm", 1.0, 1))
    study = make_study(*(score(*cell) for cell in cells))
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


def test_by_its_nats_an_arm_is_ahead_that_is_further_below_its_table():
    nats = {
        "mlm": (1.0, "both"),
        "clm": (1.5, "left"),
        "bigram_both": (2.0, "none"),
        "bigram_left": (2.0, "none"),
    }
    cells = [
        scored(arm, {("fills", "nats_per_character"): np.tile([10 * value, 10.0], (12, 1))}, context=context)
        for arm, (value, context) in nats.items()
    ]
    first, second = (("plots", arm, *MAIN) for arm in ("mlm", "clm"))
    found = make_study(*cells).compare(first, second, ("fills", "nats_per_character_lead"))
    assert found.difference == pytest.approx(0.5)
