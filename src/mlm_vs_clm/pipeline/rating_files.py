"""Rating sheets and ratings as files: what a sheet is drawn from, and where answers are read and tables written."""

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from ..errors import StudyError
from ..metrics import DIVERSITY, METRICS, Resources, exact_match, make_metrics
from ..ratings.answers import (
    analyse,
    find_key,
    read_folder,
    read_key,
    write_tables,
)
from ..ratings.sheet import (
    ARMS,
    TEXTS,
    choose_cells,
    draw_sheet,
    make_key,
    name_items,
    name_sheet,
    render_sheet,
    write_sheet,
)
from .artifacts import RECORD
from .cells import load_filled, read_statistics
from .collect import inputs_of


def read_texts(store: Path, artifact: str) -> list:
    """Return what the arm behind a score artifact wrote; StudyError where it is not stored."""
    folder = Path(store) / artifact
    if not (folder / RECORD).is_file():
        raise StudyError(f"{artifact} is not in {store}: run `make reproduce`, or name its --store")
    generation = inputs_of(folder)["generation"]
    if not (generation / "fills.jsonl").is_file():
        raise StudyError(f"{generation} holds no texts: run `make reproduce`, which makes it again")
    return load_filled(generation)


def refuse_results(out: Path, results: Path) -> None:
    """Raise StudyError where the page, which shows corpus text, would stand among results."""
    if out.resolve().is_relative_to(results.resolve().parent):
        raise StudyError(
            f"--out {out} is among results, and the sheet shows corpus text: choose outputs/ratings"
        )


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Return the settings of the command line."""
    parser = argparse.ArgumentParser(description="Draw a blinded sample and write the page that raters open.")
    parser.add_argument("--results", type=Path, default=Path("results/laptop"))
    parser.add_argument("--store", type=Path, default=Path("outputs"))
    parser.add_argument("--out", type=Path, default=Path("outputs/ratings"))
    parser.add_argument("--arms", type=lambda text: tuple(text.split(",")), default=ARMS)
    parser.add_argument("--ratio", type=float, default=0.5)
    parser.add_argument(
        "--texts", type=int, default=TEXTS, help="documents of each corpus, each shown once an arm"
    )
    parser.add_argument("--seed", type=int, default=0, help="another seed draws another sheet")
    parser.add_argument("--cell-seed", type=int, default=0, help="the seed of the study's cells")
    return parser.parse_args(arguments)


def draw_main(arguments: list[str] | None = None) -> int:
    """Write one sheet and say how long it takes to rate; 1 and one line on a mistake that a user can mend."""
    chosen = read_arguments(arguments)
    try:
        if chosen.texts < 1:
            raise StudyError(f"--texts {chosen.texts}: ask for at least one document of each corpus")
        refuse_results(chosen.out, chosen.results)
        cells = choose_cells(chosen.results, chosen.arms, chosen.ratio, chosen.cell_seed)
        absent = [arm for arm in chosen.arms if arm not in set(cells["arm"])]
        if absent and (chosen.arms != ARMS or cells.empty):
            raise StudyError(f"{chosen.results} has no arm {absent[0]} at this ratio: leave it out of --arms")
        named = name_items(
            draw_sheet(
                cells, partial(read_texts, chosen.store), chosen.texts, np.random.default_rng(chosen.seed)
            )
        )
        key = make_key(name_sheet(named), named, chosen.ratio, chosen.cell_seed)
        html, secret = write_sheet(chosen.out, render_sheet(key["sheet"], named), key)
    except StudyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(
        f"left out, as {chosen.results} does not have them: {', '.join(absent)}\n" if absent else "", end=""
    )
    print(f"sheet:  {html} ({len(named)} texts; send this to the raters)")
    print(f"key:    {secret} (keep it from them; `make ratings` reads it)")
    return 0


def read_main(arguments: list[str] | None = None) -> int:
    """Read, check and analyse ratings; 1 and a line a problem, with nothing written, if one must be mended."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the raters' JSON files")
    parser.add_argument(
        "--key", type=Path, default=Path("outputs/ratings/key"), help="a key or a folder of keys"
    )
    parser.add_argument("--store", type=Path, default=Path("outputs"))
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    try:
        rows, problems, notes = read_folder(chosen.folder, read_key(find_key(chosen.key, chosen.folder)))
        for problem in problems:
            print(f"error: {problem}", file=sys.stderr)
        if problems:
            return 1
        write_tables(chosen.out, analyse(rows, lambda artifact: read_metrics(chosen.store / artifact)))
    except StudyError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for note in notes:
        print(f"missing: {note}")
    given = rows["rating"].notna().sum()
    print(
        f"{rows['rater'].nunique()} raters, {given} ratings of {len(rows)} asked for; tables in {chosen.out}"
    )
    return 0


def read_metrics(folder: Path) -> dict[tuple[str, str], np.ndarray]:
    """Return every metric of a cell, a value a document, by (scope, metric); empty where it is not stored."""
    if not (folder / "statistics.jsonl").is_file():
        return {}
    scoring = _aggregates()
    return {
        kind: scoring[kind[1]](rows) for kind, rows in read_statistics(folder).items() if kind[1] in scoring
    }


def _aggregates() -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Return how each metric makes a score of a document's statistics; nothing is loaded for that."""
    unread = Resources(Path(), "", "")
    metrics = make_metrics(unread) | DIVERSITY | {"exact_match": exact_match}
    return {name: metrics[name].aggregate for name in (*METRICS, *DIVERSITY, "exact_match")}
