"""How good the written text is: against the ratio, and by strategy and arm."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..analysis.tables import at_main_cell, main_ratio, over_seeds
from . import style
from .drawing import Drawing, add_legend, panels, say_missing, tell_values
from .style import ordered

RATIO_METRICS = ("exact_match", "bleu", "rougeL", "bertscore", "bleu_gain", "bertscore_gain")
LEFT_OUT = {"overlap": {"oracle"}, "gain": {"oracle", "unfilled"}}
CELL = ["corpus", "arm", "strategy", "ratio", "scope", "metric"]


def draw_quality_by_ratio(scores: pd.DataFrame) -> list[Drawing]:
    """Return one figure a metric: corpora across, scopes down, one banded line an arm over the random ratios."""
    rows = scores[(scores["strategy"] == "random") & scores["value"].notna()]
    return [
        draw_metric_by_ratio(over_seeds(rows[rows["metric"] == metric], CELL), metric)
        for metric in ordered(rows["metric"], RATIO_METRICS)
        if metric in RATIO_METRICS
    ]


def draw_metric_by_ratio(cells: pd.DataFrame, metric: str) -> Drawing:
    """Draw one metric against the ratio, without the arms whose value is fixed by the metric's definition."""
    left_out = LEFT_OUT[style.kind_of(metric)]
    cells = cells[~cells["arm"].isin(left_out)]
    corpora, scopes = ordered(cells["corpus"], style.CORPORA), ordered(cells["scope"], style.SCOPES)
    looks = style.looks(ordered(cells["arm"], style.ARMS))
    figure, axes = panels(len(scopes), len(corpora), sharex=True, sharey="row")
    for i, scope in enumerate(scopes):
        for j, corpus in enumerate(corpora):
            panel = cells[(cells["scope"] == scope) & (cells["corpus"] == corpus)]
            draw_bands(axes[i, j], panel, looks)
            axes[i, j].set_title(f"{corpus}, {style.SCOPES.get(scope, scope)}")
        axes[i, 0].set_ylabel(style.label_axis(metric, cells.loc[cells["scope"] == scope, "value"]))
    for j in range(len(corpora)):
        axes[-1, j].set_xlabel("ratio of words hidden at random")
    add_legend(figure, looks)
    ratio = main_ratio(cells)
    told = tell_values(at_main_cell(cells), ["corpus", "scope", "arm"])
    return Drawing(
        name=f"quality_by_ratio_{metric}",
        title=f"{style.name_metric(metric)} against ratio",
        caption=(
            "Each line is an arm on the same blanks, each band its 95 % interval over documents. "
            f"Left out, fixed by definition: {', '.join(sorted(left_out))}. "
            "Compare lines within a panel: at document scope, copied words raise every line at a low ratio."
        ),
        alt=f"Line charts of {style.name_metric(metric)} against ratio. At ratio {ratio:g}: {told}.",
        figure=figure,
    )


def draw_bands(axes: Axes, panel: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Draw a line with its band per arm; a single ratio shows its interval as a bar."""
    if panel.empty:
        say_missing(axes)
    for arm, look in looks.items():
        line = panel[panel["arm"] == arm].sort_values("ratio")
        axes.plot(line["ratio"], line["value"], **look)
        if len(line) == 1:
            axes.vlines(line["ratio"], line["low"], line["high"], color=look["color"], linewidth=1)
        axes.fill_between(
            line["ratio"], line["low"], line["high"], color=look["color"], alpha=0.16, linewidth=0
        )


def draw_heat_maps(scores: pd.DataFrame) -> list[Drawing]:
    """Return one figure a scope: strategies down, arms across, the number printed in every cell."""
    drawings = []
    for scope, metric in style.main_qualities(scores.dropna(subset="value")):
        rows = scores[(scores["scope"] == scope) & (scores["metric"] == metric) & (scores["arm"] != "oracle")]
        drawings.append(draw_heat_map(over_seeds(rows, CELL), scope, metric))
    return drawings


def draw_heat_map(cells: pd.DataFrame, scope: str, metric: str) -> Drawing:
    """Draw the cells of one scope, a panel a corpus, on one colour scale."""
    corpora, arms = ordered(cells["corpus"], style.CORPORA), ordered(cells["arm"], style.ARMS)
    choices = order_choices(cells)
    limits = cells["value"].min(), cells["value"].max()
    height = 0.36 * len(choices) + 0.5
    figure, axes = panels(len(corpora), 1, height=height, sharex=True)
    figure.set_figwidth(max(7.0, 1.15 * len(arms) + 1.8))
    for axis, corpus in zip(axes[:, 0], corpora, strict=True):
        grid = cells[cells["corpus"] == corpus].pivot(
            index=["strategy", "ratio"], columns="arm", values="value"
        )
        grid = grid.reindex(index=pd.MultiIndex.from_tuples(choices), columns=arms)
        image = draw_grid(axis, grid, limits, style.decimals(cells["value"]))
        axis.set_title(corpus, loc="left")
    axes[-1, 0].set_xticks(range(len(arms)), arms, rotation=25, ha="right", rotation_mode="anchor")
    figure.colorbar(
        image, ax=axes[:, 0], shrink=0.6, label=style.label_axis(metric, cells["value"]), pad=0.02
    )
    return Drawing(
        name=f"strategy_by_arm_{scope}",
        title=f"{style.name_metric(metric)} by strategy and arm, {style.SCOPES.get(scope, scope)}",
        caption=(
            "Rows are the strategy and the ratio asked for, columns are arms; the number is the score, the shade "
            "repeats it. Crossed cells are missing; the reason stands in the table by strategy, with the intervals."
        ),
        alt=f"Heat map. {tell_values(cells, ['corpus', 'strategy', 'ratio', 'arm'])}.",
        figure=figure,
    )


def order_choices(cells: pd.DataFrame) -> list[tuple[str, float]]:
    """Return the (strategy, ratio) pairs present, strategies in reading order and ratios rising."""
    pairs = set(zip(cells["strategy"], cells["ratio"], strict=True))
    strategies = ordered((strategy for strategy, _ in pairs), style.STRATEGIES)
    return sorted(pairs, key=lambda pair: (strategies.index(pair[0]), pair[1]))


def draw_grid(axes: Axes, grid: pd.DataFrame, limits: tuple[float, float], digits: int):
    """Draw one grid with its numbers, dark on light and light on dark; a missing cell is crossed out."""
    values = grid.to_numpy(dtype=float)
    image = axes.imshow(values, cmap="cividis", vmin=limits[0], vmax=limits[1], aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        if np.isnan(value):
            axes.text(j, i, "×", ha="center", va="center", color="#555555")
            continue
        light = image.norm(value) > 0.55
        axes.text(j, i, f"{value:.{digits}f}", ha="center", va="center", color="black" if light else "white")
    axes.set_yticks(range(len(grid)), [f"{strategy} {ratio:g}" for strategy, ratio in grid.index])
    axes.grid(False)
    axes.tick_params(length=0)
    return image
