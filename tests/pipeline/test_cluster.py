"""Slurm through submitit: one line for what it refuses, and jobs on a cluster without accounts."""

import re

import pytest
from submitit.slurm.slurm import SlurmInfoWatcher, SlurmJob

from mlm_vs_clm.pipeline.cluster import explain_cluster, watch_queue_without_accounts

TOLD = {
    "sbatch: error: Invalid generic resource (gres) specification": (
        r"^Slurm refused the jobs: Invalid generic resource \(gres\) specification: .* hydra/launcher=cluster_cpu$"
    ),
    'Could not detect "srun", are you indeed on a slurm cluster?': "^this machine has no Slurm",
    "Job 1_1 (task: 0) with path x.pkl\nhas not produced any output (state: FAILED)\nstack\nstack": (
        r"^a job ended without a result: Job 1_1 .* \(state: FAILED\): .* run the same command again$"
    ),
}


@pytest.mark.parametrize("message", TOLD)
def test_what_slurm_says_is_told_in_one_line(message):
    assert re.match(TOLD[message], explain_cluster(RuntimeError(message)))


def test_without_accounts_a_job_is_done_once_the_queue_does_not_list_it(tmp_path, monkeypatch):
    monkeypatch.setattr(SlurmJob, "watcher", SlurmInfoWatcher())
    (tmp_path / "squeue").write_text("#!/bin/sh\necho 7_1\n")
    (tmp_path / "sacct").write_text("#!/bin/sh\nexit 1\n")
    for program in tmp_path.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    watch_queue_without_accounts()
    assert [SlurmJob.watcher.is_done(job, mode="force") for job in ("7_0", "7_1")] == [True, False]
