"""The parts of the report: seeds, missing entries, the reading, the renderings, the README."""

import itertools
import shutil
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from fake_tables import fake_tables
from matplotlib.font_manager import FontProperties, findfont, fontManager

from mlm_vs_clm.analysis import tables as tidy
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.report import commands, drawing, headline_table, sentences, style, write_between_markers
from mlm_vs_clm.report.build import FIGURES, draw
from mlm_vs_clm.report.rendering import letter_of, to_markdown
from mlm_vs_clm.report.tables import Entry, Table, quality_tables, strategy_tables


def tidy_fakes(corpora=("abstracts",), **choices):
    return {name: tidy.tidy(name, table) for name, table in fake_tables(corpora, **choices).items()}


def rows_of(values, lows, highs, reasons=None):
    count = len(values)
    return pd.DataFrame(
        {
            "arm": ["mlm"] * count,
            "seed": range(count),
            "value": values,
            "low": lows,
            "high": highs,
            "n": [10] * count,
            "share": [0.5] * count,
            "reason": reasons or [None] * count,
        }
    )


def test_seeds_are_averaged_and_their_widest_interval_is_kept():
    cell = tidy.over_seeds(rows_of([0.2, 0.4], [0.1, 0.3], [0.3, 0.6]), ["arm"]).iloc[0]
    assert (round(cell["value"], 10), cell["low"], cell["high"], cell["seeds"]) == (0.3, 0.1, 0.6, 2)


def test_seeds_without_intervals_span_their_own_values_and_one_seed_has_none():
    pair = tidy.over_seeds(rows_of([0.2, 0.4], [np.nan] * 2, [np.nan] * 2), ["arm"]).iloc[0]
    assert (pair["low"], pair["high"]) == (0.2, 0.4)
    alone = tidy.over_seeds(rows_of([0.2], [np.nan], [np.nan]), ["arm"]).iloc[0]
    assert np.isnan(alone["low"])


def test_a_seed_that_is_missing_is_told():
    cell = tidy.over_seeds(rows_of([0.2, np.nan], [0.1, np.nan], [0.3, np.nan], [None, "no labels"]), ["arm"])
    assert cell.iloc[0]["value"] == 0.2
    assert cell.iloc[0]["reason"] == "1 of 2 seeds missing: no labels"


def test_the_main_ratio_is_the_random_one_nearest_to_a_half():
    table = pd.DataFrame({"strategy": ["random", "random", "entities"], "ratio": [0.15, 0.6, 0.5]})
    assert tidy.main_ratio(table) == 0.6
    assert tidy.main_ratio(table.iloc[:0]) is None


def test_known_names_come_first_and_unknown_ones_sorted():
    assert style.ordered(["z", "clm", "a", "mlm", np.nan], style.ARMS) == ["mlm", "clm", "a", "z"]


def test_no_two_arms_look_alike_whatever_their_names():
    arms = [*style.ARMS, "new_one", "another", "third"]
    found = style.looks(arms)
    for first, second in itertools.combinations(arms, 2):
        assert found[first]["marker"] != found[second]["marker"], (first, second)


def test_an_unknown_arm_and_corpus_are_drawn_and_tabled():
    tables = tidy_fakes()
    for name, column in (("scores", "arm"), ("ledger", "arm"), ("downstream", "trained_on")):
        tables[name] = tables[name].assign(corpus="essays")
        tables[name][column] = tables[name][column].replace("mlm", "diffusion")
    assert all(draw(name, tables) for name in FIGURES if name != "orders")  # of the known masked arms alone
    assert any("diffusion" in to_markdown(table) for table in quality_tables(tables["scores"], "smoke"))


def test_the_alternative_text_holds_the_numbers_of_the_figure():
    drawing = draw("quality_by_ratio", tidy_fakes())[0]
    assert drawing.name == "quality_by_ratio_exact_match"
    assert "At ratio 0.5: abstracts fills clm 0." in drawing.alt and "oracle" not in drawing.alt


def test_intervals_decide_what_the_reading_says():
    cell = lambda low, high: pd.Series({"low": low, "high": high})  # noqa: E731
    assert sentences.compare(cell(0.3, 0.4), cell(0.1, 0.2)) == "above"
    assert sentences.compare(cell(0.1, 0.2), cell(0.3, 0.4)) == "below"
    assert sentences.compare(cell(0.1, 0.3), cell(0.2, 0.4)) == "not separated from"
    assert sentences.compare(cell(np.nan, np.nan), cell(0.2, 0.4)) == "not separated from"


@pytest.mark.parametrize(("first", "second", "verdict"), [("mlm", "clm", "above"), ("clm", "mlm", "below")])
def test_the_reading_follows_the_rows_and_not_the_names(first, second, verdict):
    tables = tidy_fakes()
    scores = tables["scores"].assign(arm=tables["scores"]["arm"].replace({"mlm": first, "clm": second}))
    found = sentences.read_main_comparison(scores, tables["downstream"], tables["correlation"])[0]
    assert f"mlm is {verdict} clm" in found.sentences[0]


def test_a_floor_that_is_missing_is_not_guessed():
    tables = tidy_fakes()
    scores = tables["scores"][tables["scores"]["arm"] != "unigram"]
    found = sentences.read_main_comparison(
        scores, tables["downstream"].iloc[:0], tables["correlation"].iloc[:0]
    )[0]
    assert found.sentences[0] == "Blanks restored exactly: missing for unigram."
    assert found.sentences[2] == "Utility as training data: missing."


TABLE = Table(
    name="small",
    title="A small table",
    caption="Nothing.",
    header=("arm_name", "BLEU | 100 %"),
    rows=((Entry("a&b"), Entry("1.0 [0.5, 1.5]", 1.0)), (Entry("c"), Entry("missing", reason="no $ left"))),
    command="make it",
)


def test_markdown_by_hand():
    assert to_markdown(TABLE).splitlines()[2:8] == [
        "| arm_name | BLEU \\| 100 % |",
        "| --- | ---: |",
        "| a&b | 1.0 [0.5, 1.5] |",
        "| c | missing (a) |",
        "",
        "Nothing.",
    ]


def test_footnotes_go_on_after_z():
    assert [letter_of(i) for i in (0, 25, 26, 27)] == ["a", "z", "aa", "ab"]


def test_a_cell_without_a_row_is_missing_in_its_table():
    scores = tidy_fakes()["scores"]
    gone = (scores["arm"] == "clm") & (scores["strategy"] == "entities") & (scores["scope"] == "fills")
    table = next(t for t in strategy_tables(scores[~gone], "smoke") if t.name == "strategy_fills")
    line = next(row for row in table.rows if row[1].text == "entities")
    assert line[table.header.index("clm")] == Entry("missing", reason="no such row was made")


def test_a_reason_stands_under_its_table():
    scores = tidy_fakes()["scores"]
    lost = (scores["arm"] == "clm") & (scores["metric"] == "bertscore")
    scores.loc[lost, ["value", "low", "high"]] = np.nan
    scores.loc[lost, "reason"] = "the encoder was absent"
    text = to_markdown(quality_tables(scores, "smoke")[0])
    assert "missing (a) |" in text and "(a) the encoder was absent" in text


def test_the_command_of_a_table_names_its_cells():
    table = quality_tables(tidy_fakes()["scores"], "smoke")[0]
    assert table.command.startswith(
        "python experiments/score.py -m scale=smoke corpus=abstracts arm=clm,mlm,"
    )
    assert table.command.endswith("masking=random masking.ratio=0.5")


def test_the_command_of_a_task_names_arms_and_references():
    rows = tidy_fakes()["downstream"]
    arms = rows["trained_on"].isin(["clm", "majority", "real"]) & (
        rows["strategy"].isna() | (rows["ratio"] == 1.0)
    )
    assert commands.for_training("smoke", rows[arms]).splitlines() == [
        "python experiments/downstream.py -m scale=smoke corpus=abstracts arm=clm "
        "masking=entities,punctuation,random,stopwords masking.ratio=1",
        "python experiments/downstream.py -m scale=smoke corpus=abstracts trained_on=majority,real",
    ]


def test_verification_is_judged_by_auc_though_it_has_an_f1():
    rows = pd.DataFrame({"corpus": ["speeches"], "task": ["verification"]})
    assert tidy.find_utility(rows, "speeches") == "auc" and tidy.find_utility(rows, "plots") == ""


def test_the_headline_holds_every_arm_of_every_corpus_but_the_oracle():
    lines = headline_table(tidy_fakes(("plots", "abstracts"))).splitlines()
    arms = [
        tuple(part.strip() for part in line.split("|")[1:3]) for line in lines[2:] if line.startswith("|")
    ]
    assert arms[:2] == [("abstracts", "mlm"), ("abstracts", "mlm_leaky")]
    assert ("plots", "real (ceiling)") in arms and ("plots", "oracle") not in arms
    assert len(arms) == 2 * (7 + 3)


def test_a_headline_without_rows_says_so():
    empty = {name: tidy.tidy(name, pd.DataFrame()) for name in tidy.COLUMNS}
    assert headline_table(empty).startswith("missing: no random blanks")


README = "before\n<!-- begin: main -->\nold\n<!-- end: main -->\nafter\n"


def test_a_table_goes_between_its_markers_and_stays_when_written_twice():
    once = write_between_markers(README, "main", "| new |\n")
    assert once == "before\n<!-- begin: main -->\n\n| new |\n\n<!-- end: main -->\nafter\n"
    assert write_between_markers(once, "main", "| new |\n") == once


@pytest.mark.parametrize(
    "text", ["", README.replace("end:", "fin:"), README + README, "<!-- end: main --><!-- begin: main -->"]
)
def test_a_missing_or_doubled_marker_is_named(text):
    with pytest.raises(StudyError, match="begin: main"):
        write_between_markers(text, "main", "new")


def test_the_results_folder_of_a_notebook(tmp_path):
    with pytest.raises(StudyError, match="make reproduce"):
        tidy.find_results({}, tmp_path)
    for scale in ("laptop", "smoke"):
        (tmp_path / scale).mkdir()
    (tmp_path / "smoke" / "scores.csv").touch()
    assert tidy.find_results({}, tmp_path) == (
        tmp_path / "smoke",
        "No results at the scale laptop: reading smoke instead.",
    )
    (tmp_path / "laptop" / "scores.csv").touch()
    assert tidy.find_results({}, tmp_path)[0].name == "laptop"
    assert tidy.find_results({"MLM_VS_CLM_RESULTS": "elsewhere"}, tmp_path)[0].name == "elsewhere"


def test_figures_take_matplotlibs_own_font_not_a_systems(tmp_path, monkeypatch):
    own = Path(matplotlib.get_data_path(), "fonts", "ttf")
    monkeypatch.setattr(fontManager, "ttflist", list(fontManager.ttflist))
    fontManager.addfont(shutil.copy(own / "DejaVuSans.ttf", tmp_path))
    fontManager.ttflist.insert(0, fontManager.ttflist.pop())
    assert Path(findfont("DejaVu Sans")).parent == tmp_path
    drawing.prefer_own_fonts()
    assert Path(findfont("DejaVu Sans")).parent == own
    assert Path(findfont(FontProperties("DejaVu Sans", weight="bold"))).parent == own
