"""Slurm through submitit: what it refuses in one line, and the state of jobs on a cluster that keeps no accounts."""

import subprocess

GPU_ADVICE = "give what this cluster has (hydra.launcher.partition, .account, ...); one without GPUs: hydra/launcher=cluster_cpu"


NO_SLURM = 'Could not detect "srun"'  # submitit's first words where it is not there


def explain_cluster(error: BaseException) -> str:
    """Return one line for jobs that Slurm refused, or that ended without a result."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    refused = [line for line in lines if "sbatch" in line]
    if lines[0].startswith(NO_SLURM):
        return "this machine has no Slurm (srun): start the sweep on the cluster, or choose hydra/launcher=joblib"
    if refused:
        return f"Slurm refused the jobs: {refused[-1].rpartition('error: ')[2]}: {GPU_ADVICE}"
    return f"a job ended without a result: {' '.join(lines[:2])}: see its output in <store>/logs/<stage>/.submitit; run the same command again"


def watch_queue_without_accounts() -> None:
    """Let submitit ask squeue where sacct does not work: it would warn at each look, and wait for a killed job for ever."""
    from submitit.slurm.slurm import SlurmInfoWatcher, SlurmJob

    class QueueWatcher(SlurmInfoWatcher):
        """Takes a job that squeue no longer lists as done."""

        def _make_command(self) -> list[str] | None:
            return (
                ["squeue", "--me", "--array", "--noheader", "--format=%i"]
                if self._registered - self._finished
                else None
            )

        def read_info(self, string: bytes | str) -> dict[str, dict[str, str]]:
            """Return the state of every job that was submitted."""
            listed = (string if isinstance(string, str) else string.decode()).split()
            return {id: {"State": "RUNNING" if id in listed else "COMPLETED"} for id in self._registered}

    try:
        subprocess.run(["sacct", "--noheader"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        SlurmJob.watcher = QueueWatcher(delay_s=60)
