"""`python -m mlm_vs_clm ratings`: the raters' files, checked and analysed beside the metrics of the rated cells."""

import argparse
import sys
from pathlib import Path

import numpy as np

from ..console import add_store
from ..metrics import ALONE, MEASURES, METRICS
from ..pipeline.cells import read_statistics
from ..ratings.answers import analyse, find_key, read_folder, read_key, write_tables


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the tool."""
    parser.add_argument("folder", type=Path, help="the raters' JSON files")
    parser.add_argument(
        "--key", type=Path, default=Path("outputs/ratings/key"), help="a key or a folder of keys"
    )
    add_store(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder of the tables")


def run(chosen: argparse.Namespace) -> int:
    """Write the tables; print one line per problem, write nothing and return 1 if there is one."""
    rows, problems, notes = read_folder(chosen.folder, read_key(find_key(chosen.key, chosen.folder)))
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        return 1
    write_tables(chosen.out, analyse(rows, lambda artifact: read_metrics(chosen.store / artifact)))
    for note in notes:
        print(f"missing: {note}")
    n_ratings = rows["rating"].notna().sum()
    print(
        f"{rows['rater'].nunique()} raters, {n_ratings} ratings of {len(rows)} asked for; tables in {chosen.out}"
    )
    return 0


def read_metrics(folder: Path) -> dict[tuple[str, str], np.ndarray]:
    """Return every metric of a cell, one value per document, by (scope, metric); empty where it is not stored."""
    if not (folder / "statistics.jsonl").is_file():
        return {}
    return {
        kind: MEASURES[kind[1]].aggregate(rows)
        for kind, rows in read_statistics(folder).items()
        if kind[1] in (*METRICS, *ALONE, "exact_match")
    }
