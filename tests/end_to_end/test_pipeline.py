"""The whole path on toy text: every stage, twice, killed in between, damaged in between."""

import os
import signal
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from tiny_studies import GRID, ROOT, command, contents, run, run_here, settings

from blankfill import load_model, load_tokenizer
from mlm_vs_clm.tools.__main__ import main


def test_report_holds_every_cell(finished):
    results = finished / "results" / "smoke"
    scores = pd.read_csv(results / "scores.csv")
    cells = {(arm, "random") for arm in ("mlm_left", "infill", "constant", "bigram_left", "bigram_both")}
    for arm in ("mlm", "clm", "seq2seq_kept", "unfilled", "oracle"):
        cells |= {(arm, "random"), (arm, "entities")}
    assert set(zip(scores["arm"], scores["strategy"], strict=True)) == cells
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
    assert run_here("report", *settings(toy, finished), *GRID).returncode == 0
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


def test_stage_asked_for_alone_makes_what_it_needs_and_prints_no_corpus_text(toy, tmp_path):
    done = run_here("score", *settings(toy, tmp_path), "arm=clm", "masking.ratio=0.3")
    assert done.returncode == 0 and done.stdout.startswith("score: ")
    assert (Path(done.stdout.split()[1]) / "scores.csv").is_file()
    assert not any(word in done.stdout + done.stderr for word in ("sailor", "anchor", "market"))


def test_the_model_of_an_arm_loads_beside_its_card(finished, tmp_path, capsys):
    study, out = next((finished / "results").glob("*/study.yaml")).parent, tmp_path / "mlm"
    words = ["--results", str(study), "--store", str(finished / "store"), "--out", str(out)]
    assert main(["model-card", "mlm", *words]) == 0, capsys.readouterr().err
    assert load_model(out, "masked").config.vocab_size >= len(load_tokenizer(out))
    card = (out / "README.md").read_text()
    assert "pipeline_tag: fill-mask" in card and "**Objective**: `mlm`" in card
    assert "| own | exact match" in card.lower()
    assert main(["model-card", "oracle", *words]) == 1 and "has no model" in capsys.readouterr().err
