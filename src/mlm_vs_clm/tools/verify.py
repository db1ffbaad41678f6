"""`python -m mlm_vs_clm verify`: a fresh report against the committed results, number by number.

Nothing is rerun: both sides are files that the report stage wrote. What is committed is read from git's last commit,
not from the files at hand, which `make reproduce` overwrites. Without git the files at hand are compared, and must be
those that the manifest lists.
"""

import argparse
import hashlib
import io
import platform
import subprocess
import tarfile
from datetime import date
from pathlib import Path

import pandas as pd

from ..errors import StudyError
from ..evidence.reproduction import (
    PACKED,
    STATUSES,
    Tables,
    compare_results,
    count_agreed,
    count_statuses,
    describe_outcomes,
    summarise,
)
from ..files import MANIFEST, read_parquet
from ..hardware import name_device
from ..pipeline.provenance import current_commit, library_versions

SHOWN = 20
LOGGED = ("torch", "transformers")
Files = dict[str, bytes]  # by path within the folder of results


def read_files(folder: Path) -> Files:
    """Return the files of a folder and of its subfolders."""
    paths = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def read_committed(folder: Path) -> Files:
    """Return the files of a folder as git's last commit has them; none outside git or where it has none."""
    command = ["git", "-C", str(folder), "archive", "HEAD", "."]
    try:
        archive = subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        return {member.name: file.read() for member in packed if (file := packed.extractfile(member))}


def take_study(files: Files, name: str) -> Files:
    """Return the files of one study, by path within it."""
    return {
        path.removeprefix(f"{name}/"): file for path, file in files.items() if path.startswith(f"{name}/")
    }


def refuse_altered(study: Path, committed: Files, fresh: Files, manifest: bytes) -> None:
    """Raise StudyError for a committed file that is not the manifest's, and for one at hand that is neither committed nor fresh."""
    for line in manifest.decode().splitlines():
        expected, _, path = line.partition("  ")
        name = path.removeprefix(f"{study.name}/")
        if name != path and hashlib.sha256(committed.get(name, b"")).hexdigest() != expected:
            raise StudyError(
                f"{study / name} is not the file that {MANIFEST} lists: it was altered, or made again where git "
                "does not keep the committed one; take it from the release again, or run `make manifest` for new results"
            )
    at_hand = read_files(study)
    for name, file in committed.items():
        if at_hand.get(name, file) not in (file, fresh.get(name)):
            raise StudyError(
                f"{study / name} is neither the committed file nor the fresh report's: it was altered; "
                "`make reproduce` writes it again"
            )


def read_tables(files: Files, folder: Path) -> dict[str, pd.DataFrame]:
    """Return the CSV files of a study by name, without the suffix, and its frames by file name; StudyError where there is none."""
    names = [name for name in files if name.endswith((".csv", PACKED))]
    if not any(name.endswith(".csv") for name in names):
        raise StudyError(f"no results in {folder}: name a folder with scores.csv, or run `make reproduce`")
    return {name.removesuffix(".csv"): read_table(files[name], folder / name) for name in names}


def read_table(content: bytes, path: Path) -> pd.DataFrame:
    """Return a CSV file with only the empty cell as missing, since `none` and `NA` may be names; or a frame."""
    try:
        if path.name.endswith(PACKED):
            return read_parquet(io.BytesIO(content))
        return pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""])
    except (OSError, ValueError) as error:
        problem = " ".join(str(error).split())
        raise StudyError(f"{path} is not a readable table ({problem}): make it again") from None


def format_comparison(compared: pd.DataFrame) -> str:
    """Return the table of statuses and the first numbers that differ."""
    counts = count_statuses(compared)
    numbers = counts.to_string(index=False, float_format=lambda value: f"{value:.3g}", na_rep="-")
    wrong = compared[compared["status"].isin(["differs", "missing"])]
    lines = [numbers, ""]
    for row in wrong.head(SHOWN).itertuples():
        lines.append(f"{row.status}: {row.file} {row.cell} {row.measure}: {row.fresh} for {row.committed}")
    return "\n".join([*lines, f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else lines)


def format_log(study: str, outcome: str) -> str:
    """Return the row of the verification log in results/README.md: date, study, processor, versions, outcome."""
    libraries = library_versions()
    versions = [f"Python {platform.python_version()}", *(f"{name} {libraries[name]}" for name in LOGGED)]
    return f"| {date.today()} | {study} | {name_device('cpu')} | {', '.join(versions)} | {outcome} |"


def format_reproduction(study: str, agreed: str) -> str:
    """Return the row of the table "reproductions by others": who, when, study, machine, commit, outcomes that agree."""
    return (
        f"| <your name> | {date.today()} | {study} | {name_device('cpu')} | {current_commit()} | {agreed} |"
    )


def explain_precisions(fresh: Tables, committed: Tables) -> list[str]:
    """Return a line that says what to do where the two sides computed in different precisions."""
    sides = [
        sorted(set(tables["ledger"]["precision"]) - {"none"}) if "ledger" in tables else []
        for tables in (fresh, committed)
    ]
    if not all(sides) or sides[0] == sides[1]:
        return []
    ours, theirs = map(" and ".join, sides)
    return [
        f"the fresh report was made in {ours} and the committed one in {theirs}, so that texts differ: to compare them, run "
        f"make verify ARGS=precision={theirs}"
    ]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm verify`."""
    parser.add_argument("--fresh", type=Path, required=True, help="results folder of a fresh report")
    parser.add_argument(
        "--committed", type=Path, required=True, help="results folder whose last commit to compare with"
    )


def run(chosen: argparse.Namespace) -> int:
    """Print the comparison, the degree of reproduction and a row for the log; return 1 if a number differs or is missing."""
    is_named = chosen.committed.name not in ("", "..")  # as `.` is not
    study = chosen.committed if is_named else chosen.committed.resolve()
    fresh_files = read_files(chosen.fresh)
    committed_files = read_committed(study.parent)
    if not take_study(committed_files, study.name):
        print(f"git has no commit of {study}: compared with its files\n")
        committed_files = read_files(study.parent)
    files = take_study(committed_files, study.name)
    refuse_altered(study, files, fresh_files, committed_files.get(MANIFEST, b""))
    fresh, committed = read_tables(fresh_files, chosen.fresh), read_tables(files, study)
    return compare(study.name, fresh, committed)


def compare(study: str, fresh: Tables, committed: Tables) -> int:
    """Print how fresh tables compare with the committed ones; return 1 if a number differs or is missing."""
    compared = compare_results(fresh, committed)
    totals = compared["status"].value_counts().reindex(STATUSES, fill_value=0)
    counts = ", ".join(f"{count} {status}" for status, count in totals.items())
    lines = [format_comparison(compared), *summarise(fresh, committed), "", counts]
    print("\n".join([*lines, *explain_precisions(fresh, committed)]))
    print(f"for the log: {format_log(study, f'{counts}; {describe_outcomes(fresh, committed)}')}")
    if agreed := count_agreed(fresh, committed):
        print(f"for reproductions by others: {format_reproduction(study, agreed)}")
    return int(totals[["differs", "missing"]].any())
