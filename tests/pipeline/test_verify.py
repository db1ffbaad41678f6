"""Verification: fresh results against those that git has committed, number by number."""

import subprocess

import numpy as np
import pandas as pd
import pytest

from mlm_vs_clm.__main__ import main
from mlm_vs_clm.analysis.reproduction import compare_results
from mlm_vs_clm.pipeline.verify import read_folder

CELL = {"objective": "mlm", "context": "both", "length": "known", "order": "random", "strategy": "random"}
CELL |= {
    "scope": "document",
    "ratio": 0.5,
    "share": 0.44,
    "seed": 0,
    "n": 150,
    "signature": "s",
    "artifact": "a",
}
ROWS = [("mlm", "bleu", 40.0), ("clm", "bleu", 35.0), ("unfilled", "bleu", 30.0), ("mlm", "bleu_gain", 0.5)]
ANSWERS = [("C1", "bleu", "document", "first better", 5.0), ("C2", "bleu", "document", "not run", np.nan)]


def write_results(folder, change=lambda tables: tables):
    """Write scores and answers of one corpus into a folder, after a change."""
    scores = pd.DataFrame(
        {"corpus": "plots", "arm": arm, "metric": metric, "value": value, "low": value - 1, "high": value + 1}
        | CELL
        for arm, metric, value in ROWS
    )
    answers = pd.DataFrame(ANSWERS, columns=["claim", "metric", "scope", "outcome", "effect"])
    answers = answers.assign(condition="no leak", corpus="all", first="mlm", second="clm")
    folder.mkdir(exist_ok=True)
    for name, table in change({"scores": scores, "answers": answers}).items():
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder


def compare(tmp_path, change):
    """Return the exit code and the statuses (not OK) of committed results against the same after a change."""
    committed = write_results(tmp_path / "committed")
    fresh = write_results(tmp_path / "fresh", change)
    compared = compare_results(read_folder(fresh), read_folder(committed))
    wrong = compared[compared["status"] != "OK"]
    code = main(["verify", "--fresh", str(fresh), "--committed", str(committed)])
    return code, {(row.file, row.measure): row.status for row in wrong.itertuples()}


def setting(name, row, column, value):
    def change(tables):
        tables[name] = tables[name].astype(object)
        tables[name].loc[row, column] = value
        return tables

    return change


def test_equal_results_are_ok_and_missing_on_both_sides_is_agreement(tmp_path, capsys):
    assert compare(tmp_path, lambda tables: tables) == (0, {})
    told = capsys.readouterr().out
    assert "0 near, 0 differs, 0 missing, 0 extra" in told
    assert "2 of 2 outcomes agree, 0 on one side" in told
    assert "rank agreement (Kendall) 1.000" in told


@pytest.mark.parametrize(
    ("row", "column", "value", "code", "status"),
    [
        (0, "value", 40.0000001, 0, {}),
        (0, "value", 40.4, 0, {("scores", "bleu"): "near"}),
        (0, "value", 40.6, 1, {("scores", "bleu"): "differs"}),
        (0, "low", 38.0, 1, {("scores", "bleu low"): "differs"}),
        (3, "value", 0.54, 0, {("scores", "bleu_gain"): "near"}),
        (0, "share", 0.46, 1, {("scores", "share"): "differs"}),
        (0, "n", 149, 1, {("scores", "n"): "differs"}),
        (0, "value", None, 1, {("scores", "bleu"): "missing"}),
        (0, "artifact", "b", 0, {}),
        (0, "signature", "t", 0, {}),
    ],
)
def test_a_number_is_judged_by_the_tolerance_of_its_metric(tmp_path, row, column, value, code, status):
    assert compare(tmp_path, setting("scores", row, column, value)) == (code, status)


def test_outcomes_are_compared_as_words(tmp_path, capsys):
    code, status = compare(tmp_path, setting("answers", 0, "outcome", "second better"))
    assert code == 1 and status == {("answers", "outcome"): "differs"}
    told = capsys.readouterr().out
    assert (
        "differs: answers C1 no leak all mlm clm bleu document outcome: second better for first better"
        in told
    )
    assert "1 of 2 outcomes agree" in told


def test_a_number_where_none_was_committed_is_extra_and_no_failure(tmp_path):
    assert compare(tmp_path, setting("answers", 1, "effect", 1.0)) == (
        0,
        {("answers", "bleu effect"): "extra"},
    )


def test_absent_rows_columns_and_files_are_missing(tmp_path):
    code, status = compare(tmp_path / "", lambda tables: tables | {"scores": tables["scores"].iloc[1:]})
    assert code == 1 and status[("scores", "bleu")] == "missing"
    code, status = compare(tmp_path, lambda tables: tables | {"scores": tables["scores"].drop(columns="low")})
    assert code == 1 and set(status) == {("scores", "bleu low"), ("scores", "bleu_gain low")}
    (tmp_path / "fresh" / "answers.csv").unlink()
    code, status = compare(tmp_path, lambda tables: {"scores": tables["scores"]})
    assert code == 1 and set(status.values()) == {"missing"} and {file for file, _ in status} == {"answers"}


def test_the_order_of_rows_does_not_matter(tmp_path):
    assert compare(tmp_path, lambda tables: {n: t.iloc[::-1] for n, t in tables.items()}) == (0, {})


@pytest.mark.parametrize("broken", ["absent", "empty", "column", "damaged"])
def test_folders_that_cannot_be_compared_get_one_line(tmp_path, capsys, broken):
    committed = write_results(tmp_path / "committed")
    fresh = tmp_path / "fresh"
    if broken == "empty":
        fresh.mkdir()
    if broken == "column":
        write_results(fresh, lambda tables: tables | {"scores": tables["scores"].drop(columns="arm")})
    if broken == "damaged":
        write_results(fresh)
        (fresh / "scores.csv").write_text("a,b\n1,2,3\n")
    assert main(["verify", "--fresh", str(fresh), "--committed", str(committed)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def alter(path):
    """Change one number of a results file by hand."""
    text = path.read_text()
    assert text.count(",40.0,") == 1
    path.write_text(text.replace(",40.0,", ",41.0,"))


@pytest.mark.parametrize(
    ("altered", "is_committed", "code"),
    [(None, False, 0), ("fresh", False, 1), ("committed", False, 0), ("committed", True, 1)],
    ids=["nothing", "fresh result", "working file", "committed result"],
)
def test_what_git_has_committed_is_compared_and_not_the_working_files(
    tmp_path, capsys, altered, is_committed, code
):
    folders = {name: write_results(tmp_path / name) for name in ("committed", "fresh")}
    git(tmp_path, "init", "-q")
    for commit in (True, is_committed):
        if commit:
            git(tmp_path, "add", "committed")
            git(tmp_path, "commit", "-q", "--allow-empty", "-m", "results")
        if altered:
            alter(folders[altered] / "scores.csv")
            altered = None
    verify = ["verify", "--fresh", str(folders["fresh"]), "--committed", str(folders["committed"])]
    assert main(verify) == code
    assert "git has no commit" not in capsys.readouterr().out


def test_without_git_the_files_are_compared_and_a_line_says_so(tmp_path, capsys):
    folder = write_results(tmp_path / "results")
    assert main(["verify", "--fresh", str(folder), "--committed", str(folder)]) == 0
    assert f"git has no commit of {folder}: compared with its files" in capsys.readouterr().out
