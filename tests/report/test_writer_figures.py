"""The figures and sentences of a study of many writers."""

import numpy as np
import pandas as pd
import pytest

from mlm_vs_clm.evidence.tables import COLUMNS, tidy
from mlm_vs_clm.report.drawing import style_context
from mlm_vs_clm.report.panels import show_panels
from mlm_vs_clm.report.point_labels import shorten
from mlm_vs_clm.report.style import Study
from mlm_vs_clm.report.usefulness import answer_usefulness, describe_writers, draw_writers, writer_tables

PLACE = {"task": "ner", "corpus": "abstracts", "strategy": "random", "ratio": 0.7}
MEASURE = {"scope": "fills", "metric": "exact_match", "utility_metric": "f1"}
STUDY = Study("laptop", ("random", 0.7))
DROPPED = "unigram label_policy=dropped"
KINDS = {"mlm": "network", "clm": "network", "neutral": "floor", "unigram": "floor", "mention": "reference"}


def make_rows(n=22):
    """Return the table `usefulness` of n variants of a masked model, the arms of KINDS and a label policy."""
    rng = np.random.default_rng(0)
    arms = {f"mlm temperature={number}": "network" for number in range(n)} | KINDS | {DROPPED: "floor"}
    rows = []
    for number, (arm, kind) in enumerate(arms.items()):
        quality, value = number / 30, 0.5 + rng.normal(0, 0.02)
        numbers = {"quality": quality, "value": value, "share": value - 0.4}
        ends = {
            f"{name}_{side}": numbers[name] + sign * 0.01
            for name in ("quality", "share")
            for side, sign in (("low", -1), ("high", 1))
        }
        rows.append(
            PLACE
            | MEASURE
            | {"arm": arm, "kind": kind, "low": value - 0.01, "high": value + 0.01}
            | numbers
            | ends
        )
    return tidy("usefulness", pd.DataFrame(rows))


def make_writers(**changed):
    found = {"spearman": 0.31, "reliability": 0.9, "room": 6.1, "spline_p": 0.4, "threshold": 0.12}
    found |= {"threshold_p": 0.2, "slope_below": 0.1, "slope_above": 0.5} | changed
    rows = [
        PLACE
        | MEASURE
        | {"statistic": name, "value": value, "low": -0.05, "high": 0.6, "n_writers": 24, "bound": 0.5}
        for name, value in found.items()
    ]
    decisions = {
        "spearman": "inconclusive",
        "threshold_p": "a threshold" if found["threshold_p"] < 0.05 else "no threshold shown",
    }
    return tidy(
        "writers", pd.DataFrame([row | {"decision": decisions.get(row["statistic"], "")} for row in rows])
    )


def test_every_writer_has_its_name_in_the_figure_and_references_have_none():
    (drawing,) = draw_writers(make_rows())
    (axes,) = drawing.figure.axes
    names = {text.get_text() for text in axes.texts}
    assert {"mlm T=0", "mlm T=21", "neutral", "clm"} <= names
    assert not names & {"mention", "unigram label_policy=dropped"} and len(names) == 22 + 4


def test_no_figure_of_few_writers():
    assert draw_writers(make_rows(3)) == []


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("mlm temperature=0.7", "mlm T=0.7"),
        ("mlm order=confidence", "mlm confidence"),
        ("ngram_left table_order=3", "ngram_left n=3"),
    ],
)
def test_names_are_short_at_points(name, short):
    assert shorten(name) == short


def test_sentences_say_the_correlation_its_interval_and_the_threshold():
    assert answer_usefulness({"writers": make_writers()}) == (
        "Over writers at one masking, on abstracts (ner) the rank correlation with exact match is 0.31 [-0.05, 0.60] over 24 writers "
        "(inconclusive)."
    )
    assert answer_usefulness({"writers": make_writers().iloc[:0]}) == ""
    two = pd.concat([make_writers(), make_writers().assign(ratio=0.5)])
    assert "on abstracts (ner; random 0.5)" in answer_usefulness({"writers": two})
    (table,) = writer_tables(make_writers(threshold_p=0.01), STUDY)
    assert table.rows[0][-1].text == "a threshold at 0.12 (p 0.01; slope 0.1 below, 0.5 above)"
    assert writer_tables(make_writers().iloc[:0], STUDY) == []


def test_a_panel_of_dots_has_a_line_per_label_policy_and_tells_its_groups():
    tables = {name: tidy(name, pd.DataFrame()) for name in COLUMNS}
    variants = [{"arm": DROPPED, "base": "unigram", "setting": "label_policy", "level": "dropped"}]
    tables |= {
        "usefulness": make_rows(),
        "writers": make_writers(),
        "variants": tidy("variants", pd.DataFrame(variants)),
    }
    about = {"name": "labels", "kind": "dots", "table": "usefulness", "x": "quality", "y": "share"}
    about |= {"line": "label_policy", "facet": "strategy"}
    about |= {"title": "Labels", "caption": "", "where": {"variant": [*KINDS, "label_policy=dropped"]}}
    points = about | {
        "name": "points",
        "kind": "scatter",
        "y": "value",
        "line": "kind",
        "where": {"metric": "exact_match", "label_policy": [None]},
    }
    with style_context():
        drawings, made = show_panels([about, points], tables, STUDY)
    (axes,) = drawings[0].figure.axes
    assert {label.get_text() for label in axes.get_yticklabels()} == {*KINDS}
    assert "random with labels dropped: drawn words" in drawings[0].finding
    assert "words that say nothing" in drawings[0].finding
    assert "0.31 [-0.05, 0.60]" in drawings[1].finding and "no threshold shown (p 0.2)" in drawings[1].finding
    assert [table.name for table in made] == ["labels", "points"]


def test_a_scatter_names_its_measure_also_in_a_list_and_tells_nothing_of_several():
    rows = make_writers()
    one = describe_writers({"where": {"metric": "exact_match"}}, rows)
    assert one.startswith("Rank correlation of usefulness with exact match: abstracts, random 0.7: 0.31")
    assert describe_writers({"where": {"metric": ["exact_match"]}}, rows) == one
    several = pd.concat([rows, rows.assign(metric="bleu", scope="document")])
    assert describe_writers({"where": {}}, several) == ""
