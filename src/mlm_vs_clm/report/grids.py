"""The attention of every objective side by side: which tokens each position sees."""

from collections.abc import Mapping, Sequence

import numpy as np

from ..models.spans import find_runs
from .drawing import Drawing, add_legend, panels

COLUMNS = 5
LOOKS = {True: ("predicts a token", "#0072B2"), False: ("predicts none", "#B8D8EC")}
Grid = tuple[Sequence[str], np.ndarray, np.ndarray]


def draw_grids(grids: Mapping[str, Grid]) -> Drawing:
    """Return a figure with a panel per objective, from the tokens (n), what predicts (n,) and what is visible (n, n)."""
    figure, axes = panels(-(-len(grids) // COLUMNS), COLUMNS, height=2.9)
    for axis in axes.flat[len(grids) :]:
        axis.set_axis_off()
    for axis, (title, (tokens, predicts, visible)) in zip(axes.flat, grids.items(), strict=False):
        for row, seen in enumerate(visible):
            for start, length in find_runs(seen):
                axis.barh(row, length, 0.9, left=start - 0.5, color=LOOKS[bool(predicts[row])][1])
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
    shares = ", ".join(f"{title} {visible.mean():.0%}" for title, (_, _, visible) in grids.items())
    return Drawing(
        name="attention",
        title="What each objective sees",
        caption="A row is a position with the token that it reads; its bar covers the tokens that it sees.",
        alt=f"Grids of positions against the tokens they see. Share of all pairs that is visible: {shares}.",
        figure=figure,
    )
