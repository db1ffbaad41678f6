"""Worker processes: each ends with the process that started it, and takes a GPU of its own."""

import os
import tempfile
import threading
import time
from pathlib import Path

from filelock import AcquireReturnProxy, BaseFileLock, FileLock, Timeout

from ..errors import StudyError

WATCH = "watch over the parent"
_HELD: list[FileLock] = []


def init_worker(device: str, parent: int) -> None:
    """Watch over the process `parent` that started this worker, and take a GPU; a second call changes nothing.

    The parent names itself, as a worker that starts slowly may already have lost it. A parent that works itself
    (joblib with n_jobs=1) is not watched.
    """
    if parent != os.getpid() and not any(thread.name == WATCH for thread in threading.enumerate()):
        threading.Thread(target=_end_with, args=(parent,), name=WATCH, daemon=True).start()
    if device in ("auto", "cuda"):
        take_gpu()


def _end_with(parent: int) -> None:
    """End this process once its parent is gone (kill -9), as it would wait for work for ever; the store is not harmed."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def take_gpu() -> None:
    """Keep one GPU for the rest of this process: the first that is free, or a shared one if all are taken.

    A process that has touched a GPU cannot change it, so a worker keeps its own from job to job.
    """
    gpus = visible_gpus()
    if _HELD or len(gpus) < 2:
        return
    free = next((gpu for gpu in gpus if _hold(gpu)), None)
    os.environ["CUDA_VISIBLE_DEVICES"] = free or gpus[os.getpid() % len(gpus)]


def visible_gpus() -> list[str]:
    """Return the GPUs that this process may use, without touching one."""
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is not None:
        return [gpu for gpu in listed.split(",") if gpu.strip()]
    import torch

    return [str(number) for number in range(torch.cuda.device_count())]


def machine_lock(name: str) -> FileLock:
    """Return a lock that the processes of a user on this machine share; the system unlocks it when a process ends."""
    return FileLock(Path(tempfile.gettempdir(), f"mlm-vs-clm-{os.getuid()}-{name}.lock"))


def hold(lock: BaseFileLock, process: str, seconds: float = 3) -> AcquireReturnProxy:
    """Return a lock, held; where another process has it for longer than `seconds`, say which `process` and wait."""
    try:
        return lock.acquire(timeout=seconds)
    except Timeout:
        print(f"waiting for another process {process}", flush=True)
        return lock.acquire()


def _hold(gpu: str) -> bool:
    """Return whether a GPU of this machine could be locked."""
    lock = machine_lock(f"gpu-{gpu}")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    except OSError as error:
        raise StudyError(f"{lock.lock_file} cannot be written ({error.strerror}): set TMPDIR") from error
    _HELD.append(lock)
    return True
