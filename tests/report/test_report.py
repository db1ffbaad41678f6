"""The report as a whole: what it writes, that it writes the same twice, and what it says where rows are missing."""

import base64
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from fake_tables import fake_about, fake_cards, fake_examples, fake_tables

from mlm_vs_clm.analysis import tables as tidy
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.build import OPTIONAL, TABLES, build, show_bench

ONE = ("abstracts",)


def build_fakes(tables, folder):
    build(tables, fake_examples(ONE), fake_cards(ONE), fake_about(), folder)
    return folder


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return build_fakes(fake_tables(ONE), tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def page(report):
    return (report / "report.html").read_text()


def test_the_page_is_html(page):
    assert page.startswith("<!DOCTYPE html>\n<html")


@pytest.mark.parametrize("name", ["laptop", "laptop-pretrained", "laptop-runs"])
def test_the_committed_pages_are_html(name):
    assert (ROOT / "results" / name / "report.html").read_text().startswith("<!DOCTYPE html>\n<html")


def test_shuffled_rows_give_the_same_bytes(report, tmp_path):
    shuffled = {name: table.sample(frac=1, random_state=3) for name, table in fake_tables(ONE).items()}
    build_fakes(shuffled, tmp_path)
    written = {
        path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()
    }
    assert written == {
        path.relative_to(report): path.read_bytes() for path in report.rglob("*") if path.is_file()
    }


def test_an_earlier_table_that_is_no_longer_made_is_removed(tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "old.md").write_text("old")
    build_fakes({}, tmp_path)
    assert not (tmp_path / "tables" / "old.md").exists()


def test_every_csv_has_its_columns_and_reads_back(report):
    again = tidy.read_tables(report)
    for name, table in fake_tables(ONE).items():
        assert list(again[name].columns) == tidy.COLUMNS[name]
        pd.testing.assert_frame_equal(again[name], tidy.tidy(name, table), check_dtype=False, rtol=1e-9)


def test_the_page_needs_nothing_from_elsewhere(page):
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert addresses and all(address.startswith(("data:image/svg+xml;base64,", "#")) for address in addresses)
    assert "@import" not in page and "url(" not in page


def test_the_links_of_the_page_lead_somewhere(page):
    ids = set(re.findall(r'id="([^"]*)"', page))
    assert {link[1:] for link in re.findall(r'href="(#[^"]*)"', page)} <= ids


def test_the_embedded_figures_are_the_files_and_have_an_alternative_text(report, page):
    figures = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]*)" alt="([^"]+)"', page)
    files = {path.read_bytes() for path in (report / "figures").glob("*.svg")}
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


def test_empty_tables_give_a_page_that_says_what_is_missing_and_how_to_make_it(tmp_path):
    build({}, [], [], fake_about(), tmp_path)
    page = (tmp_path / "report.html").read_text()
    for name in {source for _, source, _ in TABLES.values()}:
        assert (f"missing: no rows in {name}.csv" in page) == (name not in OPTIONAL)
        assert (tmp_path / f"{name}.csv").read_text() == ",".join(tidy.COLUMNS[name]) + "\n"
    assert "make reproduce SCALE=smoke" in page


def test_no_value_at_all_is_missing_everywhere_and_crashes_nowhere(tmp_path):
    tables = fake_tables(ONE)
    for name, columns in {
        "scores": ["value", "low", "high"],
        "downstream": ["value", "low", "high"],
        "correlation": ["value", "low", "high"],
        "ledger": ["flops", "seconds"],
        "training": ["dev_loss", "flops"],
    }.items():
        tables[name][columns] = np.nan
    page = (build_fakes(tables, tmp_path) / "report.html").read_text()
    assert "Blanks restored exactly: missing for mlm, clm, unigram." in page
    assert "no reason was recorded" in page


def test_claims_stand_on_the_first_screen_once_they_are_decided(tmp_path):
    claims = pd.DataFrame(
        {"claim": ["C1"], "corpus": ["abstracts"], "verdict": ["not tested"], "effect": [np.nan]}
    )
    build({"claims": claims}, [], [], fake_about(), tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert page.index("<h2>Verdicts</h2>") < page.index("What the tables say")
    assert (tmp_path / "claims.csv").is_file()


def test_a_verdict_links_to_the_rows_behind_it(tmp_path):
    verdict = {"claim": "C1", "corpus": "overall", "verdict": "supported", "reason": "all agree"}
    row = {"claim": "C1", "corpus": "abstracts", "comparison": "no leak", "role": "reported", "n": 150}
    row |= {"metric": "bleu", "scope": "document", "verdict": "supported", "effect": 2.0, "low": 1.0}
    row |= {"high": 3.0, "p": 0.01, "detectable": 0.5, "reason": "", "evidence": "score/one score/two"}
    claims = pd.DataFrame([verdict, verdict | {"claim": "C7"}])
    build({"claims": claims, "comparisons": pd.DataFrame([row])}, [], [], fake_about(), tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert '<a href="#table-evidence_c1"' in page and 'id="table-evidence_c1"' in page
    assert "score/one, score/two" in page.replace("\u00a0", " ") and "evidence_c7" not in page


def test_a_benchmark_is_shown_with_whether_a_gpu_was_measured(tmp_path):
    lines = [{"name": "fill_bf16", "ratio": 2.5, "ours": 50.0, "theirs": None, "device": "cpu (some)"}]
    build({"bench": pd.DataFrame(lines)}, [], [], fake_about(), tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "No GPU was measured" in page and "fill bf16" in page
    lines[0]["device"] = "cuda (some)"
    build({"bench": pd.DataFrame(lines)}, [], [], fake_about(), tmp_path)
    assert "A GPU was measured" in (tmp_path / "report.html").read_text()


def test_a_new_benchmark_is_shown_as_if_the_report_were_made_anew(tmp_path):
    lines = [{"name": "fill_bf16", "ratio": 2.5, "ours": 50.0, "theirs": None, "device": "cpu (some)"}]
    for folder, ratio in (("old", 2.5), ("other", 2.5), ("new", 3.5)):
        lines[0]["ratio"] = ratio
        build_fakes(fake_tables(ONE) | {"bench": pd.DataFrame(lines)}, tmp_path / folder)
    without = build_fakes(fake_tables(ONE), tmp_path / "without")
    before = {path: path.read_bytes() for path in without.rglob("*") if path.is_file()}
    pages = [tmp_path / folder / "report.html" for folder in ("new", "old", "other")]
    assert show_bench(pd.DataFrame(lines), tmp_path) == pages
    assert all(page.read_text().startswith("<!DOCTYPE html>\n<html") for page in pages)
    for path in sorted((tmp_path / "new").rglob("*")):
        again = tmp_path / "old" / path.relative_to(tmp_path / "new")
        assert path.is_dir() or path.read_bytes() == again.read_bytes(), path
    assert before == {path: path.read_bytes() for path in without.rglob("*") if path.is_file()}


def test_an_absent_column_is_named(tmp_path):
    tables = fake_tables(ONE)
    tables["scores"] = tables["scores"].drop(columns="share")
    with pytest.raises(StudyError, match="'scores' has no column 'share'"):
        build_fakes(tables, tmp_path)


def test_two_rows_for_one_cell_are_refused(tmp_path):
    tables = fake_tables(ONE)
    tables["ledger"] = pd.concat([tables["ledger"], tables["ledger"].iloc[:1]])
    with pytest.raises(StudyError, match="corpus=abstracts, arm=mlm, strategy=random, ratio=0.15, seed=0"):
        build_fakes(tables, tmp_path)
