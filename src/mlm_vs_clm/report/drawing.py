"""What all figures share: style, panels, one legend, and files whose bytes depend on the data alone.

matplotlib is imported where it is used, so that tables and sentences do not wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..metrics import MEASURES
from . import style
from .svg import GRID, to_svg

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "mlm-vs-clm",
    "figure.dpi": 100,
}
FAINT = 0.3  # how opaque what decides nothing is drawn


@dataclass(frozen=True)
class Panel:
    """One panel of a figure, drawn alone: readers of the page choose corpora and measures."""

    corpus: str
    measure: str
    figure: Figure


@dataclass(frozen=True)
class Drawing:
    """A figure with its title, how to read it, its content in words for screen readers, and what it shows if told.

    Where it has `panels`, the page shows these, with a choice of the series in `looks`. `marks` has the series and the
    numbers in words of each value: point-<i> is its id in the SVG, part-<i> that of its bar or line.
    """

    name: str
    title: str
    caption: str
    alt: str
    figure: Figure
    panels: Sequence[Panel] = ()
    looks: Mapping[str, dict] = field(default_factory=dict)
    marks: Sequence[tuple[str, str]] = ()
    finding: str = ""


def save(drawing: Drawing, folder: Path) -> None:
    """Write `<name>.svg`."""
    (folder / f"{drawing.name}.svg").write_text(to_svg(drawing.figure), encoding="utf-8", newline="\n")


def draw_alone(
    draw: Callable[[Axes, Any, str], None], measures: Sequence[tuple[str, str]], corpora: Sequence[str]
) -> list[Panel]:
    """Return every panel of a figure as a figure of its own, corpora in turn; `draw` is given axes, measure, corpus."""
    alone = []
    for measure, corpus in product(measures, corpora):
        figure, axes = panels(1, 1, height=1.7, width=0)
        draw(axes[0, 0], measure, corpus)
        alone.append(Panel(corpus, style.name_measure(*measure), figure))
    return alone


def panels(
    n_rows: int, n_columns: int, height: float = 2.7, width: float = 6.0, **shared: Any
) -> tuple[Figure, np.ndarray]:
    """Return a figure of a fixed panel size, at least `width` wide (inches), and its axes in a two-dimensional array."""
    from matplotlib.figure import Figure

    size = (max(width, 3.2 * n_columns + 0.4), height * n_rows + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **shared)


def each_panel(axes: np.ndarray, rows: Iterable, columns: Iterable) -> Iterator[tuple[Axes, Any, Any]]:
    """Yield the axes of every panel with its row and its column."""
    for axis, (row, column) in zip(axes.flat, product(rows, columns), strict=True):
        yield axis, row, column


def draw_grid(
    cells: pd.DataFrame,
    measures: Sequence[tuple[str, str]],
    x_label: str,
    draw: Callable[[Axes, pd.DataFrame], None],
    width: float,
) -> Figure:
    """Return a figure of scores: a row of panels (`width` inches) per measure (scope, metric), corpora across."""
    corpora = style.ordered(cells["corpus"])
    figure, axes = panels(len(measures), len(corpora), width=width * len(corpora), sharex=True, sharey="row")
    for axis, (scope, metric), corpus in each_panel(axes, measures, corpora):
        panel = cells[(cells["scope"] == scope) & (cells["metric"] == metric) & (cells["corpus"] == corpus)]
        draw(axis, panel)
        if panel.empty:
            axis.text(0.5, 0.5, "missing", transform=axis.transAxes, ha="center", va="center", style="italic")
        axis.set_title(f"{corpus}, {style.name_scope(scope)}")
        if axis in axes[:, 0]:
            axis.set_ylabel(style.label_axis(metric))
        if axis in axes[-1]:
            axis.set_xlabel(x_label)
    return figure


def add_legend(figure: Figure, looks: dict[str, dict], lines: dict[str, dict] | None = None) -> None:
    """Put one legend above all panels: a marker and a line per arm, then reference lines."""
    from matplotlib.lines import Line2D

    entries = {**looks, **(lines or {})}
    handles = [Line2D([], [], label=name, **look) for name, look in entries.items()]
    width = max(1.75, 0.6 + 0.085 * max(map(len, entries)))  # inches of the longest entry
    columns = max(1, min(len(handles), int(figure.get_figwidth() / width)))
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, handlelength=2.6)


def label_lines(axes: Axes, ends: Sequence[tuple[str, float, str]]) -> None:
    """Write the name of each line beside its right end: (name, height of its last point, colour).

    Close names are moved apart, and a thin line leads from a name that was moved to its line.
    """
    low, high = axes.get_ylim()
    ends = sorted(ends, key=lambda end: end[1])
    heights = [(end[1] - low) / (high - low) for end in ends]
    for (name, _, colour), height, place in zip(ends, heights, spread(heights), strict=True):
        look: dict[str, Any] = {"color": colour, "transform": axes.transAxes, "clip_on": False}
        axes.text(1.035, place, name, fontsize=8.5, va="center", **look)
        axes.plot([1.005, 1.028], [height, place], linewidth=0.6, marker="", linestyle="-", **look)


def spread(heights: Sequence[float]) -> list[float]:
    """Return rising heights (shares of an axis), moved apart by the room of a line of text, not above 1 where all have room."""
    room = min(0.075, 1 / max(len(heights) - 1, 1))
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + room) if placed else height)
    top = 1.0
    for number in reversed(range(len(placed))):
        placed[number] = min(placed[number], top)
        top = placed[number] - room
    return placed


def interval_arms(cells: pd.DataFrame, column: str) -> np.ndarray:
    """Return the (2, n) lengths of the intervals below and above their values, zero where there is no interval.

    The interval of `value` is in `low`, `high`; that of any other column in `<column>_low`, `<column>_high`.
    """
    prefix = "" if column == "value" else f"{column}_"
    below = cells[column] - cells[f"{prefix}low"]
    above = cells[f"{prefix}high"] - cells[column]
    return np.nan_to_num(np.array([below, above], dtype=float)).clip(min=0)


def open_up(axes: Axes, least: float) -> None:
    """Widen the vertical axis about its values to a span of at least `least`, not below 0 where none of them is."""
    lowest, highest = axes.get_ylim()
    if highest - lowest < least:
        bottom = (lowest + highest - least) / 2
        bottom = max(bottom, 0.0) if lowest >= 0 else bottom
        axes.set_ylim(bottom, bottom + least)


def least_span(metric: str) -> float:
    """Return the least span of an axis of a measure, so that no figure makes a small difference look large."""
    highest = MEASURES[metric].highest if metric in MEASURES else 1.0
    return highest / 10 if math.isfinite(highest) else 0.1


def mark_decades(side: Axis, unit: float, at: Sequence[int] = (1, 2, 5)) -> None:
    """Write plain numbers of `unit` at 1, 2 and 5 of each decade of a logarithmic axis (or `at` others), and none between them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    side.set_major_locator(LogLocator(subs=at))
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value / unit:,.7g}"))
    side.set_minor_locator(NullLocator())


def describe_values(cells: pd.DataFrame, by: Sequence[str], sign: str = "") -> str:
    """Return "abstracts mlm 0.21, ...", the alternative text of every figure; `sign` "+" also writes the sign of positive values."""
    cells = cells.sort_values([*by], kind="stable")
    digits = style.digits_of(cells)
    names = cells[[*by]].astype(object)
    if "metric" in names:
        names["metric"] = names["metric"].map(style.name_metric)
    clauses = []
    for name, value, places in zip(names.itertuples(index=False), cells["value"], digits, strict=True):
        text = f"{value:{sign}.{places}f}" if pd.notna(value) else "missing"
        clauses.append(" ".join([*map(str, name), text]))
    return ", ".join(clauses)


def style_context() -> AbstractContextManager:
    """Return the context in which every figure is drawn and saved."""
    import matplotlib

    prefer_own_fonts()
    return matplotlib.rc_context(STYLE)


def prefer_own_fonts() -> None:
    """Let matplotlib's own files win over a system's fonts of the same name, whose glyphs can differ.

    Its list, which it keeps between runs, may lack them; of fonts that fit equally well the first in it is taken.
    """
    import matplotlib
    from matplotlib.font_manager import findfont, fontManager

    folder = Path(matplotlib.get_data_path(), "fonts", "ttf")
    if Path(findfont("DejaVu Sans")).parent != folder:
        for file in sorted(folder.glob("*.ttf")):
            fontManager.addfont(file)
            fontManager.ttflist.insert(0, fontManager.ttflist.pop())
