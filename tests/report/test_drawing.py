"""Figures: looks that differ without colour, fonts, and alternative texts that hold the numbers."""

import itertools
import shutil
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from fake_tables import tidy_fakes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager

from mlm_vs_clm.report import drawing, style, svg
from mlm_vs_clm.report.build import draw
from mlm_vs_clm.report.drawing import style_context


def test_known_names_come_first_and_unknown_ones_sorted():
    assert style.ordered(["z", "clm", "a", "mlm", np.nan], style.ARMS) == ["mlm", "clm", "a", "z"]


def test_no_two_arms_look_alike_whatever_their_names():
    arms = [*style.ARMS, "mlm_nsp", "hybrid_masked", "product"]
    found = style.looks(arms)
    for first, second in itertools.combinations(arms, 2):
        assert found[first]["marker"] != found[second]["marker"], (first, second)


def test_an_alternative_text_has_the_decimals_of_each_metric_and_says_what_is_missing():
    rows = [("plots", "bleu", 3.04), ("plots", "exact_match", -0.1), ("essays", "exact_match", None)]
    cells = pd.DataFrame(rows, columns=["corpus", "metric", "value"])
    told = drawing.describe_values(cells, ["corpus", "metric"], sign="+")
    assert told == "essays exact match missing, plots BLEU +3.0, plots exact match -0.100"


def test_the_alternative_text_holds_the_numbers_of_the_figure():
    made = draw("quality_by_ratio", tidy_fakes())[0]
    assert made.name == "quality_by_ratio_exact_match"
    assert "At ratio 0.5: abstracts fills clm 0." in made.alt and "oracle" not in made.alt


def test_figures_take_matplotlibs_own_font_not_a_systems(tmp_path, monkeypatch):
    own = Path(matplotlib.get_data_path(), "fonts", "ttf")
    monkeypatch.setattr(fontManager, "ttflist", list(fontManager.ttflist))
    fontManager.addfont(shutil.copy(own / "DejaVuSans.ttf", tmp_path))
    fontManager.ttflist.insert(0, fontManager.ttflist.pop())
    assert Path(findfont("DejaVu Sans")).parent == tmp_path
    drawing.prefer_own_fonts()
    assert Path(findfont("DejaVu Sans")).parent == own
    assert Path(findfont(FontProperties("DejaVu Sans", weight="bold"))).parent == own


def test_a_place_that_differs_in_its_last_bits_gives_the_same_bytes():
    """The solver of the layout adds in an order that is not fixed."""

    def draw_at(left: float) -> str:
        figure = Figure()
        figure.add_axes((left, 0.1, 0.8, 0.8)).plot([0, 1], [0, 1])
        with style_context():
            return svg.to_svg(figure)

    made = draw_at(0.1)
    assert made == draw_at(0.1 + 2e-16) and "url(#clip0)" in made
