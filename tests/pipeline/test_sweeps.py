"""Sweeps under every launcher, with a job that fails in the middle; and a study with a cell that fails."""

import itertools
import json
import re
import subprocess
import sys
import threading
from concurrent.futures import Future
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
import yaml
from hydra.core.utils import JobReturn, JobStatus
from omegaconf import OmegaConf
from refusals import assert_refused
from tiny_studies import ROOT, command, contents, run_here, settings, write_corpus

from mlm_vs_clm.console import describe_error, print_traceback
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.pipeline import pool, study, sweeps, workers
from mlm_vs_clm.pipeline.artifacts import Recipe, Runtime, Store
from mlm_vs_clm.pipeline.tabulate import tabulate, tabulate_sweep
from mlm_vs_clm.tools.__main__ import main

TIMES = ("seconds", "finished", "measured", "commit")
WORDS = "a word of the corpus"


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    write_corpus(folder / "corpus.jsonl", 50)
    (folder / "encoder").mkdir()  # named in the settings, and read by no metric here
    for name in ("config.json", "model.safetensors"):
        (folder / "encoder" / name).write_text("{}")
    return folder


JOBS = (
    "scoring.metrics=[bleu]",
    "masking.ratio=0.5,1.5",
    "arm=unigram,unfilled",
)  # an impossible ratio fails


def stored(folder):
    """Return the bytes of every artifact, its record without what times and places differ in."""
    kept = {}
    for name, content in contents(folder / "store").items():
        if not name.startswith(("logs", ".locks")):
            kept[name] = content
        if name.endswith("artifact.json"):
            record = json.loads(content)
            kept[name] = {key: value for key, value in record.items() if key not in TIMES}
    return kept


LAUNCHERS = {
    "joblib": ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2"),
    "submitit_local": ("hydra/launcher=submitit_local", "hydra.launcher.timeout_min=5"),
}
JOBLIB, SUBMITIT = (pytest.param(name, marks=pytest.mark.slow) for name in ("joblib", "submitit_local"))


@pytest.fixture(scope="module")
def swept(texts, tmp_path_factory):
    """Return a function of a launcher's name: the end of a command with four jobs, and the folder that it filled."""

    @cache
    def run(launcher):
        folder = tmp_path_factory.mktemp(launcher)
        if launcher == "basic":
            return run_here("score", *settings(texts, folder), *JOBS, "-m"), folder
        asked = command("score", texts, folder, *JOBS, *LAUNCHERS[launcher], "-m")
        return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True), folder

    return run


@pytest.mark.parametrize("launcher", ["basic", JOBLIB, SUBMITIT])
def test_failing_jobs_are_listed_at_the_end_and_stop_no_other(swept, launcher):
    done, folder = swept(launcher)
    end = done.stderr[done.stderr.rindex("error: ") :].strip().split("\n")
    assert done.returncode == 1 and end[0].startswith("error: 2 jobs failed; all others finished")
    assert len(end) == 3
    for line, arm in zip(end[1:], ("unigram", "unfilled"), strict=True):
        assert f"arm={arm}" in line and "masking.ratio=1.5 must be between 0 and 1" in line
    assert len(list((folder / "store" / "generate").glob("*/artifact.json"))) == 3


def test_a_sweep_ends_in_a_table_with_a_row_per_job(swept):
    done, folder = swept("basic")
    (place,) = (folder / "store" / "tables").iterdir()
    table = pd.read_csv(place / "table.csv", keep_default_na=False)
    assert list(table["ratio"]) == [0.5, 0.5, 1.5, 1.5] and list(table["arm"]) == ["unigram", "unfilled"] * 2
    for row in table.itertuples():
        is_made = row.ratio == 0.5
        assert bool(row.artifact) == bool(row.bleu) == bool(row.bleu_low) == is_made
        assert ("must be between 0 and 1" in row.reason) != is_made
    assert "<svg" in (place / "figure.svg").read_text() and "| – |" in (place / "table.md").read_text()
    assert str(place / "table.csv") in done.stdout and "must be between" in done.stdout


def test_what_is_stored_is_tabulated_by_choice(swept, capsys):
    store = swept("basic")[1] / "store"
    table = tabulate(store, arm=["unigram", "unfilled"], strategy="random", ratio=0.50)
    assert list(table["arm"]) == ["unfilled", "unigram"] and table["bleu_low"].lt(table["bleu_high"]).all()
    assert main(["table", "--store", str(store), "stage=generate", "arm=oracle"]) == 0
    assert "tokens filled" in capsys.readouterr().out
    for chosen, says in (
        ({"arm": "clm"}, "nothing of stage score"),
        ({"size": 1}, "size is no column of score"),
    ):
        assert_refused(says, tabulate, store, **chosen)


def test_a_job_that_was_stopped_is_a_row_too(swept):
    store = swept("basic")[1] / "store"
    made = store / tabulate(store, arm="unigram")["artifact"][0]
    jobs = [["arm=unigram", "seed=0"], ["arm=unigram", "seed=1"]]
    outcomes = {0: {"folder": str(made)}, 1: {"reason": sweeps.STOPPED}}
    table = tabulate_sweep("score", jobs, outcomes)
    assert list(table["seed"]) == [0, 1] and table["reason"][1].startswith("stopped before its end")


def test_a_sweep_may_leave_a_setting_out():
    jobs = [["~model.training.patience", f"seed={seed}"] for seed in (0, 1)]
    assert list(tabulate_sweep("score", jobs, dict.fromkeys((0, 1), {"reason": "no"}))["seed"]) == [0, 1]


def test_each_row_of_a_shuffled_sweep_is_of_its_own_job(texts, tmp_path):
    shuffled = ["scoring.metrics=[bleu]", "arm=shuffle(unigram,unfilled,oracle,constant)", "-m"]
    done = run_here("score", *settings(texts, tmp_path), *shuffled)
    assert done.returncode == 0
    (place,) = (tmp_path / "store" / "tables").iterdir()
    table = pd.read_csv(place / "table.csv")
    assert sorted(table["arm"]) == ["constant", "oracle", "unfilled", "unigram"]
    stored_rows = tabulate(tmp_path / "store").set_index("artifact")["arm"]
    assert list(stored_rows[table["artifact"]]) == list(table["arm"])


def test_choices_may_be_named_by_a_pattern(texts, tmp_path):
    jobs = ["scoring.metrics=[bleu]", "-m", "arm=glob(unf*)"]  # Hydra itself wants -m before or behind
    done = run_here("generate", *settings(texts, tmp_path), *jobs)
    assert done.returncode == 0 and "arm=unfilled" in done.stdout


def test_jobs_are_known_by_what_they_ran_with():
    jobs = [["arm=a"], ["arm=b"], ["arm=c"]]
    assert sweeps.match_jobs(jobs, {0: {"overrides": ["arm=c"]}}) == [["arm=c"], ["arm=a"], ["arm=b"]]
    twice = [["arm=a"], ["arm=a"]]  # of which one did not run
    assert sweeps.match_jobs(twice, {0: {"overrides": ["arm=a"]}}) == twice


def test_a_failure_that_cannot_be_recorded_stays_one(tmp_path, capsys):
    """An exception of a callback would be a warning, and the exit code 0."""
    (tmp_path / "full").write_text("")
    outcomes, failed = sweeps.Outcomes(), JobReturn()
    outcomes.folder, failed.status, failed.return_value = (
        tmp_path / "full" / "x",
        JobStatus.FAILED,
        StudyError("no"),
    )
    config = OmegaConf.create({"hydra": {"overrides": {"task": ["arm=a"]}, "job": {"num": 0}}})
    outcomes.on_job_end(config, failed)
    assert failed.status == JobStatus.FAILED and "error: cannot read or write" in capsys.readouterr().err


def test_a_sweep_over_stores_is_refused(texts, tmp_path):
    jobs = ["arm=unfilled", f"store={tmp_path}/a,{tmp_path}/b", "-m"]
    done = run_here("generate", *settings(texts, tmp_path), *jobs)
    assert done.returncode == 1 and "a sweep has one store" in done.stderr


@pytest.mark.parametrize("launcher", [JOBLIB, SUBMITIT])
def test_every_launcher_leaves_the_bytes_of_the_sequential_sweep(swept, launcher):
    expected, found = (
        {name: content for name, content in stored(folder).items() if "tables/generate" not in name}
        for folder in (swept("basic")[1], swept(launcher)[1])
    )  # without the table that another test asks for
    assert expected.keys() == found.keys() and len(expected) > 20
    assert [name for name in expected if expected[name] != found[name]] == []


def times(folder):
    files = (folder / "store").glob("*/*/*")
    return {file: file.stat().st_mtime_ns for file in files if not {"logs", "tables"} & {*file.parts}}


def test_the_same_sweep_again_makes_nothing(texts, swept):
    folder = swept("basic")[1]
    before = times(folder)
    assert run_here("score", *settings(texts, folder), *JOBS, "masking.ratio=0.5", "-m").returncode == 0
    assert times(folder) == before


def test_an_unknown_choice_stops_a_sweep_before_any_work(texts, tmp_path):
    done = run_here("score", *settings(texts, tmp_path), *JOBS, "arm=unigram,gpt", "-m")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "arm/gpt" in done.stderr
    assert not list((tmp_path / "store").glob("*/*/artifact.json"))


def recipe(name, **inputs):
    return Recipe("stage", 1, {"name": name}, inputs)


def make_or_fail(settings, inputs, folder: Path, runtime):
    if settings["name"].startswith("bad"):
        raise StudyError(f"{settings['name']} cannot be made")
    if settings["name"].startswith("bug"):
        raise KeyError(WORDS)
    (folder / "made").write_text(settings["name"])


class Here:
    """Stands in for the pool of processes: work is done at once, in this one."""

    def __init__(self, *args, **kwargs): ...
    def __enter__(self):
        return self

    def __exit__(self, *args): ...
    def submit(self, call, *args):
        future = Future()
        future.set_result(call(*args))
        return future


@pytest.fixture
def stage_store(tmp_path, monkeypatch):
    """Return a store whose stages name what they make; a pool makes it in this process."""
    makers = {"stage": make_or_fail, "pretrain": make_or_fail}
    store = Store(tmp_path, makers, Runtime(show_progress=False))
    monkeypatch.setattr(pool, "ProcessPoolExecutor", Here)
    monkeypatch.setattr("mlm_vs_clm.pipeline.stages.open_store", lambda root, runtime: store)
    return store


def test_a_cell_that_fails_stops_only_what_rests_on_it(stage_store, capsys):
    bad, good = recipe("bad corpus"), recipe("good corpus")
    needed = {
        **{"corpus/a": bad, "corpus/b": good},
        **{"score/a": recipe("score a", corpus=bad), "score/b": recipe("score b", corpus=good)},
        **{"downstream/b": recipe("bug", corpus=good), "downstream/a": recipe("d", score=recipe("s", c=bad))},
    }
    failed = pool.run_in_pool(stage_store, needed, 1)
    assert list(failed) == ["corpus/a", "downstream/b"]
    assert failed["corpus/a"] == "bad corpus cannot be made"
    assert "KeyError" in failed["downstream/b"] and WORDS not in failed["downstream/b"]
    assert stage_store.has(needed["score/b"]) and not stage_store.has(needed["score/a"])
    assert_refused("2 cells failed; no report was written", study._raise_failures, failed)
    told = capsys.readouterr().err
    assert "failed: corpus/a: bad corpus cannot be made\n" in told
    assert "failed: downstream/b: unexpected KeyError in test_sweeps.py, line" in told
    assert WORDS not in told


def test_a_cell_starts_once_its_own_model_is_made(stage_store, monkeypatch):
    """With two workers: the cell of the first model is made while the second is still trained."""
    fast, slow = recipe("fast model"), recipe("slow model")
    needed = {"fast": fast, "slow": slow, "a": recipe("a", model=slow), "b": recipe("b", model=fast)}
    names, unfinished = {one.id: name for name, one in needed.items()}, []
    submitted = []

    class Overlapping(Here):
        def submit(self, call, *args):
            submitted.append(names[args[-1][0].id])
            if submitted[-1] == "slow":
                unfinished.append(Future())
                threading.Timer(
                    10, lambda: unfinished and unfinished.pop().set_result({slow.id: None})
                ).start()
                return unfinished[0]
            if submitted[-1] == "b":
                unfinished.pop().set_result({slow.id: None})
            return super().submit(call, *args)

    monkeypatch.setattr(pool, "ProcessPoolExecutor", Overlapping)
    assert pool.run_in_pool(stage_store, needed, 2) == {}
    assert submitted == ["fast", "slow", "b", "a"]


def test_the_bar_counts_a_training_by_its_tokens(stage_store, capsys):
    stage_store.runtime = Runtime(show_progress=True)
    trained = {"name": "model", "training": {"token_budget": 8 * pool.TOKENS_PER_CELL}}
    model = Recipe("pretrain", 1, trained)
    needed = {"model": model, "a": recipe("a", model=model), "b": recipe("b", model=model)}
    assert pool.run_in_pool(stage_store, needed, 1) == {}
    shown = [line for line in capsys.readouterr().err.replace("\r", "\n").splitlines() if line.strip()]
    assert shown[0].startswith("cells 0 of 3:   0%|")
    assert shown[-1].startswith("cells 3 of 3: 100%|")
    assert pool.expect_work(model) == 8 and pool.expect_work(needed["a"]) == 1


def test_a_text_that_fails_is_tried_once_for_all_that_read_it(tmp_path, monkeypatch):
    tries = []

    def make(settings, inputs, folder, runtime):
        tries.append(settings["name"])
        make_or_fail(settings, inputs, folder, runtime)

    monkeypatch.setattr(
        "mlm_vs_clm.pipeline.stages.open_store", lambda root, runtime: Store(root, {"stage": make})
    )
    text = recipe("bad text")
    group = [recipe("score", generation=text), recipe("utility", generation=text)]
    reasons = pool._ensure(tmp_path, Runtime(), group)
    assert reasons == {each.id: "bad text cannot be made" for each in group} and tries == ["bad text"]


def test_a_surprise_is_told_by_type_and_place():
    try:
        {}["secret"]
    except KeyError as error:
        told = describe_error(error)
    assert told.startswith("unexpected KeyError in test_sweeps.py, line") and "secret" not in told


def test_a_stack_is_told_without_the_words_of_the_surprise(capsys):
    try:
        raise ValueError(WORDS)
    except ValueError as error:
        print_traceback(error)
    told = capsys.readouterr().err
    assert "test_sweeps.py" in told and "unexpected ValueError" in told and WORDS not in told


def test_a_starter_that_works_itself_goes_on():
    """As joblib with n_jobs=1: its own end is not to be watched."""
    code = "import os, time; from mlm_vs_clm.pipeline.workers import init_worker; init_worker('cpu', os.getpid()); time.sleep(1.5)"
    assert subprocess.run([sys.executable, "-c", code], timeout=30).returncode == 0


def test_each_process_keeps_a_gpu_of_its_own(tmp_path):
    """Three processes on two GPUs: two have one each, the third shares."""
    code = (
        "import os, sys; from mlm_vs_clm.pipeline.workers import take_gpu; take_gpu(); take_gpu();"
        "print(os.environ['CUDA_VISIBLE_DEVICES'], flush=True); sys.stdin.read()"
    )
    environment = {"PATH": "", "CUDA_VISIBLE_DEVICES": "4,7", "TMPDIR": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen([sys.executable, "-c", code], env=environment, **pipes) for _ in range(3)]
    told = [process.stdout.readline().strip() for process in running]
    for process in running:
        process.communicate()
    assert set(told) == {"4", "7"}


def test_gpus_are_those_that_the_machine_lends(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    assert workers.visible_gpus() == ["3", "5"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert workers.visible_gpus() == []


def test_a_worker_ends_when_its_parent_is_killed():
    """The parent starts a worker and is killed at once, as a sweep under kill -9."""
    worker = "import sys, time; from mlm_vs_clm.pipeline.workers import init_worker; init_worker('cpu', int(sys.argv[1])); time.sleep(60)"
    parent = (
        f"import os, subprocess, sys; subprocess.Popen([sys.executable, '-c', {worker!r}, str(os.getpid())]);"
        "os.kill(os.getpid(), 9)"
    )
    process = subprocess.run([sys.executable, "-c", parent], stderr=subprocess.PIPE, timeout=30)
    assert process.returncode == -9  # and run() came back: no worker holds its pipe any more


def test_the_commands_for_a_cluster_name_every_cell_of_the_scale():
    page = (ROOT / "docs" / "sweeps.md").read_text()
    grid = yaml.safe_load((ROOT / "conf" / "scale" / "gpu.yaml").read_text())["scale"]["grid"]
    ratios = {
        name: yaml.safe_load((ROOT / f"conf/masking/{name}.yaml").read_text())["ratio"]
        for name in ("stopwords", "punctuation", "entities")
    }
    named = set()
    for line in re.findall(r"^python experiments/score.py -m (.*)$", page, re.MULTILINE):
        given = {key: value.split(",") for key, value in (word.split("=", 1) for word in line.split())}
        if not {"corpus", "masking", "arm", "seed"} <= given.keys():  # an example of a small sweep
            continue
        for corpus, masking, arm, seed in itertools.product(
            *(given[k] for k in ("corpus", "masking", "arm", "seed"))
        ):
            for ratio in given.get("masking.ratio") or [ratios[masking]]:
                named.add((corpus, masking, float(ratio), arm, int(seed)))
    maskings = [(masking["strategy"], masking["ratio"]) for masking in grid["maskings"]]
    wanted = itertools.product(grid["corpora"], maskings, grid["arms"], grid["seeds"])
    assert {(corpus, *masking, arm, seed) for corpus, masking, arm, seed in wanted} == named
