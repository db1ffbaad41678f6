"""Utility as a share of headroom, by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from made_cells import trained

from mlm_vs_clm.evidence.cells import Cell
from mlm_vs_clm.evidence.headroom import exclude_no_room, share_headroom
from mlm_vs_clm.evidence.verdicts import UTILITY
from mlm_vs_clm.report.style import Study
from mlm_vs_clm.report.utility import describe_random_words, headroom_tables

STUDY = Study("smoke", ("random", 0.5))
COLUMNS = ("tp", "fp", "fn", "lenient_tp", "lenient_fp", "lenient_fn")


def learned(arm, right, seed=0, masking=("entities", 1.0), n=60, task_seeds=2):
    """Return a cell of n test units of ten entities, of which about `right` are found (and as many fewer wrongly)."""
    rng, units = np.random.default_rng(1), []
    for task_seed in range(task_seeds):
        for i in range(n):
            tp = int(np.clip(right + rng.integers(-1, 2), 0, 10))
            counts = dict(zip(COLUMNS, (tp, 10 - tp, 10 - tp) * 2, strict=True))
            units.append({"task_seed": task_seed, "id": f"d{i}", "cluster": f"d{i}"} | counts)
    cell = Cell("abstracts", arm, *(("", float("nan")) if arm == "real" else masking), seed)
    return replace(trained(arm, units), cell=cell)


def share(*cells):
    return share_headroom(cells, 200).set_index("trained_on")


@pytest.fixture(scope="module")
def rows():
    return share(learned("real", 8), learned("unfilled", 2), learned("mlm", 5), learned("uniform", 8))


def test_the_share_of_headroom_by_hand(rows):
    row = rows.loc["mlm"]
    assert (row["real_value"], row["unfilled_value"]) == pytest.approx((0.8, 0.2), abs=0.02)
    assert row["room"] == "yes" and row["detectable"] < row["headroom"] == pytest.approx(0.6)
    assert row["value"] == pytest.approx(0.5, abs=0.01) and row["low"] <= row["value"] <= row["high"]
    assert rows.loc["uniform", "value"] == pytest.approx(1) and set(rows.index) == {"mlm", "uniform"}


def test_the_share_is_that_of_the_means_over_texts():
    cells = [learned("real", 8)]
    for seed, right in enumerate((4, 5, 6)):
        cells += [learned("unfilled", 2, seed), learned("mlm", right, seed)]
    row = share(*cells).loc["mlm"]
    assert row["runs"] == 3 and row["value"] == pytest.approx(0.5, abs=0.01)
    assert row["low"] < 0.35 and row["high"] > 0.65  # texts differ far more than documents


def test_without_room_rows_as_training_data_decide_nothing_and_those_of_texts_do():
    place = {"corpus": "plots", "strategy": "random", "ratio": 0.5}
    headroom = pd.DataFrame([place | {"room": "no", "reason": "small"}])
    rows = pd.DataFrame({"corpus": ["plots", "plots", "speeches"], "scope": [UTILITY, "document", UTILITY]})
    rows = rows.assign(status="made", excluded_because="", value=1.0)
    marked = exclude_no_room(rows, headroom, ("random", 0.5))
    assert list(marked["status"]) == ["no room", "made", "made"]
    assert list(marked["excluded_because"] != "") == [True, False, False]


def test_no_room_is_a_reason_and_no_number():
    real = learned("real", 5)
    tp = 10 * (np.arange(len(real.units)) % 2)  # all or nothing: as good on the whole, and noisy
    changed = real.units.assign(tp=tp, fp=10 - tp, fn=10 - tp)
    row = share(replace(real, units=changed), learned("unfilled", 5), learned("mlm", 5)).loc["mlm"]
    assert row["room"] == "no" and pd.isna(row["value"])
    assert row["reason"].startswith("no room: real text is above")


def test_what_was_not_run_or_not_trained_is_said():
    assert share(learned("mlm", 5), learned("unfilled", 2)).loc["mlm", "reason"] == "not run: real"
    assert share(learned("mlm", 5), learned("real", 8)).loc["mlm", "reason"] == "not run: unfilled"
    untrained = replace(learned("unfilled", 2), reason="no model could be trained")
    rows = share(learned("real", 8), untrained, learned("mlm", 5))
    assert rows.loc["mlm", "reason"] == "unfilled: no model could be trained"


def test_the_page_tells_language_models_against_random_words(rows):
    rows = rows.reset_index()
    (told,) = describe_random_words(rows, STUDY)
    said = "abstracts, all entities masked, share of headroom: random words uniform 1.00; others mlm 0.50."
    assert told == said
    rooms, shares = headroom_tables(rows, STUDY)
    assert rooms.rows[0][-1].text == "yes" and list(shares.header[3:]) == ["mlm", "uniform"]


def test_beating_unfilled_text_is_a_difference_and_has_the_noise_of_one_training():
    cells = learned("real", 8), learned("unfilled", 2), learned("mlm", 5), learned("constant", 5)
    plain = share(*cells)
    trained_once = share_headroom(cells, 200, {"f1": 0.2}, lambda place: int(place[1] == "mlm"))
    wide = trained_once.set_index("trained_on")
    assert plain.loc["mlm", "above"] == pytest.approx(0.3, abs=0.02) and plain.loc["mlm", "above_low"] > 0
    assert wide.loc["mlm", "above_low"] < 0 < wide.loc["mlm", "above_high"]
    assert wide.loc["constant", "above_low"] == plain.loc["constant", "above_low"]  # a table has no training
