"""Stored results as a table: what was changed after it was written is left out, with its reason."""

import json
import shutil

import pytest
from forged_store import ForgedStore, sign
from refusals import assert_refused

from mlm_vs_clm.pipeline.artifacts import RECORD
from mlm_vs_clm.pipeline.tabulate import _write, tabulate
from mlm_vs_clm.tools import brat_export, inventory


@pytest.fixture(scope="module")
def forged(tmp_path_factory):
    root = tmp_path_factory.mktemp("forged")
    for folder in ForgedStore(root, [("random", 0.5)]).inputs.values():
        sign(folder)
    return root


@pytest.fixture
def store(forged, tmp_path):
    return shutil.copytree(forged, tmp_path / "store")


def find_score(store, arm):
    table = tabulate(store, arm=arm)
    return store / table["artifact"].iloc[0]


def rewrite(folder, **changed):
    record = json.loads((folder / RECORD).read_text())
    (folder / RECORD).write_text(json.dumps(record | changed))


HARMS = {
    "another number": lambda folder: (folder / "scores.csv").write_text(
        (folder / "scores.csv").read_text().replace("document", "fills", 1)
    ),
    "cut": lambda folder: (folder / "scores.csv").write_bytes((folder / "scores.csv").read_bytes()[:60]),
    "gone": lambda folder: (folder / "scores.csv").unlink(),
    "no record": lambda folder: (folder / RECORD).write_text("{"),
    "a list": lambda folder: (folder / RECORD).write_text("[]"),
    "other settings": lambda folder: rewrite(folder, settings={"resamples": 21}),
    "no settings": lambda folder: rewrite(folder, settings=[]),
    "other inputs": lambda folder: rewrite(folder, inputs={}),
    "another kind": lambda folder: (folder / RECORD).write_text('{"files": 5}'),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_changed_result_is_left_out_with_its_reason(store, harm, capsys):
    folder, n = find_score(store, "mlm"), len(tabulate(store))
    capsys.readouterr()
    HARMS[harm](folder)
    table = tabulate(store)
    told = capsys.readouterr().err
    assert len(table) == n - 1 and "mlm" not in set(table["arm"])
    assert told.count("\n") == 1 and told.startswith(f"left out score/{folder.name}: ")
    inventory.show(store)
    assert f"damaged     score/{folder.name}" in capsys.readouterr().out


def test_the_inventory_names_corpus_arm_and_masking_and_finds_by_them(store, capsys):
    inventory.show(store, ["mlm", "score"])
    first, total = capsys.readouterr().out.splitlines()
    assert find_score(store, "mlm").name in first and first.endswith("tiny mlm")
    assert total.endswith("(mlm score)")


def test_a_result_whose_text_was_changed_is_left_out(store, capsys):
    folder = find_score(store, "clm")
    generation = store / json.loads((folder / RECORD).read_text())["inputs"]["generation"]
    (generation / "fills.jsonl").write_text("")
    assert "clm" not in set(tabulate(store)["arm"])
    assert f"generate/{generation.name}/fills.jsonl is missing or was changed" in capsys.readouterr().err
    assert_refused("fills.jsonl is missing or was changed", brat_export.load_generated, generation)


def test_a_table_is_chosen_by_any_kind_of_value(store):
    arms = {"mlm", "clm"}
    for chosen in (("mlm", "clm"), ["mlm", "clm"], arms, iter(sorted(arms))):
        assert set(tabulate(store, arm=chosen)["arm"]) == arms
    assert len(tabulate(store, seed=0)) == len(tabulate(store))
    assert_refused("nothing of stage score", tabulate, store, seed=None)


def test_numbers_that_agree_in_six_digits_are_not_the_same():
    values = (20240101, "20240102", 0.5, "0.50", 1.0, None, float("nan"))
    assert [_write(value) for value in values] == ["20240101", "20240102", "0.5", "0.5", "1", "", ""]
    assert _write(2**53 + 1) == str(2**53 + 1)


def test_nothing_whole_is_one_line(store):
    for folder in store.glob("score/*"):
        (folder / "scores.csv").write_text("")
    assert_refused("nothing of stage score", tabulate, store)
