"""The whole path on toy text: every stage, twice, killed in between, damaged in between."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tiny_studies import ROOT, contents, settings


def command(stage, toy, store, *overrides):
    return [sys.executable, f"experiments/{stage}.py", *settings(toy, store), *overrides]


def run(stage, toy, store, *overrides):
    done = subprocess.run(command(stage, toy, store, *overrides), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def finished(toy, tmp_path_factory):
    store = tmp_path_factory.mktemp("finished")
    run("report", toy, store)
    return store


def test_report_holds_every_cell(finished):
    import pandas as pd

    results = finished / "results" / "smoke"
    scores = pd.read_csv(results / "scores.csv")
    baselines = {"unfilled", "unigram", "uniform", "oracle"}
    assert set(scores["arm"]) == {"mlm", "mlm_leaky", "mlm_left", "clm", "infill", "seq2seq_kept"} | baselines
    oracle = scores[(scores["arm"] == "oracle") & (scores["metric"] == "exact_match")]
    assert (oracle["value"] == 1).all()
    downstream = pd.read_csv(results / "downstream.csv", keep_default_na=False)
    assert {"real", "majority", "shuffled", "unfilled", "mlm", "clm"} <= set(downstream["trained_on"])
    assert (results / "report.html").stat().st_size > 10_000
    assert set(pd.read_csv(results / "ledger.csv")["documents"]) == {20}


def test_second_run_changes_no_file(toy, finished):
    before = {
        path: (path.stat().st_mtime_ns, path.read_bytes())
        for path in finished.rglob("*")
        if path.is_file() and "log" not in str(path)
    }
    run("report", toy, finished)
    after = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in before}
    assert before == after


def test_run_killed_again_and_again_ends_with_the_same_bytes(toy, finished, tmp_path):
    for seconds in (6, 9, 12, 15):
        process = subprocess.Popen(
            command("report", toy, tmp_path),
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    run("report", toy, tmp_path)
    expected, found = contents(finished / "results"), contents(tmp_path / "results")
    assert expected.keys() == found.keys()
    assert [name for name in expected if expected[name] != found[name]] == []


def test_stage_asked_for_alone_makes_what_it_needs(toy, tmp_path):
    out = run("score", toy, tmp_path, "arm=clm", "masking.ratio=0.3")
    assert out.startswith("score: ")
    assert (Path(out.split()[1]) / "scores.csv").is_file()


def test_multirun_sweeps_and_an_error_in_one_job_does_not_stop_the_others(toy, tmp_path):
    sweep = [
        *command("corrupt", toy, tmp_path)[:2],
        "-m",
        *settings(toy, tmp_path),
        "masking.ratio=0.2,1.5,0.4",
    ]
    done = subprocess.run(sweep, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and "masking.ratio=1.5 is not a share" in done.stderr
    assert len(list((tmp_path / "store" / "corrupt").iterdir())) == 2


def test_no_corpus_text_is_printed(toy, tmp_path):
    done = subprocess.run(command("generate", toy, tmp_path), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0
    assert not any(word in done.stdout + done.stderr for word in ("sailor", "anchor", "market"))
