"""What generation costs: its table, and the sentences on it."""

import pandas as pd
from fake_tables import fake_tables

from mlm_vs_clm.analysis.equal_compute import BASES
from mlm_vs_clm.analysis.tables import tidy
from mlm_vs_clm.report.compute_reading import read_cost, tell_equal
from mlm_vs_clm.report.cost import cost_table, equal_table


def test_costs_are_means_per_document_beside_what_was_counted_in_all():
    (table,) = cost_table(tidy("ledger", fake_tables(("abstracts",))["ledger"]), "smoke")
    row = {name: entry.text for name, entry in zip(table.header, table.rows[0], strict=True)}
    assert (row["arm"], row["passes"], row["token-forwards"]) == ("mlm", "42.7", "8,192")
    assert (row["GFLOPs"], row["documents"], row["peak memory (MB)"]) == ("258", "150", "900")
    assert (row["device"], row["precision"]) == ("cpu", "float32")


def test_the_sentences_say_nothing_without_rows():
    told = read_cost(*(tidy(name, pd.DataFrame()) for name in ("ledger", "equal_compute")))
    assert told == (
        "Quality at equal compute is not known: no arm was run at costs on both sides of the other's.",
    )


def equal_rows():
    about = {
        "step": "known length",
        "first": "mlm",
        "second": "clm",
        "scope": "fills",
        "metric": "exact_match",
    }
    about |= {"low": 0.0, "high": 1.0, "n": 9, "reason": "", "flops_first": 2.0, "flops_second": 1.0}
    known = [("abstracts", BASES[1], 0.1), ("plots", BASES[2], 0.2), ("plots", BASES[1], 0.3)]
    return pd.DataFrame([about | {"corpus": c, "basis": basis, "value": v} for c, basis, v in known])


def test_each_difference_stands_under_the_compute_at_which_it_was_read_off():
    told = tell_equal(equal_rows())
    at_second, at_first = told.split("mlm - clm at the FLOPs of ")[1:]
    assert at_second.startswith("clm") and "abstracts 0.100" in at_second and "plots 0.300" in at_second
    assert at_first.startswith("mlm") and "plots 0.200" in at_first and "abstracts" not in at_first


def test_the_table_has_a_column_a_basis_and_none_stands_in_for_another():
    (table,) = equal_table(equal_rows(), "laptop")
    cells = {row[0].text: row for row in table.rows if row[1].text == "known length"}
    places = [i for i, name in enumerate(table.header) if name.startswith("blanks restored exactly")]
    assert [table.header[i].split(": ")[1] for i in places] == list(BASES)
    assert [cells["abstracts"][i].text for i in places] == ["missing", "+0.100 [0.000, 1.000]", "missing"]
    assert [cells["plots"][i].text[:6] for i in places] == ["missin", "+0.300", "+0.200"]
