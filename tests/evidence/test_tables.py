"""Tidy tables: seeds are averaged, the main cell is a setting, and a notebook finds its results."""

import numpy as np
import pandas as pd
from refusals import assert_refused

from mlm_vs_clm.evidence.tables import at_main_cell, find_results, main_cell, over_seeds


def average(values, lows, highs, reasons=None):
    rows = pd.DataFrame(
        {"arm": "mlm", "seed": range(len(values)), "value": values, "low": lows, "high": highs}
    )
    return over_seeds(rows.assign(n=10, share=0.5, reason=reasons), ["arm"]).iloc[0]


def test_seeds_are_averaged_and_their_widest_interval_is_kept():
    cell = average([0.2, 0.4], [0.1, 0.3], [0.3, 0.6])
    assert (round(cell["value"], 10), cell["low"], cell["high"], cell["seeds"]) == (0.3, 0.1, 0.6, 2)


def test_seeds_without_intervals_span_their_own_values_and_one_seed_has_none():
    pair = average([0.2, 0.4], [np.nan] * 2, [np.nan] * 2)
    assert (pair["low"], pair["high"]) == (0.2, 0.4)
    assert np.isnan(average([0.2], [np.nan], [np.nan])["low"])


def test_a_seed_that_is_missing_is_told():
    cell = average([0.2, np.nan], [0.1, np.nan], [0.3, np.nan], [None, "no labels"])
    assert cell["value"] == 0.2 and cell["reason"] == "1 of 2 seeds missing: no labels"


def test_the_main_cell_is_that_of_the_study():
    study = pd.DataFrame([{"scale": "smoke", "main_strategy": "entities", "main_ratio": 0.4}])
    main = main_cell({"study": study})
    rows = pd.DataFrame({"strategy": ["random", "entities", "entities"], "ratio": [0.4, 0.4, 1.0]})
    assert main == ("entities", 0.4) and list(at_main_cell(rows, main).index) == [1]
    assert_refused("study.yaml says nothing", main_cell, {"study": study.iloc[:0]})


def test_the_results_folder_of_a_notebook(tmp_path):
    assert_refused("make reproduce", find_results, {}, tmp_path)
    for scale in ("laptop", "smoke"):
        (tmp_path / scale).mkdir()
    (tmp_path / "smoke" / "study.yaml").touch()
    told = "No results at the scale laptop: reading smoke instead."
    assert find_results({}, tmp_path) == (tmp_path / "smoke", told)
    (tmp_path / "laptop" / "study.yaml").touch()
    assert find_results({}, tmp_path)[0].name == "laptop"
    assert find_results({"MLM_VS_CLM_RESULTS": "elsewhere"}, tmp_path)[0].name == "elsewhere"
