"""Measure this library beside others: `make peers`, or, with both environments there, `.venv-peers/ours/bin/python -m benchmarks.peers`."""

import argparse
import os
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .cases import ENCODER, ROOT, SIZES, Size, list_words, save_models
from .turns import COMPARISONS, compare, measure_growth, write_rows

OUT = ROOT / "results" / "bench" / "peers.jsonl"
ROUNDS = 3


def measure(chosen: argparse.Namespace, folders: dict[str, str], vocabulary: list[str]) -> Iterator[dict]:
    """Yield the rows of the comparisons, then those of growth."""
    for comparison in COMPARISONS:
        if not chosen.only or comparison.peer in chosen.only:
            sizes = [Size(documents=chosen.documents)] if chosen.documents else SIZES
            chosen_sizes = [size for size in sizes if comparison.fills or size.share == Size.share]
            yield from compare(comparison, folders, vocabulary, chosen_sizes, chosen.rounds)
    if not chosen.documents and not chosen.only:
        yield from measure_growth(folders, vocabulary, min(2, chosen.rounds))


def main() -> None:
    """Measure all peers, or those asked for, and write the rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    names = [comparison.peer for comparison in COMPARISONS]
    parser.add_argument("--only", choices=names, action="append", help="a peer; may be given several times")
    parser.add_argument("--documents", type=int, help="one size of so many texts, to try it")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args()
    if not ENCODER.is_dir():
        parser.exit(1, f"error: {ENCODER} is missing: run `make data` first\n")
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    vocabulary = list_words(transformers.AutoTokenizer.from_pretrained(ENCODER))
    about = {
        "processor": name_processor(),
        "load_before": round(os.getloadavg()[0], 2),  # processes that wanted a core before the run
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    with tempfile.TemporaryDirectory() as folder:
        write_rows(measure(chosen, save_models(Path(folder)), vocabulary), chosen.out, about)
    print(chosen.out)


def name_processor() -> str:
    """Return the name of the processor, as far as the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    named = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


if __name__ == "__main__":
    main()
