"""What the machine offers: a device, and whether it multiplies in bf16."""

import ctypes
import os
import platform
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import StudyError

DTYPES = {"bf16": "bfloat16", "fp32": "float32"}  # torch's name of each precision


def choose_device(wish: str) -> str:
    """Return `cuda` or `cpu`; StudyError if a GPU is asked for and there is none."""
    if wish != "auto" and not wish.startswith("cuda"):
        return wish
    import torch

    if wish == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if not torch.cuda.is_available():
        raise StudyError(
            f"device={wish}: no GPU is visible to torch; use device=cpu, or install a CUDA build of torch"
        )
    return wish


def choose_precision(wish: str, device: str) -> str:
    """Return `bf16` or `fp32`; `auto` takes bf16 where the hardware multiplies in it."""
    if wish == "auto":
        return "bf16" if _has_bf16(device) else "fp32"
    if wish not in DTYPES:
        raise StudyError(f"precision={wish} is unknown: choose auto, bf16 or fp32")
    return wish


def peak_memory_mb(device: str) -> float:
    """Return the most memory this process has held (MB of main memory, or of the GPU)."""
    if device.startswith("cuda"):
        import torch

        return round(torch.cuda.max_memory_allocated() / 2**20, 1)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)


def _has_bf16(device: str) -> bool:
    import torch

    if device.startswith("cuda"):
        return torch.cuda.is_bf16_supported()
    return torch.ops.mkldnn._is_mkldnn_bf16_supported() and torch.cpu._is_avx512_bf16_supported()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep numpy's and scipy's linear algebra to one thread; torch's own threads are not touched.

    Sums then have the same parts wherever they run, and processes side by side do not wait for each other's threads
    (a cell of a task took up to 7 times as long).
    """
    import scipy.linalg  # noqa: F401  # loads scipy's own copy of the routines, which would else escape the limit
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


MALLOC = {
    "M_TRIM_THRESHOLD": (-1, 256 * 2**20),
    "M_TOP_PAD": (-2, 64 * 2**20),
    "M_MMAP_MAX": (-4, 0),
    "M_ARENA_MAX": (-8, 1),
}


def reuse_freed_memory() -> None:
    """Let this process reuse the large blocks it frees (numbers of glibc's malloc.h; nothing elsewhere).

    By default each is mapped anew, which costs a third of the time of a training step and of a pass. What oneDNN
    keeps for every shape of product it has met is limited, too, as texts of every length make new ones: 300 MB else.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "256")
    if platform.libc_ver()[0] == "glibc":
        for name, value in MALLOC.values():
            ctypes.CDLL(None).mallopt(name, value)


def return_freed_memory() -> None:
    """Hand freed pages back to the system, which would otherwise keep counting as this process's own."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


class MemoryKeeper:
    """Hands freed pages back when a process has grown by `slack_mb`, for repeated work of changing size.

    Batches of changing length leave gaps that would double the memory, but to hand everything back after every step
    costs a quarter of the step, as it has to be mapped again.
    """

    def __init__(self, slack_mb: float = 150):
        self.slack_mb = slack_mb
        self.usual: float | None = None

    def look(self) -> None:
        """Compare with what the process held after the first look since it last handed memory back."""
        held = resident_memory_mb()
        if self.usual is None:
            self.usual = held
        elif held > self.usual + self.slack_mb:
            return_freed_memory()
            self.usual = None


MEMORY = MemoryKeeper()  # of this process


def resident_memory_mb() -> float:
    """Return the memory that this process holds (MB); where the system does not tell, the most it ever held."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return peak_memory_mb("cpu")
    return pages * resource.getpagesize() / 2**20


@contextmanager
def advise_if_full(work: str, advice: str) -> Iterator[None]:
    """Raise StudyError with this advice where the memory of the GPU, or the machine, is too small for the work."""
    import torch

    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise _told(work, advice) from error
    except RuntimeError as error:
        if "not enough memory" not in str(error) and "out of memory" not in str(error):
            raise
        raise _told(work, advice) from error


def advise_smaller_steps(documents: int) -> str:
    """Say which settings make a training step of this many documents at once fit; they change no result's name."""
    return (
        f"set scale.training.micro_batch_documents below {documents} "
        "(results do not change), or workers=1 if other jobs use the same device"
    )


def _told(work: str, advice: str) -> StudyError:
    return StudyError(
        f"out of memory while {work}: {advice}, and run the same command again; finished cells are kept"
    )


@contextmanager
def training_threads(device: str, threads: int) -> Iterator[None]:
    """Train with one thread on the CPU unless `threads` says more: their number changes the last bits of a model."""
    import torch

    before = torch.get_num_threads()
    if device == "cpu":
        torch.set_num_threads(threads or 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
