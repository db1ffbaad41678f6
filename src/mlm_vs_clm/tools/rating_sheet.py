"""`python -m mlm_vs_clm rating-sheet`: a blinded sheet for raters, drawn from stored texts."""

import argparse
from functools import partial
from pathlib import Path

import numpy as np

from ..console import add_store
from ..errors import StudyError
from ..evidence.tables import main_cell, read_table
from ..files import ROOT
from ..pipeline.artifacts import RECORD, inputs_of, refuse_damaged
from ..pipeline.cells import load_filled
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


def read_texts(store: Path, artifact: str) -> list:
    """Return the generated texts behind a score artifact; StudyError where they are not stored."""
    folder = store / artifact
    if not (folder / RECORD).is_file():
        raise StudyError(f"{artifact} is not in {store}: run `make reproduce`, or name its --store")
    refuse_damaged(folder)
    return load_filled(inputs_of(folder)["generation"])


def refuse_results(out: Path, results: Path) -> None:
    """Raise StudyError where the page, which shows corpus text, would stand among results.

    These are the published ones, the folder given, and its neighbours, unless one works in the folder that holds them.
    """
    folder = results.resolve()
    if not Path.cwd().is_relative_to(folder.parent):
        folder = folder.parent
    if any(out.resolve().is_relative_to(published) for published in (folder, ROOT / "results")):
        raise StudyError(
            f"--out {out} is among results, and the sheet shows corpus text: choose outputs/ratings"
        )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the tool."""
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("results/laptop"),
        help="folder of the study (default: results/laptop)",
    )
    add_store(parser)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("outputs/ratings"),
        help="folder of the sheet (default: outputs/ratings)",
    )
    parser.add_argument(
        "--arms", type=lambda text: tuple(text.split(",")), default=ARMS, help="arms to rate, with commas"
    )
    parser.add_argument("--ratio", type=float, help="masking ratio (default: that of the main cell)")
    parser.add_argument(
        "--texts", type=int, default=TEXTS, help="documents of each corpus, each shown once per arm"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed of the draw (default: 0)")
    parser.add_argument(
        "--cell-seed", type=int, default=0, help="seed of the cells of the study (default: 0)"
    )


def run(chosen: argparse.Namespace) -> None:
    """Write one sheet and its key; print where they are."""
    if chosen.texts < 1:
        raise StudyError(f"--texts {chosen.texts}: ask for at least one document of each corpus")
    if chosen.seed < 0:
        raise StudyError(f"--seed {chosen.seed}: give one of 0 or more")
    refuse_results(chosen.out, chosen.results)
    strategy, ratio = main_cell({"study": read_table("study", chosen.results)})
    cell = (ratio if chosen.ratio is None else chosen.ratio, chosen.cell_seed, strategy)
    cells = choose_cells(chosen.results, chosen.arms, *cell)
    absent = [arm for arm in chosen.arms if arm not in set(cells["arm"])]
    if absent and (chosen.arms != ARMS or cells.empty):
        raise StudyError(f"{chosen.results} has no arm {absent[0]} at this ratio: leave it out of --arms")
    rng = np.random.default_rng(chosen.seed)
    named = name_items(draw_sheet(cells, partial(read_texts, chosen.store), chosen.texts, rng))
    key = make_key(name_sheet(named), named, *cell)
    html, secret = write_sheet(chosen.out, render_sheet(key["sheet"], named), key)
    if absent:
        print(f"not in {chosen.results} and therefore skipped: {', '.join(absent)}")
    print(f"sheet:  {html} ({len(named)} texts; send this to the raters)")
    print(f"key:    {secret} (keep it away from the raters; `make ratings` reads it)")
