"""The panels of a study as data: lines, heat maps and frontiers of its tables, each with its table and a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..errors import StudyError
from ..evidence.tables import COLUMNS, at_main_cell, sortable
from ..evidence.variants import join_settings, over_runs
from ..evidence.verdicts import FIRST, NOT_COMPETENT, SECOND
from . import style
from .cost import GIGA
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
from .panel_sentences import (
    FEW,
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
WIDE = 16  # a positive axis whose largest number is this many times the smallest is logarithmic
DECADES = 100  # as WIDE, of an axis with fewer numbers per decade
MOST = 18  # lines that have room for their names beside an axis; more have a legend
ACROSS = 2  # facets of lines beside each other
SHORT, LETTER = (
    16,
    0.09,
)  # of the names of a heat map's rows: letters that fit beside it, and inches for each more
MARKED = (
    "Blue: {0} is ahead, orange: {1}; *: the direction is shown, p corrected over the comparisons by that measure; pale: an arm is not competent, so that the difference "
    "decides nothing."
)
DEFAULT = "defaults"  # of settings that only some arms of a panel vary
PALE = "Pale: the arm is not competent."


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
    """Raise StudyError for a panel whose kind or table is unknown."""
    for key, choices in (("kind", KINDS), ("table", COLUMNS)):
        if spec[key] not in choices:
            raise StudyError(
                f"track.panels: {spec['name']}.{key}={spec[key]} is unknown: choose one of {', '.join(choices)}"
            )


def select_cells(spec: Spec, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the rows that a panel shows, runs averaged: columns x, y, line, facet, value, low, high, pale, named.

    `y` is the second axis of a heat map. Raises StudyError for a column that the table does not have.
    """
    if tables[spec["table"]].empty:
        return tables[spec["table"]]
    rows = join_settings(spec["table"], tables)
    if spec["table"] != "usefulness":  # of texts, whoever wrote them
        rows = mark_incompetent(rows, tables["competence"])
    for column, setting in spec["where"].items():
        values = _column(rows, spec, column)
        chosen = setting if isinstance(setting, list) else [setting]
        rows = rows[values.isin(chosen) | (values.isna() & (None in chosen))]
    rows = over_runs(spec["table"], join_competence(rows, tables))
    split = [column for column in f"{spec['facet']} {spec['line']}".split() if column in rows]
    rows = rows.sort_values(split, key=sortable, kind="stable", na_position="first") if split else rows
    value = "value" if spec["kind"] == "heat" else spec["y"]
    prefix = "" if value == "value" else f"{value}_"
    absent = pd.Series(float("nan"), index=rows.index)
    columns = {axis: _name_measures(_column(rows, spec, spec[axis]), spec[axis]) for axis in ("x", "y")}
    columns |= {"line": _words(rows, spec, "line"), "facet": _words(rows, spec, "facet")}
    columns |= {"value": _column(rows, spec, value)}
    columns |= {side: rows.get(f"{prefix}{side}", absent) for side in ("low", "high")}
    columns |= {f"x_{side}": rows.get(f"{spec['x']}_{side}", absent) for side in ("low", "high")}
    cells = pd.DataFrame(columns | {"pale": rows.get("excluded_because", absent).fillna("")})
    cells["direction"] = rows.get("direction", "")
    cells["named"] = rows.get("variant", cells["line"])
    cells["arm"] = rows.get("base", cells["line"])
    cells["full_name"] = [
        " ".join(dict.fromkeys(pair)) for pair in zip(cells["arm"], cells["named"], strict=True)
    ]
    cells["second"] = rows["second"].str.partition(" ")[0] if "second" in rows else ""
    cells["metric"] = rows.get("metric", "")
    cells["trainings"], cells["is_unsure"] = rows.get("trainings", 1), rows.get("is_unsure", False)
    cells["reason"] = cells["pale"]  # a note in the table
    if spec["kind"] == "heat" and spec["x"] == "passes":
        cells["x"] = cells["x"].map(round_passes)
    return cells.dropna(subset=["x", "y", "value"]).reset_index(drop=True)


def _column(rows: pd.DataFrame, spec: Spec, column: str) -> pd.Series:
    """Return a column; a metric that was not measured, and a setting that does not vary, have no value."""
    if column in rows:
        return rows[column] / GIGA if column == "flops" else rows[column]
    if column in style.METRICS or "." in column:
        return pd.Series(float("nan"), index=rows.index)
    columns = [name for name in rows if not name.endswith(("_low", "_high")) and name not in style.METRICS]
    raise StudyError(
        f"track.panels: {spec['name']} names {column}, which table {spec['table']} does not have: choose a metric or one "
        f"of {', '.join(columns)}"
    )


def _name_measures(values: pd.Series, column: str) -> pd.Series:
    """Return the values of an axis; those of the column of metrics by their names for people."""
    return values.map(style.name_metric) if column == "metric" else values


def _words(rows: pd.DataFrame, spec: Spec, role: str) -> pd.Series:
    """Return the line or the facet of each row in words, DEFAULT where it has none of its own, "" where no row has."""
    words = pd.Series("", index=rows.index, dtype="str")
    for column in spec[role].split():
        values = _name_measures(_column(rows, spec, column), column)
        name = name_axis(column) if pd.api.types.is_numeric_dtype(values) else ""
        words_of_column = values.map(
            lambda value, name=name: f" {name} {write(value)}" if pd.notna(value) else ""
        )
        words += words_of_column.astype("str")
    words = words.str.split().str.join(" ")
    return words.mask(words == "", DEFAULT if words.any() else "")


def mark_incompetent(rows: pd.DataFrame, competence: pd.DataFrame) -> pd.DataFrame:
    """Return rows of cells with `excluded_because`: why an arm's value says little, "" where it is competent or a floor."""
    place = ["corpus", "arm", "strategy", "ratio"]
    if "excluded_because" in rows or not set(place) <= {*rows} or competence.empty:
        return rows
    judged = competence[competence["word_class"] == "all"].set_index(place)["outcome"]
    outcome = rows[place].join(judged, on=place)["outcome"]
    return rows.assign(excluded_because=outcome.where(outcome == NOT_COMPETENT, ""))


def join_competence(rows: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return differences with `trainings` behind them, and `is_unsure`: an arm is not competent on content words.

    Both are those of the arms at the main cell; rows without two arms are returned as they are.
    """
    if not {"first", "second"} <= {*rows} or tables["competence"].empty:
        return rows
    main = tables["study"].iloc[0]
    judged = at_main_cell(tables["competence"], (main["main_strategy"], main["main_ratio"])).set_index(
        ["corpus", "arm", "word_class"]
    )
    places = zip(rows["corpus"], rows["first"], rows["second"], strict=True)
    pairs = [((corpus, first), (corpus, second)) for corpus, first, second in places]
    runs, outcome = judged["runs"].to_dict(), judged["outcome"].to_dict()
    return rows.assign(
        trainings=[min(runs.get((*side, "all"), 1) for side in pair) for pair in pairs],
        is_unsure=[any(outcome.get((*side, "content")) == NOT_COMPETENT for side in pair) for pair in pairs],
    )


def round_passes(passes: float) -> float:
    """Return a number of passes as the nearest power of two, so that trainings at about as many share a column."""
    from math import log2

    return 2.0 ** round(log2(passes)) if passes > 0 else passes


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
    across = min(ACROSS, len(facets))
    down = -(-len(facets) // across)
    figure, axes = panels(down, across, 0.45 * len(rows) + 0.9, 4.4 * across + 0.4)
    for unused in axes.flat[len(facets) :]:
        unused.set_visible(False)
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


def find_ends(cells: pd.DataFrame, best: pd.Series) -> pd.Series:
    """Return how the name of a point is aligned, "" for one without: of FEW each has one, else the ends of `best`."""
    ends = pd.Series("", index=cells.index, dtype="str")
    for _, facet in cells.groupby("facet"):
        low, high, ends_of_best = facet["x"].min(), facet["x"].max(), facet.loc[best[facet.index], "x"]
        middle = (low * high) ** 0.5 if is_wide(cells["x"]) else (low + high) / 2
        named = [ends_of_best.idxmin(), ends_of_best.idxmax()] if len(ends_of_best) else []
        for place in facet.index if len(facet) <= FEW else named:
            ends[place] = "right" if facet["x"][place] > middle else "left"
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
    across = min(ACROSS, len(facets))
    down = -(-len(facets) // across)
    figure, axes = panels(down, across, height, 4.4 * across + 0.4, sharey=do_overlap(cells))
    for unused in axes.flat[len(facets) :]:
        unused.set_visible(False)
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


def draw_heat(spec: Spec, cells: pd.DataFrame) -> Drawing:
    """Return one figure: facets below each other, x and y as categories, values in the cells by colour and as numbers."""
    facets, columns = [*dict.fromkeys(cells["facet"])], ordered(cells["x"])
    lines_of = {facet: ordered(cells.loc[cells["facet"] == facet, "y"]) for facet in facets}
    heights = [0.42 * len(lines) + 0.8 for lines in lines_of.values()]
    longest = max(len(write(line)) for lines in lines_of.values() for line in lines)
    width = 0.85 * len(columns) + 1.6 + LETTER * max(0, longest - SHORT)
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
    values_in_words = describe_values(
        cells.assign(metric=""), ["facet", "y", "x"], sign="+" * is_signed(spec)
    )
    marked = MARKED.format(*name_sides(cells)) if is_signed(spec) else PALE
    caption = f"{spec['caption']} {marked}".strip()
    return Drawing(
        spec["name"], spec["title"], caption, f"{name_value(spec, cells)}. {values_in_words}.", figure
    )


def _draw_cell(axes: Axes, cell: Any, x: int, y: int, spec: Spec, cells: pd.DataFrame) -> None:
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    signed, values = is_signed(spec), cells["value"]
    bottom = -values.abs().max() if signed else values.min()
    span = (values.abs().max() if signed else values.max()) - bottom or 1.0
    share = (cell.value - bottom) / span
    scale = LinearSegmentedColormap.from_list("", [BEHIND, "white", AHEAD] if signed else ["white", AHEAD])
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=scale(share), alpha=FAINT if cell.pale else 1))
    is_dark = not cell.pale and (share > 0.7 or (signed and share < 0.2))
    text = f"{cell.value:{'+' * signed}.{count_digits(spec, cells)}f}" + "*" * (
        signed and cell.direction in (FIRST, SECOND)
    )
    axes.text(x, y, text, ha="center", va="center", fontsize=8, color="white" if is_dark else "black")


def panel_table(spec: Spec, cells: pd.DataFrame, study: Study) -> Table:
    """Return the values of a panel with their intervals: of a heat map x across, else one row per point."""
    digits = count_digits(spec, cells)
    rows: list[tuple[Entry, ...]]
    if spec["kind"] == "heat":
        columns, keys = ordered(cells["x"]), ["facet", "y"]
        by_place = {(cell.facet, cell.y, cell.x): cell for cell in cells.itertuples(index=False)}
        header = [
            "",
            name_axis(spec["y"]),
            *(f"{name_axis(spec['x'])} {write(column)}" for column in columns),
        ]
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
        header = [
            "",
            " ".join(map(name_axis, spec["line"].split())),
            "arm",
            name_axis(spec["x"]),
            name_value(spec, cells),
        ]
        rows = [
            (
                Entry(cell.facet),
                Entry(cell.line),
                Entry(cell.named),
                Entry(cell.x) if isinstance(cell.x, str) else Entry(write(float(f"{cell.x:.4g}")), cell.x),
                enter(cell, digits),
            )
            for cell in cells.sort_values(["facet", "line", "x", "named"], kind="stable").itertuples(
                index=False
            )
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
