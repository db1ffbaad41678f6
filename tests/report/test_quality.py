"""Orders of filling are compared between arms that differ in order and pace alone."""

import pandas as pd
from fake_tables import tidy_fakes

from mlm_vs_clm.report.quality import at_orders, draw_orders, order_table, quality_tables
from mlm_vs_clm.report.style import Study

STUDY = Study("laptop", ("random", 0.5))
AXES = {"corpus": "plots", "objective": "mlm", "context": "both", "length": "known", "strategy": "random"}
REST = {"share": 0.5, "seed": 0, "scope": "fills", "metric": "exact_match", "n": 9, "reason": ""}


def make_rows(**orders: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return scores and ledger of arms that share a method."""
    scores = [
        AXES
        | REST
        | {"arm": arm, "order": order, "ratio": ratio}
        | {"value": value, "low": value - 0.01, "high": value + 0.01}
        for number, (arm, order) in enumerate(orders.items())
        for ratio, value in ((0.15, 0.3 - 0.1 * number), (1.0, 0.1))
    ]
    return pd.DataFrame(scores), pd.DataFrame({"arm": list(orders), "method": "masked", "flops": 1.0})


def test_a_table_has_a_row_per_ratio_and_a_column_per_order():
    (table,) = order_table(*make_rows(mlm="random", mlm_parallel="parallel"), STUDY)
    assert table.header == ["measure", "corpus", "ratio", "mlm", "mlm_parallel"]
    assert [[entry.text for entry in row] for row in table.rows] == [
        ["exact match", "plots", "0.15", "0.300 [0.290, 0.310]", "0.200 [0.190, 0.210]"],
        ["exact match", "plots", "1", "0.100 [0.090, 0.110]", "0.100 [0.090, 0.110]"],
    ]
    assert "mlm: random, mlm_parallel: parallel" in table.caption


def test_an_arm_that_differs_in_more_than_order_and_pace_is_left_out():
    scores, ledger = make_rows(mlm="random", mlm_parallel="parallel", mlm_gibbs="gibbs")
    ledger.loc[ledger["arm"] == "mlm_gibbs", "method"] = "masked, temperature 1"
    assert set(at_orders(scores, ledger, STUDY)["arm"]) == {"mlm", "mlm_parallel"}
    ledger["method"] = ledger["arm"]
    assert order_table(scores, ledger, STUDY) == [] and draw_orders(scores, ledger, STUDY) == []
    assert at_orders(scores, ledger.iloc[:0], STUDY).empty


def test_the_figure_tells_its_values():
    (drawing,) = draw_orders(*make_rows(mlm="random", mlm_parallel="parallel"), STUDY)
    assert "exact match plots 0.15 mlm_parallel 0.200" in drawing.alt


def test_a_table_of_quality_has_the_decimals_of_its_metrics():
    whole = quality_tables(tidy_fakes()["scores"], STUDY)[0]
    row = dict(zip(whole.header, (entry.text for entry in whole.rows[-1]), strict=True))
    assert row["arm"] == "oracle" and row["ROUGE-L"].startswith("1.000") and row["BLEU"].startswith("100.0")
