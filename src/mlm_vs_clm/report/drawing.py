"""What all figures share: style, panels, one legend, and files whose bytes depend on the data alone.

matplotlib is imported where it is used, so that tables and sentences do not wait for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

from ..metrics import MEASURES
from . import style

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


GRID = "#e3e3e3"
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
CENTRED: dict[str, Any] = {"ha": "center", "va": "center", "style": "italic"}
PALE = "Pale: an arm is not competent, so that the difference decides nothing."
FILLED = "Filled markers: a direction is shown; white ones: none is."


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


def to_svg(figure: Figure) -> str:
    """Return a figure as SVG, without a date or a program version in it.

    Clips are numbered: matplotlib names them by their place, whose last bits may differ from run to run.
    """
    buffer = StringIO()
    clips: dict[str, str] = {}
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return re.sub(
        r'(?<=["#])p[0-9a-f]{10}(?=[")])',
        lambda clip: clips.setdefault(clip[0], f"clip{len(clips)}"),
        buffer.getvalue(),
    )


def inline(figure: Figure, marks: Sequence[tuple[str, str]] = (), name: str = "figure") -> Markup:
    """Return a figure as a part of the page: small, ids that begin with `name`, and points that take the focus and tell their numbers."""
    is_kept: list[bool] = []
    for background in (figure.patch, *(axes.patch for axes in figure.axes)):
        background.set_visible(False)
    svg = to_svg(figure)
    svg = re.sub(r"<(metadata|style).*?</\1>", "", svg[svg.index("<svg") :], flags=re.DOTALL)

    def group(tag: re.Match) -> str:
        """Return a tag of a group, nothing for a group that only has a name of matplotlib's."""
        if tag[0] == "</g>":
            return "</g>" if is_kept.pop() else ""
        is_kept.append(bool(tag[2]) or tag[0].count("=") > tag[0].count("id="))
        if not tag[2]:
            return tag[0] if is_kept[-1] else ""
        series, words = marks[int(tag[2])]
        label = f' class="point" tabindex="0" role="img" aria-label="{escape(words)}"'
        return f'<g data-series="{escape(series)}"{label if tag[1] == "point" else ""}>'

    svg = re.sub(r">\s+<", "><", re.sub(r"<[^>]+>", lambda tag: shorten(tag[0]), svg))
    svg = re.sub(r'<g\b(?: id="(point|part)-(\d+)")?[^>]*>|</g>', group, svg)
    svg = share_markers(svg)
    ids: dict[str, str] = {}
    svg = re.sub(
        r'(id="|url\(#|href="#)([^")]*)',
        lambda use: use[1] + ids.setdefault(use[2], f"{name}-{len(ids)}"),
        svg,
    )
    svg = re.sub(r'^<svg[^>]*?(viewBox="[^"]*")[^>]*>', r"<svg \1>", svg)
    width = figure.get_figwidth() * 72  # the units of the SVG
    return Markup(svg.replace("<svg", f'<svg style="--width:{width:g}px"', 1))  # noqa: S704 - made by matplotlib


def share_markers(svg: str) -> str:
    """Return an SVG that defines each marker once: matplotlib repeats it for every point that is drawn alone."""
    first: dict[str, str] = {}
    first_id: dict[str, str] = {}

    def define(marker: re.Match) -> str:
        first_id[marker[1]] = first.setdefault(marker[2], marker[1])
        return marker[0] if first_id[marker[1]] == marker[1] else ""

    svg = re.sub(r'<defs><path id="([^"]*)"([^>]*)></defs>', define, svg)
    return re.sub(r'(?<=href="#)[^"]*', lambda use: first_id.get(use[0], use[0]), svg)


def shorten(tag: str) -> str:
    """Return a tag of an SVG without what the style of the page says for all figures, numbers to a tenth of a point."""
    tag = re.sub(r"-?\d+\.\d{2,}", lambda number: f"{round(float(number[0]), 1):g}", " ".join(tag.split()))
    tag = re.sub(r"(?<=[:;]) | (?=[MLCQz] )|(?<=[MLCQ]) |xlink:", "", tag)
    if f"stroke:{GRID}" in tag:
        return re.sub(' (clip-path|style)="[^"]*"', "", tag).replace("<path", '<path class="grid"')
    if tag.startswith("<use"):
        return re.sub(r';?stroke[^;"]*| style="stroke[^"]*"', "", tag)  # the path that is used has it
    return re.sub(
        r'(font-size:10px|font-family|stroke-linecap:square)[^;"]*;?| transform="rotate\(-0 .*?\)"', "", tag
    )


def draw_alone(
    draw: Callable[[Axes, Any, str], None],
    measures: Sequence,
    corpora: Sequence[str],
    width: float = 0,
    height: float = 1.7,
) -> list[Panel]:
    """Return every panel of a figure as a figure of its own, corpora in turn; `draw` is given axes, measure, corpus."""
    alone = []
    for measure, corpus in product(measures, corpora):
        figure, axes = panels(1, 1, height, width)
        draw(axes[0, 0], measure, corpus)
        name = style.name_measure(*measure) if isinstance(measure, tuple) else measure
        alone.append(Panel(corpus, name, figure))
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
    columns = list(columns)
    for line, row in zip(axes, rows, strict=True):
        for axis, column in zip(line, columns, strict=True):
            yield axis, row, column


def draw_grid(
    cells: pd.DataFrame,
    measures: Sequence[tuple[str, str]],
    x_label: str,
    draw: Callable[[Axes, pd.DataFrame], None],
    width: float = 0.0,
) -> Figure:
    """Return a figure of scores: a row of panels per measure (scope, metric), corpora across, each drawn from its cells."""
    corpora = style.ordered(cells["corpus"])
    figure, axes = panels(len(measures), len(corpora), width=width * len(corpora), sharex=True, sharey="row")
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


def draw_points(axes: Axes, cells: pd.DataFrame, x: str, y: str, look: dict, crossed: bool = False) -> None:
    """Draw points with thin intervals, `crossed` with those of both axes; a missing interval is left off."""
    dots = {"color": look["color"], "marker": look["marker"], "linestyle": "none"}
    axes.plot(cells[x], cells[y], alpha=0.9, **dots)
    thin = {"fmt": "none", "ecolor": look["color"], "elinewidth": 0.7, "alpha": 0.45}
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

    A series is its look and, for every label, a row with value, low and high, or None. Markers are filled where the row
    `is_filled`; a label without any value is marked missing.
    """
    from matplotlib.ticker import MaxNLocator

    axes.axvline(0, color="black", linewidth=1, zorder=1)
    for place in range(len(labels)):
        present = [
            (number, look, cells[place])
            for number, (look, cells) in enumerate(series)
            if cells[place] is not None and pd.notna(cells[place].value)
        ]
        for number, look, cell in present:
            draw_interval(axes, cell, place + 0.5 * ((number + 0.5) / len(series) - 0.5), look)
        if not present:
            axes.text(0.5, place, "missing", transform=axes.get_yaxis_transform(), **CENTRED)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.xaxis.set_major_locator(MaxNLocator(5))


def draw_interval(axes: Axes, cell: Any, height: float, look: dict) -> None:
    """Draw one value with its interval, pale where an arm is not competent."""
    faint = {"color": look["color"], "alpha": FAINT if getattr(cell, "pale", "") else 1}
    point, interval = name_marks(cell)
    axes.plot([cell.low, cell.high], [height, height], linestyle="-", gid=interval, **faint)
    filling = look["color"] if cell.is_filled else "white"
    axes.plot(cell.value, height, marker=look["marker"], markerfacecolor=filling, gid=point, **faint)


def number_marks(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of values with their number in `mark`, from which their points have ids."""
    return rows.assign(mark=range(len(rows)))


def name_marks(cell: Any) -> tuple[str | None, str | None]:
    """Return the SVG ids of the point of a value and of its bar, none where the cell has no number in `mark`."""
    mark = getattr(cell, "mark", None)
    return (None, None) if mark is None else (f"point-{mark}", f"part-{mark}")


def mark_decades(side: Axis, unit: float, at: Sequence[int] = (1, 2, 5)) -> None:
    """Write plain numbers of `unit` at 1, 2 and 5 of each decade of a logarithmic axis (or `at` others), and none between them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    side.set_major_locator(LogLocator(subs=at))
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value / unit:,.7g}"))
    side.set_minor_locator(NullLocator())


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

    folder = Path(matplotlib.get_data_path(), "fonts", "ttf")
    if Path(findfont("DejaVu Sans")).parent != folder:
        for file in sorted(folder.glob("*.ttf")):
            fontManager.addfont(file)
            fontManager.ttflist.insert(0, fontManager.ttflist.pop())
