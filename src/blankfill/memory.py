"""The memory of a process: freed blocks are used again, and returned when it has grown."""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import sys
from pathlib import Path

MALLOC = {
    "M_TRIM_THRESHOLD": (-1, 256 * 2**20),
    "M_TOP_PAD": (-2, 64 * 2**20),
    "M_MMAP_MAX": (-4, 0),
    "M_ARENA_MAX": (-8, 1),
}
SLACK_MB = 600  # by which a process may grow before it returns freed pages


def reuse_freed_memory() -> None:
    """Let this process reuse the large blocks it frees (numbers of glibc's malloc.h; no effect elsewhere).

    By default each block is mapped anew, which costs a third of the time of a training step and of a pass. The cache
    of oneDNN is limited too: texts of many lengths would fill it with 300 MB.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "256")
    if platform.libc_ver()[0] == "glibc":
        for name, value in MALLOC.values():
            ctypes.CDLL(None).mallopt(name, value)


def return_freed_memory() -> None:
    """Return freed pages to the system, which would otherwise still count them as this process's own."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)


class MemoryKeeper:
    """Returns freed pages when a process has grown by SLACK_MB, for repeated work of changing size.

    Batches of changing length leave gaps that would double the memory; returning everything after each step would
    cost a quarter of the step, as it has to be mapped again.
    """

    def __init__(self):
        self.usual: float | None = None

    def release_if_grown(self) -> None:
        """Compare with what the process held at the first call since memory was last returned."""
        held = resident_memory_mb()
        if self.usual is None:
            self.usual = held
        elif held > self.usual + SLACK_MB:
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


def peak_memory_mb(device: str) -> float:
    """Return the most memory this process has held (MB of main memory, or of the GPU)."""
    if device.startswith("cuda"):
        import torch

        return round(torch.cuda.max_memory_allocated() / 2**20, 1)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)
