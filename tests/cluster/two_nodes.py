"""A sweep on a real Slurm of two nodes on this machine, one of which is killed in the middle; not part of `make test`.

    apt-get install slurm-wlm munge
    .venv/bin/python tests/cluster/two_nodes.py      # as root; all it starts has its files in one temporary folder

It ends with exit code 0 if the sweep leaves the bytes and the table of the same sweep in one process.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "helpers"), str(TESTS / "pipeline")]

from test_sweeps import stored  # noqa: E402
from tiny_studies import ROOT, command, write_corpus  # noqa: E402

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol")
JOBS = ["masking.ratio=0.2,0.4,0.6", "arm=unigram,unfilled", "seed=0,1", "scoring.metrics=[bleu]"]
CONF = """\
ClusterName=tiny
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=17817
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SlurmdTimeout=15
ReturnToService=2
NodeName=n[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[17001-17002] CPUs=1 RealMemory=4096
PartitionName=all Nodes=n[1-2] Default=YES State=UP
"""


def start_slurm(folder: Path) -> dict[str, subprocess.Popen]:
    """Start munged, slurmctld and two slurmd, and wait until both nodes are idle; return their processes by name."""
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(128))
    (folder / "slurm.conf").write_text(CONF.format(folder=folder, host=socket.gethostname().split(".")[0]))
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    files = {"key-file": key, "socket": folder / "munge.socket", "pid-file": folder / "munged.pid"}
    files |= {"log-file": folder / "munged.log", "seed-file": folder / "munged.seed"}
    daemons = {
        "munged": ["munged", "--foreground", "--force", *(f"--{key}={file}" for key, file in files.items())],
        "slurmctld": ["slurmctld", "-D"],
        "n1": ["slurmd", "-D", "-N", "n1"],
        "n2": ["slurmd", "-D", "-N", "n2"],
    }
    started = {}
    for name, words in daemons.items():
        started[name] = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
    wait_until(
        lambda: ask("sinfo", "--noheader", "--format=%D %t").split() == ["2", "idle"], "two idle nodes"
    )
    return started


def ask(*words: str) -> str:
    """Return what a program of Slurm prints."""
    return subprocess.run(words, capture_output=True, text=True).stdout


def wait_until(is_so, what: str, seconds: int = 300) -> None:
    """Return once something is so; end with a message if it never is."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            sys.exit(f"error: waited {seconds} s for {what}")
        time.sleep(0.5)


def kill_node(name: str, daemon: subprocess.Popen) -> list[int]:
    """Kill a node as a power cut would: its daemon, and then every process that it started; return the latter."""
    daemon.send_signal(signal.SIGKILL)
    daemon.wait()
    mark, ours, found = f"SLURMD_NODENAME={name}".encode(), os.environ["SLURM_CONF"].encode(), []
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = place.read_bytes()
        except OSError:
            continue
        if mark in variables and ours in variables:
            found.append(int(place.parent.name))
            os.kill(found[-1], signal.SIGKILL)
    return found


def sweep(texts: Path, folder: Path, *overrides: str) -> subprocess.Popen:
    """Start the sweep of twelve jobs."""
    words = command("score", texts, folder, *JOBS, *overrides, "-m")
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def show(sweep: subprocess.Popen) -> None:
    """Print what a sweep says at its end."""
    said = sweep.communicate(timeout=1800)[0].splitlines()
    print(
        "\n".join(line for line in said if "[HYDRA]" not in line and not line.startswith("score: ")),
        flush=True,
    )


def main(folder: Path) -> int:
    """Run both sweeps; return 1 unless they left the same."""
    write_corpus(folder / "corpus.jsonl", 50)
    (folder / "encoder").mkdir()  # named in the settings, and read by no metric here
    for name in ("config.json", "model.safetensors"):
        (folder / "encoder" / name).write_text("{}")
    serial = sweep(folder, folder / "serial")
    show(serial)
    daemons = start_slurm(folder)
    try:
        print(ask("sinfo"), flush=True)
        refused = sweep(folder, folder / "refused", "hydra/launcher=cluster").communicate()[0]
        print(f"with GPUs, of which there are none: {refused.strip().splitlines()[-1]}", flush=True)
        running = sweep(folder, folder / "cluster", "hydra/launcher=cluster_cpu", "hydra.launcher.mem_gb=2")
        jobs = "--noheader", "--states=RUNNING", "--nodelist=n2", "--format=%i"
        wait_until(lambda: len(list((folder / "cluster").glob("store/score/*/artifact.json"))) > 3, "results")
        wait_until(lambda: ask("squeue", *jobs).split(), "a job on the second node")
        lost = ask("squeue", *jobs).split()
        print(
            f"killed n2 with {len(kill_node('n2', daemons['n2']))} processes of job {', '.join(lost)}",
            flush=True,
        )
        for job in lost:
            subprocess.run(["scontrol", "requeue", job])
        ask("scontrol", "update", "NodeName=n2", "State=DOWN", "Reason=killed")
        print(ask("sinfo"), ask("squeue"), flush=True)
        show(running)
    finally:
        ask("scancel", "--me")
        for daemon in daemons.values():
            daemon.kill()
    expected, found = stored(folder / "serial"), stored(folder / "cluster")
    different = sorted(
        name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
    )
    tables = [name for name in expected if name.endswith("table.csv")]
    print(
        f"{len(expected)} files, of which the table {tables[0]}; different: {', '.join(different) or 'none'}"
    )
    return int(bool(different) or running.returncode or serial.returncode)


if __name__ == "__main__":
    if missing := [
        name for name in PROGRAMS if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    ]:
        sys.exit(f"error: {missing[0]} is missing: apt-get install slurm-wlm munge")
    os.environ["PATH"] += ":/usr/sbin"
    with tempfile.TemporaryDirectory(prefix="two-nodes-") as place:
        sys.exit(main(Path(place)))
