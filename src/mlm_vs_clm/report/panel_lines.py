"""Panels of points and lines: one number over another, the frontier of two, and rows of points."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from . import style
from .drawing import (
    FAINT,
    Drawing,
    add_legend,
    describe_values,
    interval_arms,
    label_lines,
    mark_decades,
    panels,
)
from .panel_sentences import FEW, Spec, is_signed, name_axis, name_value
from .style import ordered

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ALIGNED = ("left", "center", "right")  # a name, by the third of the axis that its point is in
WIDE = 16  # a positive axis whose largest number is this many times the smallest is logarithmic
DECADES = 100  # as WIDE, of an axis with fewer numbers per decade
MOST = 18  # lines that have room for their names beside an axis; more have a legend
ACROSS = 2  # facets of lines beside each other
PALE = "Pale: the arm is not competent."


def find_looks(cells: pd.DataFrame, spec: Spec) -> dict[str, dict[str, Any]]:
    """Return the look of each line: arms have their own."""
    lines = ordered(cells["line"], [*style.ARMS, *cells["line"]])
    return style.looks(lines) if spec["line"] in ("arm", "base", "objective") else style.series_looks(lines)


def draw_lines(spec: Spec, cells: pd.DataFrame) -> Drawing:
    """Return one figure: facets across, the value over x with 95 % intervals, a line per value of `line`."""
    beyond = cells[cells["x"] > 0]
    return _draw_axes(spec, beyond if len(beyond) and is_wide(beyond["x"]) else cells, _draw_line)


def _draw_line(axes: Axes, line: pd.DataFrame, look: dict) -> None:
    line = line.sort_values("x", kind="stable")
    axes.plot(line["x"], line["value"], color=look["color"], linestyle=look.get("linestyle", "-"))
    _draw_cells(axes, line, look)


def _draw_cells(axes: Axes, cells: pd.DataFrame, look: dict) -> None:
    for is_pale, group in cells.groupby(cells["pale"] != ""):
        alpha = FAINT if is_pale else 0.9
        axes.errorbar(
            group["x"],
            group["value"],
            yerr=interval_arms(group, "value"),
            xerr=interval_arms(group, "x"),
            fmt=look["marker"],
            fillstyle=look.get("fillstyle", "full"),
            color=look["color"],
            elinewidth=0.8,
            alpha=alpha,
        )


def draw_frontier(spec: Spec, cells: pd.DataFrame) -> Drawing:
    """Return one figure: facets across, a point per arm, with the names of all where they are few, else of the frontier's ends.

    No arm with a smaller x reaches a point of the frontier; of distinct-n, which is better the higher it is, none with a
    larger one.
    """

    def draw(axes: Axes, line: pd.DataFrame, look: dict) -> None:
        _draw_line(axes, line, look | {"linestyle": ":"})
        for point in line[line["end"] != ""].itertuples(index=False):
            axes.annotate(
                point.full_name,
                (point.x, point.value),
                (0, 5),
                textcoords="offset points",
                ha=point.end,
                fontsize=8,
            )

    alone = cells.groupby(["facet", "line"])["x"].transform("size") == 1
    cells = cells.assign(full_name=cells["line"].where(alone & (cells["line"] != ""), cells["full_name"]))
    best = find_best(cells, spec["x"].startswith("distinct"))
    return _draw_axes(spec, cells.assign(end=find_ends(cells, best)), draw)


def draw_points(spec: Spec, cells: pd.DataFrame) -> Drawing:
    """Return one figure: facets across, each with its own metric, a row per value of `x`, a point with its interval per line."""
    facets, rows = [*dict.fromkeys(cells["facet"])], ordered(cells["x"], [*style.ARMS, *cells["x"]])
    looks = find_looks(cells, spec)
    figure, axes = _panel_facets(facets, 0.45 * len(rows) + 0.9)
    for axis, facet in zip(axes.flat, facets, strict=False):
        in_facet = cells[cells["facet"] == facet]
        for number, (line, look) in enumerate(looks.items()):
            of_line = in_facet[in_facet["line"] == line]
            places = [rows.index(writer) + 0.22 * (number - (len(looks) - 1) / 2) for writer in of_line["x"]]
            about = {"fmt": look["marker"], "color": look["color"], "elinewidth": 0.8}
            axis.errorbar(of_line["value"], places, xerr=interval_arms(of_line, "value"), **about)
        axis.set_yticks(range(len(rows)), rows)
        axis.set(ylim=(len(rows) - 0.5, -0.5), title=facet)
        axis.set_xlabel(style.name_metric(in_facet["metric"].iloc[0]))
    if [*looks] != [""]:
        add_legend(figure, looks)
    values = describe_values(cells.assign(metric=""), ["facet", "line", "x"])
    return Drawing(
        spec["name"], spec["title"], spec["caption"], f"{name_value(spec, cells)}. {values}.", figure
    )


def _panel_facets(facets: Sequence[str], height: float, **shared: Any) -> tuple[Figure, np.ndarray]:
    """Return a figure with a panel for each facet, ACROSS beside each other, and their axes."""
    across = min(ACROSS, len(facets))
    figure, axes = panels(-(-len(facets) // across), across, height, 4.4 * across + 0.4, **shared)
    for unused in axes.flat[len(facets) :]:
        unused.set_visible(False)
    return figure, axes


def find_ends(cells: pd.DataFrame, best: pd.Series) -> pd.Series:
    """Return how the name of a point is aligned, "" for one without: of FEW each has one, else the ends of `best`.

    Ends that lie in one third of the axis are too near for two names: the higher one has its name.
    """
    ends = pd.Series("", index=cells.index, dtype="str")
    for _, facet in cells.groupby("facet"):
        x = facet["x"].map(math.log) if is_wide(cells["x"]) else facet["x"]
        share = (x - x.min()) / ((x.max() - x.min()) or 1)
        along, values = share[best[facet.index]], facet.loc[best[facet.index], "value"]
        named = [along.idxmin(), along.idxmax()] if len(along) else []
        if named and along.max() - along.min() < 1 / len(ALIGNED):
            named = [values.idxmax()]
        for place in facet.index if len(facet) <= FEW else named:
            ends[place] = ALIGNED[min(int(share[place] * len(ALIGNED)), len(ALIGNED) - 1)]
    return ends


def find_best(cells: pd.DataFrame, is_higher: bool = False) -> pd.Series:
    """Return whether no competent arm of the facet has a higher value at as small an x (as large, where higher is better)."""
    able = cells[cells["pale"] == ""]
    ranked = able.sort_values(["x", "value"], ascending=[not is_higher, False], kind="stable")
    highest = ranked.groupby("facet")["value"].cummax()
    before = highest.groupby(ranked["facet"]).shift(fill_value=float("-inf"))
    return (ranked["value"] > before).reindex(cells.index, fill_value=False)


def _draw_axes(spec: Spec, cells: pd.DataFrame, draw: Callable[[Axes, pd.DataFrame, dict], None]) -> Drawing:
    facets, looks = [*dict.fromkeys(cells["facet"])], find_looks(cells, spec)
    has_legend = len(looks) > MOST
    height = 2.8 + 0.11 * len(looks) * has_legend
    figure, axes = _panel_facets(facets, height, sharey=do_overlap(cells))
    for axis, facet in zip(axes.flat, facets, strict=False):
        _draw_facet(axis, cells[cells["facet"] == facet], spec, looks, draw, is_wide(cells["x"]))
    for axis, facet in zip(axes.flat, facets, strict=False):  # once all have their heights
        if not has_legend and len(looks) > 1 and not is_named(cells):
            label_lines(axis, list_ends(cells[cells["facet"] == facet], looks))
    for axis in axes[:, 0]:
        axis.set_ylabel(name_value(spec, cells))
    if has_legend:
        add_legend(figure, looks)
    values = describe_values(cells.assign(metric=""), ["facet", "line", "named", "x"])
    caption = " ".join(filter(None, [spec["caption"], PALE if (cells["pale"] != "").any() else ""]))
    return Drawing(spec["name"], spec["title"], caption, f"{name_value(spec, cells)}. {values}.", figure)


def _draw_facet(
    axis: Axes,
    cells: pd.DataFrame,
    spec: Spec,
    looks: Mapping[str, dict],
    draw: Callable[[Axes, pd.DataFrame, dict], None],
    has_decades: bool,
) -> None:
    if has_decades:
        axis.set_xscale("log")
        mark_decades(axis.xaxis, 1, (1, 3) if is_wide(cells["x"], DECADES) else (1, 2, 5))
    for line, look in looks.items():
        if len(of_line := cells[cells["line"] == line]):
            draw(axis, of_line, look)
    axis.set_title(cells["facet"].iloc[0])
    axis.set_xlabel(name_axis(spec["x"]))
    if is_signed(spec):
        axis.axhline(0, color="black", linewidth=0.8)


def is_named(cells: pd.DataFrame) -> bool:
    """Return whether every point of a frontier has its name beside it, so that no line needs one."""
    return "end" in cells and bool((cells["end"] != "").all())


def list_ends(cells: pd.DataFrame, looks: Mapping[str, dict]) -> list[tuple[str, float, str]]:
    """Return the name, the height of the last point and the colour of each line of a facet."""
    last = cells.loc[cells.groupby("line")["x"].idxmax()]
    return [(row.line, row.value, looks[row.line]["color"]) for row in last.itertuples(index=False)]


def do_overlap(cells: pd.DataFrame) -> bool:
    """Return whether the values of all facets overlap, so that they can share an axis."""
    ranges = cells.groupby("facet")["value"].agg(["min", "max"])
    return bool(ranges["min"].max() <= ranges["max"].min())


def is_wide(values: pd.Series, times: float = WIDE) -> bool:
    """Return whether the largest of positive numbers is so many times the smallest, by default as for a logarithmic axis."""
    return bool(values.min() > 0 and values.max() >= times * values.min())
