"""Draw the attention of every objective, from the batches that training makes of a text of eight tokens in two sentences."""

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mlm_vs_clm.files import ROOT
from mlm_vs_clm.report.drawing import Drawing, add_legend, panels, save, style_context
from mlm_vs_clm.training.batches import Batch, Batches
from mlm_vs_clm.training.noise import (
    IGNORE,
    Neighbours,
    Noise,
    TargetTokens,
    TokenizedDocument,
    TrainedObjective,
)
from mlm_vs_clm.training.objectives import OBJECTIVES, split_batches
from mlm_vs_clm.training.spans import find_runs

WORDS = 8
NAMES = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", *(f"t{n + 1}" for n in range(WORDS)))
TEXT = TokenizedDocument(
    np.array([1, *range(4, 4 + WORDS), 2]), np.array([-1, *range(WORDS), -1]), sentences=(1 + WORDS // 2,)
)
NOISE = Noise(ratio=0.5, unit="token", mask_share=1.0, random_share=0.0)
NEIGHBOURS = Neighbours([TEXT])
TOKENS = TargetTokens(mask=3, n_vocabulary=len(NAMES), start=1, neighbours=NEIGHBOURS)
SEED = 94  # a draw in which every objective has something masked and fim moves its span
COLUMNS = 5
ALONE = (
    "mlm",
    "clm",
    "infill",
    "prefix_lm",
    "span_corruption",
)  # drawn once more, a figure each, for docs/basics.md
LOOKS = {True: ("predicts a token", "#0072B2"), False: ("predicts none", "#B8D8EC")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm grids`."""
    parser.add_argument("--target", type=Path, default=ROOT / "docs", help="folder of attention.svg")


def run(chosen: argparse.Namespace) -> None:
    """Write attention.svg, and attention-<objective>.svg for those of ALONE."""
    grids = make_grids()
    with style_context():
        save(draw_grids(grids), chosen.target)
        for name in ALONE:
            save(draw_grids({name: grids[name]}, f"attention-{name}"), chosen.target)
    print(chosen.target / "attention.svg")


@dataclass(frozen=True)
class AttentionGrid:
    """One example: the ids that its n positions read (n,), which predict (n,), and what they see.

    `visible` (n, n) is true at [i, j] where position i sees position j. A decoder's positions come after its encoder's.
    """

    ids: np.ndarray
    predicts: np.ndarray
    visible: np.ndarray


def make_grids() -> dict[str, AttentionGrid]:
    """Return the grid of the text under every objective, by name; `hybrid` has one for each kind of batch."""
    grids = {}
    for name in OBJECTIVES:
        n_kinds = len(split_batches(name, NOISE))
        batches = Batches([TEXT], [[0]] * n_kinds, TrainedObjective(name, NOISE), TOKENS, 0, SEED)
        for number in range(n_kinds):
            kind = batches.objective_at(number).kind
            title = name if n_kinds == 1 else f"{name}, {kind} batch"
            grids[title] = read_grid(batches[number], kind)
    return grids


def read_grid(batch: Batch, kind: str) -> AttentionGrid:
    """Return the grid of the one example of a batch, as a model of this kind sees it."""
    ids, predicts = batch["input_ids"][0].numpy(), (batch["labels"][0] != IGNORE).numpy()
    if kind == "seq2seq":
        n_read, written = len(ids), batch["decoder_input_ids"][0].numpy()
        ids, predicts = np.append(ids, written), np.append(np.zeros(n_read, dtype=bool), predicts)
        visible = np.tri(len(ids), dtype=bool)
        visible[:n_read, :n_read] = True
    elif batch["attention_mask"].dim() == 4:
        visible = batch["attention_mask"][0, 0].numpy()
    else:
        visible = np.ones((len(ids), len(ids)), dtype=bool)
        visible = np.tril(visible) if kind == "causal" else visible
    return AttentionGrid(ids, predicts, visible)


def draw_grids(grids: dict[str, AttentionGrid], name: str = "attention") -> Drawing:
    """Return a figure with a panel per grid, by its title."""
    columns = min(COLUMNS, len(grids))
    figure, axes = panels(-(-len(grids) // columns), columns, height=2.9)
    for axis in axes.flat[len(grids) :]:
        axis.set_axis_off()
    for axis, (title, grid) in zip(axes.flat, grids.items(), strict=False):
        tokens = [NAMES[i] for i in grid.ids]
        for row, seen in enumerate(grid.visible):
            for start, length in find_runs(seen):
                axis.barh(row, length, 0.9, left=start - 0.5, color=LOOKS[bool(grid.predicts[row])][1])
        axis.set_title(title)
        axis.set_xticks(range(len(tokens)), tokens, rotation=90, fontsize=6)
        axis.set_yticks(range(len(tokens)), tokens, fontsize=6)
        axis.set_xlim(-0.5, len(tokens) - 0.5)
        axis.set_ylim(len(tokens) - 0.5, -0.5)
        axis.set_aspect("equal")
        axis.tick_params(length=0)
        axis.grid(visible=False)
    squares = {"linestyle": "", "marker": "s"}
    add_legend(figure, {name: {**squares, "color": colour} for name, colour in LOOKS.values()})
    shares = ", ".join(f"{title} {grid.visible.mean():.0%}" for title, grid in grids.items())
    return Drawing(
        name=name,
        title="What each objective sees",
        caption="A row is a position with the token that it reads; its bar covers the tokens that it sees.",
        alt=f"Grids of positions against the tokens they see. Share of all pairs that is visible: {shares}.",
        figure=figure,
    )
