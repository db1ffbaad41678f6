"""A sweep over many jobs: a failing job does not stop the others, and each has a GPU of its own where there are several."""

import json
import os
import sys
from pathlib import Path
from uuid import uuid4

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from ..files import write_atomically
from .command import MISTAKES, Job, compose, one_line
from .effects import refuse_ignored
from .workers import init_worker

# Launchers of one machine, and the process that ends their workers with it: the sweep's own, or submitit's own.
PARENTS = {"joblib": lambda starter: starter, "submitit_local": lambda starter: os.getppid()}


class Outcomes(Callback):
    """Hydra calls it around a sweep and its jobs, and carries a copy to each, on whichever machine that runs."""

    def __init__(self) -> None:
        self.failures: Path | None = None
        self.starter = os.getpid()

    def on_multirun_start(self, config: DictConfig, **kwargs) -> None:
        """Refuse a setting that no job would use; name a folder for the failures of this sweep alone."""
        try:
            asked = list_jobs(list(config.hydra.overrides.task))
            refuse_ignored(config.hydra.job.name, (Job(compose(one), one) for one in asked), compose)
        except MISTAKES as error:
            sys.exit(f"error: {one_line(error)}")
        self.failures = Path(config.hydra.sweep.dir, f".sweep-{uuid4().hex[:12]}").resolve()

    def on_job_start(self, config: DictConfig, **kwargs) -> None:
        """Start as a worker where the jobs of one machine run in parallel; a cluster gives each job its GPU."""
        launcher = config.hydra.runtime.choices.get("hydra/launcher")
        if launcher in PARENTS:
            init_worker(config.device, PARENTS[launcher](self.starter))

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs) -> None:
        """Record a failure and clear it, as Hydra would end the sweep at the first."""
        if self.failures is None or job_return.status != JobStatus.FAILED:
            return
        self.failures.mkdir(parents=True, exist_ok=True)
        failure = {"overrides": list(config.hydra.overrides.task), "reason": str(job_return._return_value)}
        write_atomically(self.failures / f"{config.hydra.job.num:06}.json", json.dumps(failure))
        job_return.status, job_return.return_value = JobStatus.COMPLETED, None

    def on_multirun_end(self, config: DictConfig, **kwargs) -> None:
        """List what failed, and end with exit code 1."""
        files = sorted(self.failures.glob("*.json")) if self.failures else []
        failures = [json.loads(file.read_text()) for file in files]
        if failures:
            sys.exit(format_failures(failures))


def list_jobs(overrides: list[str]) -> list[list[str]]:
    """Return the overrides of each job of a sweep, as Hydra's sweeper makes them."""
    return BasicSweeper.split_arguments(OverridesParser.create().parse_overrides(overrides), None)[0]


def format_failures(failures: list[dict]) -> str:
    """Return what to do, and one line per failed job ({"overrides", "reason"})."""
    lines = [f"  {' '.join(failure['overrides'])}: {failure['reason']}" for failure in failures]
    count = "1 job" if len(lines) == 1 else f"{len(lines)} jobs"
    advice = "fix them and rerun the same command; finished jobs are skipped"
    return "\n".join([f"error: {count} failed; all others finished: {advice}", *lines])
