"""`python -m mlm_vs_clm page`: the page, figures and README blocks of studies, from their committed frames alone."""

import argparse
from pathlib import Path

from ..errors import StudyError
from ..files import ROOT, list_studies
from ..hardware import one_blas_thread
from ..report import make_page
from ..report.frames import refresh_tables
from .publish import WRITING, write_blocks
from .workers import machine_lock


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm page`."""
    parser.add_argument(
        "studies", nargs="*", help="folders of results, such as results/laptop; all without one"
    )


def run(chosen: argparse.Namespace) -> None:
    """Make the pages; raises StudyError for a folder that holds no study, and where there is none."""
    studies = [Path(name) for name in chosen.studies] or [*list_studies(ROOT / "results").values()]
    if not studies:
        raise StudyError(f"{ROOT / 'results'} holds no study: name a folder of results")
    with machine_lock(WRITING), one_blas_thread():
        for study in studies:
            if not study.is_dir():
                raise StudyError(f"{study} is not a folder: name one of results, such as results/desk")
            refresh_tables(study)
            make_page(study)
            print(study / "report.html")
        write_blocks(studies)
