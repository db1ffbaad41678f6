"""Hours elsewhere, from the ledger: by hand, and the page as the command writes it."""

import itertools
import re
from pathlib import Path

import pandas as pd
import pytest

from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.pipeline import planning
from mlm_vs_clm.pipeline.config import ArmConfig, ModelConfig

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sweeps.md").read_text()


def run():
    """Return a run of two documents an arm, whose causal arm has 10 parameters a position and 7 in its head."""
    columns = "corpus arm strategy ratio documents blanks tokens_filled passes token_forwards flops seconds"
    rows = [
        ("c", "clm", "random", 0.2, 2, 4, 5, 5, 100, 2070, 8.0),
        ("c", "clm", "random", 0.4, 2, 8, 11, 11, 200, 4154, 12.0),
        ("c", "mlm", "random", 0.5, 2, 6, 8, 4, 300, 0, 10.0),
        ("c", "mlm_leaky", "random", 0.5, 2, 6, 8, 3, 300, 0, 10.0),
    ]
    training = pd.DataFrame(
        [("clm", 600, 100.0, 6e6), ("mlm", 400, 50.0, 8e6)],
        columns=["objective", "tokens_seen", "tokens_per_second", "flops"],
    )
    stages = pd.DataFrame(
        [("score", "c", 4, 2, 1, 20.0), ("downstream", "c", 2, 2, 3, 12.0)],
        columns="stage corpus results documents task_seeds seconds".split(),
    )
    return planning.Run("laptop", pd.DataFrame(rows, columns=columns.split()), training, stages)


def test_a_run_tells_its_models_size_and_its_speed():
    assert run().body == pytest.approx(10)
    assert run().training_rate == pytest.approx(14e6 / (6 + 8))
    assert planning.count_body(ModelConfig("m", "scratch", shape={"layers": 2, "width": 10})) == 2400
    assert planning.count_body(ModelConfig("m", "encoder")) is None


def test_training_takes_as_many_seconds_as_tokens_at_the_speed_of_the_run():
    assert planning.training_seconds(run(), "clm", 1000) == 10
    assert pd.isna(planning.training_seconds(run(), "infill", 1000))


def test_filling_goes_by_documents_and_ratio():
    clm = ArmConfig("clm", "causal")
    assert planning.filling_seconds(run(), "c", "random", 0.2, 6, clm, clm) == 24
    assert planning.filling_seconds(run(), "c", "random", 0.3, 2, clm, clm) == pytest.approx(10)
    assert pd.isna(planning.filling_seconds(run(), "c", "stopwords", 0.3, 2, clm, clm))


def test_filling_fewer_at_a_time_takes_more_passes():
    """8 sub-words in 4 passes: one a pass is 8 passes. The leaky arm counts words: 6 in 3 passes."""
    for name, context in (("mlm", "both"), ("mlm_leaky", "leaky")):
        before = ArmConfig(name, "masked", context=context, per_pass=16)
        after = ArmConfig(name, "masked", context=context, per_pass=1)
        assert planning.filling_seconds(run(), "c", "random", 0.5, 2, before, after) == 20


def test_scores_and_tasks_go_by_documents_and_seeds():
    """5 s a score of 2 documents; 6 s a task of 3 seeds on 2 documents."""
    assert planning.processor_seconds(run(), "score", "c", 6, 1) == 15
    assert planning.processor_seconds(run(), "downstream", "c", 4, 5) == 20
    assert pd.isna(planning.processor_seconds(run(), "score", "d", 6, 1))


def test_a_faster_device_scores_no_faster():
    jobs = pd.DataFrame(
        [("score", "clm", 3600.0), ("generate", "clm", 3600.0)], columns=["stage", "name", "seconds"]
    )
    ledger = run().ledger.assign(peak_memory_mb=1.0)
    told = planning.tell(planning.Run("laptop", ledger, run().training, run().stages), "gpu", jobs, 10e6, [1])
    assert "| score | 1 | 1.00 |" in told and "| generate | 1 | 0.10 |" in told


def test_devices_share_jobs_and_not_a_job():
    seconds = pd.Series([3600.0, 7200.0, 3600.0])
    assert [planning.hours_of(seconds, n) for n in (1, 2, 8)] == [4, 2, 2]


def test_what_the_run_lacks_is_named_and_not_guessed():
    jobs = pd.DataFrame(
        [("generate", "clm", 10.0), ("generate", "infill", float("nan"))],
        columns=["stage", "name", "seconds"],
    )
    ledger = run().ledger.assign(peak_memory_mb=1.0)
    told = planning.tell(planning.Run("laptop", ledger, run().training, run().stages), "gpu", jobs, 1e9, [1])
    assert "| generate | 1 |" in told and "no such cell: infill" in told


def test_results_without_a_ledger_are_one_line(tmp_path):
    with pytest.raises(StudyError, match="give a folder of make reproduce"):
        planning.read_run(tmp_path)


def test_the_page_shows_what_its_command_prints():
    block = PAGE.split("<!-- begin: plan gpu -->")[1].split("<!-- end: plan gpu -->")[0]
    flops = float(re.search(r"planning --scale gpu --flops (\S+)", PAGE)[1])
    assert block.strip() == planning.plan(ROOT / "results" / "laptop", "gpu", flops, [1, 8, 32])


def test_the_commands_for_a_cluster_name_every_cell_of_the_scale():
    import yaml

    grid = yaml.safe_load((ROOT / "conf" / "scale" / "gpu.yaml").read_text())["scale"]["grid"]
    ratios = {
        name: yaml.safe_load((ROOT / f"conf/masking/{name}.yaml").read_text())["ratio"]
        for name in ("stopwords", "punctuation", "entities")
    }
    named = set()
    for line in re.findall(r"^python experiments/score.py -m (.*)$", PAGE, re.MULTILINE):
        given = {key: value.split(",") for key, value in (word.split("=", 1) for word in line.split())}
        for corpus, masking, arm, seed in itertools.product(
            *(given[k] for k in ("corpus", "masking", "arm", "seed"))
        ):
            for ratio in given.get("masking.ratio") or [ratios[masking]]:
                named.add((corpus, masking, float(ratio), arm, int(seed)))
    maskings = [(masking["strategy"], masking["ratio"]) for masking in grid["maskings"]]
    wanted = itertools.product(grid["corpora"], maskings, grid["arms"], grid["seeds"])
    assert {(corpus, *masking, arm, seed) for corpus, masking, arm, seed in wanted} == named
