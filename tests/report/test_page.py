"""The page: one file that opens offline, with closed tags, working links, alternative texts and marked fills."""

import json
import re
import shutil
from html.parser import HTMLParser

import pandas as pd
import pytest
from fake_tables import STUDY, fake_tables, tidy_fakes

from mlm_vs_clm.arms.roles import load_roles
from mlm_vs_clm.evidence.tables import read_tables
from mlm_vs_clm.files import ROOT, list_studies
from mlm_vs_clm.pipeline.collect import code_fill
from mlm_vs_clm.report.build import draw, make_page
from mlm_vs_clm.report.drawing import style_context
from mlm_vs_clm.report.headline import name_next
from mlm_vs_clm.report.page import write_data
from mlm_vs_clm.report.story import choose_arms
from mlm_vs_clm.report.study_folder import load_background
from mlm_vs_clm.report.svg import inline

STUDIES = list_studies(ROOT / "results")


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
    assert len(ids) == len(set(ids)) > 50
    assert set(re.findall(r"url\(#([^)]*)\)", page)) <= set(ids)


def test_every_figure_of_the_page_has_its_content_in_words(page):
    parts = {
        stem: page.partition(f'id="figure-{stem}"')[2] for stem in re.findall(r'id="figure-([^"]*)"', page)
    }
    assert {"ladder", "learning"} <= {*parts}
    for name, part in parts.items():
        assert "<svg" in part.partition("</figure>")[0], name
        assert re.search(r'role="group" aria-label="[^"]{20}', part.partition("</figure>")[0]), name


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
            if tag not in {"meta", "input", "br", "td", "tr", "tbody"}:
                self.open.append(tag)

        def handle_startendtag(self, tag, attributes):
            """Close what closes itself, in SVG."""

        def handle_endtag(self, tag):
            assert tag in {"tr", "tbody"} or self.open.pop() == tag

    balance = Balance()
    balance.feed(page)
    assert balance.open == []


def test_documents_are_data_gap_by_gap_and_text_is_escaped(page):
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]
    (first, *_) = json.loads(text)["examples"]
    assert first["kept"] == ["The ", " brown fox ", " & <stops>."] and first["originals"] == [
        "quick",
        "jumps",
    ]
    assert first["arms"] == {"mlm": ["small", 1], "clm": ["old", ["Jumps"]]}
    assert "<stops>" not in page


def test_no_text_of_a_document_can_hide_the_end_of_its_data():
    harmful = ["</script><b>", "<!-- <script src=x>", "a & b"]
    written = write_data(harmful)
    assert "<" not in written and json.loads(written) == harmful


def test_the_first_block_is_title_question_and_answer_in_under_120_words(page):
    first = re.search(r'<header id="answer">(.*?)</header>', page, re.DOTALL)[1]
    words = re.sub(r"<[^>]+>", " ", first).split()
    assert len(words) < 120 and "BLEU points ahead of" in " ".join(words)
    assert page.index("</header>") < page.index('id="figure-ladder"') < page.index('id="arms"')


def test_every_arm_has_a_card_with_its_definition_and_scores(page):
    for arm in ("mlm", "clm", "unigram"):
        card = page.partition(f'id="arm-{arm}"')[2].partition("</article>")[0]
        assert load_roles()[arm].line in card.replace("&#39;", "'") and "BLEU <b>" in card


def test_answers_stand_in_words_and_with_the_winner_by_name(make_report, no_figures, tmp_path):
    tables = {"study": pd.DataFrame([STUDY])}
    tables |= {name: fake_tables(("abstracts",))[name] for name in ("answers", "training")}
    page = (make_report(tables, tmp_path) / "report.html").read_text().replace("\u00a0", " ")
    assert "<dd>mlm ahead, outside the margin: abstracts. Over 5 runs.</dd>" in page
    assert "<td>2 [1, 3]<td>5" in page and "Ahead: mlm. Size: outside." in page


def test_a_study_of_own_texts_without_word_tables_is_not_told_that_it_has_too_few_texts():
    tables = read_tables(ROOT / "results" / "laptop")
    tables["competence"] = tables["competence"].assign(n=0, outcome="not run")
    assert name_next({"scale": "own"}, tables).startswith("the same command with the word tables")


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_a_committed_page_follows_from_its_frames(name, tmp_path):
    study = STUDIES[name]
    for path in study.iterdir():
        if path.is_file() and path.name not in ("report.html", "findings.csv"):
            shutil.copy(path, tmp_path)
    make_page(tmp_path)
    assert (tmp_path / "report.html").read_text() == (study / "report.html").read_text()


@pytest.mark.parametrize("study", STUDIES)
def test_words_of_committed_examples_stand_in_their_own_gaps(study):
    """A word is coded as the original where, and only where, it is that of its blank; the oracle writes every original."""
    for example in load_background(STUDIES[study]).examples:
        originals, arms = example["originals"], example["arms"]
        assert arms and len(example["kept"]) == len(originals) + 1
        for arm, fills in arms.items():
            texts = [
                original if fill == 1 else fill[0] if isinstance(fill, list) else fill
                for fill, original in zip(fills, originals, strict=True)
            ]
            assert fills == [*map(code_fill, texts, originals)]
            assert arm != "oracle" or {*fills} == {1}


@pytest.mark.parametrize("study", STUDIES)
def test_a_committed_page_is_one_file_of_at_most_400_kilobytes(study):
    text = (STUDIES[study] / "report.html").read_text()
    assert text.startswith("<!DOCTYPE html>\n<html") and text.rstrip().endswith("</html>")
    assert len(text.encode()) < 400 * 1024 and "&lt;section" not in text


def test_a_masked_and_a_causal_arm_open_the_documents_whichever_were_run():
    assert choose_arms(["mlm_leaky", "infill", "clm", "mlm"], 3) == ["mlm", "clm", "infill"]
    assert choose_arms(["mlm", "mlm_leaky", "clm_kept"], 2) == ["mlm", "clm_kept"]
    assert choose_arms(["infill", "clm", "mlm_leaky"], 2) == ["clm", "mlm_leaky"]
