"""`python -m mlm_vs_clm verify`: a fresh report against the results that git has committed, number by number.

Nothing is rerun: both sides are CSV files that the report stage wrote. What is committed is read from git's last commit,
not from the working files, which `make reproduce` overwrites.
"""

import argparse
import io
import subprocess
from pathlib import Path

import pandas as pd

from ..analysis.reproduction import STATUSES, compare_results, count_statuses, summarise
from ..errors import StudyError

SHOWN = 20


def read_folder(folder: Path) -> dict[str, pd.DataFrame]:
    """Return the CSV files of a results folder by name, without the suffix; StudyError where there is none."""
    paths = sorted(Path(folder).glob("*.csv"))
    if not paths:
        raise StudyError(f"no results in {folder}: name a folder with scores.csv, or run `make reproduce`")
    return {path.stem: parse_table(path.read_bytes(), str(path)) for path in paths}


def read_committed(folder: Path) -> dict[str, pd.DataFrame] | None:
    """Return the CSV files of a folder as git's last commit has them; None outside git or where it has none."""
    try:
        names = _git(folder, "ls-tree", "--name-only", "HEAD", ".").decode().split()
        tables = [name for name in names if name.endswith(".csv")]
        texts = {name: _git(folder, "show", f"HEAD:./{name}") for name in tables}
    except (OSError, subprocess.CalledProcessError):
        return None
    return {Path(name).stem: parse_table(text, f"HEAD:{name}") for name, text in texts.items()} or None


def _git(folder: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=True).stdout


def parse_table(text: bytes, name: str) -> pd.DataFrame:
    """Return a CSV file with only the empty cell as missing, since `none` and `NA` may be names."""
    try:
        return pd.read_csv(io.BytesIO(text), keep_default_na=False, na_values=[""])
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        problem = " ".join(str(error).split())
        raise StudyError(f"{name} is not a readable CSV file ({problem}): make it again") from None


def format_comparison(compared: pd.DataFrame) -> str:
    """Return the table of statuses and the first numbers that differ."""
    counts = count_statuses(compared)
    numbers = counts.to_string(index=False, float_format=lambda value: f"{value:.3g}", na_rep="-")
    wrong = compared[compared["status"].isin(["differs", "missing"])]
    lines = [numbers, ""]
    for row in wrong.head(SHOWN).itertuples():
        lines.append(f"{row.status}: {row.file} {row.cell} {row.measure}: {row.fresh} for {row.committed}")
    return "\n".join([*lines, f"and {len(wrong) - SHOWN} more"] if len(wrong) > SHOWN else lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm verify`."""
    parser.add_argument("--fresh", type=Path, required=True, help="results folder of a fresh report")
    parser.add_argument(
        "--committed", type=Path, required=True, help="results folder whose last commit to compare with"
    )


def run(chosen: argparse.Namespace) -> int:
    """Print the comparison and the degree of reproduction; return 1 if a number differs or is missing."""
    fresh, committed = read_folder(chosen.fresh), read_committed(chosen.committed)
    if committed is None:
        print(f"git has no commit of {chosen.committed}: compared with its files\n")
        committed = read_folder(chosen.committed)
    compared = compare_results(fresh, committed)
    totals = compared["status"].value_counts().reindex(STATUSES, fill_value=0)
    print(format_comparison(compared))
    print("\n".join([*summarise(fresh, committed), ""]))
    print(", ".join(f"{count} {status}" for status, count in totals.items()))
    return int(totals[["differs", "missing"]].any())
