"""Quality against utility as pictures: the cells with what was fitted to them, and every coefficient with its bound."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..analysis.correlation import OVERALL, fit_curve, fit_line, pair_cells, reason_not_fitted
from ..analysis.pooling import average_seeds
from ..analysis.tables import find_utility
from . import style
from .correlation_reading import Rows, decision_of, name_quality
from .drawing import Drawing, add_legend, panels, say_missing
from .style import ordered

LOOKS = {  # a colour of Okabe and Ito's palette and a marker for each strategy
    "random": ("#0072B2", "o"),
    "stopwords": ("#E69F00", "s"),
    "punctuation": ("#009E73", "^"),
    "entities": ("#D55E00", "D"),
    "content_words": ("#CC79A7", "P"),
    "spans": ("#56B4E9", "v"),
}
OTHER = ("#000000", "X")
LINE = {"color": "#767676", "linestyle": "--", "linewidth": 1.3}
CURVE = {"color": "#000000", "linestyle": "-", "linewidth": 1.6}
RAW = {"color": "#0072B2", "marker": "o", "linestyle": "-"}
HELD = {"color": "#D55E00", "marker": "D", "linestyle": "--"}
LINES = {"linear fit": LINE, "spline": CURVE}


def draw_shapes(scores: pd.DataFrame, downstream: pd.DataFrame, correlation: pd.DataFrame) -> list[Drawing]:
    """Return one figure: one point per cell with line and spline; corpora across, a quality score of each scope down."""
    if scores.empty or downstream.empty:
        return []
    rows = Rows(correlation)
    qualities = style.main_qualities(scores.dropna(subset="value"))
    corpora = ordered(downstream["corpus"], style.CORPORA)
    cells = {
        (quality, corpus): pair_cells(scores, downstream, corpus, *quality).dropna(
            subset=["quality", "utility"]
        )
        for quality in qualities
        for corpus in corpora
    }
    if not sum(map(len, cells.values())):
        return []
    figure, axes = panels(len(qualities), len(corpora), sharey="col", height=3.0)
    for i, quality in enumerate(qualities):
        for j, corpus in enumerate(corpora):
            panel, utility = cells[quality, corpus], find_utility(downstream, corpus)
            draw_panel(axes[i, j], panel)
            axes[i, j].set_title(f"{corpus}, {style.SCOPES.get(quality[0], quality[0])}")
            axes[i, j].set_xlabel(style.label_axis(quality[1], panel["quality"]))
            axes[i, j].set_ylabel(f"utility: {style.name_metric(utility)}")
    strategies = ordered(pd.concat(cells.values())["strategy"], style.STRATEGIES)
    dots = {name: look_of(name) | {"linestyle": "none"} for name in strategies}
    add_legend(figure, dots, LINES)
    return [
        Drawing(
            name="correlation_shapes",
            title="Utility against quality, with a linear fit and a spline",
            caption=(
                "Each point is a cell. Higher is a better task model on real text; further right is closer to the original. "
                "Shaded areas are 95 % intervals of the spline. Where cells are few, the spline depends on few points."
            ),
            alt=f"Scatter plots of utility against quality with fitted curves. {tell_shapes(rows, corpora, qualities)}",
            figure=figure,
        )
    ]


def look_of(strategy: str) -> dict:
    """Return the colour and marker of a strategy."""
    colour, marker = LOOKS.get(strategy, OTHER)
    return {"color": colour, "marker": marker}


def draw_panel(axes: Axes, cells: pd.DataFrame) -> None:
    """Draw the cells of one corpus by strategy, and the fits that they allow."""
    if cells.empty:
        say_missing(axes)
    for strategy in ordered(cells["strategy"], style.STRATEGIES):
        part = cells[cells["strategy"] == strategy]
        axes.plot(
            part["quality"], part["utility"], linestyle="none", alpha=0.85, zorder=3, **look_of(strategy)
        )
    once = average_seeds(cells)
    draw_fits(axes, once["quality"].to_numpy(dtype=float), once["utility"].to_numpy(dtype=float))


def draw_fits(axes: Axes, quality: np.ndarray, utility: np.ndarray) -> None:
    """Draw the straight line and the spline with its band, where enough cells vary; the points set the limits."""
    if reason_not_fitted(quality, utility):
        return
    grid = np.linspace(quality.min(), quality.max(), 120)
    curve, low, high = fit_curve(quality, utility).predict(grid)
    start, slope = fit_line(quality, utility).params
    axes.plot(grid, start + slope * grid, zorder=2, **LINE)
    axes.plot(grid, curve, zorder=2, **CURVE)
    axes.fill_between(grid, low, high, color="#000000", alpha=0.1, linewidth=0, zorder=1)
    room = 0.12 * np.ptp(utility)
    axes.set_ylim(utility.min() - room, utility.max() + room)


def tell_shapes(rows: Rows, corpora: list[str], qualities: list[tuple[str, str]]) -> str:
    """Return how the spline compares with the line in each panel, for the alternative text."""
    told = []
    for quality in qualities:
        for corpus in corpora:
            p = rows.get(corpus, quality, "spline_p")
            fit = "no fit" if p is None or pd.isna(p.value) else f"the spline {p.decision}"
            told.append(f"{corpus}, {name_quality(quality)}: {fit}")
    return "; ".join(told) + "."


def draw_coefficients(correlation: pd.DataFrame) -> list[Drawing]:
    """Return one figure: every rank correlation that decides with its interval, the bound shaded; a panel a quality score."""
    rows = Rows(correlation)
    if not rows.qualities:
        return []
    lines = list_lines(rows)
    figure, axes = panels(1, len(rows.qualities), sharex=True, sharey=True, height=0.42 * len(lines) + 1.2)
    for axis, quality in zip(axes[0], rows.qualities, strict=True):
        draw_column(axis, [find(quality) for find in lines.values()])
        axis.set_title(name_quality(quality))
        axis.set_xlabel("Spearman with utility")
    axes[0, 0].set_yticks(range(len(lines)), list(lines))
    axes[0, 0].invert_yaxis()
    add_legend(figure, {"quality and utility": RAW, "the same, share hidden held fixed": HELD})
    return [
        Drawing(
            name="correlation_intervals",
            title="Rank correlation of quality and utility, and the bound",
            caption=(
                "Bars are 95 % intervals. Wholly inside the shaded bound is no strong correlation, wholly outside it a strong "
                "one; a bar that crosses its edge decides nothing. The last rows leave a corpus out of all together."
            ),
            alt=f"Interval plots. {tell_coefficients(rows)}",
            figure=figure,
        )
    ]


def list_lines(rows: Rows) -> dict:
    """Return the lines of the figure from above: a name, and how to find its two rows for a quality score."""
    lines = {corpus: lambda quality, corpus=corpus: rows.main(corpus, quality) for corpus in rows.corpora}
    if not any(corpus == OVERALL for corpus, *_ in rows.found):
        return lines
    lines["all together"] = lambda quality: rows.main(OVERALL, quality)
    for name in sorted({name for quality in rows.qualities for name in rows.left_out(OVERALL, quality)}):
        lines[f"without {name}"] = lambda quality, name=name: (
            rows.left_out(OVERALL, quality).get(name),
            None,
        )
    return lines


def draw_column(axes: Axes, pairs: list[tuple]) -> None:
    """Draw one panel: the interval of each line, and below it that with share held."""
    bounds = {row.bound for pair in pairs for row in pair if row is not None and pd.notna(row.bound)}
    for bound in bounds:
        axes.axvspan(-bound, bound, color="#000000", alpha=0.07, linewidth=0, zorder=0)
    axes.axvline(0, color="#767676", linewidth=0.8, zorder=1)
    for place, pair in enumerate(pairs):
        for row, look, shift in zip(pair, (RAW, HELD), (-0.13, 0.13), strict=True):
            if row is not None and pd.notna(row.value):
                ends = [row.low, row.high]
                axes.plot(ends, [place + shift] * 2, color=look["color"], linestyle=look["linestyle"])
                axes.plot(row.value, place + shift, color=look["color"], marker=look["marker"])
            elif shift < 0:
                axes.text(0, place, "missing", ha="center", va="center", style="italic")
    axes.set_xlim(-1.02, 1.02)
    axes.set_ylim(-0.5, len(pairs) - 0.5)
    axes.grid(axis="y", visible=False)


def tell_coefficients(rows: Rows) -> str:
    """Return the estimates and decisions of the figure in words."""
    told = []
    for corpus in [*rows.corpora, OVERALL]:
        for quality in rows.qualities:
            row = rows.main(corpus, quality)[0]
            if row is not None and pd.notna(row.value):
                told.append(f"{corpus}, {name_quality(quality)} {row.value:.2f}, {decision_of(row)}")
    return "; ".join(told) + "."
