"""Panels of a study: drawn from small tables, with their tables and sentences."""

import pandas as pd
import pytest
from fake_tables import STUDY, fake_about

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.evidence.cells import Comparison
from mlm_vs_clm.evidence.tables import COLUMNS, read_table, tidy
from mlm_vs_clm.evidence.variants import join_settings, pair_variants
from mlm_vs_clm.report.build import build, read_study
from mlm_vs_clm.report.drawing import spread, style_context
from mlm_vs_clm.report.panel_cells import join_competence, select_cells
from mlm_vs_clm.report.panel_lines import do_overlap, find_best, find_ends
from mlm_vs_clm.report.panel_sentences import FEW, name_value
from mlm_vs_clm.report.panels import KINDS, show_panels
from mlm_vs_clm.report.study_folder import Background

TEMPERATURES = (0.3, 1.0)
CELL = {"corpus": "plots", "strategy": "random", "seed": 0}


def name(base, level):
    return f"{base} temperature={level}"


def make_tables():
    """Return the tables of two arms at two temperatures and two maskings, and a curve of their difference."""
    arms = {name(base, level): (base, level) for base in ("mlm", "clm") for level in TEMPERATURES}
    cells = [CELL | {"arm": arm, "ratio": ratio} for arm in arms for ratio in (0.5, 1.0)]
    made = {"study": [STUDY], "scores": [], "ledger": [], "competence": [], "comparisons": []}
    made["variants"] = [
        {"arm": arm, "base": base, "setting": "arm.temperature", "level": level}
        for arm, (base, level) in arms.items()
    ]
    for cell in cells:
        base, level = arms[cell["arm"]]
        about = cell | {"context": "both", "length": "known", "order": "random"}
        for metric, value in {"exact_match": 0.3 - level / 10, "distinct1": level / 2}.items():
            value += 0.05 * (base == "mlm")
            numbers = {"value": value, "low": value - 0.02, "high": value + 0.02, "n": 9, "share": 0.5}
            names = {"objective": base, "scope": "fills", "metric": metric, "artifact": "a"}
            made["scores"].append(about | names | numbers)
        costs = {"documents": 10, "passes": 100 * (1 + level), "flops": 1e9, "seconds": 1.0, "method": "m"}
        costs |= dict.fromkeys(("blanks", "tokens_filled", "token_forwards", "peak_memory_mb"), 1)
        made["ledger"].append(about | costs | {"device": "cpu", "precision": "fp32", "artifact": "a"})
        outcome = "not competent" if level == 1.0 and base == "clm" else "competent"
        made["competence"].append(
            cell
            | {"word_class": "all", "scope": "fills", "metric": "exact_match", "floor": "constant"}
            | dict.fromkeys(("value", "floor_value", "difference", "low", "high", "n", "runs"), 1)
            | {"outcome": outcome}
        )
    for level in TEMPERATURES:
        for i, value in enumerate((-0.1, 0.01, 0.2)):
            about = {"corpus": "plots", "comparison": "known length", "scope": "fills"}
            about |= {"metric": "exact_match"}
            about |= {"first": name("mlm", level), "second": name("clm", level), "kind": "curve"}
            about |= {"at": "tokens seen"}
            about["comparison"] += f", temperature={level}"
            place = {"budget": 10 * 2**i, "budget_second": 10 * 2**i, "passes": 0.9 * 2**i, "p": 0.1, "n": 9}
            verdict = {
                "status": "made",
                "direction": ("second", "none shown", "first")[i],
                "excluded_because": "",
            }
            if i == 0 and level == 1.0:
                verdict = {"status": "not competent", "direction": "", "excluded_because": "not competent"}
            verdict |= {"size": "", "margin": 0.02, "p_holm": 0.01}
            made["comparisons"].append(
                about | place | {"value": value, "low": value - 0.05, "high": value + 0.05} | verdict
            )
    networks = [("ner", "f1", 0.4, n) for n in (100, 240)] + [("authors", "accuracy", 0.2, 240)]
    made["understanding"] = [
        {
            "task": task,
            "corpus": "plots",
            "network": network,
            "examples": n,
            "metric": metric,
            "n": 9,
            "artifact": "a",
        }
        | {"value": value + more, "low": value, "high": value + 0.1}
        for task, metric, value, n in networks
        for network, more in (("mlm", 0.05), ("start", 0.02))
    ]
    rows = {key: pd.DataFrame(table) for key, table in made.items()}
    rows["comparisons"] = rows["comparisons"].reindex(columns=COLUMNS["comparisons"])
    return {key: tidy(key, rows.get(key, pd.DataFrame())) for key in COLUMNS}


TABLES = make_tables()
PLAIN = {"table": "scores", "y": "value", "line": "", "facet": "", "where": {}, "caption": ""}
PLAIN |= {"title": "A title"}
LINES = PLAIN | {"name": "lines", "kind": "lines", "x": "arm.temperature", "line": "base", "facet": "ratio"}
LINES["where"] = {"metric": "exact_match"}
FRONTIER = LINES | {"name": "frontier", "kind": "frontier", "x": "passes", "facet": ""}
FRONTIER["where"] = {"metric": ["exact_match"], "ratio": 0.5}
HEAT = PLAIN | {"name": "heat", "kind": "heat", "table": "comparisons", "x": "passes", "y": "arm.temperature"}

POINTS = PLAIN | {"name": "points", "kind": "points", "table": "understanding", "x": "network"}
POINTS |= {"line": "examples", "facet": "task"}


def show(*specs):
    with style_context():
        return show_panels(specs, TABLES, read_study(TABLES))


def test_every_kind_is_drawn_with_a_table_and_a_sentence():
    of_writers = {"dots", "scatter"}  # in test_writer_figures
    assert {one["kind"] for one in (LINES, FRONTIER, HEAT, POINTS)} == set(KINDS) - of_writers
    drawings, tables = show(LINES, FRONTIER, HEAT)
    assert [one.name for one in drawings] == [one.name for one in tables] == ["lines", "frontier", "heat"]
    assert len(drawings[0].figure.axes) == 2 and drawings[0].figure.axes[0].get_xlabel() == "temperature"
    best = "0.270 [0.250, 0.290] (clm temperature=0.3), 0.320 [0.300, 0.340] (mlm temperature=0.3)"
    assert (
        drawings[0].finding
        == f"Highest exact match of competent arms: masking ratio 0.5: {best}; masking ratio 1: {best}."
    )


def test_the_best_goes_by_the_metric_and_of_several_metrics_none_is_told():
    lower = LINES | {"where": {"metric": "repetition"}}
    scores = TABLES["scores"].replace({"metric": {"exact_match": "repetition"}})
    with style_context():
        tables = TABLES | {"scores": scores}
        (drawing,), _ = show_panels([lower], tables, read_study(tables))
    assert drawing.finding.startswith("Lowest repetition (share)")
    both = PLAIN | {"name": "both", "kind": "heat", "x": "arm.temperature", "y": "metric"}
    both["where"] = {"metric": ["exact_match", "distinct1"], "ratio": 0.5, "base": "mlm"}
    (drawing,), _ = show(both)
    assert drawing.finding == ""


def test_what_a_text_gives_away_counts_of_every_arm_and_a_table_is_never_pale():
    scores = TABLES["scores"].replace({"metric": {"exact_match": "membership"}})
    cells = select_cells(LINES | {"where": {"metric": "membership"}}, TABLES | {"scores": scores})
    assert len(cells) and (cells["pale"] == "").all()
    cells = select_cells(LINES, TABLES)
    assert (cells["pale"] != "").any()
    tables = {
        name: TABLES[name].replace({"arm": {"clm temperature=1.0": "bigram_both"}})
        for name in ("scores", "competence")
    }
    cells = select_cells(LINES | {"line": "arm"}, TABLES | tables)
    assert (cells["pale"] == "").all()


def test_points_have_a_row_per_category_and_each_facet_its_metric():
    (drawing,), (table,) = show(POINTS)
    first, second = drawing.figure.axes[:2]
    assert (first.get_xlabel(), second.get_xlabel()) == ("accuracy", "F1")
    assert [text.get_text() for text in first.get_yticklabels()] == ["mlm", "start"]
    low, high = sorted(segment[0][0] for segment in second.containers[0].lines[2][0].get_segments()), 0.4
    assert low == pytest.approx([high, high])
    assert drawing.finding.startswith(
        "Highest score: authors: 0.250 [0.200, 0.300] (examples 240, network mlm)"
    )
    assert [row[3].text for row in table.rows] == ["mlm", "start"] * 3


def test_lines_of_numbers_stand_in_their_order():
    levels = TABLES["variants"].assign(level=TABLES["variants"]["level"].map({"0.3": "40", "1.0": "300"}))
    spec = LINES | {"x": "passes", "line": "arm.temperature", "facet": ""}
    with style_context():
        ((drawing,), _) = show_panels([spec], TABLES | {"variants": levels}, read_study(TABLES))
    assert [text.get_text() for text in drawing.figure.axes[0].texts] == ["temperature 300", "temperature 40"]
    assert not drawing.figure.legends


def test_names_of_lines_stand_apart_and_inside_the_axis_where_all_have_room():
    assert spread([0.2, 0.8]) == [0.2, 0.8]
    crowded = spread([0.95, 0.96, 0.97, 1.0])
    gaps = [high - low for low, high in zip(crowded, crowded[1:], strict=False)]
    assert crowded[-1] == 1.0 and min(gaps) == pytest.approx(0.075)


def test_the_best_is_told_at_each_ratio_and_not_over_the_easiest():
    heat = LINES | {"kind": "heat", "x": "ratio", "y": "variant", "line": "", "facet": ""}
    heat["where"] = LINES["where"] | {"base": "mlm"}
    (drawing,), _ = show(heat)
    assert drawing.finding == (
        "Highest exact match: 0.320 [0.300, 0.340] (mlm temperature=0.3, masking ratio 0.5), "
        "0.320 [0.300, 0.340] (mlm temperature=0.3, masking ratio 1)."
    )


def test_arms_that_do_not_vary_a_setting_have_a_name_of_their_own_and_can_be_chosen():
    variants = TABLES["variants"][TABLES["variants"]["level"] != "1.0"]
    for where, lines in (({}, ["temperature 0.3", "defaults"]), ({"arm.temperature": None}, [""])):
        spec = LINES | {
            "x": "passes",
            "line": "arm.temperature",
            "facet": "",
            "where": {"ratio": 0.5, **where},
        }
        cells = select_cells(spec, TABLES | {"variants": variants})
        assert {*cells["line"]} == {*lines}


def test_settings_and_costs_are_columns_of_the_scores():
    rows = join_settings("scores", TABLES).set_index(["arm", "ratio", "metric"])
    row = rows.loc[("mlm temperature=0.3", 0.5, "exact_match")]
    assert (row["base"], row["variant"], row["arm.temperature"]) == ("mlm", "temperature=0.3", 0.3)
    assert row["passes"] == pytest.approx(13) and row["distinct1_low"] == pytest.approx(0.18)
    assert {*join_settings("comparisons", TABLES)["pair"]} == {"mlm - clm"}


def test_a_heat_map_counts_who_is_ahead_and_leaves_out_what_is_not_competent():
    (drawing,), (table,) = show(HEAT)
    assert drawing.finding == (
        "mlm is ahead in 2 of 6 differences, clm in 1, no difference shown in 2. "
        "In 1 an arm is not competent."
    )
    assert table.header == ["", "temperature", "passes 1", "passes 2", "passes 4"]
    assert [entry.text for entry in table.rows[0]][1:] == [
        "0.3",
        "-0.100 [-0.150, -0.050]",
        "0.010 [-0.040, 0.060]",
        "0.200 [0.150, 0.250]",
    ]
    assert {text.get_text() for text in drawing.figure.axes[0].texts} == {
        "(-0.100)",
        "-0.100*",
        "+0.010",
        "+0.200*",
    }
    assert drawing.figure.axes[0].patches[3].get_alpha() < 1
    with style_context():
        tables = TABLES | {"comparisons": TABLES["comparisons"].assign(value=0.0, low=-0.1, high=0.1)}
        (drawing,), _ = show_panels([HEAT], tables, read_study(tables))
    assert all(min(patch.get_facecolor()) > 0.98 for patch in drawing.figure.axes[0].patches[:3])  # white


def test_a_difference_of_a_measure_of_which_less_is_better_is_a_lead():
    """It is turned round where it is made: above 0 the first arm is ahead, and nothing says that lower is better."""
    cells = pd.DataFrame({"metric": ["nats_per_character"]})
    spec = {"kind": "lines", "y": "value"}
    told = [name_value(spec | {"table": table}, cells) for table in ("comparisons", "leads", "scores")]
    assert told == ["lead in nats per character"] * 2 + ["nats per character (lower is better)"]
    assert name_value(spec | {"table": "comparisons"}, cells.assign(metric="bleu")) == "difference in BLEU"


def test_a_frontier_names_what_nothing_cheaper_reaches():
    cells = pd.DataFrame({"x": [1, 2, 2, 3], "value": [0.1, 0.3, 0.2, 0.25], "facet": "", "pale": ""})
    assert list(find_best(cells)) == [True, True, False, False]
    assert list(find_best(cells, is_higher=True)) == [False, True, False, True]
    assert list(find_best(cells.assign(pale=["", "floor", "", ""]))) == [True, False, True, True]


def test_names_are_written_towards_the_middle_of_all_points_or_of_the_ends_alone():
    cells = pd.DataFrame({"x": range(1, FEW + 2), "value": 0.5, "facet": ""})
    best = cells["x"].isin([2, 5, 8])
    assert [*find_ends(cells, best)] == ["", "left", *[""] * (FEW - 3), "right", ""]
    assert "" not in [*find_ends(cells[:FEW], best[:FEW])]


@pytest.mark.parametrize(("outcome", "is_unsure"), [("competent", False), ("not competent", True)])
def test_a_difference_has_its_trainings_and_whether_content_words_bear_it(outcome, is_unsure):
    place = {"corpus": "plots", "strategy": "random", "ratio": 0.5, "word_class": "all"}
    place |= {"outcome": "competent"}
    judged = [place | {"arm": "mlm", "runs": 3}, place | {"arm": "clm", "runs": 2}]
    judged += [one | {"word_class": "content"} for one in judged]
    judged[-1]["outcome"] = outcome
    study = TABLES["study"].assign(main_strategy="random", main_ratio=0.5)
    rows = pd.DataFrame([{"corpus": "plots", "first": "mlm", "second": "clm"}])
    (one,) = join_competence(rows, {"competence": pd.DataFrame(judged), "study": study}).itertuples()
    assert (one.trainings, one.is_unsure) == (2, is_unsure)


def test_facets_share_an_axis_where_their_values_overlap():
    cells = pd.DataFrame({"facet": ["a", "a", "b", "b"], "value": [0.1, 0.2, 0.3, 0.4]})
    assert not do_overlap(cells)
    assert do_overlap(cells.assign(value=[0.1, 0.3, 0.2, 0.4]))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": "pie"}, "lines.kind=pie is unknown: choose one of lines, heat, frontier"),
        ({"table": "numbers"}, "lines.table=numbers is unknown"),
        ({"kind": "dots"}, "lines.kind=dots shows table usefulness alone: choose kind=points for table"),
        ({"x": "orders"}, "names orders, which table scores does not have"),
        ({"x": "arm"}, "lines.x=arm holds words, and lines need numbers"),
        ({"y": "arm"}, "lines.y=arm holds words, and lines need numbers"),
        ({"where": {"arms": "mlm"}}, "names arms, which table scores does not have"),
    ],
)
def test_a_mistaken_panel_is_one_line(change, told):
    with pytest.raises(StudyError, match=told):
        show(LINES | change)


def test_the_page_begins_with_the_question_and_leaves_out_what_has_no_rows(tmp_path):
    about = fake_about() | {"title": "Hot or cold", "question": "Which is better?", "panels": [LINES, HEAT]}
    build(TABLES, Background([], [], about), tmp_path)
    page = (tmp_path / "report.html").read_text()
    places = [
        page.index(words)
        for words in (
            "<h1>Hot or cold",
            "Which is better?",
            "figure-lines",
            "Highest exact match",
            "figure-heat",
        )
    ]
    assert places == sorted(places) and "missing: no rows in" not in page and "<h2>Answers" not in page
    assert len(read_table("variants", tmp_path)) == len(TABLES["variants"])
    assert [*read_table("findings", tmp_path)["panel"]] == ["lines", "heat", "answer"]


def test_variants_are_compared_at_equal_settings():
    comparison = Comparison("known length", "mlm", "clm")
    arms = ["mlm", "clm", "mlm temperature=0.3", "clm temperature=0.3", "mlm temperature=1.0"]
    made = pair_variants([comparison, Comparison("both contexts", "mlm", "infill")], arms)
    assert made == [
        comparison,
        Comparison("known length, temperature=0.3", "mlm temperature=0.3", "clm temperature=0.3"),
    ]


def test_an_axis_of_metrics_has_their_names():
    spec = HEAT | {
        "table": "scores",
        "x": "ratio",
        "y": "metric",
        "where": {"metric": ["exact_match", "distinct1"], "arm": "mlm temperature=0.3"},
    }
    assert set(select_cells(spec, TABLES)["y"]) == {"exact match", "distinct-1"}
    spec = LINES | {"line": "metric", "where": {"metric": "exact_match"}}
    assert set(select_cells(spec, TABLES)["line"]) == {"exact match"}


def test_values_that_share_a_place_have_a_facet_for_each_corpus_or_are_refused():
    """Or the last of them would be told as if it were the only one."""
    scores = TABLES["scores"]
    halved = scores.assign(corpus="abstracts", value=scores["value"] / 2)
    both = TABLES | {"scores": pd.concat([scores, halved], ignore_index=True)}
    once, twice = select_cells(LINES, TABLES), select_cells(LINES, both)
    assert {facet.split()[0] for facet in twice["facet"]} == {"abstracts", "plots"}
    assert len(twice) == 2 * len(once) and not once["facet"].str.contains("plots").any()
    with pytest.raises(StudyError, match="lines has several values in one cell"):
        select_cells(LINES | {"kind": "heat", "y": "metric", "where": {}}, TABLES)


def test_of_two_ends_that_are_near_the_higher_has_its_name():
    cells = pd.DataFrame({"x": range(1, FEW + 2), "value": 0.5, "facet": ""})
    cells.loc[1, "value"] = 0.6
    assert [*find_ends(cells, cells["x"].isin([1, 2]))] == ["", "left", *[""] * (FEW - 1)]
