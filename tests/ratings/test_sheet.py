"""The rating sheet: balanced, blinded, and a page that works in a browser."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from browser import needs_browser, open_page
from refusals import assert_refused

from mlm_vs_clm.files import ROOT
from mlm_vs_clm.ratings import answers, sheet
from mlm_vs_clm.tools.__main__ import main
from mlm_vs_clm.tools.rating_sheet import refuse_results


def test_a_sheet_is_balanced_and_a_document_is_repeated_only_after_all_others(draw_sheet):
    items = draw_sheet()
    frame = pd.DataFrame(items)
    assert len(frame) == 2 * 3 * 3 and not frame.duplicated(["corpus", "arm", "document"]).any()
    assert (frame.groupby(["corpus", "document"])["arm"].nunique() == 3).all()
    assert list(frame["block"]) == sorted(frame["block"])
    assert not frame.duplicated(["block", "corpus", "document"]).any()
    assert (frame.groupby(["block", "corpus"])["arm"].nunique() == 3).all()
    assert draw_sheet() == items != draw_sheet(seed=1)


def test_facts_and_relevance_are_asked_beside_the_original(draw_sheet, key):
    assert key["questions"] == ["coherence", "grammar", "consistency", "relevance"]
    items = draw_sheet()
    written = {(item.corpus, item.document): item.text for item in items if item.arm == "oracle"}
    assert all(item.original == written[item.corpus, item.document] for item in items)
    without = [replace(item, original="") for item in items]
    named = sheet.name_items(without)
    assert sheet.make_key("s", named, 0.5, 0, "random")["questions"] == ["coherence", "grammar"]
    assert "Factual consistency" not in sheet.render_sheet("s", named)


def test_no_more_documents_are_drawn_than_there_are(draw_sheet):
    assert len(draw_sheet(texts=12)) == 72
    assert_refused("12 documents, 13 are asked for", draw_sheet, texts=13)


def test_the_page_names_no_arm_and_the_key_has_no_text(study, tmp_path, capsys):
    results, store = study
    settings = ["--results", str(results), "--store", str(store), "--out", str(tmp_path), "--texts", "2"]
    assert main(["rating-sheet", *settings]) == 0
    assert "infill" in capsys.readouterr().out  # a default arm that these results lack is reported
    [page], [secret] = tmp_path.glob("*.html"), tmp_path.glob("key/*.json")
    html = page.read_text()
    blinded = {"score/", "oracle", "unigram", "mlm", "clm", "http:", "https:", "src="}
    assert not [word for word in blinded if word in html]
    assert "<b>&" not in html  # a text cannot end the script that holds it
    assert "Text " not in secret.read_text()
    before = html, secret.read_bytes()
    assert main(["rating-sheet", *settings]) == 0
    assert (page.read_text(), secret.read_bytes()) == before


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (["--ratio", "0.3"], "its ratios are 0.5 and its seeds"),
        (["--cell-seed", "9"], "its ratios are 0.5 and its seeds 0"),
        (["--arms", "mlm,nobody"], "no arm nobody"),
        (["--texts", "0"], "at least one"),
        (["--store", "nowhere"], "is not in nowhere"),
        (["--results", "nowhere"], "no key `study` in nowhere/study.yaml"),
    ],
)
def test_a_sheet_that_cannot_be_drawn_is_reported_in_one_line(study, tmp_path, capsys, settings, says):
    asked = {"--results": study[0], "--store": study[1], "--out": tmp_path} | {settings[0]: settings[1]}
    assert main(["rating-sheet", *(str(word) for pair in asked.items() for word in pair)]) == 1
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_sheet_never_goes_among_results(study, capsys):
    (results, store), out = study, study[0].parent / "ratings"
    assert main(["rating-sheet", "--results", str(results), "--store", str(store), "--out", str(out)]) == 1
    assert "corpus text" in capsys.readouterr().err and not out.exists()


@pytest.mark.parametrize(
    ("results", "out", "is_refused"),
    [
        ("myresults", "outputs/ratings", False),
        ("myresults", "myresults/ratings", True),
        ("myresults", "myresults", True),
        ("{here}/myresults", "outputs/ratings", False),
        ("../here/myresults", "../there", False),
        ("results/laptop", "outputs/ratings", False),
        ("results/laptop", "results/ratings", True),
        ("results/laptop", "results/laptop/ratings", True),
        ("../there/laptop", "../there/ratings", True),
        (".", "ratings", True),
        ("myresults", "{root}/results/ratings", True),
    ],
)
def test_among_results_are_their_folder_and_its_neighbours_but_not_where_one_works(
    tmp_path, monkeypatch, results, out, is_refused
):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    given = Path(out.format(root=ROOT)), Path(results.format(here=here))
    if is_refused:
        assert_refused("is among results", refuse_results, *given)
    else:
        refuse_results(*given)


DRIVE = """<script>addEventListener("load", async () => {
  const log = [], of = (id) => document.getElementById(id), on = () => document.activeElement;
  const key = (k) => on().dispatchEvent(new KeyboardEvent("keydown", {key: k, bubbles: true, cancelable: true}));
  let file = null;
  URL.createObjectURL = (blob) => { file = blob; return "#"; };
  addEventListener("securitypolicyviolation", (event) => log.push(event.violatedDirective));
  of("rater").value = "R1";
  of("enter").requestSubmit();
  log.push(of("place").textContent, on().id);
  key("Enter");
  log.push(of("problem").textContent, on().name);
  key("4"); log.push(on().name);
  key("2"); log.push(on().textContent);
  key("5");
  log.push([...document.querySelectorAll("input:checked")].map((radio) => radio.name + radio.value).join());
  on().click();
  log.push(of("place").textContent);
  of("skip").click();
  for (let i = 2; i < TEXTS.length; i++) { key("3"); key("5"); on().click(); }
  log.push(of("place").textContent, of("original").hidden, of("original").textContent !== "");
  for (let i = 0; i < TEXTS.length; i++) { key("1"); key("2"); on().click(); }
  log.push(on().id, of("summary").textContent);
  of("save").click();
  const kept = Object.keys(localStorage).join();
  const told = document.createElement("pre");
  told.textContent = JSON.stringify({log, kept, saved: await file.text()});
  document.body.prepend(told);
});</script>"""


@pytest.mark.slow
@needs_browser
def test_the_page_is_rated_by_keyboard_in_a_browser(draw_sheet, key, tmp_path):
    named = sheet.name_items(draw_sheet())
    (tmp_path / "sheet.html").write_text(sheet.render_sheet(key["sheet"], named) + DRIVE)
    page = open_page((tmp_path / "sheet.html").as_uri(), tmp_path)
    found = json.loads(page.split("<pre>")[1].split("</pre>")[0])
    assert found["log"] == [
        *("Text 1 of 36", "place"),
        *("Answer both questions, or skip the text.", "coherence"),
        *("grammar", "Next"),
        "coherence4,grammar2",
        "Text 2 of 36",
        *("Text 19 of 36", False, True),
        *("end-title", "35 rated, 1 skipped."),
    ]
    assert found["kept"] == f"ratings/{key['sheet']}/R1"
    saved = json.loads(found["saved"])
    assert answers.check_answers(saved, key, {}) == []
    first, second, *others = saved["ratings"]
    assert (first["coherence"], first["grammar"], first["position"]) == (4, 2, 1)
    assert (second["coherence"], second["grammar"]) == (None, None)
    assert {(row["coherence"], row["grammar"]) for row in others} == {(3, 5)}
    assert {(row["consistency"], row["relevance"]) for row in saved["ratings"]} == {(1, 2)}
    assert saved["round"] == 1
    order = [row["item"] for row in saved["ratings"]]
    assert order != sorted(order) == sorted(key["items"])  # each rater has an order of their own
