"""The page: one file that opens offline, with closed tags, working links, alternative texts and marked fills."""

import base64
import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from fake_tables import STUDY


@pytest.fixture(scope="module")
def page(report):
    return (report / "report.html").read_text()


def test_the_page_is_html_and_needs_nothing_from_elsewhere(page):
    assert page.startswith("<!DOCTYPE html>\n<html")
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert addresses and all(address.startswith(("data:image/svg+xml;base64,", "#")) for address in addresses)
    assert "@import" not in page and "url(" not in page


def test_the_links_of_the_page_lead_somewhere(page):
    ids = set(re.findall(r'id="([^"]*)"', page))
    assert {link[1:] for link in re.findall(r'href="(#[^"]*)"', page)} <= ids


def test_the_embedded_figures_are_the_files_and_have_an_alternative_text(report, page):
    figures = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]*)" alt="([^"]+)"', page)
    files = {path.read_bytes() for path in (report / "figures").iterdir()}
    assert {base64.b64decode(data) for data, _ in figures} == files


def test_every_tag_of_the_page_is_closed(page):
    class Balance(HTMLParser):
        open = []

        def handle_starttag(self, tag, attributes):
            if tag not in {"meta", "img"}:
                self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

    balance = Balance()
    balance.feed(page)
    assert balance.open == []


def test_fills_are_marked_and_text_is_escaped(page):
    assert '<b class="fill">small</b>' in page and '<b class="blank">quick</b>' in page
    assert '<b class="fill">∅</b>' in page
    assert "&amp; &lt;stops&gt;." in page and "<stops>" not in page


def test_competence_and_answers_stand_first(make_report, no_figures, tmp_path):
    answer = {"claim": "C1", "condition": "no leak", "corpus": "abstracts", "first": "mlm", "second": "clm"}
    answer |= {"metric": "bleu", "scope": "document", "outcome": "first better", "effect": 2.0, "low": 1.0}
    answer |= {
        "high": 3.0,
        "margin": 0.5,
        "p": 0.01,
        "detectable": 0.5,
        "runs": 5,
        "n": 150,
        "needs": "",
        "reason": "",
    }
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
    tables["answers"] = pd.DataFrame([answer, answer | {"corpus": "all", "reason": "on abstracts"}])
    tables["sentences"] = pd.DataFrame(
        [{"claim": "C1", "statement": "S.", "sentence": "Over 5 runs: no leak."}]
    )
    page = (make_report(tables, tmp_path) / "report.html").read_text()
    places = [page.index(f'id="table-{name}"') for name in ("competence", "sentences", "answers")]
    assert places == sorted(places) and places[-1] < page.index("<h2>Summary</h2>")
    assert "C1</a> no leak: <b>first better</b>" in page and "2 [1, 3]" in page.replace("\u00a0", " ")
    assert (tmp_path / "answers.csv").is_file() and (tmp_path / "tables" / "competence.md").is_file()
