"""The page in a browser, where one is installed: what it shows, at two widths, and what it does when asked."""

import html
import json

import pandas as pd
import pytest
from browser import needs_browser, open_page
from committed import mark_slow

from mlm_vs_clm.files import ROOT, list_studies
from mlm_vs_clm.report.outcomes import keep_asked

WIDTHS = (320, 1280)
FRAMES = "".join(f'<iframe src="{{page}}" width="{width}" height="800"></iframe>' for width in WIDTHS)
PROBE = """<!DOCTYPE html><body>%s<script>onload = () => {
  const [narrow, wide] = [...document.querySelectorAll("iframe")].map((frame) => frame.contentWindow);
  const page = wide.document, shown = (part) => part.getClientRects().length > 0;
  const find = (query) => [...page.querySelectorAll(query)];
  const set = (field, value) => {
    field[field.type === "checkbox" ? "checked" : "value"] = value;
    field.dispatchEvent(new wide.Event("input", { bubbles: true }));
  };
  const found = { widths: [narrow, wide].map((one) => [one.innerWidth, one.document.documentElement.scrollWidth]) };
  found.text = page.body.innerText;
  const read = (one) => one.document.querySelector("#answers") || one.document.querySelector("#panels");
  found.answers = [narrow, wide].map((one) => read(one).innerText);
  const answers = page.querySelector("#answers"), figure = page.querySelector(".first figure");
  found.first = [answers, figure].map((part) => part && part.getBoundingClientRect().top);
  const point = figure && figure.querySelector(".point");
  if (point) {
    point.focus();
    found.tip = page.querySelector("#tip").innerText;
    const box = figure.querySelector("[name=series]"), of = () => find(`[data-series="${box.value}"]`).filter((one) => figure.contains(one));
    found.series = [of().some(shown), (set(box, false), of().some(shown))];
    set(box, true);
  }
  const choice = page.querySelector("select[name=document]");
  if (choice) {
    set(choice, "2");
    found.documents = find("details[data-document]").filter(shown).map((one) => one.dataset.document);
  }
  const table = page.querySelector("table.sortable"), head = table.querySelector("th.n button") || table.querySelector("th button");
  const column = head.closest("th").cellIndex;
  found.sorted = [1, 2].map(() => {
    head.click();
    return [head.closest("th").getAttribute("aria-sort"), [...table.tBodies[0].rows].map((row) => row.cells[column].innerText)];
  });
  const rows = () => find(".sortable tbody tr").filter(shown).map((row) => row.innerText.toLowerCase());
  found.rows = rows().length;
  set(page.querySelector("#filter"), "mlm bleu");
  found.filtered = rows();
  document.body.textContent = JSON.stringify(found);
}</script></body>"""
STUDIES = list_studies(ROOT / "results")

pytestmark = needs_browser


def visit(page, folder, *options):
    """Return what the probe finds in the page, whose console has to stay empty."""
    probe = folder / "probe.html"
    probe.write_text(PROBE % FRAMES.format(page=page.as_uri()))
    shown = open_page(probe.as_uri(), folder, *options)
    body = shown.partition("<body>")[2].partition("</body>")[0]
    return json.loads(html.unescape(body))


@pytest.fixture(scope="module")
def seen(report, tmp_path_factory):
    return visit(report / "report.html", tmp_path_factory.mktemp("browser"))


def test_no_width_scrolls_the_page_sideways(seen):
    assert [inner for inner, _ in seen["widths"]] == list(WIDTHS)
    assert all(scroll <= inner for inner, scroll in seen["widths"])


def test_the_question_its_answers_and_the_figure_are_on_the_first_screen(seen):
    assert "better training data?" in seen["text"] and "Scores against training tokens" in seen["text"]
    assert all(top < 400 for top in seen["first"])
    assert all(
        "known length" in told and "mlm ahead, outside the margin: abstracts" in told
        for told in seen["answers"]
    )


def test_a_point_tells_its_numbers_and_a_series_can_be_left_out(seen):
    assert "tokens" in seen["tip"] and "n 150" in seen["tip"] and "p 0.01" in seen["tip"]
    assert seen["series"] == [True, False]


def test_one_document_is_shown_at_a_time(seen):
    assert seen["documents"] == ["2"]


def test_a_table_sorts_both_ways_and_one_box_filters_all_tables(seen):
    (up, rising), (down, falling) = seen["sorted"]
    assert (up, down) == ("ascending", "descending") and sorted(rising) == sorted(falling)

    def read(texts):
        return [float(text.split()[0].replace(",", "")) for text in texts if text[0] in "+-0123456789"]

    assert read(rising) == sorted(read(rising)) and read(falling) == sorted(read(falling), reverse=True)
    assert len(read(rising)) > 1 and 0 < len(seen["filtered"]) < seen["rows"]
    assert all("mlm" in row and "bleu" in row for row in seen["filtered"])


@pytest.mark.parametrize("study", mark_slow(STUDIES, "desk", "evening-dial"))
def test_a_committed_page_shows_its_answers(study, tmp_path):
    page = STUDIES[study] / "report.html"
    seen = visit(page, tmp_path, "--blink-settings=preferredColorScheme=0")
    assert all(scroll <= inner for inner, scroll in seen["widths"])
    findings = page.with_name("findings.csv")  # of a study with a question of its own
    rows = pd.read_csv(findings if findings.is_file() else page.with_name("sentences.csv"))
    if "claim" in rows:
        rows = keep_asked(rows, pd.read_csv(page.with_name("answers.csv")))
    told = rows["claim"] + " " + rows["statement"] if "claim" in rows else rows["sentence"]
    assert len(told) and all(one in seen["text"] for one in told)
