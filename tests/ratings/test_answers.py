"""The raters' files: read, checked and turned into tables; all raters here are simulated."""

import json

import pandas as pd
import pytest
from refusals import assert_refused
from simulated_ratings import save, simulate

from mlm_vs_clm.ratings import analysis, answers
from mlm_vs_clm.tools.__main__ import main


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(analysis, "RESAMPLES", 100)


def test_ratings_are_read_back_into_tables(study, key, tmp_path, capsys):
    (tmp_path / "key.json").write_text(json.dumps(key))
    folder = save(tmp_path / "answers", *[simulate(key, rater) for rater in range(3)])
    out = tmp_path / "out"
    settings = [str(folder), "--key", str(tmp_path / "key.json"), "--store", str(study[1]), "--out", str(out)]
    assert main(["ratings", *settings]) == 0
    assert "3 raters, 216 ratings of 216" in capsys.readouterr().out
    tables = {path.stem: pd.read_csv(path) for path in out.iterdir()}
    assert set(tables) == {"ratings", "means", "agreement", "comparisons", "metrics"}
    means = tables["means"].query("corpus == 'all' and question == 'coherence'").set_index("arm")["value"]
    assert means["oracle"] > means["mlm"] > means["clm"]
    assert (tables["means"]["low"] <= tables["means"]["value"]).all()
    assert len(tables["ratings"]) == 216
    assert {"corpus", "arm", "document", "question", "rating"} <= set(tables["ratings"])
    assert set(tables["metrics"]["metric"]) == {"rouge1"} and set(tables["metrics"]["n"]) == {6, 12}
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    (out / "second_round.csv").write_text("of an earlier sheet")
    assert main(["ratings", *settings]) == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_second_round_is_compared_with_the_first_and_read_by_nothing_else(key, tmp_path):
    first, again, other = simulate(key, 0, 0.1), simulate(key, 0, 0.1) | {"round": 2}, simulate(key, 1)
    for row in again["ratings"]:
        row["grammar"] = None
    rows, problems, _ = answers.read_folder(save(tmp_path / "a", first, again, other), key)
    assert not problems
    tables, alone = (answers.analyse(part, lambda artifact: {}) for part in (rows, rows[rows["round"] == 1]))
    assert "second_round" not in alone and len(tables["second_round"]) == len(key["items"]) * 4
    for name in ("ratings", "means", "comparisons"):
        pd.testing.assert_frame_equal(tables[name], alone[name])
    rounds = tables["agreement"].query("measure.str.contains('rounds of r0') and corpus == 'all'")
    values = rounds.set_index("question")
    assert values.loc["coherence", "value"] > 0.95 and values.loc["consistency", "n_items"] == 18
    assert values.loc["grammar", "reason"] == "fewer than two items were rated by two raters"
    assert len(tables["agreement"]) - len(rounds) > len(alone["agreement"])
    folder = save(tmp_path / "b", again, again, simulate(key, 0) | {"round": 3})
    assert answers.read_folder(folder, key)[1] == [
        "1.json: rater r0 is in 0.json already: keep one of the two",
        "2.json: its round is 3, not 1 or 2",
    ]


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
    (folder / "9.json").write_text("[" * 100_000)
    (folder / "99.json").write_text("9" * 5_000)
    rows, problems, _ = answers.read_folder(folder, key)
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
        "7.json: not a ratings file: expected sheet, rater and ratings",
        f"{folder / '8.json'}, line 2: not JSON (Expecting value): ask for it again",
        f"{folder / '9.json'}: no JSON that can be read: ask for it again",
        f"{folder / '99.json'}: no JSON that can be read: ask for it again",
    ]
    assert set(rows["rater"]) == {"r0"}


def test_with_a_problem_nothing_is_written(key, tmp_path, capsys):
    (tmp_path / "key.json").write_text(json.dumps(key))
    folder = save(tmp_path / "answers", simulate(key, 0) | {"sheet": "another"})
    settings = ["--key", str(tmp_path / "key.json"), "--out", str(tmp_path / "out")]
    assert main(["ratings", str(folder), *settings]) == 1
    assert main(["ratings", str(tmp_path / "nowhere"), *settings]) == 1
    assert main(["ratings", str(folder), "--key", str(folder / "0.json"), *settings[2:]]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 3 and all(line.startswith("error: ") for line in errors)
    assert not (tmp_path / "out").exists()


def test_the_key_is_found_by_the_sheet_that_was_answered(key, tmp_path):
    keys, folder = tmp_path / "keys", save(tmp_path / "answers", [1], simulate(key, 0))
    keys.mkdir()
    assert_refused("no key in .*keys belongs to", answers.find_key, keys, folder)
    (keys / "key-another.json").write_text("{}")
    (keys / f"key-{key['sheet']}.json").write_text("{}")
    assert answers.find_key(keys, folder) == keys / f"key-{key['sheet']}.json"


def test_what_is_not_rated_is_missing_and_counted(key, tmp_path):
    part = simulate(key, 0)
    left = [part["ratings"].pop()["item"], part["ratings"][0]["item"]]
    part["ratings"][0] |= {"grammar": None}
    rows, problems, notes = answers.read_folder(save(tmp_path / "answers", part), key)
    assert not problems
    assert notes == [f"0.json: 2 of 18 items not rated ({left[1]}, {left[0]}); they count as missing"]
    assert len(rows) == 72 and rows["rating"].isna().sum() == 5


def test_without_the_scores_the_correlation_is_missing_with_its_reason(key, tmp_path):
    rows, _, _ = answers.read_folder(save(tmp_path / "answers", simulate(key, 0), simulate(key, 1)), key)
    table = answers.analyse(rows, lambda artifact: {})["metrics"]
    assert table["value"].isna().all() and table["reason"].str.contains("4 of 4 cells").all()


def test_a_folder_without_ratings_is_reported(tmp_path):
    assert_refused("no ratings .* raters downloaded", answers.find_key, tmp_path / "keys", tmp_path)
