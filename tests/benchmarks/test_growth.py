"""How the cost of filling grows: exponents of known curves, and every axis measured on small networks."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import growth


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_the_exponent_of_a_known_curve_lies_in_its_interval(exponent):
    x = np.array([64.0, 128, 256, 512])
    noise = np.exp(np.random.default_rng(0).normal(0, 0.05, 4))
    exact = growth.fit_slope(x, 3 * x**exponent)
    assert exact["exponent"] == pytest.approx(exponent) and exact["n"] == 4
    found = growth.fit_slope(x, 3 * x**exponent * noise)
    assert found["low"] < exponent < found["high"] and found["high"] - found["low"] > 0.01


def test_points_without_a_value_are_left_out():
    assert growth.fit_slope(np.array([1.0, 2, 4]), np.array([1.0, 2, np.nan]))["n"] == 2
    assert np.isnan(growth.fit_slope(np.array([1.0, 2, 4]), np.array([1.0, 2, np.nan]))["exponent"])


def test_every_way_is_measured_along_every_axis(monkeypatch, tokenizer, tmp_path):
    monkeypatch.setattr(growth, "LAYERS", 2)
    monkeypatch.setattr(growth, "BASE", {"width": 32, "words": 12, "documents": 2, "share": 0.5})
    values = {"width": (32, 64), "words": (6, 12, 24), "documents": (1, 2, 4), "share": (0.25, 0.5, 1.0)}
    monkeypatch.setattr(growth, "VALUES", values)
    rows = growth.measure_all(tokenizer, 1)
    assert set(rows["way"]) == {*growth.LOOKS} and set(rows["axis"]) == {*growth.VALUES}
    assert (rows[["seconds", "flops"]] > 0).all(axis=None)
    exponents = growth.fit_exponents(rows).set_index(["way", "axis", "cost"])["exponent"]
    for way in growth.LOOKS:
        assert exponents[way, "documents", "flops"] == pytest.approx(0, abs=0.2)  # blanks differ by document
    assert exponents["masked, a token a pass", "words", "flops"] > 1.3
    assert exponents["causal", "words", "flops"] < 1.2
    table = growth.exponent_table(growth.fit_exponents(rows), "some")
    assert len(table.rows) == len(growth.LOOKS) * len(growth.VALUES)
    drawing = growth.draw_growth(rows, growth.fit_exponents(rows))
    assert len(drawing.figure.axes) == len(growth.VALUES)
    growth.save_table(pd.DataFrame(rows), tmp_path / "growth.csv")
    assert len(pd.read_csv(tmp_path / "growth.csv")) == len(rows)
