"""The seeds of a cell are one finding to the shapes and to the mixed model."""

import numpy as np
import pandas as pd
import pytest

from mlm_vs_clm.analysis.correlation import describe_corpus
from mlm_vs_clm.analysis.pooling import FORMULAS, MEASURED, average_seeds, fit_mixed_model


def make_cells(seed, n=30):
    rng = np.random.default_rng(seed)
    quality, share = rng.normal(size=n), np.linspace(0.1, 0.9, n)
    measured = {"share": share, "quality": quality, "utility": 0.4 * quality + rng.normal(size=n)}
    names = {"cluster": [f"cell {i}" for i in range(n)], "arm": ["mlm", "clm"] * (n // 2)}
    return pd.DataFrame(measured | names | {"strategy": ["random", "stopwords", "entities"] * (n // 3)})


def thrice(cells):
    """Return every cell with three seeds that found the same."""
    return pd.concat([cells] * 3, ignore_index=True)


def test_three_seeds_that_found_the_same_are_one_finding():
    cells = {name: make_cells(number) for number, name in enumerate("abc")}
    again = {name: thrice(part) for name, part in cells.items()}
    for formula in FORMULAS.values():
        one, three = fit_mixed_model(formula, cells), fit_mixed_model(formula, again)
        assert (three.value, three.low, three.high) == pytest.approx((one.value, one.low, one.high), abs=1e-4)
        assert three.n == one.n == 90
    rows, repeated = (
        {row["statistic"]: row for row in describe_corpus(part, 0.5, len(part), 100, 0.5)}
        for part in (cells["a"], again["a"])
    )
    for name in ("spline_p", "spline_aic_gain", "threshold", "threshold_p"):
        assert repeated[name]["value"] == pytest.approx(rows[name]["value"])
        assert repeated[name]["n_cells"] == 30


def test_seeds_are_averaged_within_a_cell():
    cells = make_cells(0)
    found = average_seeds(pd.concat([cells, cells.assign(quality=cells["quality"] + 0.2)]))
    assert list(found["quality"]) == pytest.approx(list(cells["quality"] + 0.1))
    pd.testing.assert_frame_equal(average_seeds(cells)[MEASURED], cells[MEASURED])
