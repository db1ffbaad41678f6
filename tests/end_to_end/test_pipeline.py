"""The whole path on toy text: every stage, twice, killed in between, damaged in between."""

import os
import signal
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from tiny_studies import ROOT, command, contents, run


def test_report_holds_every_cell(finished):
    results = finished / "results" / "smoke"
    scores = pd.read_csv(results / "scores.csv")
    cells = {
        (arm, "random")
        for arm in (
            *("mlm_left", "infill", "clm_noised", "clm_true_left", "constant", "bigram_left", "bigram_both"),
            *("bigram_leaky", "bigram_true_left", "ngram_left", "ngram_both"),
        )
    }
    for arm in ("mlm", "clm", "seq2seq_kept", "unfilled", "oracle"):
        cells |= {(arm, "random"), (arm, "entities")}
    assert set(zip(scores["arm"], scores["strategy"], strict=True)) == cells
    oracle = scores[(scores["arm"] == "oracle") & (scores["metric"] == "exact_match")]
    assert (oracle["value"] == 1).all()
    downstream = pd.read_csv(results / "downstream.csv", keep_default_na=False)
    assert {"real", "majority", "shuffled", "unfilled", "mlm", "clm"} <= set(downstream["trained_on"])
    assert (results / "report.html").stat().st_size > 10_000
    assert set(pd.read_csv(results / "ledger.csv")["documents"]) == {20}


@pytest.mark.slow
def test_second_run_changes_no_file(toy, finished):
    before = {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in finished.rglob("*")
        if path.is_file() and "log" not in str(path)
    }
    run("report", toy, finished)
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in before}
    assert before == after


# Python runs a module of this name first, in every process of the study: it ends all of them at a chosen rename.
KILLER = """
import os, signal
replace, artifacts = os.replace, []
def replace_and_die(source, target):
    replace(source, target)
    if os.path.basename(source).startswith(".partial-"):
        artifacts.append(target)
    if os.environ["KILL_AFTER"] in (os.path.basename(target), f"{len(artifacts)} artifacts"):
        os.killpg(0, signal.SIGKILL)
os.replace = replace_and_die
"""


@pytest.mark.slow
def test_run_killed_again_and_again_ends_with_the_same_bytes(toy, finished, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(KILLER)
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    asked = command("report", toy, tmp_path, "scale.training.checkpoint_seconds=0")
    for moment in ("3 artifacts", "checkpoint"):
        environment = os.environ | {"PYTHONPATH": path, "KILL_AFTER": moment}
        killed = subprocess.run(asked, cwd=ROOT, env=environment, capture_output=True, start_new_session=True)
        assert killed.returncode == -signal.SIGKILL, moment
    assert list((tmp_path / "store").glob("pretrain/.partial-*/checkpoint/state.json"))
    run("report", toy, tmp_path)
    expected, found = contents(finished / "results"), contents(tmp_path / "results")
    assert expected.keys() == found.keys()
    assert [name for name in expected if expected[name] != found[name]] == []


@pytest.mark.slow
def test_stage_asked_for_alone_makes_what_it_needs_and_prints_no_corpus_text(toy, tmp_path):
    asked = command("score", toy, tmp_path, "arm=clm", "masking.ratio=0.3")
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("score: ")
    assert (Path(done.stdout.split()[1]) / "scores.csv").is_file()
    assert not any(word in done.stdout + done.stderr for word in ("sailor", "anchor", "market"))
