"""A sweep over many jobs: one that fails stops no other, and each has a GPU of its own where there are several."""

import json
import os
import sys
from pathlib import Path
from uuid import uuid4

from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from ..files import write_atomically
from .workers import begin_work

# Launchers of one machine, and the process that ends their workers with it: the sweep's own, or submitit's own.
PARENTS = {"joblib": lambda starter: starter, "submitit_local": lambda starter: os.getppid()}


class Outcomes(Callback):
    """Hydra calls it around a sweep and its jobs, and carries a copy to each, on whichever machine that runs."""

    def __init__(self) -> None:
        self.notes: Path | None = None
        self.starter = os.getpid()

    def on_multirun_start(self, config: DictConfig, **kwargs) -> None:
        """Name a folder for the notes of this sweep alone."""
        self.notes = Path(config.hydra.sweep.dir, f".sweep-{uuid4().hex[:12]}").resolve()

    def on_job_start(self, config: DictConfig, **kwargs) -> None:
        """Begin as a worker where the jobs of one machine run side by side; a cluster gives each job its GPU."""
        launcher = config.hydra.runtime.choices.get("hydra/launcher")
        if launcher in PARENTS:
            begin_work(config.device, PARENTS[launcher](self.starter))

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs) -> None:
        """Note a failure and clear it, as Hydra would end the sweep at the first."""
        if self.notes is None or job_return.status != JobStatus.FAILED:
            return
        reason = str(job_return._return_value)
        self.notes.mkdir(parents=True, exist_ok=True)
        note = {"overrides": list(config.hydra.overrides.task), "reason": reason}
        write_atomically(self.notes / f"{config.hydra.job.num:06}.json", json.dumps(note))
        job_return.status, job_return.return_value = JobStatus.COMPLETED, None

    def on_multirun_end(self, config: DictConfig, **kwargs) -> None:
        """List what failed, and end with exit code 1."""
        failures = [json.loads(path.read_text()) for path in sorted(self.notes.glob("*.json"))]
        if failures:
            sys.exit(tell(failures))


def tell(failures: list[dict]) -> str:
    """Return one line a failed job, {"overrides", "reason"} each, and what to do."""
    lines = [f"  {' '.join(failure['overrides'])}: {failure['reason']}" for failure in failures]
    count = "1 job" if len(lines) == 1 else f"{len(lines)} jobs"
    ending = "mend them and run the same command: what is finished is not made again"
    return "\n".join([f"error: {count} failed, the others are done; {ending}", *lines])
