"""Draw the attention of every objective, from the batches that training makes of a text of eight tokens in two sentences."""

import argparse
from pathlib import Path

import numpy as np

from ..files import ROOT
from ..models.objectives import Noise, TargetTokens, TokenizedDocument
from ..models.training.grids import make_grids
from ..report.drawing import save, style_context
from ..report.grids import draw_grids

WORDS = 8
NAMES = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", *(f"t{n + 1}" for n in range(WORDS)))
TEXT = TokenizedDocument(
    np.array([1, *range(4, 4 + WORDS), 2]), np.array([-1, *range(WORDS), -1]), sentences=(1 + WORDS // 2,)
)
NOISE = Noise(ratio=0.5, unit="token", mask_share=1.0, random_share=0.0)
TOKENS = TargetTokens(mask=3, n_vocabulary=len(NAMES), start=1)
SEED = 94  # a draw in which every objective has something masked and fim moves its span


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm grids`."""
    parser.add_argument("--target", type=Path, default=ROOT / "docs", help="folder of attention.svg")


def run(chosen: argparse.Namespace) -> None:
    """Write attention.svg."""
    made = make_grids(TEXT, NOISE, TOKENS, SEED)
    named = {
        title: ([NAMES[i] for i in grid.ids], grid.predicts, grid.visible) for title, grid in made.items()
    }
    with style_context():
        save(draw_grids(named), chosen.target)
    print(chosen.target / "attention.svg")
