"""A sweep over many jobs: a failing job does not stop the others, and each has a GPU of its own where there are several."""

import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from omegaconf import DictConfig

from ..errors import StudyError
from ..files import explain_os_error, write_atomically
from .artifacts import ADVICE
from .checks import check_numbers
from .cluster import watch_queue_without_accounts
from .command import AT_STOP, MISTAKES, Job, explain, one_line
from .composing import compose
from .effects import RUNTIME, refuse_ignored
from .workers import init_worker

STOPPED = "stopped before its end: run the same command again"
# Launchers of one machine, and the process that ends their workers with it: the sweep's own, or submitit's own.
PARENTS = {"joblib": lambda starter: starter, "submitit_local": lambda starter: os.getppid()}


class Outcomes(Callback):
    """Hydra calls it around a sweep and its jobs, and carries a copy to each, on whichever machine that runs."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.jobs: list[list[str]] = []
        self.starter = os.getpid()

    def on_multirun_start(self, config: DictConfig, **kwargs) -> None:
        """Refuse a setting that no job would use; name a folder for the outcomes of this sweep alone."""
        try:
            self.jobs = list_jobs(config)
            refuse_stores(self.jobs)
            refuse_ignored(config.hydra.job.name, list_in_range(self.jobs))
        except MISTAKES as error:
            sys.exit(f"error: {one_line(error)}")
        if config.hydra.launcher._target_.endswith("SlurmLauncher"):
            watch_queue_without_accounts()
        self.folder = Path(config.hydra.sweep.dir, f".sweep-{uuid4().hex[:12]}").resolve()
        AT_STOP.append(lambda: self.tabulate(config, self.read_outcomes()))

    def on_job_start(self, config: DictConfig, **kwargs) -> None:
        """Start as a worker where the jobs of one machine run in parallel; a cluster gives each job its GPU."""
        launcher = config.hydra.runtime.choices.get("hydra/launcher")
        if launcher in PARENTS:
            init_worker(config.device, PARENTS[launcher](self.starter))

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs) -> None:
        """Record how a job ended, and clear a failure, as Hydra would end the sweep at the first.

        A failure that cannot be recorded, on a full disk, is left as it is.
        """
        if self.folder is None:
            return
        outcome: dict = {"overrides": list(config.hydra.overrides.task)}
        is_failed = job_return.status == JobStatus.FAILED
        if is_failed:
            outcome["reason"] = str(job_return._return_value)
        elif job_return.return_value:
            outcome["folder"] = job_return.return_value
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / f"{config.hydra.job.num:06}.json", json.dumps(outcome))
        except OSError as error:  # an exception of a callback is no more than a warning to Hydra
            print(f"error: {explain_os_error(error, self.folder, ADVICE)}", file=sys.stderr, flush=True)
            return
        if is_failed:
            job_return.status, job_return.return_value = JobStatus.COMPLETED, None

    def on_multirun_end(self, config: DictConfig, **kwargs) -> None:
        """Tabulate the jobs, list those that failed, and then end with exit code 1."""
        outcomes = self.read_outcomes()
        failures = [outcome for outcome in outcomes.values() if "reason" in outcome]
        jobs = match_jobs(self.jobs, outcomes)
        failures += [{"overrides": job, "reason": STOPPED} for n, job in enumerate(jobs) if n not in outcomes]
        try:
            self.tabulate(config, outcomes)
        except Exception as error:
            failures.append({"overrides": ["the table of the sweep"], "reason": explain(error)})
        finally:
            if failures:
                sys.exit(format_failures(failures))

    def read_outcomes(self) -> dict[int, dict]:
        """Return how each job ended, by its number: {"overrides", "folder" or "reason"}."""
        files = sorted(self.folder.glob("*.json")) if self.folder else []
        return {int(file.stem): json.loads(file.read_text()) for file in files}

    def tabulate(self, config: DictConfig, outcomes: dict[int, dict]) -> None:
        """Write and print the table of a sweep, unless no job of it came to an end with a result."""
        # Here, as it loads pandas, a second that no other start needs.
        from .tabulate import STAGES, name_folder, publish, tabulate_sweep

        AT_STOP.clear()
        stage = config.hydra.job.name
        if stage in STAGES and any("folder" in outcome for outcome in outcomes.values()):
            typed = [word for word in config.hydra.overrides.task if word.split("=")[0] not in RUNTIME]
            jobs = match_jobs(self.jobs, outcomes)
            outcomes = {number: outcomes.get(number, {"reason": STOPPED}) for number in range(len(jobs))}
            command = " ".join([f"python experiments/{stage}.py -m", *typed])
            place = name_folder(config.store, stage, typed)
            table = tabulate_sweep(stage, jobs, outcomes)
            publish(table, stage, place, f"A sweep of {len(jobs)} jobs", command)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def list_in_range(jobs: list[list[str]]) -> Iterator[Job]:
    """Yield the jobs of a sweep whose numbers are in their ranges; any other tells its mistake when it runs."""
    for overrides in jobs:
        job = Job(compose(overrides), overrides)
        try:
            check_numbers(job.config)
        except StudyError:
            continue
        yield job


def list_jobs(config: DictConfig) -> list[list[str]]:
    """Return the overrides of each job of a sweep, as Hydra's sweeper makes them."""
    parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())
    return BasicSweeper.split_arguments(parser.parse_overrides(list(config.hydra.overrides.task)), None)[0]


def match_jobs(jobs: list[list[str]], outcomes: dict[int, dict]) -> list[list[str]]:
    """Return the overrides of each job by its number: those that it ran with, as `shuffle` draws an order each time."""
    ran = {number: outcome["overrides"] for number, outcome in outcomes.items()}
    others = list(jobs)
    for job in ran.values():
        if job in others:
            others.remove(job)
    return [ran[number] if number in ran else others.pop(0) for number in range(len(jobs))]


def refuse_stores(jobs: list[list[str]]) -> None:
    """Raise StudyError for a sweep over stores: its outcomes and table are kept in one."""
    stores = dict.fromkeys(word for job in jobs for word in job if word.startswith("store="))
    if len(stores) > 1:
        raise StudyError(f"{', '.join(stores)}: a sweep has one store, run a command for each")


def format_failures(failures: list[dict]) -> str:
    """Return what to do, and one line per failed job ({"overrides", "reason"})."""
    lines = [f"  {' '.join(failure['overrides'])}: {failure['reason']}" for failure in failures]
    count = "1 job" if len(lines) == 1 else f"{len(lines)} jobs"
    advice = "fix them and rerun the same command; finished jobs are skipped"
    return "\n".join([f"error: {count} failed; all others finished: {advice}", *lines])
