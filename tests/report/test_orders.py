"""The orders are compared where the order alone differs."""

import pandas as pd
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from mlm_vs_clm.analysis.equal_compute import name_family
from mlm_vs_clm.pipeline import command
from mlm_vs_clm.pipeline.config import register
from mlm_vs_clm.report.order_tables import FAMILY, at_orders, draw_orders, order_table

AXES = {"corpus": "plots", "objective": "mlm", "context": "both", "length": "known", "strategy": "random"}
REST = {"share": 0.5, "seed": 0, "scope": "fills", "metric": "exact_match", "n": 9, "reason": ""}


def make_rows(**arms: str) -> pd.DataFrame:
    rows = [
        AXES
        | REST
        | {
            "arm": arm,
            "order": order,
            "ratio": ratio,
            "value": value,
            "low": value - 0.01,
            "high": value + 0.01,
        }
        for number, (arm, order) in enumerate(arms.items())
        for ratio, value in ((0.15, 0.3 - 0.1 * number), (1.0, 0.1))
    ]
    return pd.DataFrame(rows)


def test_a_table_has_a_line_a_ratio_and_a_column_an_order():
    (table,) = order_table(make_rows(mlm="random", mlm_parallel="parallel"), "laptop")
    assert table.header == ("measure", "corpus", "ratio", "mlm", "mlm_parallel")
    assert [[entry.text for entry in row] for row in table.rows] == [
        ["blanks restored exactly", "plots", "0.15", "0.300 [0.290, 0.310]", "0.200 [0.190, 0.210]"],
        ["blanks restored exactly", "plots", "1", "0.100 [0.090, 0.110]", "0.100 [0.090, 0.110]"],
    ]
    assert "mlm: random, mlm_parallel: parallel" in table.caption


def test_an_arm_that_differs_in_more_than_order_is_left_out():
    rows = make_rows(mlm="random", mlm_left="left_to_right")
    rows.loc[rows["arm"] == "mlm_left", "context"] = "left"
    assert at_orders(rows).empty and order_table(rows, "laptop") == [] and draw_orders(rows) == []


def test_arms_of_another_training_temperature_or_model_are_left_out():
    rows = make_rows(mlm="random", mlm_parallel="parallel", mlm_general="random", mlm_gibbs="gibbs")
    assert set(at_orders(rows)["arm"]) == {"mlm", "mlm_parallel"}
    of_two = rows.assign(model=rows["arm"].map({"mlm_parallel": "roberta"}).fillna("bert"))
    assert at_orders(of_two).empty


def test_the_family_is_what_the_arms_of_the_study_share_but_for_order_and_pace():
    register()
    with initialize_config_dir(str(command.CONF), version_base="1.3"):
        names = [path.stem for path in sorted((command.CONF / "arm").glob("*.yaml"))]
        arms = {name: command.compose([f"arm={name}"]).arm.to_settings() for name in names}
        of_another_model = set(command.compose(["track=pretrained"]).track.models) - {"mlm"}
    GlobalHydra.instance().clear()
    family = {
        name: name_family({k: v for k, v in arm.items() if k != "schedule"}) for name, arm in arms.items()
    }
    assert set(FAMILY) == {name for name in arms if family[name] == family["mlm"]} - of_another_model


def test_the_figure_tells_its_values():
    (drawing,) = draw_orders(make_rows(mlm="random", mlm_parallel="parallel"))
    assert "exact_match plots 0.15 mlm_parallel 0.200" in drawing.alt
