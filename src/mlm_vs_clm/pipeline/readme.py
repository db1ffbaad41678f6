"""`python -m mlm_vs_clm readme`: what README says between its markers, and its figure, from `results/` alone."""

import argparse

from ..errors import StudyError
from ..files import ROOT
from ..report.blocks import draw_answer, make_shared_blocks, read_studies
from .publish import write_pages


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no argument: the page and the results are those of the checkout."""


def run(chosen: argparse.Namespace) -> None:
    """Write the blocks on all studies of the claims and the figure anew, without a store.

    Raises StudyError where there are no results, or where a page lacks a marker.
    """
    results = ROOT / "results"
    if not read_studies(results):
        raise StudyError(f"{results} holds no study of the claims: make one with `make reproduce`")
    write_pages(make_shared_blocks(results))
    draw_answer(results)
    print(f"page:    {ROOT / 'README.md'}\nfigure:  {results / 'figures' / 'answer.svg'}")
