"""Verification: fresh results against those that git has committed, number by number."""

import hashlib
import subprocess
from datetime import date
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from committed import mark_slow

from mlm_vs_clm.evidence.reproduction import compare_results, count_agreed
from mlm_vs_clm.files import MANIFEST, ROOT, list_studies, write_parquet
from mlm_vs_clm.pipeline.provenance import current_commit
from mlm_vs_clm.tools.__main__ import main
from mlm_vs_clm.tools.verify import read_committed, read_files, read_tables

CELL = {"objective": "mlm", "context": "both", "length": "known", "order": "random", "strategy": "random"}
CELL |= {"scope": "document", "ratio": 0.5, "share": 0.44, "seed": 0, "n": 150, "signature": "s"}
CELL |= {"artifact": "a"}
ROWS = [("mlm", "bleu", 40.0), ("clm", "bleu", 35.0), ("unfilled", "bleu", 30.0), ("mlm", "bleu_gain", 0.5)]
ANSWERS = [
    ("C1", "bleu", "document", "made", "first", 5.0),
    ("C2", "bleu", "document", "not run", None, np.nan),
]


def write_results(folder, change=lambda tables: tables):
    """Write scores and answers of one corpus into a folder, after a change."""
    scores = pd.DataFrame(
        {"corpus": "plots", "arm": arm, "metric": metric, "value": value, "low": value - 1, "high": value + 1}
        | CELL
        for arm, metric, value in ROWS
    )
    answers = pd.DataFrame(ANSWERS, columns=["claim", "metric", "scope", "status", "direction", "effect"])
    answers = answers.assign(
        condition="no leak", corpus="plots", first_arm="mlm", second_arm="clm", size=None
    )
    answers = answers.assign(**{f"{side}_strategy": "random" for side in ("first", "second")})
    answers = answers.assign(**{f"{side}_ratio": 0.5 for side in ("first", "second")})
    words = pd.DataFrame({"claim": ["C1"], "sentence": ["Nothing was run."]})
    folder.mkdir(exist_ok=True)
    for name, table in change(
        {"scores": scores, "answers": answers, "sentences": words, "runs": scores[:0]}
    ).items():
        table.to_csv(folder / f"{name}.csv", index=False)
    return folder


def compare(tmp_path, change):
    """Return the exit code and the statuses (not OK) of committed results against the same after a change."""
    committed = write_results(tmp_path / "committed")
    fresh = write_results(tmp_path / "fresh", change)
    tables = [read_tables(read_files(folder), folder) for folder in (fresh, committed)]
    compared = compare_results(*tables)
    wrong = compared[compared["status"] != "OK"]
    code = main(["verify", "--fresh", str(fresh), "--committed", str(committed)])
    return code, {(row.file, row.measure): row.status for row in wrong.itertuples()}


def test_another_precision_is_named_with_the_command_that_makes_both_equal(tmp_path, capsys):
    def ledger(*precisions):
        rows = {"corpus": "plots", "arm": ["mlm", "oracle"], "strategy": "random", "ratio": 0.5, "seed": 0}
        return lambda tables: tables | {"ledger": pd.DataFrame(rows | {"precision": precisions})}

    committed = write_results(tmp_path / "committed", ledger("fp32", "none"))
    for name, precisions in {"low": ("bf16", "none"), "same": ("fp32", "none")}.items():
        fresh = write_results(tmp_path / name, ledger(*precisions))
        main(["verify", "--fresh", str(fresh), "--committed", str(committed)])
        told = capsys.readouterr().out
        assert ("make verify ARGS=precision=fp32" in told) == (name == "low")


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda frame: frame, None),
        (lambda frame: frame.assign(bleu=frame["bleu"] * (1 + 1e-9)), None),
        (lambda frame: frame.assign(bleu=frame["bleu"].where(frame.index != 3, 9.0)), "near"),
        (lambda frame: frame.assign(bleu=frame["bleu"] + 1), "differs"),
        (lambda frame: frame.assign(id=frame["id"].str.upper()), "differs"),
        (lambda frame: frame[:-1], "differs"),
        (lambda frame: frame.drop(columns="bleu"), "missing"),
        (lambda frame: frame.assign(meteor=1.0), "extra"),
    ],
)
def test_frames_are_compared_column_by_column(tmp_path, change, status):
    frame = pd.DataFrame({"id": [f"d{n}" for n in range(200)], "bleu": np.arange(200.0)})
    for name, each in (("fresh", change(frame)), ("committed", frame)):
        write_parquet(each, write_results(tmp_path / name) / "documents.parquet")
    tables = [read_tables(read_files(tmp_path / name), tmp_path) for name in ("fresh", "committed")]
    compared = compare_results(*tables)
    rows = compared[compared["file"] == "documents.parquet"]
    assert {"id", "bleu"} <= set(rows["measure"])
    assert set(rows["status"]) - {"OK"} == ({status} if status else set())
    folders = ["--fresh", str(tmp_path / "fresh"), "--committed", str(tmp_path / "committed")]
    assert main(["verify", *folders]) == (status in ("differs", "missing"))


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
    assert "0 of 2 outcomes changed, 0 on one side" in told
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
    code, status = compare(tmp_path, setting("answers", 0, "direction", "second"))
    assert code == 1 and status == {("answers", "direction"): "differs"}
    told = capsys.readouterr().out
    assert (
        "differs: answers C1 no leak plots mlm random 0.5 clm random 0.5 bleu document direction: second for first"
        in told
    )
    assert (
        "1 of 2 outcomes changed, 0 on one side: C1 no leak plots mlm random 0.5 clm random 0.5 bleu document "
        "made, first -> made, second" in told
    )


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


def write_manifest(folder):
    """List the files of a folder of results as `make manifest` does."""
    lines = [f"{hashlib.sha256(file).hexdigest()}  {name}\n" for name, file in read_files(folder).items()]
    (folder / MANIFEST).write_text("".join(lines) + "\n")


@pytest.mark.parametrize("manifest", [False, True])
@pytest.mark.parametrize("kept", ["git", "files"])
@pytest.mark.parametrize("altered", [None, "fresh", "at hand", "committed"])
def test_one_altered_number_is_found(tmp_path, capsys, altered, kept, manifest):
    results, fresh = tmp_path / "results", write_results(tmp_path / "fresh")
    results.mkdir()
    study = write_results(results / "laptop")
    if manifest:
        write_manifest(results)
    scores = {"fresh": fresh, "at hand": study, "committed": study}.get(altered, study) / "scores.csv"
    for change in (altered in ("fresh", "committed"), altered == "at hand"):
        if change:
            alter(scores)
        if kept == "git":
            git(tmp_path, "init", "-q")
            git(tmp_path, "add", "results")
            git(tmp_path, "commit", "-q", "--allow-empty", "-m", "results")
            kept = "git, committed"
    code = main(["verify", "--fresh", str(fresh), "--committed", str(study)])
    told = capsys.readouterr()
    assert code == (altered is not None)
    assert ("git has no commit" in told.out) == (kept == "files")
    is_refused = (altered == "committed" or (altered == "at hand" and kept == "files")) and manifest
    if is_refused or (altered == "at hand" and kept != "files"):
        assert told.err.startswith(f"error: {scores} is ") and told.err.count("\n") == 1
    elif altered:
        assert "differs: scores plots mlm random 0.5 0 document bleu bleu: 4" in told.out


def test_results_made_again_here_are_compared_with_the_committed_ones(tmp_path, monkeypatch):
    results, fresh = (
        tmp_path / "results",
        write_results(tmp_path / "fresh", setting("scores", 0, "value", 40.1)),
    )
    results.mkdir()
    study = write_results(results / "laptop")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "results")
    git(tmp_path, "commit", "-q", "-m", "results")
    (study / "scores.csv").write_bytes((fresh / "scores.csv").read_bytes())
    assert main(["verify", "--fresh", str(fresh), "--committed", str(study)]) == 0
    monkeypatch.chdir(study)
    assert main(["verify", "--fresh", str(fresh), "--committed", "."]) == 0


def test_a_row_for_the_log_says_when_where_and_how_it_ended(tmp_path, capsys):
    folder = write_results(tmp_path / "results")
    assert main(["verify", "--fresh", str(folder), "--committed", str(folder)]) == 0
    row, others = capsys.readouterr().out.splitlines()[-2:]
    assert others.startswith(f"for reproductions by others: | <your name> | {date.today()} | results | cpu (")
    assert others.endswith(f"| {current_commit()} | 2 of 2 outcomes |")
    assert row.startswith(f"for the log: | {date.today()} | results | cpu (")
    assert row.endswith("0 near, 0 differs, 0 missing, 0 extra; 0 of 2 outcomes changed, 0 on one side |")
    assert f"torch {version('torch')}" in row and row.count("|") == 6


def test_an_outcome_that_differs_or_is_missing_does_not_agree(tmp_path):
    sides = [
        read_tables(read_files(write_results(tmp_path / name)), tmp_path) for name in ("fresh", "committed")
    ]
    changed, without = sides[0]["answers"].assign(status="no room"), sides[0]["answers"].iloc[:1]
    assert count_agreed({"answers": changed}, sides[1]) == "0 of 2 outcomes"
    assert count_agreed({"answers": without}, sides[1]) == "1 of 2 outcomes"
    assert count_agreed({}, sides[1]) == ""


@pytest.mark.parametrize("study", mark_slow(list_studies(ROOT / "results"), "laptop-temperature"))
def test_every_table_of_the_committed_results_can_be_compared(study):
    folder = list_studies(ROOT / "results")[study]
    tables = read_tables(read_files(folder), folder)
    compared = compare_results(tables, tables)
    assert set(compared["status"]) == {"OK"} and {"scores", "answers"} <= set(compared["file"])


def test_the_manifest_lists_the_committed_results():
    lines = (ROOT / "results" / MANIFEST).read_text().splitlines()
    listed = {name: expected for expected, name in (line.split("  ", 1) for line in lines)}
    texts = {MANIFEST, "README.md"}
    committed = read_committed(ROOT / "results") or read_files(
        ROOT / "results"
    )  # a user's own studies may lie beside
    files = {name: file for name, file in committed.items() if name not in texts}
    changed = sorted(name for name in files if hashlib.sha256(files[name]).hexdigest() != listed.get(name))
    assert not changed and set(listed) == set(files), "run `make manifest` when results have changed"
