"""Task models without a test unit, and measures whose rows are no documents."""

import numpy as np
from made_cells import scored

from mlm_vs_clm.evidence.paired import compare_cells
from mlm_vs_clm.evidence.scores import score_task
from mlm_vs_clm.metrics.disclosure import MEMBERSHIP
from mlm_vs_clm.tasks import TASKS
from mlm_vs_clm.tasks.outcome import NO_ROOM


def test_without_a_test_unit_each_measure_has_a_reason_and_no_number():
    for task in TASKS.values():
        rows = score_task(task.measures, [], (), f"{NO_ROOM}: it has no problem", 20)
        assert [row["metric"] for row in rows] == [*task.measures]
        assert all(row["n"] == 0 and np.isnan(row["value"]) and row["reason"] for row in rows)


def test_pairs_of_texts_are_drawn_as_pairs_and_documents_by_author():
    rng, authors = np.random.default_rng(0), [n // 5 for n in range(40)]
    rows = {
        ("document", name): np.stack([rng.random(40), np.ones(40)], axis=1)
        for name in (MEMBERSHIP, "bertscore")
    }
    sides = [{0: scored(arm, rows, clusters=authors)} for arm in ("mlm", "clm")]
    units = [compare_cells(*sides, measure, 20, ("mlm", "clm")).n for measure in rows]
    assert units == [40, 8]
