"""What the machine offers: device, precision, threads and memory. torch and scipy are imported when first needed."""

from __future__ import annotations

import platform
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import StudyError

if TYPE_CHECKING:
    import torch


CPU = ("cpu family", "model")  # the entries of /proc/cpuinfo that identify a generation
DEVICE = re.compile(r"auto|cpu|cuda(:(0|[1-9]\d{0,2}))?")
PRECISIONS = {"fp32": "float32", "bf16": "bfloat16"}  # and their names in torch and the library


def check_device(wish: str) -> None:
    """Raise StudyError for a name of no device, without looking whether it is there."""
    if not DEVICE.fullmatch(wish):
        raise StudyError(f"device={wish} is unknown: choose auto, cpu, cuda or cuda:<number>")


def choose_device(wish: str) -> str:
    """Return `cpu`, `cuda` or `cuda:<number>`; StudyError if a GPU is asked for that is not there; Apple's has no float64."""
    check_device(wish)
    if wish == "cpu":
        return wish
    from blankfill import loading  # loads torch

    device = str(loading.choose_device(wish))
    return device if DEVICE.fullmatch(device) else "cpu"


def name_device(device: str) -> str:
    """Return the kind of a device and its product name.

    A processor has name, family and model on Linux, since the name of a rented one may be its maker's alone, and two
    generations differ twofold in speed; elsewhere the kind of machine.
    """
    if device.startswith("cuda"):
        import torch

        return f"cuda ({torch.cuda.get_device_name(device)})"
    entries = _read_cpuinfo()
    labels = [entries.get("model name", ""), *(f"{name} {entries[name]}" for name in CPU if name in entries)]
    return f"cpu ({', '.join(filter(None, labels)) or platform.machine()})"


def _read_cpuinfo() -> dict[str, str]:
    """Return what Linux lists of a processor; nothing elsewhere."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text().splitlines() if listed.is_file() else []
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


def choose_precision(wish: str, device: str) -> str:
    """Return `bf16` or `fp32`; `auto` is bf16 where the hardware multiplies faster in it."""
    if wish == "auto":
        return "bf16" if _is_faster_in_bf16(device) else "fp32"
    if wish not in PRECISIONS:
        raise StudyError(f"precision={wish} is unknown: choose auto, bf16 or fp32")
    return wish


def torch_dtype(precision: str) -> torch.dtype:
    """Return torch's type of a precision (a key of PRECISIONS)."""
    import torch

    return getattr(torch, PRECISIONS[precision])


def _is_faster_in_bf16(device: str) -> bool:
    """Return whether products in bf16 are faster than in float32.

    Intel's processors need their matrix unit (AMX) for it, which a virtual machine may hide: without it their bf16
    instruction is half as fast as the float32 one. AMD's is twice as fast.
    """
    import torch

    if device.startswith("cuda"):
        return torch.cuda.is_bf16_supported()
    if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return False
    maker = _read_cpuinfo().get("vendor_id") or platform.processor()
    has_instruction = torch.cpu._is_avx512_bf16_supported() and "GenuineIntel" not in maker
    return has_instruction or torch.cpu._is_amx_tile_supported()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep numpy's and scipy's linear algebra to one thread; torch's own threads do not change.

    Sums then have the same parts wherever they run, and parallel processes do not wait for each other's threads
    (a cell of a task took up to 7 times as long).
    """
    import scipy.linalg  # noqa: F401  # loads scipy's own copy of the routines, which would else escape the limit
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


@contextmanager
def training_threads(device: str, threads: int) -> Iterator[None]:
    """Train with one thread on the CPU unless `threads` is more: their number changes the last bits of a model."""
    import torch

    before = torch.get_num_threads()
    if device == "cpu":
        torch.set_num_threads(threads or 1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def busy_processors(number: int) -> Iterator[None]:
    """Keep this many other processors at work with products of matrices, as other processes of a study do.

    Two virtual processors can be one core, and clocks fall when all cores work: beside idle ones, work is timed too fast.
    """
    import torch

    is_over = threading.Event()
    torch.get_num_threads()  # else the first thread that sets its own number sets it for all

    def multiply() -> None:
        torch.set_num_threads(1)
        states, weights = torch.ones(512, 768), torch.ones(768, 8192)
        products = torch.empty(512, 8192)
        while not is_over.is_set():
            torch.mm(states, weights, out=products)

    threads = [threading.Thread(target=multiply, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


@contextmanager
def explain_out_of_memory(work: str, advice: str) -> Iterator[None]:
    """Raise StudyError with this advice where the memory of the GPU, or of the machine, is too small for the work."""
    import torch

    try:
        yield
    except (torch.OutOfMemoryError, MemoryError, RuntimeError) as error:
        is_full = not isinstance(error, RuntimeError) or isinstance(error, torch.OutOfMemoryError)
        if not is_full and "not enough memory" not in str(error) and "out of memory" not in str(error):
            raise
        raise StudyError(
            f"out of memory while {work}: {advice}, and run the same command again; finished cells are kept"
        ) from error
