"""What all figures share: style, panels, one legend, and files whose bytes depend on the data alone."""

from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, fontManager
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from . import style

STYLE = {
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


@dataclass(frozen=True)
class Drawing:
    """A figure with what stands around it: a title, how to read it, and its content in words for screen readers."""

    name: str
    title: str
    caption: str
    alt: str
    figure: Figure


def save(drawing: Drawing, folder: Path) -> None:
    """Write `<name>.svg`, without a date or a program version in it."""
    drawing.figure.savefig(folder / f"{drawing.name}.svg", metadata={"Date": None, "Creator": None})


def panels(n_rows: int, n_columns: int, height: float = 2.7, **shared) -> tuple[Figure, np.ndarray]:
    """Return a figure of a fixed panel size (inches) and its axes, always as a two-dimensional array."""
    size = (max(6.0, 3.2 * n_columns + 0.4), height * n_rows + 0.8)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **shared)


def add_legend(figure: Figure, looks: dict[str, dict], lines: dict[str, dict] | None = None) -> None:
    """Put one legend above all panels: a marker and a line per arm, then reference lines."""
    entries = {**looks, **(lines or {})}
    handles = [Line2D([], [], label=name, **look) for name, look in entries.items()]
    columns = min(len(handles), max(3, int(figure.get_figwidth() / 1.75)))
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, handlelength=2.6)


def draw_points(axes: Axes, cells: pd.DataFrame, x: str, y: str, look: dict, crossed: bool = False) -> None:
    """Draw points with thin intervals, `crossed` with those of both axes; a missing interval is left off."""
    dots = {"color": look["color"], "marker": look["marker"], "linestyle": "none"}
    axes.plot(cells[x], cells[y], alpha=0.9, **dots)
    thin = {"fmt": "none", "ecolor": look["color"], "elinewidth": 0.7, "alpha": 0.45}
    axes.errorbar(cells[x], cells[y], yerr=arm_lengths(cells, y), **thin)
    if crossed:
        axes.errorbar(cells[x], cells[y], xerr=arm_lengths(cells, x), **thin)


def arm_lengths(cells: pd.DataFrame, column: str) -> np.ndarray:
    """Return the (2, n) lengths of the interval's arms below and above, zero where there is no interval.

    The interval of `value` stands in `low`, `high`; that of any other column in `<column>_low`, `<column>_high`.
    """
    prefix = "" if column == "value" else f"{column}_"
    below = cells[column] - cells[f"{prefix}low"]
    above = cells[f"{prefix}high"] - cells[column]
    return np.nan_to_num(np.array([below, above], dtype=float)).clip(min=0)


def mark_decades(side: Axis, unit: float) -> None:
    """Write plain numbers of `unit` at 1, 2 and 5 of each decade of a logarithmic axis, and none between them."""
    side.set_major_locator(LogLocator(subs=(1, 2, 5)))
    side.set_major_formatter(FuncFormatter(lambda value, _: f"{value / unit:g}"))
    side.set_minor_formatter(NullFormatter())


def say_missing(axes: Axes) -> None:
    """Say in an empty panel that it is empty, instead of leaving a reader to wonder."""
    axes.text(0.5, 0.5, "missing", transform=axes.transAxes, ha="center", va="center", style="italic")


def tell_values(cells: pd.DataFrame, by: list[str]) -> str:
    """Return "abstracts mlm 0.21, ..." for an alternative text."""
    digits = style.decimals(cells["value"])
    rows = cells.sort_values(by, kind="stable")[[*by, "value"]].itertuples(index=False)
    return ", ".join(
        " ".join(str(part) for part in row[:-1])
        + (f" {row[-1]:.{digits}f}" if pd.notna(row[-1]) else " missing")
        for row in rows
    )


def style_context():
    """Return the context in which every figure is drawn and saved."""
    prefer_own_fonts()
    return matplotlib.rc_context(STYLE)


def prefer_own_fonts() -> None:
    """Let matplotlib's own files win over a system's fonts of the same name, whose glyphs can differ.

    Its list, which it keeps between runs, may lack them; of fonts that fit equally well the first in it is taken.
    """
    own = Path(matplotlib.get_data_path(), "fonts", "ttf")
    if Path(findfont("DejaVu Sans")).parent != own:
        for file in sorted(own.glob("*.ttf")):
            fontManager.addfont(file)
            fontManager.ttflist.insert(0, fontManager.ttflist.pop())
