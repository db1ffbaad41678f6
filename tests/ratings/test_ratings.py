"""Ratings: a blinded sheet, a page that works in a browser, and answers read back; all raters here are simulated."""

import json
import shutil
import subprocess
from functools import partial

import numpy as np
import pandas as pd
import pytest

from mlm_vs_clm.__main__ import main
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.pipeline.rating_sheet import read_texts
from mlm_vs_clm.ratings import answers as reading
from mlm_vs_clm.ratings import sheet
from mlm_vs_clm.ratings.analysis import agree, average, compare_arms, measure_agreement, rate_arms
from mlm_vs_clm.ratings.questions import QUESTIONS

ARMS = ("oracle", "mlm", "clm")
LEVELS = {"oracle": 4.5, "mlm": 3.2, "clm": 2.0}
N_DOCUMENTS = 12
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Return (results, store) of two corpora and three arms, forged: the texts name their arm in no way."""
    root = tmp_path_factory.mktemp("study")
    rows, draw = [], np.random.default_rng(0)
    for corpus in ("abstracts", "plots"):
        for arm in ARMS:
            score, made = (root / "outputs" / stage / f"{corpus}{arm}" for stage in ("score", "generate"))
            score.mkdir(parents=True)
            made.mkdir(parents=True)
            record = {"inputs": {"generation": f"generate/{corpus}{arm}"}}
            (score / "artifact.json").write_text(json.dumps(record))
            rows_of = [[float(value), 1.0] for value in draw.random(N_DOCUMENTS)]
            statistics = {"scope": "document", "metric": "rouge1", "rows": rows_of}
            (score / "statistics.jsonl").write_text(json.dumps(statistics) + "\n")
            fills = [
                {"id": f"{corpus[0]}{n}", "text": f"Text {n} of {len(arm)} <b>&", "fills": [], "spans": []}
                for n in range(N_DOCUMENTS)
            ]
            (made / "fills.jsonl").write_text("".join(json.dumps(row) + "\n" for row in fills))
            cell = {"corpus": corpus, "arm": arm, "strategy": "random", "ratio": 0.5, "seed": 0}
            rows.append(cell | {"artifact": f"score/{corpus}{arm}"})
    (root / "results" / "laptop").mkdir(parents=True)
    pd.DataFrame(rows).to_csv(root / "results" / "laptop" / "scores.csv", index=False)
    return root / "results" / "laptop", root / "outputs"


def draw_sheet(study, texts=3, seed=0):
    results, store = study
    cells = sheet.choose_cells(results, ARMS, 0.5, 0)
    return sheet.draw_sheet(cells, partial(read_texts, store), texts, np.random.default_rng(seed))


@pytest.fixture(scope="module")
def key(study):
    named = sheet.name_items(draw_sheet(study))
    return sheet.make_key(sheet.name_sheet(named), named, 0.5, 0)


def simulate(key, rater, spread=0.5):
    """Return the file of one simulated rater, who is more or less severe and has a level for each arm."""
    draw = np.random.default_rng(rater)
    severity = draw.normal(0, 0.3)
    ratings = [
        {"item": item, "seconds": 9.5}
        | {
            q: int(np.clip(round(LEVELS[about["arm"]] + severity + draw.normal(0, spread)), 1, 5))
            for q in QUESTIONS
        }
        for item, about in key["items"].items()
    ]
    return {"sheet": key["sheet"], "rater": f"r{rater}", "ratings": ratings}


def save(folder, *files):
    folder.mkdir(exist_ok=True)
    for number, answers in enumerate(files):
        (folder / f"{number}.json").write_text(json.dumps(answers))
    return folder


def test_a_sheet_is_balanced_and_a_document_comes_back_only_after_all_others(study):
    items = draw_sheet(study)
    frame = pd.DataFrame(items)
    assert len(frame) == 2 * 3 * 3 and not frame.duplicated(["corpus", "arm", "document"]).any()
    assert (frame.groupby(["corpus", "document"])["arm"].nunique() == 3).all()
    assert list(frame["block"]) == sorted(frame["block"])
    assert not frame.duplicated(["block", "corpus", "document"]).any()
    assert (frame.groupby(["block", "corpus"])["arm"].nunique() == 3).all()
    assert draw_sheet(study) == items
    assert draw_sheet(study, seed=1) != items


def test_no_more_documents_are_drawn_than_there_are(study):
    assert len(draw_sheet(study, texts=12)) == 72
    with pytest.raises(StudyError, match="12 documents, 13 are asked for"):
        draw_sheet(study, texts=13)


def test_the_page_tells_no_arm_and_the_key_no_text(study, tmp_path, capsys):
    results, store = study
    settings = ["--results", str(results), "--store", str(store), "--out", str(tmp_path), "--texts", "2"]
    assert main(["rating-sheet", *settings]) == 0
    assert "infill" in capsys.readouterr().out  # a default arm that these results lack is told
    [page], [secret] = tmp_path.glob("*.html"), tmp_path.glob("key/*.json")
    html = page.read_text()
    hidden = {"score/", "oracle", "unigram", "mlm", "clm", "http:", "https:", "src="}
    assert not [word for word in hidden if word in html]
    assert "<b>&" not in html  # a text cannot end the script that holds it
    assert "Text " not in secret.read_text()
    before = html, secret.read_bytes()
    assert main(["rating-sheet", *settings]) == 0
    assert (page.read_text(), secret.read_bytes()) == before


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["--ratio", "0.3"], "its ratios are 0.5"),
        (["--arms", "mlm,nobody"], "no arm nobody"),
        (["--texts", "0"], "at least one"),
        (["--store", "nowhere"], "is not in nowhere"),
        (["--results", "nowhere"], "no scores.csv in nowhere"),
    ],
)
def test_a_sheet_that_cannot_be_drawn_says_so_in_a_line(study, tmp_path, capsys, settings, told):
    base = ["--results", str(study[0]), "--store", str(study[1]), "--out", str(tmp_path)]
    assert main(["rating-sheet", *base, *settings]) == 1
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_sheet_never_goes_among_results(study, capsys):
    out = study[0].parent / "ratings"
    assert (
        main(["rating-sheet", "--results", str(study[0]), "--store", str(study[1]), "--out", str(out)]) == 1
    )
    assert "corpus text" in capsys.readouterr().err and not out.exists()


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
  log.push([...document.querySelectorAll(":checked")].map((radio) => radio.name + radio.value).join());
  on().click();
  log.push(of("place").textContent);
  of("skip").click();
  for (let i = 2; i < TEXTS.length; i++) { key("3"); key("5"); on().click(); }
  log.push(on().id, of("summary").textContent);
  of("save").click();
  const kept = Object.keys(localStorage).join();
  document.body.innerHTML = "<pre></pre>";
  document.body.firstChild.textContent = JSON.stringify({log, kept, saved: await file.text()});
});</script>"""


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here: the page is not tried in a browser")
def test_the_page_is_rated_by_keyboard_in_a_browser(study, key, tmp_path):
    named = sheet.name_items(draw_sheet(study))
    (tmp_path / "sheet.html").write_text(sheet.render_sheet(key["sheet"], named) + DRIVE)
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    command += ["--virtual-time-budget=3000", "--dump-dom", (tmp_path / "sheet.html").as_uri()]
    page = subprocess.run(command, capture_output=True, text=True, timeout=60).stdout
    told = json.loads(page.split("<pre>")[1].split("</pre>")[0])
    assert told["log"] == [
        *("Text 1 of 18", "place"),
        *("Answer both questions, or skip the text.", "coherence"),
        *("grammar", "Next"),
        "coherence4,grammar2",
        "Text 2 of 18",
        *("end-title", "17 rated, 1 skipped."),
    ]
    assert told["kept"] == f"ratings/{key['sheet']}/R1"
    saved = json.loads(told["saved"])
    assert reading.check_answers(saved, key, {}) == []
    first, second, *others = saved["ratings"]
    assert (first["coherence"], first["grammar"], first["position"]) == (4, 2, 1)
    assert (second["coherence"], second["grammar"]) == (None, None)
    assert {(row["coherence"], row["grammar"]) for row in others} == {(3, 5)}
    assert sorted(row["item"] for row in saved["ratings"]) == sorted(key["items"])
    assert [row["item"] for row in saved["ratings"]] != list(
        key["items"]
    )  # each rater has an order of their own


def test_ratings_are_read_back_into_tables(study, key, tmp_path, capsys):
    (tmp_path / "key.json").write_text(json.dumps(key))
    folder = save(tmp_path / "answers", *[simulate(key, rater) for rater in range(3)])
    out = tmp_path / "out"
    settings = [str(folder), "--key", str(tmp_path / "key.json"), "--store", str(study[1]), "--out", str(out)]
    assert main(["ratings", *settings]) == 0
    assert "3 raters, 108 ratings of 108" in capsys.readouterr().out
    tables = {path.stem: pd.read_csv(path) for path in out.iterdir()}
    assert set(tables) == {"ratings", "means", "agreement", "comparisons", "metrics"}
    means = tables["means"].query("corpus == 'all' and question == 'coherence'").set_index("arm")["value"]
    assert means["oracle"] > means["mlm"] > means["clm"]
    assert (tables["means"]["low"] <= tables["means"]["value"]).all()
    assert len(tables["ratings"]) == 108 and {"corpus", "arm", "document", "question", "rating"} <= set(
        tables["ratings"]
    )
    assert set(tables["metrics"]["metric"]) == {"rouge1"} and set(tables["metrics"]["n"]) == {6, 12}
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert main(["ratings", *settings]) == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_every_problem_names_its_file_and_item(key, tmp_path):
    good, unknown, high, twice, half = (simulate(key, rater) for rater in range(5))
    unknown["ratings"][0]["item"] = "t999"
    high["ratings"][0]["grammar"] = 6
    high["ratings"][1]["coherence"] = True
    twice["ratings"].append(twice["ratings"][0])
    half["ratings"][0]["grammar"] = 2.5
    half["ratings"][1]["seconds"] = "long"
    other = simulate(key, 5) | {"sheet": "another"}
    folder = save(tmp_path / "answers", good, unknown, high, twice, half, other, good, [1])
    (folder / "8.json").write_text('{"sheet":\n oops')
    rows, problems, _ = reading.read_folder(folder, key)
    first, second = (row["item"] for row in high["ratings"][:2])
    assert problems == [
        f"1.json, item t999: unknown, not on sheet {key['sheet']}",
        f"2.json, item {first}: grammar is 6, not a whole number from 1 to 5",
        f"2.json, item {second}: coherence is True, not a whole number from 1 to 5",
        f"3.json, item {first}: rated twice",
        f"4.json, item {first}: grammar is 2.5, not a whole number from 1 to 5",
        f"4.json, item {second}: seconds is 'long', not a number of seconds",
        f"5.json: it answers sheet another, the key is for sheet {key['sheet']}",
        "6.json: rater r0 is in 0.json already: keep one of the two",
        "7.json: no ratings of this study: it needs sheet, rater and ratings",
        f"{folder / '8.json'}, line 2: no JSON (Expecting value): ask for the file again",
    ]
    assert set(rows["rater"]) == {"r0"}


def test_with_a_problem_nothing_is_written(key, tmp_path, capsys):
    (tmp_path / "key.json").write_text(json.dumps(key))
    folder = save(tmp_path / "answers", simulate(key, 0) | {"sheet": "another"})
    settings = ["--key", str(tmp_path / "key.json"), "--out", str(tmp_path / "out")]
    assert main(["ratings", str(folder), *settings]) == 1
    assert main(["ratings", str(tmp_path / "nowhere"), *settings]) == 1
    assert (
        main(["ratings", str(folder), "--key", str(folder / "0.json"), "--out", str(tmp_path / "out")]) == 1
    )
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 3 and all(line.startswith("error: ") for line in errors)
    assert not (tmp_path / "out").exists()


def test_the_key_is_found_by_the_sheet_that_was_answered(key, tmp_path):
    keys, folder = tmp_path / "keys", save(tmp_path / "answers", [1], simulate(key, 0))
    keys.mkdir()
    with pytest.raises(StudyError, match="no key in .*keys belongs to"):
        reading.find_key(keys, folder)
    (keys / "key-another.json").write_text("{}")
    (keys / f"key-{key['sheet']}.json").write_text("{}")
    assert reading.find_key(keys, folder) == keys / f"key-{key['sheet']}.json"


def test_what_is_not_rated_is_missing_and_counted(key, tmp_path):
    part = simulate(key, 0)
    left = [part["ratings"].pop()["item"], part["ratings"][0]["item"]]
    part["ratings"][0] |= {"grammar": None}
    rows, problems, notes = reading.read_folder(save(tmp_path / "answers", part), key)
    assert not problems
    assert notes == [f"0.json: 2 of 18 items not rated ({left[1]}, {left[0]}); they count as missing"]
    assert len(rows) == 36 and rows["rating"].isna().sum() == 3


def test_alpha_equals_krippendorffs_own_example():
    """Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: ordinal alpha = 0.815."""
    rows = """1 2 3 3 2 1 4 1 2 . . .
              1 2 3 3 2 2 4 1 2 5 . 3
              . 3 3 3 2 3 4 2 2 5 1 .
              1 2 3 3 2 4 4 1 2 5 1 ."""
    table = [[float(x) if x != "." else np.nan for x in row.split()] for row in rows.splitlines()]
    found = agree(np.array(table).T, np.arange(12))
    assert round(found["value"], 3) == 0.815
    assert found["low"] < 0.815 < found["high"]
    assert (found["n_items"], found["n_raters"], found["n_ratings"]) == (11, 4, 40)


def test_agreement_is_one_for_equal_raters_near_zero_for_random_ones_and_else_not_defined():
    draw = np.random.default_rng(0)
    one = draw.integers(1, 6, size=(200, 1)).astype(float)
    assert agree(np.hstack([one, one]), np.arange(200))["value"] == pytest.approx(1)
    assert abs(agree(draw.integers(1, 6, size=(400, 3)).astype(float), np.arange(400))["value"]) < 0.08
    alone = agree(one, np.arange(200))
    assert "two raters" in alone["reason"] and np.isnan(alone["value"])
    assert agree(np.full((5, 3), 4.0), np.arange(5))["reason"] == "the ratings do not vary"
    assert agree(np.hstack([one, one]), np.zeros(200))["reason"] == "one document has no interval"


def test_a_mean_is_worked_by_hand_and_its_interval_says_what_it_lacks():
    assert average(np.array([[1.0, 3.0], [np.nan, 5.0]]))["value"] == 3
    same = average(np.full((4, 3), 2.0))
    assert (same["value"], same["low"], same["high"], same["n"]) == (2, 2, 2, 12)
    assert "one rater" in average(np.array([[1.0], [3.0]]))["reason"]
    assert np.isnan(average(np.array([[1.0, 2.0]]))["low"])
    assert average(np.full((2, 2), np.nan))["reason"] == "nothing was rated"


def test_the_interval_of_a_mean_covers_the_truth_at_its_rate():
    """Items and raters are both drawn anew, so 95 % intervals must cover the mean of the population."""
    draw, covered = np.random.default_rng(1), 0
    for _ in range(100):
        ratings = (
            3 + draw.normal(0, 0.5, (12, 1)) + draw.normal(0, 0.3, (1, 6)) + draw.normal(0, 0.5, (12, 6))
        )
        found = average(ratings)
        covered += found["low"] <= 3 <= found["high"]
    assert 88 <= covered <= 100


def make_rows(effect, n_documents=8, n_raters=4, seed=0):
    """Return simulated rows of one question and corpus; the arms `a` and `c` are equal, `b` is `effect` above."""
    draw, rows = np.random.default_rng(seed), []
    severity, document = draw.normal(0, 0.3, n_raters), draw.normal(0, 0.5, n_documents)
    for number in range(n_documents):
        for arm in "abc":
            quality = document[number] + draw.normal(0, 0.4) + (effect if arm == "b" else 0)
            for rater in range(n_raters):
                rating = 3 + quality + severity[rater] + draw.normal(0, 0.5)
                rows.append((f"r{rater}", f"{arm}{number}", f"d{number}", "plots", arm, "coherence", rating))
    return pd.DataFrame(rows, columns=["rater", "item", "document", "corpus", "arm", "question", "rating"])


def test_the_mixed_model_equals_the_analysis_of_variance_of_a_balanced_design():
    """A difference is that of the means, its variance 2 MS(documents x arms) / (documents x raters)."""
    rows = make_rows(0.7)
    table = compare_arms(rows).set_index(["first", "second"])
    means = rows.groupby("arm")["rating"].mean()
    items = rows.pivot_table(index="document", columns="arm", values="rating").to_numpy()
    rest = items - items.mean(axis=0) - items.mean(axis=1, keepdims=True) + items.mean()
    square = 4 * (rest**2).sum() / (2 * 7)
    row = table.loc[("a", "b")]
    assert row["difference"] == pytest.approx(means["a"] - means["b"], abs=1e-6)
    assert (row["high"] - row["low"]) / 3.92 == pytest.approx((2 * square / 32) ** 0.5, rel=5e-3)
    assert (table["p_holm"] >= table["p"]).all()


def test_the_mixed_model_finds_an_effect_and_rarely_one_that_is_not_there():
    tables = [compare_arms(make_rows(1.2, seed=seed)).set_index(["first", "second"]) for seed in range(30)]
    found = [table.loc[("a", "b"), "p_holm"] < 0.05 for table in tables]
    false = [table.loc[("a", "c"), "p_holm"] < 0.05 for table in tables]
    assert sum(found) >= 26 and sum(false) <= 4


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rows: rows[rows["rater"] == "r0"], "one rater"),
        (lambda rows: rows.assign(rating=3.0), "do not vary"),
        (lambda rows: rows.assign(rating=rows["rating"].where(rows["arm"] != "b")), "no rating of arm b"),
    ],
)
def test_where_no_model_can_be_fitted_the_reason_stands_in_each_row(change, reason):
    rows = change(make_rows(1.0))
    table = compare_arms(rows)
    assert len(table) == 3 and table["difference"].isna().all()
    assert table["reason"].str.contains(reason).all()
    assert len(rate_arms(rows)) == 6 and len(measure_agreement(rows)) == 2


def test_without_the_scores_the_correlation_is_missing_with_its_reason(key, tmp_path):
    rows, _, _ = reading.read_folder(save(tmp_path / "answers", simulate(key, 0), simulate(key, 1)), key)
    table = reading.analyse(rows, lambda artifact: {})["metrics"]
    assert table["value"].isna().all() and table["reason"].str.contains("4 of 4 cells").all()


def test_a_folder_without_ratings_is_told(tmp_path):
    with pytest.raises(StudyError, match="no ratings .* raters downloaded"):
        reading.find_key(tmp_path / "keys", tmp_path)
