"""The page: one file that opens offline, with closed tags, working links, alternative texts and marked fills."""

import re
import shutil
from html.parser import HTMLParser

import pandas as pd
import pytest
from fake_tables import STUDY, fake_tables, tidy_fakes

from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.build import draw, make_page
from mlm_vs_clm.report.drawing import inline, style_context


@pytest.fixture(scope="module")
def page(report):
    return (report / "report.html").read_text()


def test_the_page_is_html_and_needs_nothing_from_elsewhere(page):
    assert page.startswith("<!DOCTYPE html>\n<html")
    addresses = re.findall(r'(?:src|href)="([^"]*)"|url\(([^)]*)\)', page)
    assert addresses and all("".join(address).startswith("#") for address in addresses)
    assert "@import" not in page and "fetch(" not in page


def test_the_links_of_the_page_lead_somewhere(page):
    ids = set(re.findall(r'id="([^"]*)"', page))
    assert {link[1:] for link in re.findall(r'href="(#[^"]*)"', page)} <= ids


def test_no_id_is_given_twice_and_every_drawing_finds_its_parts(page):
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids)) > 100
    assert set(re.findall(r"url\(#([^)]*)\)", page)) <= set(ids)


def test_every_figure_of_the_folder_is_on_the_page_with_its_content_in_words(report, page):
    parts = {
        part.stem: page.partition(f'id="figure-{part.stem}"')[2] for part in report.glob("figures/*.svg")
    }
    assert len(parts) > 8
    for name, part in parts.items():
        assert "<svg" in part.partition("</figure>")[0], name
        assert re.search(r'role="(?:img|group)" aria-label="[^"]{20}', part.partition("</figure>")[0]), name


def test_a_point_has_its_numbers_and_its_line_the_same_series():
    rows = {"corpus": "plots", "scope": "fills", "metric": "exact_match", "seed": 0, "n": 30}
    rows |= {"tokens_seen": 1, "tokens_predicted": 1, "passes": 0.5, "excluded_because": ""}
    scored = {"value": 0.2, "low": 0.1, "high": 0.3}
    tables = tidy_fakes()
    tables["learning"] = pd.DataFrame(
        [rows | scored | {"arm": arm, "budget": budget} for arm in ("mlm", "clm") for budget in (1000, 2000)]
    )
    (made,) = draw("learning", tables)
    with style_context():
        svg = inline(made.panels[0].figure, made.marks, name="f0")
    assert "mlm on plots, 2,000 tokens, exact match, fills only: 0.200 [0.100, 0.300], n 30" in svg
    assert svg.count('data-series="mlm"') == 2 + 2 + 1  # points, bars, the line


def test_every_tag_of_the_page_is_closed(page):
    """Tags without content need no end, and by the standard of HTML no cell of a table does."""

    class Balance(HTMLParser):
        open = []

        def handle_starttag(self, tag, attributes):
            if tag not in {"meta", "input", "br", "td"}:
                self.open.append(tag)

        def handle_startendtag(self, tag, attributes):
            """Close what closes itself, in SVG."""

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    balance = Balance()
    balance.feed(page)
    assert balance.open == []


def test_fills_are_marked_right_or_wrong_and_text_is_escaped(page):
    assert "<i>small</i>" in page and "<b>Jumps</b>" in page and "<u>quick</u>" in page and "<i>∅</i>" in page
    assert "&amp; &lt;stops&gt;." in page and "<stops>" not in page


def test_answers_in_words_stand_first_then_the_table_of_competence(make_report, no_figures, tmp_path):
    judged = {
        "corpus": "abstracts",
        "arm": "mlm",
        "strategy": "random",
        "ratio": 0.5,
        "word_class": "all",
        "n": 9,
    }
    judged |= {
        "scope": "fills",
        "metric": "exact_match",
        "value": 0.2,
        "floor": "constant",
        "floor_value": 0.1,
    }
    judged |= {"difference": 0.1, "low": 0.05, "high": 0.2, "runs": 1, "outcome": "competent", "reason": ""}
    tables = {"study": pd.DataFrame([STUDY]), "competence": pd.DataFrame([judged])}
    tables |= {name: fake_tables(("abstracts",))[name] for name in ("answers", "sentences")}
    page = (make_report(tables, tmp_path) / "report.html").read_text()
    places = [
        page.index(text)
        for text in (
            "mlm ahead, outside the margin: abstracts",
            'id="table-competence"',
            'id="table-answers"',
        )
    ]
    assert places == sorted(places) and page.index("<h2>Answers</h2>") < places[0]
    assert "2 [1, 3]" in page.replace("\u00a0", " ")
    assert (
        "<dd>mlm ahead, outside the margin: abstracts. Over 5 runs.</dd>" in page
        and "<dd>Over 5 runs" not in page
    )
    assert "over 5 runs" in (tmp_path / "sentences.csv").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "study", sorted(path.parent for path in ROOT.glob("results/*/study.yaml")), ids=lambda study: study.name
)
def test_a_committed_page_follows_from_its_frames(study, tmp_path):
    for path in study.iterdir():
        if path.is_file() and path.name not in ("report.html", "findings.csv"):
            shutil.copy(path, tmp_path)
    make_page(tmp_path)
    assert (tmp_path / "report.html").read_text() == (study / "report.html").read_text()


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("results/*/report.html")), ids=lambda page: page.parent.name
)
def test_a_committed_page_is_html_that_holds_its_figures_and_tables(page):
    text = page.read_text()
    assert text.startswith("<!DOCTYPE html>\n<html") and len(text.encode()) < 1_500_000
    assert text.rstrip().endswith("</html>") and "&lt;section" not in text
    for figure in page.parent.glob("figures/*.svg"):
        assert f'id="figure-{figure.stem}"' in text, figure.name
