"""What processes that work side by side do first: they end with the one that started them, and take a GPU each."""

import os
import tempfile
import threading
import time
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import StudyError

WATCH = "watch over the parent"
_HELD: list[FileLock] = []


def begin_work(device: str, parent: int) -> None:
    """Begin as a worker on `device`, started by the process `parent`; a second call changes nothing.

    The starter names itself, as a worker that is slow to begin may already have lost it; a starter that works itself
    (joblib with n_jobs=1) has no parent to watch.
    """
    if parent != os.getpid() and not any(thread.name == WATCH for thread in threading.enumerate()):
        threading.Thread(target=_end_with, args=(parent,), name=WATCH, daemon=True).start()
    if device in ("auto", "cuda"):
        take_gpu()


def _end_with(parent: int) -> None:
    """End this process once its parent is gone (kill -9), as it would wait for work for ever; the store bears it."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def take_gpu() -> None:
    """Keep one GPU for the rest of this process: the first that no other holds, or a shared one if all are held.

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


def _hold(gpu: str) -> bool:
    """Tell whether a GPU of this machine could be taken; the system gives it back when the process ends."""
    lock = FileLock(Path(tempfile.gettempdir(), f"mlm-vs-clm-{os.getuid()}-gpu-{gpu}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    except OSError as error:
        raise StudyError(f"{lock.lock_file} cannot be written ({error.strerror}): set TMPDIR") from error
    _HELD.append(lock)
    return True
