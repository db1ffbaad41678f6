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


def test_a_verdict_stands_first_and_links_to_the_comparisons_behind_it(make_report, no_figures, tmp_path):
    verdict = {"claim": "C1", "corpus": "overall", "verdict": "supported", "reason": "all agree"}
    row = {"claim": "C1", "corpus": "abstracts", "comparison": "no leak", "role": "reported", "n": 150}
    row |= {"metric": "bleu", "scope": "document", "verdict": "supported", "effect": 2.0, "low": 1.0}
    row |= {"high": 3.0, "p": 0.01, "detectable": 0.5, "reason": "", "evidence": "score/one score/two"}
    claims = pd.DataFrame([verdict, verdict | {"claim": "C7"}])
    tables = {"study": pd.DataFrame([STUDY]), "claims": claims, "comparisons": pd.DataFrame([row])}
    page = (make_report(tables, tmp_path) / "report.html").read_text()
    assert (tmp_path / "claims.csv").is_file()
    assert page.index("<h2>Verdicts</h2>") < page.index("<h2>Summary</h2>")
    assert '<a href="#table-evidence_c1"' in page and 'id="table-evidence_c1"' in page
    assert "score/one, score/two" in page.replace("\u00a0", " ") and "evidence_c7" not in page
