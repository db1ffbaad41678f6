"""Differences between two arms: tables and figures say what the rows say, and why a value is missing."""

import pandas as pd
import pytest
from fake_tables import tidy_fakes
from made_cells import COMPARISONS

from mlm_vs_clm.evidence.equal_compute import BASES
from mlm_vs_clm.report.build import show_tables
from mlm_vs_clm.report.differences import compute_table
from mlm_vs_clm.report.style import Study

DIFFERENCES = ("text", "seed", "compute")


@pytest.fixture(scope="module")
def tables():
    return tidy_fakes(("plots", "speeches"))


@pytest.mark.parametrize("name", DIFFERENCES)
def test_tables_hold_every_comparison_and_say_why_one_is_missing(tables, name):
    (text,) = show_tables(name, tables)
    assert all(one.name in text for one in COMPARISONS)
    assert "(a) not run: mlm_left" in text.replace("(b)", "(a)") and "nan" not in text


def test_the_table_of_texts_names_its_units_and_its_cells(tables):
    (text,) = show_tables("text", tables)
    assert "| 150 |" in text
    assert (
        "arm=clm,clm_kept,clm_lookahead,clm_noised,clm_smollm2,infill,mlm,mlm_leaky,mlm_left,seq2seq_kept"
        in text
    )
    assert "| plots | known length | mlm - clm | mlm +0.020 [0.005, 0.035] | mlm +2.0 [0.5, 3.5] |" in text


@pytest.mark.parametrize("name", [*DIFFERENCES, "training data", "curve"])
def test_no_rows_give_no_table(tables, name):
    rows = tables["comparisons"]
    assert show_tables(name, tables | {"comparisons": rows[rows["kind"] != name]}) == []


def test_the_table_of_seeds_has_their_mean_and_deviation_by_hand(tables):
    about = {"kind": "seed", "corpus": "plots", "comparison": "known length", "first": "mlm", "second": "clm"}
    about |= {"n": 10, "excluded_because": "", "direction": "first", "reason": ""}
    rows = [
        about
        | {"scope": scope, "metric": metric, "at": str(seed), "value": value}
        | {"low": value - 0.2, "high": value + 0.2}
        for scope, metric in (("document", "bleu"), ("utility", "auc"), ("fills", "exact_match"))
        for seed, value in enumerate((0.5, -0.5, 1.5))
    ]
    lost = rows[0] | {"comparison": "both contexts", "value": None, "reason": "not defined"}
    (table,) = show_tables("seed", tables | {"comparisons": pd.DataFrame([*rows, lost])})
    assert "| mlm +0.5 [0.3, 0.7] | mlm -0.5 [-0.7, -0.3] | mlm +1.5 [1.3, 1.7] | +0.5 | 1.0 |" in table
    assert "| AUC, as training data | mlm +0.500 [0.300, 0.700] |" in table
    assert ") not defined" in table and "not every seed has the difference" in table
    assert "exact match" not in table.lower()


def test_the_table_has_a_column_per_basis_and_none_stands_in_for_another():
    about = {"kind": "compute", "comparison": "known length", "first": "mlm", "second": "clm"}
    about |= {"scope": "fills", "metric": "exact_match"}
    about |= {"low": 0.0, "high": 1.0, "n": 9, "excluded_because": "", "direction": "first", "reason": ""}
    about |= {"flops_first": 2.0, "flops_second": 1.0}
    known = [("abstracts", BASES[1], 0.1), ("plots", BASES[2], 0.2), ("plots", BASES[1], 0.3)]
    rows = [about | {"corpus": corpus, "at": basis, "value": value} for corpus, basis, value in known]
    (table,) = compute_table(pd.DataFrame(rows), Study("laptop", ("random", 0.5)))
    assert [name.split(": ")[1] for name in table.header if ": " in name] == [*BASES[1:]]
    assert [[entry.text for entry in row[3:5]] for row in table.rows] == [
        ["mlm +0.100 [0.000, 1.000]", "missing"],
        ["mlm +0.300 [0.000, 1.000]", "mlm +0.200 [0.000, 1.000]"],
    ]


def test_a_table_of_which_nothing_was_measured_names_the_command_of_the_report(tables):
    rows = tables["comparisons"].assign(value=None)
    (table,) = show_tables("training data", tables | {"comparisons": rows})
    assert "python experiments/report.py" in table and "arm= " not in table
