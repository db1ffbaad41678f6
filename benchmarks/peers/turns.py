"""Two processes take turns on the same cases; a row has the medians over rounds."""

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .cases import ROOT, Size, make_case, share_equal

ENVIRONMENTS = ROOT / ".venv-peers"
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
QUIET = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}


class PeerError(Exception):
    """A side did not start, or broke: the last line that it wrote."""


class Side:
    """A side in its process; `close` ends it."""

    def __init__(self, name: str, environment: str, folders: dict[str, str]):
        python = ENVIRONMENTS / environment / "bin" / "python"
        if not python.exists():
            raise PeerError(f"{python.relative_to(ROOT)} is missing: run `make peers`")
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [str(python), "-m", "benchmarks.peers.worker", name, json.dumps(folders)],
            cwd=ROOT,
            env={**os.environ, **ONE_THREAD, **QUIET},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        self.about = self._read()

    def __enter__(self) -> "Side":
        return self

    def __exit__(self, *error: Any) -> None:
        self.process.kill()
        self.process.wait()
        self.errors.close()

    def run(self, case: dict) -> dict[str, Any]:
        """Return the seconds, the memory and the results of a case; PeerError where the side breaks."""
        assert self.process.stdin
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout
        if line := self.process.stdout.readline():
            return json.loads(line)
        self.process.wait()
        self.errors.seek(0)
        lines = self.errors.read().decode("utf-8", "replace").splitlines()
        raise PeerError(
            next((line for line in reversed(lines) if line.strip()), "it ended without a word")[:300]
        )


@dataclass(frozen=True)
class Comparison:
    """A peer, its package and environment, the sides to measure, ours by what the rows call them, and whether they do the same."""

    peer: str
    package: str
    environment: str
    theirs: str
    ours: dict[str, str]
    problem: str
    fills: bool = True


PACES = {"1 token a pass": "{}", "16 tokens a pass": "{}, 16 a pass"}
JOINT, IN_SIGHT = ({pace: name.format(way) for pace, name in PACES.items()} for way in ("joint", "in sight"))
COMPARISONS = (
    Comparison("fill-mask loop", "transformers", "ours", "fill-mask loop", JOINT, "the same"),
    Comparison("nlpaug", "nlpaug", "older", "nlpaug", IN_SIGHT, "the same"),
    Comparison(
        "TextAttack",
        "textattack",
        "older",
        "textattack",
        IN_SIGHT,
        "another: each blank with the originals of all others in sight, and no punctuation",
    ),
    Comparison(
        "minicons, masked",
        "minicons",
        "older",
        "minicons masked",
        {"pseudo-log-likelihood": "pseudo"},
        "the same",
        fills=False,
    ),
    Comparison(
        "minicons, causal",
        "minicons",
        "older",
        "minicons causal",
        {"log-likelihood": "causal"},
        "the same",
        fills=False,
    ),
)
LIMIT = 80.0  # seconds of processor time: a size that would take a peer longer is left out
LONG = 4.0  # a run that takes a peer longer is made once


def compare(
    comparison: Comparison, folders: dict[str, str], vocabulary: list[str], sizes: Iterable[Size], rounds: int
) -> Iterator[dict]:
    """Yield a row per size and way of ours; where a peer does not start, breaks or takes too long, a row with the reason."""
    about: dict[str, Any] = {name: getattr(comparison, name) for name in ("peer", "package", "problem")}
    about |= {"precision": "float32", "threads": 1}
    try:
        with ExitStack() as running:
            theirs = running.enter_context(Side(comparison.theirs, comparison.environment, folders))
            ours = {
                name: running.enter_context(Side(way, "ours", folders))
                for name, way in comparison.ours.items()
            }
            about["their_transformers"] = theirs.about["transformers"]
            speed = 0.0  # seconds for one unit of work
            for side in (theirs, *ours.values()):
                side.run(make_case(vocabulary, Size(documents=1)))
            for size in sizes:
                if speed * size.work > LIMIT:
                    reason = f"about {speed * size.work:.0f} s a run, by the size before"
                    yield {**about, **asdict(size), "status": "not run", "reason": reason}
                    continue
                row = take_turns(theirs, ours, make_case(vocabulary, size), rounds)
                speed = row["their_seconds"] / size.work
                for way, of_way in row["ways"].items():
                    shared = {name: value for name, value in row.items() if name != "ways"}
                    yield {**about, **asdict(size), "status": "made", "ours": way, **shared, **of_way}
    except PeerError as error:
        yield {**about, "status": "not run", "reason": str(error)}


def take_turns(theirs: Any, ours: dict[str, Any], case: dict, rounds: int) -> dict[str, Any]:
    """Return texts per second and memory of each side; for each of ours the ratios and the share of results that are equal.

    A ratio is the median over rounds, by the clock and by processor time.
    """
    sides = {"theirs": theirs, **ours}
    runs_of: dict[str, list[dict]] = {name: [] for name in sides}
    for number in range(rounds):
        if number and runs_of["theirs"][0]["processor"] > LONG:
            break
        for name, side in sides.items():
            runs_of[name].append(side.run(case))
    described = {name: describe(runs, len(case["texts"])) for name, runs in runs_of.items()}
    row: dict[str, Any] = {f"their_{name}": value for name, value in described["theirs"].items()}
    row |= {"rounds": len(runs_of["theirs"]), "ways": {}}
    for way in ours:
        pairs = [*zip(runs_of["theirs"], runs_of[way], strict=True)]
        row["ways"][way] = {
            **{f"our_{name}": value for name, value in described[way].items()},
            "ratio": round(statistics.median(a["wall"] / b["wall"] for a, b in pairs), 3),
            "ratio_of_processor_time": round(
                statistics.median(a["processor"] / b["processor"] for a, b in pairs), 3
            ),
            "equal": round(share_equal(pairs[0][1]["result"], pairs[0][0]["result"]), 4),
        }
    return row


def describe(runs: list[dict], n_texts: int) -> dict[str, float]:
    """Return the median speed (texts/s by the clock), processor time (s) and largest memory (MB) of the runs of a side."""
    return {
        "texts_per_second": round(n_texts / statistics.median(run["wall"] for run in runs), 3),
        "seconds": round(statistics.median(run["processor"] for run in runs), 3),
        "peak_mb": max(run["peak"] for run in runs),
    }


# What is varied, with which way of filling, and the settings that stay.
GROWTH: dict[str, tuple[str, tuple[Size, ...]]] = {
    "documents": ("joint, 16 a pass", tuple(Size(documents=n) for n in (125, 250, 500, 1000))),
    "blanks": ("joint", tuple(Size(documents=32, share=share) for share in (0.1, 0.2, 0.3, 0.4, 0.5))),
}


def measure_growth(folders: dict[str, str], vocabulary: list[str], rounds: int) -> Iterator[dict]:
    """Yield processor time and memory of this library by documents (16 tokens a pass), and by blanks (one a pass)."""
    for varied, (way, sizes) in GROWTH.items():
        cases = [make_case(vocabulary, size) for size in sizes]
        work = [sum(map(len, case["blanks"])) for case in cases]
        with Side(way, "ours", folders) as ours:
            ours.run(cases[0])
            measured = [[ours.run(case) for case in cases] for _ in range(rounds)]
        for i, size in enumerate(sizes):
            runs = [of_round[i] for of_round in measured]
            ratios = [a[i]["processor"] / a[0]["processor"] * work[0] / work[i] for a in measured]
            yield {
                "growth": varied,
                "ours": way,
                **asdict(size),
                "blanks": work[i],
                "over_linear": round(statistics.median(ratios), 3),
                **{f"our_{name}": value for name, value in describe(runs, size.documents).items()},
            }


def write_rows(rows: Iterable[dict], path: Path, about: dict[str, Any]) -> None:
    """Write rows as they come, each with what is said about all, and show them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row | about) + "\n")
            file.flush()
            print(json.dumps(row), flush=True)
