"""One side as a process: `python -m benchmarks.peers.worker SIDE FOLDERS` reads cases from standard input, one JSON line each.

The first line that it writes says that it has started; each further one has the seconds (wall clock and processor), the
largest memory in MB while it ran, and the results. What the side itself prints goes to standard error.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

from .sides import SIDES

RESET, PEAK = Path("/proc/self/clear_refs"), "VmHWM:"


def reset_peak() -> None:
    """Let the largest memory be that from now on, where the system can (Linux)."""
    try:
        RESET.write_text("5")
    except OSError:
        pass  # then it is that of the process so far


def read_peak() -> float:
    """Return the largest memory (MB) since `reset_peak`; of the whole process where the system cannot say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(PEAK))
    except (OSError, StopIteration):
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main() -> None:
    """Start the side, then answer one case after the other."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    import torch

    torch.set_num_threads(1)
    run = SIDES[sys.argv[1]](json.loads(sys.argv[2]))
    versions = {"torch": torch.__version__, "transformers": sys.modules["transformers"].__version__}
    print(json.dumps({"memory": round(read_peak(), 1), **versions}), file=answers, flush=True)
    for line in sys.stdin:
        case = json.loads(line)
        reset_peak()
        wall, processor = time.perf_counter(), time.process_time()
        result = run(case)
        seconds = [time.perf_counter() - wall, time.process_time() - processor]
        row = {"wall": seconds[0], "processor": seconds[1], "peak": round(read_peak(), 1), "result": result}
        print(json.dumps(row), file=answers, flush=True)


if __name__ == "__main__":
    main()
