"""Every page in a browser, where one is installed: at two widths, light and dark, its parts used as a reader would."""

import html
import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from browser import needs_browser, open_page
from committed import mark_slow

from mlm_vs_clm.files import ROOT, list_studies

WIDTHS = (400, 1280)
SCHEMES = {"light": "1", "dark": "0"}
FRAME = '<iframe src="{page}" width="{width}" height="800"></iframe>'
PROBE = """<!DOCTYPE html><body>%s<script>%s</script><script>onload = async () => {
  const windows = [...document.querySelectorAll("iframe")].map((frame) => frame.contentWindow);
  const all = (query, inside) => [...inside.querySelectorAll(query)], shown = (part) => part.getClientRects().length > 0;
  const set = (field, value) => {
    field.value = value;
    field.dispatchEvent(new field.ownerDocument.defaultView.Event("input", { bubbles: true }));
  };
  const visit = async (view) => {
    const page = view.document, find = (query) => page.querySelector(query), found = {};
    const overflow = () => page.documentElement.scrollWidth - view.innerWidth;
    found.dark = view.matchMedia("(prefers-color-scheme: dark)").matches;
    found.overflow = [overflow()];
    found.first = find("#answer").innerText;
    found.top = find("figure")?.getBoundingClientRect().top;
    found.cards = all(".card", page).map((card) => card.dataset.arm);
    const arm = all("main a.arm", page).find(shown);
    if (arm) {
      arm.focus();
      found.tip = [arm.textContent, find("#tip").innerText];
      arm.blur();
    }
    if (find(".explorer")) {
      const read = () => find("#document").innerText;
      found.blanks = all(".blank", page).map((blank) => [blank.getAttribute("aria-label"), blank.children.length]);
      const before = read();
      find("[data-step='1']").click();
      found.turned = read() !== before;
    }
    const form = find("form.dial");
    if (form) {
      const ratio = form.elements.ratio;
      found.dial = [ratio.min, ratio.max].map((value) => (set(ratio, value), [form.querySelector("output").textContent, find(".dialled").innerText]));
      found.state = view.location.hash;
    }
    for (const details of all("main details", page)) details.open = true;
    await new Promise((done) => setTimeout(done, 50));
    found.overflow.push(overflow());
    found.columns = Math.max(0, ...all("details.table thead tr", page).map((row) => row.cells.length));
    const head = find("table.sortable th:nth-child(2) button");
    if (head) {
      const body = head.closest("table").tBodies[0];
      found.sorted = [1, 2].map(() => {
        head.click();
        return [head.closest("th").getAttribute("aria-sort"), [...body.rows].map((row) => row.cells[1].innerText)];
      });
      view.URL.createObjectURL = (made) => ((found.csv = made.size), "about:blank");
      view.HTMLAnchorElement.prototype.click = () => {};
      find(".csv").click();
      const rows = () => all(".sortable tbody tr", page).filter(shown).map((row) => row.innerText.toLowerCase());
      found.rows = rows().length;
      set(find("#filter"), "mlm");
      found.filtered = rows();
      set(find("#filter"), "");
    }
    const name = (part) => part.getAttribute("aria-label") || part.textContent || [...(part.labels ?? [])].map((label) => label.innerText).join("");
    found.unnamed = all("button, a, input, select, summary, [role=region], [role=group], [role=img]", page).filter((part) => !name(part).trim()).map((part) => part.outerHTML.slice(0, 120));
    found.doubled = all("[id]", page).map((part) => part.id).filter((id, i, ids) => ids.indexOf(id) !== i);
    if (window.axe) {
      view.eval(document.scripts[0].textContent);
      const rest = { exclude: [["tbody tr:nth-child(n + 6)"]] }; // rows like the five before
      const { violations } = await view.axe.run(rest, { runOnly: ["wcag2a", "wcag2aa", "best-practice"] });
      found.axe = violations.filter((one) => one.impact === "critical" || one.impact === "serious").map((one) => [one.impact, one.id, one.nodes.length, one.nodes[0].html.slice(0, 160)]);
    }
    return found;
  };
  const told = [];
  for (const view of windows) told.push(await visit(view));
  document.body.textContent = JSON.stringify(told);
}</script></body>"""
STUDIES = list_studies(ROOT / "results")
OF_EACH_KIND = (
    "laptop",
    "laptop-prefix",
    "laptop-kinds",
    "laptop-usefulness",
)  # the accessibility check takes long

pytestmark = needs_browser


def read_axe():
    """Return the source of axe-core, which checks accessibility, "" where its package is not installed."""
    package = find_spec("axe_core_python")
    return Path(package.origin).with_name("axe.min.js").read_text() if package else ""


def visit(pages, folder, scheme, axe=True):
    """Return what the probe finds in each page at each of WIDTHS; the console has to stay empty."""
    probe = folder / f"probe-{scheme}.html"
    frames = "".join(FRAME.format(page=page.as_uri(), width=width) for page in pages for width in WIDTHS)
    probe.write_text(PROBE % (frames, (read_axe() if axe else "").replace("</script", "<\\/script")))
    options = (f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", "--virtual-time-budget=60000")
    shown = open_page(probe.as_uri(), folder / scheme, *options)
    body = shown.partition("<body>")[2].partition("</body>")[0]
    found = json.loads(html.unescape(body))
    return [found[place : place + len(WIDTHS)] for place in range(0, len(found), len(WIDTHS))]


def check(seen, scheme, axe=True):
    """Check what holds of every page."""
    assert all(one["dark"] == (scheme == "dark") for one in seen)
    assert all(max(one["overflow"]) <= 0 for one in seen), [one["overflow"] for one in seen]
    for one in seen:
        assert 15 < len(one["first"].split()) < 120
        assert one["columns"] <= 8
        assert one["unnamed"] == [] and one["doubled"] == []
        assert one.get("axe") == ([] if axe and read_axe() else None)
        arm, told = one["tip"]
        assert arm in one["cards"] and told.startswith(f"{arm} (") and len(told) > 40


@pytest.fixture(scope="module", params=mark_slow(SCHEMES, "light"))
def seen(report, tmp_path_factory, request):
    (found,) = visit([report / "report.html"], tmp_path_factory.mktemp("browser"), request.param)
    return request.param, found


def test_a_page_fits_its_width_and_names_its_parts(seen):
    check(seen[1], seen[0])


def test_the_answer_and_the_first_figure_are_on_the_first_screen(seen):
    for one in seen[1]:
        assert "BLEU points ahead of a causal model" in one["first"]
        assert one["top"] < 700


def test_each_gap_shows_what_two_arms_wrote_and_the_next_document_follows(seen):
    for one in seen[1]:
        label, parts = one["blanks"][0]
        assert label == "blank 1: quick; mlm: small, wrong; clm: old, wrong" and parts == 3
        assert one["blanks"][1][0] == "blank 2: jumps; mlm: jumps, right; clm: Jumps, right"
        assert one["turned"]


def test_the_dial_moves_scores_and_stands_in_the_address(seen):
    for one in seen[1]:
        (low, at_low), (high, at_high) = one["dial"]
        assert (low, high) == ("15 %", "100 %") and at_low != at_high
        assert "ratio=1" in one["state"]


def test_a_table_sorts_both_ways_downloads_and_one_box_filters_all_tables(seen):
    for one in seen[1]:
        (up, rising), (down, falling) = one["sorted"]
        assert (up, down) == ("ascending", "descending") and sorted(rising) == sorted(falling)
        assert one["csv"] > 50
        assert 0 < len(one["filtered"]) < one["rows"] and all("mlm" in row for row in one["filtered"])


def show(study):
    """Return the scheme in which a committed page is visited: of one template, every other page in the dark."""
    return [*SCHEMES][sorted(STUDIES).index(study) % len(SCHEMES)]


@pytest.mark.parametrize("study", mark_slow(OF_EACH_KIND, "laptop-prefix"))
def test_a_committed_page_of_each_kind_can_be_used_by_all(study, tmp_path):
    (found,) = visit([STUDIES[study] / "report.html"], tmp_path, show(study))
    check(found, show(study))


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_other_committed_pages_can_be_used(scheme, tmp_path):
    names = [name for name in {*STUDIES} - {*OF_EACH_KIND} if show(name) == scheme]
    found = visit([STUDIES[name] / "report.html" for name in names], tmp_path, scheme, axe=False)
    for _, seen in zip(names, found, strict=True):
        check(seen, scheme, axe=False)
