"""The figure of the ladder: a step below the other, in each the lengths of training and the corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from textwrap import fill
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..evidence.verdicts import MADE
from . import style
from .drawing import Drawing
from .ladder import ENCODER, LIKELIHOODS, best_rows, word_tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")  # longest training first
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")  # by corpus
GREY = "#999999"
WIDTH = 58  # letters of a step's words in a line
WORDS = 0.36  # of a step's height for its words; the rest is for its marks


def draw_ladder(steps: pd.DataFrame, likelihoods: pd.DataFrame) -> Drawing:
    """Return the figure: the steps from top to bottom, and below them the likelihoods from the encoder."""
    from matplotlib.figure import Figure

    steps, likelihoods = keep_best(keep_ends(steps)), likelihoods[likelihoods["start"] == ENCODER]
    most = likelihoods.groupby(["tokens", "condition"])["runs"].transform("max")
    leads = keep_ends(likelihoods[likelihoods["runs"] == most])  # of equal studies the most trained
    step_rows = [(str(words), rows) for words, rows in steps.groupby("words", sort=False)]
    below = [
        (words, rows) for name, words in LIKELIHOODS.items() if len(rows := leads[leads["condition"] == name])
    ]
    corpora = style.ordered(pd.concat([steps["corpus"], leads["corpus"]]))
    colours = colour_lengths([*steps["tokens"], *leads["tokens"]])
    heights = [len(step_rows) + 0.3, *([len(below) + 0.3] if below else [])]
    figure = Figure(figsize=(4.9, 0.62 * sum(heights) + 2.3), layout="constrained")
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    _draw_steps(axes[0], step_rows, corpora, colours)
    axes[0].set_xlabel("lead of the masked model, in BLEU points (of 100)")
    if below:
        _draw_steps(axes[1], below, corpora, colours)
        axes[1].set_xlabel("lead of the masked model, in nats per character")
    _add_legend(figure, corpora, colours, steps)
    return Drawing(
        name="answer",
        title="How far masked models are ahead, as one advantage after another is taken away",
        caption=(
            "Bars: 95 % intervals. Grey decides nothing: a model does not clearly beat a table of neighbouring words or a text "
            "without its blanks, or documents are too few."
        ),
        alt=describe_ladder(steps),
        figure=figure,
    )


def keep_ends(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each start and condition after the shortest and the longest training, and of the most trainings."""
    steps = rows.groupby(["start", "condition"])
    tokens, runs = steps["tokens"], steps["runs"].transform("max")
    longest = rows["tokens"].where(rows["runs"] == runs).groupby([rows["start"], rows["condition"]])
    ends = (tokens.transform("min"), tokens.transform("max"), longest.transform("max"))
    return rows[pd.concat([rows["tokens"] == end for end in ends], axis=1).any(axis=1)]


def keep_best(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one study for each start, condition and length of training, as `best_rows` chooses it."""
    of_length = steps.groupby(["start", "condition", "tokens"], sort=False)
    best = [best_rows(group, (start, condition)) for (start, condition, _), group in of_length]
    return pd.concat(best) if best else steps


def colour_lengths(tokens: Sequence[float]) -> dict[int, str]:
    """Return a colour for each length of training, the longest first; of more than COLOURS they come again."""
    return dict(zip(sorted(map(int, set(tokens)), reverse=True), cycle(COLOURS), strict=False))


def describe_ladder(steps: pd.DataFrame) -> str:
    """Return the steps in words with the lowest and the highest difference of each: the figure's alternative text."""
    clauses = []
    for words, step in steps.groupby("words", sort=False):
        rows = best_rows(step, tuple(step.iloc[0][["start", "condition"]]))
        clauses.append(f"{words}: {rows['effect'].min():+.1f} to {rows['effect'].max():+.1f}")
    return f"Lead of the masked model in BLEU points, lowest and highest corpus: {'; '.join(clauses)}."


def _draw_steps(
    axes: Axes,
    step_rows: Sequence[tuple[str, pd.DataFrame]],
    corpora: Sequence[str],
    colours: Mapping[int, str],
) -> None:
    """Draw the rows of each step below its words: the lengths of training from top to bottom, in each the corpora."""
    markers = dict(zip(corpora, cycle(MARKERS), strict=False))
    _name_sides(axes)
    for place, (words, rows) in enumerate(step_rows):
        _write_words(axes, place, words)
        marked = {(row.tokens, row.corpus) for row in rows.itertuples(index=False)}
        lines = [(length, corpus) for length in colours for corpus in corpora if (length, corpus) in marked]
        for row in rows.itertuples(index=False):
            line = lines.index((row.tokens, row.corpus))
            height = place + WORDS + (1 - WORDS) * (line + 0.3) / max(len(lines), 4)
            _draw_row(axes, row, height, colours[row.tokens], markers[row.corpus])
    axes.set_ylim(len(step_rows) + 0.05, -0.3)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.06)
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, -0.32 * high), high)  # room for the words at the left of zero


def _name_sides(axes: Axes) -> None:
    """Draw the line of no lead, and say above it on which side which model is ahead."""
    axes.axvline(0, color="black", linewidth=1, zorder=1)
    look: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8.5, "weight": "bold"}
    axes.annotate("← causal better", (0, -0.17), xytext=(-6, 0), ha="right", **look)
    axes.annotate("masked better →", (0, -0.17), xytext=(6, 0), ha="left", **look)


def _write_words(axes: Axes, place: int, words: str) -> None:
    """Write the words of a step below the line that parts it from the step before."""
    axes.axhline(place - 0.02, color="#cccccc", linewidth=0.6)
    lines = fill(words, WIDTH)
    axes.text(
        0.01,
        place + 0.18,
        lines,
        fontsize=8 if "\n" in lines else 9,
        va="center",
        linespacing=0.95,
        transform=axes.get_yaxis_transform(),
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        in_layout=False,  # long words must not narrow the figure
    )


def _draw_row(axes: Axes, row: Any, height: float, colour: str, marker: str) -> None:
    """Draw one difference: filled where it rests on several trainings, grey where an arm is not competent."""
    colour = colour if row.status == MADE else GREY
    axes.plot([row.low, row.high], [height, height], color=colour, linewidth=1.3)
    filling = colour if row.runs > 1 else "white"
    look: dict[str, Any] = {
        "color": colour,
        "markerfacecolor": filling,
        "markersize": 4.2,
        "markeredgewidth": 1,
    }
    axes.plot(row.effect, height, marker=marker, linestyle="none", zorder=3, **look)
    gap = getattr(row, "tables", None)
    if gap is not None and pd.notna(gap):
        axes.plot(gap, height, marker="|", color="black", markersize=6, markeredgewidth=1, zorder=4)


def _add_legend(
    figure: Figure, corpora: Sequence[str], colours: Mapping[int, str], steps: pd.DataFrame
) -> None:
    """Put the legend below: shapes of the corpora, colours of the lengths of training, and how sure a mark is."""
    from matplotlib.lines import Line2D

    def mark(label: str, colour: str = "black", **look: Any) -> Line2D:
        return Line2D([], [], label=label, color=colour, linestyle="none", markersize=5, **look)

    several = sorted({int(runs) for runs in steps["runs"].dropna() if runs > 1})
    number = " to ".join(map(str, dict.fromkeys([*several[:1], *several[-1:]])))
    entries = [mark(name, marker=marker) for name, marker in zip(corpora, cycle(MARKERS), strict=False)]
    entries += [
        mark(f"{word_tokens(length)} tokens", colour, marker="o") for length, colour in colours.items()
    ]
    entries += [
        *([mark(f"filled: {number} trainings", marker="o")] if several else []),
        mark("hollow: one training", marker="o", markerfacecolor="white"),
        mark("lead of a table of both sides over one of the left", marker="|"),
    ]
    if (steps["status"] != MADE).any():
        entries.append(mark("grey: decides nothing", GREY, marker="o"))
    figure.legend(handles=entries, loc="outside lower center", ncols=2, fontsize=8.5, handlelength=1)
