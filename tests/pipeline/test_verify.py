"""Verification: fresh results against committed ones, number by number, and the degree of reproduction."""

import numpy as np
import pandas as pd
import pytest

from mlm_vs_clm.__main__ import main
from mlm_vs_clm.analysis.reproduction import rank_agreement, vary
from mlm_vs_clm.pipeline import verify

CELL = {"objective": "mlm", "context": "both", "length": "known", "order": "random", "strategy": "random"}
ROWS = [("mlm", "bleu", 40.0), ("clm", "bleu", 35.0), ("unfilled", "bleu", 30.0), ("mlm", "bleu_gain", 0.5)]


def write_results(folder, change=lambda tables: tables):
    """Write scores and claims of one corpus into a folder, after a change."""
    scores = pd.DataFrame(
        {"corpus": "plots", "arm": arm, "metric": metric, "value": value, "low": value - 1, "high": value + 1}
        | CELL
        | {
            "scope": "document",
            "ratio": 0.5,
            "share": 0.44,
            "seed": 0,
            "n": 150,
            "signature": "s",
            "artifact": "a",
        }
        for arm, metric, value in ROWS
    )
    claims = pd.DataFrame(
        {
            "claim": ["C1", "C2"],
            "corpus": "overall",
            "metric": ["bleu", None],
            "scope": ["document", None],
            "verdict": ["supported", "inconclusive"],
            "effect": [5.0, np.nan],
        }
    )
    folder.mkdir(exist_ok=True)
    for name, table in change({"scores": scores, "claims": claims}).items():
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder


def compare(tmp_path, change):
    """Return the exit code and the statuses (not OK) of committed results against the same after a change."""
    committed = write_results(tmp_path / "committed")
    fresh = write_results(tmp_path / "fresh", change)
    compared = verify.compare_folders(fresh, committed)
    wrong = compared[compared["status"] != "OK"]
    code = main(["verify", "--fresh", str(fresh), "--committed", str(committed)])
    return code, {(row.file, row.measure): row.status for row in wrong.itertuples()}


def setting(name, row, column, value):
    def change(tables):
        tables[name] = tables[name].astype(object)
        tables[name].loc[row, column] = value
        return tables

    return change


def test_equal_results_are_ok_and_missing_on_both_sides_is_agreement(tmp_path, capsys):
    assert compare(tmp_path, lambda tables: tables) == (0, {})
    told = capsys.readouterr().out
    assert "0 near, 0 differs, 0 missing, 0 extra" in told
    assert "2 of 2 verdicts agree, 0 on one side" in told
    assert "rank agreement (Kendall) 1.000" in told


@pytest.mark.parametrize(
    ("row", "column", "value", "code", "status"),
    [
        (0, "value", 40.0000001, 0, {}),
        (0, "value", 40.4, 0, {("scores", "bleu"): "near"}),
        (0, "value", 40.6, 1, {("scores", "bleu"): "differs"}),
        (0, "low", 38.0, 1, {("scores", "bleu low"): "differs"}),
        (3, "value", 0.54, 0, {("scores", "bleu_gain"): "near"}),
        (0, "share", 0.46, 1, {("scores", "share"): "differs"}),
        (0, "n", 149, 1, {("scores", "n"): "differs"}),
        (0, "value", None, 1, {("scores", "bleu"): "missing"}),
        (0, "artifact", "b", 0, {}),
        (0, "signature", "t", 0, {}),
    ],
)
def test_a_number_is_judged_by_the_tolerance_of_its_metric(tmp_path, row, column, value, code, status):
    assert compare(tmp_path, setting("scores", row, column, value)) == (code, status)


def test_verdicts_are_compared_as_words(tmp_path, capsys):
    code, status = compare(tmp_path, setting("claims", 0, "verdict", "contradicted"))
    assert code == 1 and status == {("claims", "verdict"): "differs"}
    told = capsys.readouterr().out
    assert "differs: claims C1 overall bleu document verdict: contradicted for supported" in told
    assert "1 of 2 verdicts agree" in told


def test_a_number_where_none_was_committed_is_extra_and_no_failure(tmp_path):
    assert compare(tmp_path, setting("claims", 1, "effect", 1.0)) == (0, {("claims", "effect"): "extra"})


def test_absent_rows_columns_and_files_are_missing(tmp_path):
    code, status = compare(tmp_path / "", lambda tables: tables | {"scores": tables["scores"].iloc[1:]})
    assert code == 1 and status[("scores", "bleu")] == "missing"
    code, status = compare(tmp_path, lambda tables: tables | {"scores": tables["scores"].drop(columns="low")})
    assert code == 1 and set(status) == {("scores", "bleu low"), ("scores", "bleu_gain low")}
    (tmp_path / "fresh" / "claims.csv").unlink()
    code, status = compare(tmp_path, lambda tables: {"scores": tables["scores"]})
    assert code == 1 and set(status.values()) == {"missing"} and {file for file, _ in status} == {"claims"}


def test_the_order_of_rows_does_not_matter(tmp_path):
    assert compare(tmp_path, lambda tables: {n: t.iloc[::-1] for n, t in tables.items()}) == (0, {})


def test_measured_columns_are_left_out_and_counts_may_move_by_a_hundredth():
    row = {"corpus": "plots", "arm": "mlm", "strategy": "random", "ratio": 0.5, "seed": 0}
    first = pd.DataFrame([row | {"flops": 1000, "seconds": 1.0, "peak_memory_mb": 10, "blanks": 7}])
    second = pd.DataFrame([row | {"flops": 1009, "seconds": 9.0, "peak_memory_mb": 90, "blanks": 7}])
    compared = verify.compare_tables("ledger", second, first).set_index("measure")
    assert compared["status"].to_dict() == {"flops": "near", "blanks": "OK"}


def test_a_table_unknown_here_is_paired_by_its_words_ratio_and_seed():
    first = pd.DataFrame({"axis": ["order", "order"], "ratio": [0.15, 0.5], "value": [0.1, 0.2]})
    compared = verify.compare_tables("later", first.iloc[::-1], first)
    assert list(compared["cell"]) == ["order 0.15", "order 0.5"]
    assert set(compared["status"]) == {"OK"}


@pytest.mark.parametrize("broken", ["absent", "empty", "column", "damaged"])
def test_folders_that_cannot_be_compared_get_one_line(tmp_path, capsys, broken):
    committed = write_results(tmp_path / "committed")
    fresh = tmp_path / "fresh"
    if broken == "empty":
        fresh.mkdir()
    if broken == "column":
        write_results(fresh, lambda tables: tables | {"scores": tables["scores"].drop(columns="arm")})
    if broken == "damaged":
        write_results(fresh)
        (fresh / "scores.csv").write_text("a,b\n1,2,3\n")
    assert main(["verify", "--fresh", str(fresh), "--committed", str(committed)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1


def test_the_coefficient_of_variation_is_worked_by_hand():
    """10 and 12: s = 2 / sqrt 2, unbiased s / sqrt(2 / pi) = 1.7725, times 1.125 over 11 is 18.13 %."""
    assert vary(np.array([10.0, 5.0]), np.array([12.0, 5.0])) == pytest.approx([18.127, 0], abs=1e-3)
    assert np.isnan(vary(np.array([0.0]), np.array([0.0])))


def test_rank_agreement_is_kendalls_and_needs_three_arms():
    group = pd.DataFrame({"value_fresh": [1.0, 2, 3], "value_committed": [1.0, 3, 2]})
    assert rank_agreement(group) == pytest.approx(1 / 3)
    assert np.isnan(rank_agreement(group.iloc[:2]))
    assert np.isnan(rank_agreement(group.assign(value_fresh=1.0)))
