"""What all figures share: style, panels, one legend, and files whose bytes depend on the data alone.

matplotlib is imported where it is used, so that tables and sentences do not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import style

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "mlm-vs-clm",
    "figure.dpi": 100,
}
FAINT = 0.3  # how opaque what decides nothing is drawn
CENTRED: dict[str, Any] = {"ha": "center", "va": "center", "style": "italic"}
PALE = "Pale: an arm is not competent, so that the difference decides nothing."
FILLED = "Filled markers: the 95 % interval excludes 0; white ones: it includes 0."


@dataclass(frozen=True)
class Drawing:
    """A figure with its title, how to read it, and its content in words for screen readers."""

    name: str
    title: str
    caption: str
    alt: str
    figure: Figure


def save(drawing: Drawing, folder: Path) -> None:
    """Write `<name>.svg`, without a date or a program version in it."""
    drawing.figure.savefig(folder / f"{drawing.name}.svg", metadata={"Date": None, "Creator": None})


def panels(n_rows: int, n_columns: int, height: float = 2.7, **shared: Any) -> tuple[Figure, np.ndarray]:
    """Return a figure of a fixed panel size (inches) and its axes, always as a two-dimensional array."""
    from matplotlib.figure import Figure

    size = (max(6.0, 3.2 * n_columns + 0.4), height * n_rows + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **shared)


def each_panel(axes: np.ndarray, rows: Iterable, columns: Iterable) -> Iterator[tuple[Axes, Any, Any]]:
    """Yield the axes of every panel with its row and its column."""
    columns = list(columns)
    for line, row in zip(axes, rows, strict=True):
        for axis, column in zip(line, columns, strict=True):
            yield axis, row, column


def draw_grid(
    cells: pd.DataFrame,
    measures: Sequence[tuple[str, str]],
    x_label: str,
    draw: Callable[[Axes, pd.DataFrame], None],
) -> Figure:
    """Return a figure of scores: a row of panels per measure (scope, metric), corpora across, each drawn from its cells."""
    corpora = style.ordered(cells["corpus"])
    figure, axes = panels(len(measures), len(corpora), sharex=True, sharey="row")
    for axis, (scope, metric), corpus in each_panel(axes, measures, corpora):
        panel = cells[(cells["scope"] == scope) & (cells["metric"] == metric) & (cells["corpus"] == corpus)]
        draw(axis, panel)
        if panel.empty:
            mark_empty_panel(axis)
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
    columns = min(len(handles), max(3, int(figure.get_figwidth() / 1.75)))
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, handlelength=2.6)


def draw_points(
    axes: Axes, cells: pd.DataFrame, x: str, y: str, look: dict, crossed: bool = False, alpha: float = 0.9
) -> None:
    """Draw points with thin intervals, `crossed` with those of both axes; a missing interval is left off."""
    dots = {"color": look["color"], "marker": look["marker"], "linestyle": "none"}
    axes.plot(cells[x], cells[y], alpha=alpha, **dots)
    thin = {"fmt": "none", "ecolor": look["color"], "elinewidth": 0.7, "alpha": alpha / 2}
    axes.errorbar(cells[x], cells[y], yerr=interval_arms(cells, y), **thin)
    if crossed:
        axes.errorbar(cells[x], cells[y], xerr=interval_arms(cells, x), **thin)


def interval_arms(cells: pd.DataFrame, column: str) -> np.ndarray:
    """Return the (2, n) lengths of the intervals below and above their values, zero where there is no interval.

    The interval of `value` is in `low`, `high`; that of any other column in `<column>_low`, `<column>_high`.
    """
    prefix = "" if column == "value" else f"{column}_"
    below = cells[column] - cells[f"{prefix}low"]
    above = cells[f"{prefix}high"] - cells[column]
    return np.nan_to_num(np.array([below, above], dtype=float)).clip(min=0)


def draw_intervals(axes: Axes, labels: Sequence[str], series: Sequence[tuple[dict, Sequence]]) -> None:
    """Draw points with 95 % intervals, one row per label from top to bottom, the series of a label below one another.

    A series is its look and, for every label, a row with value, low and high, or None. Markers are filled where the
    interval excludes 0; a label without any value is marked missing.
    """
    from matplotlib.ticker import MaxNLocator

    axes.axvline(0, color="black", linewidth=1, zorder=1)
    for place in range(len(labels)):
        known = [
            (number, look, cells[place])
            for number, (look, cells) in enumerate(series)
            if cells[place] is not None and pd.notna(cells[place].value)
        ]
        for number, look, cell in known:
            draw_interval(axes, cell, place + 0.5 * ((number + 0.5) / len(series) - 0.5), look)
        if not known:
            axes.text(0.5, place, "missing", transform=axes.get_yaxis_transform(), **CENTRED)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.xaxis.set_major_locator(MaxNLocator(5))


def draw_interval(axes: Axes, cell: Any, height: float, look: dict) -> None:
    """Draw one value with its interval, pale where an arm is not competent."""
    faint = {"color": look["color"], "alpha": FAINT if getattr(cell, "pale", "") else 1}
    axes.plot([cell.low, cell.high], [height, height], linestyle="-", **faint)
    filling = look["color"] if cell.low > 0 or cell.high < 0 else "white"
    axes.plot(cell.value, height, marker=look["marker"], markerfacecolor=filling, **faint)


def mark_decades(side: Axis, unit: float) -> None:
    """Write plain numbers of `unit` at 1, 2 and 5 of each decade of a logarithmic axis, and none between them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    side.set_major_locator(LogLocator(subs=(1, 2, 5)))
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value / unit:g}"))
    side.set_minor_formatter(NullFormatter())


def mark_empty_panel(axes: Axes) -> None:
    """Write "missing" into an empty panel."""
    axes.text(0.5, 0.5, "missing", transform=axes.transAxes, **CENTRED)


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

    own = Path(matplotlib.get_data_path(), "fonts", "ttf")
    if Path(findfont("DejaVu Sans")).parent != own:
        for file in sorted(own.glob("*.ttf")):
            fontManager.addfont(file)
            fontManager.ttflist.insert(0, fontManager.ttflist.pop())
