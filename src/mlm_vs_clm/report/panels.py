"""The panels of a study as data: lines, heat maps and frontiers of its tables, each with its table and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..errors import StudyError
from ..evidence.tables import COLUMNS
from ..evidence.verdicts import FIRST, SECOND
from .drawing import FAINT, Drawing, describe_values, panels
from .panel_cells import select_cells
from .panel_lines import draw_frontier, draw_lines, draw_points
from .panel_sentences import (
    Spec,
    count_ahead,
    count_digits,
    find_highest,
    is_signed,
    name_axis,
    name_sides,
    name_value,
    write,
)
from .style import Study, ordered
from .tables import DASH, Entry, Table, command_for_report, enter, enter_key, order_lines
from .usefulness import describe_groups, describe_writers, draw_dots, draw_scatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Shown = tuple[list[Drawing], list[Table]]
AHEAD, BEHIND = "#0072B2", "#D55E00"  # of the first arm, of the second
# Of the names of a heat map's rows: letters that fit beside it, and inches for each more.
SHORT, LETTER = 16, 0.09
# Kinds of panels with words of their own for writers and shares of headroom.
OF_USEFULNESS = ("scatter", "dots")
FEWEST = 3  # columns that a heat map is as wide as at least: its title has room
MARKED = (
    "Blue: {0} is ahead, orange: {1}; *: the direction is shown, p corrected over its claim, else over the comparisons by that measure; in brackets: an arm is not competent, so that the difference "
    "decides nothing."
)


def show_panels(specs: Sequence[Spec], tables: Mapping[str, pd.DataFrame], study: Study) -> Shown:
    """Return the figures, each with its finding, and the tables of a study's panels; one without rows has none.

    Raises StudyError for a panel of an unknown kind, table or column.
    """
    drawings: list[Drawing] = []
    tables_made: list[Table] = []
    for spec in specs:
        check_panel(spec)
        cells = select_cells(spec, tables)
        if len(cells):
            finding = describe_finding(spec, cells, tables)
            drawings.append(replace(KINDS[spec["kind"]](spec, cells), finding=finding))
            tables_made.append(panel_table(spec, cells, study))
    return drawings, tables_made


def describe_finding(spec: Spec, cells: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> str:
    """Return the sentence of a panel: of a scatter the correlation that `writers` has, else what its values show."""
    if spec["kind"] == "scatter":
        return describe_writers(spec, tables["writers"])
    describe = count_ahead if is_signed(spec) else describe_groups if spec["kind"] == "dots" else find_highest
    return describe(spec, cells)


def check_panel(spec: Spec) -> None:
    """Raise StudyError for a panel whose kind or table is unknown, or whose kind is for another table."""
    for key, choices in (("kind", KINDS), ("table", COLUMNS)):
        if spec[key] not in choices:
            raise StudyError(
                f"track.panels: {spec['name']}.{key}={spec[key]} is unknown: choose one of {', '.join(choices)}"
            )
    if spec["kind"] in OF_USEFULNESS and spec["table"] != "usefulness":
        raise StudyError(
            f"track.panels: {spec['name']}.kind={spec['kind']} shows table usefulness alone: choose kind=points for table {spec['table']}"
        )


def draw_heat(spec: Spec, cells: pd.DataFrame) -> Drawing:
    """Return one figure: facets below each other, x and y as categories, values in the cells by colour and as numbers."""
    facets, columns = [*dict.fromkeys(cells["facet"])], ordered(cells["x"])
    lines_of = {facet: ordered(cells.loc[cells["facet"] == facet, "y"]) for facet in facets}
    heights = [0.42 * len(lines) + 0.8 for lines in lines_of.values()]
    longest = max(len(write(line)) for lines in lines_of.values() for line in lines)
    width = 0.85 * max(len(columns), FEWEST) + 1.6 + LETTER * max(0, longest - SHORT)
    sizes = {"height_ratios": heights, "sharex": True}
    figure, axes = panels(len(facets), 1, sum(heights) / len(facets), width, **sizes)
    for axis, (facet, lines) in zip(axes[:, 0], lines_of.items(), strict=True):
        for cell in cells[cells["facet"] == facet].itertuples(index=False):
            _draw_cell(axis, cell, columns.index(cell.x), lines.index(cell.y), spec, cells)
        axis.set_xticks(range(len(columns)), [write(value) for value in columns])
        axis.set_yticks(range(len(lines)), [write(value) for value in lines])
        axis.set(xlim=(-0.5, len(columns) - 0.5), ylim=(-0.5, len(lines) - 0.5))
        axis.set_title(facet or name_value(spec, cells))
        axis.set_ylabel(name_axis(spec["y"]))
        axis.grid(visible=False)
    axes[-1, 0].set_xlabel(name_axis(spec["x"]))
    values = describe_values(cells.assign(metric=""), ["facet", "y", "x"], sign="+" * is_signed(spec))
    bracketed = "In brackets: the arm is not competent." * bool((cells["pale"] != "").any())
    marked = MARKED.format(*name_sides(cells)) if is_signed(spec) else bracketed
    caption = f"{spec['caption']} {marked}".strip()
    return Drawing(spec["name"], spec["title"], caption, f"{name_value(spec, cells)}. {values}.", figure)


def _draw_cell(axes: Axes, cell: Any, x: int, y: int, spec: Spec, cells: pd.DataFrame) -> None:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    signed, values = is_signed(spec), cells["value"]
    bottom = -values.abs().max() if signed else values.min()
    span = (values.abs().max() if signed else values.max()) - bottom
    share = (cell.value - bottom) / span if span else signed / 2  # white where all are equal
    scale = LinearSegmentedColormap.from_list("", [BEHIND, "white", AHEAD] if signed else ["white", AHEAD])
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=scale(share), alpha=FAINT if cell.pale else 1))
    is_dark = not cell.pale and (share > 0.7 or (signed and share < 0.2))
    digits = count_digits(spec, cells)
    number = round(cell.value, digits) + 0.0  # no minus before a zero
    text = f"{number:{'+' * signed}.{digits}f}" + "*" * (signed and cell.direction in (FIRST, SECOND))
    text = f"({text})" if cell.pale else text
    axes.text(x, y, text, ha="center", va="center", fontsize=8, color="white" if is_dark else "black")


def panel_table(spec: Spec, cells: pd.DataFrame, study: Study) -> Table:
    """Return the values of a panel with their intervals: of a heat map x across, else one row per point."""
    digits = count_digits(spec, cells)
    of_facet = " ".join(map(name_axis, spec["facet"].split()))
    rows: list[tuple[Entry, ...]]
    if spec["kind"] == "heat":
        columns, keys = ordered(cells["x"]), ["facet", "y"]
        by_place = {(cell.facet, cell.y, cell.x): cell for cell in cells.itertuples(index=False)}
        across = [f"{name_axis(spec['x'])} {write(column)}" for column in columns]
        header = [of_facet, name_axis(spec["y"]), *across]
        rows = [
            (
                *map(enter_key, keys, line),
                *(
                    enter(by_place[(*line, column)], digits) if (*line, column) in by_place else DASH
                    for column in columns
                ),
            )
            for line in order_lines(cells, keys)
        ]
    else:
        is_named = not cells.duplicated(["facet", "line", "named"]).any()
        of_line = " ".join(map(name_axis, spec["line"].split()))
        of_name = "variant" if of_line == "arm" else "arm"
        header = [of_facet, of_line, of_name, name_axis(spec["x"]), name_value(spec, cells)]
        ranked = cells.sort_values(["facet", "line", "x", "named"], kind="stable")
        rows = [
            (
                Entry(cell.facet),
                Entry(cell.line),
                Entry(cell.named if is_named else cell.full_name),
                Entry(cell.x) if isinstance(cell.x, str) else Entry(write(float(f"{cell.x:.4g}")), cell.x),
                enter(cell, digits),
            )
            for cell in ranked.itertuples(index=False)
        ]
    return Table(spec["name"], spec["title"], spec["caption"], header, rows, command_for_report(study.scale))


KINDS: dict[str, Callable[[Spec, pd.DataFrame], Drawing]] = {
    "lines": draw_lines,
    "heat": draw_heat,
    "frontier": draw_frontier,
    "scatter": draw_scatter,
    "dots": draw_dots,
    "points": draw_points,
}
