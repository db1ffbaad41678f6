"""How close the filled text is to the original: by masking ratio, by strategy and arm, and by order of filling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..analysis.tables import over_seeds
from ..fill.baselines import BOUNDS
from . import style
from .drawing import Drawing, add_legend, describe_values, draw_grid, panels
from .style import Study, ordered
from .tables import (
    DASH,
    INTERVALS,
    Entry,
    Table,
    command_for_cells,
    command_for_report,
    cross,
    describe_count,
    enter_number,
    order_lines,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

SANITY_STEPS = ("oracle above arms", "arm above floor", "floor above unfilled")
RATIO_METRICS = (
    "exact_match",
    "exact_match_content",
    "bleu",
    "rougeL",
    "bertscore",
    "bleu_gain",
    "bertscore_gain",
)
FIXED = {"overlap": {BOUNDS[1]}, "gain": set(BOUNDS)}  # arms whose value follows from the definition
CELL = ["corpus", "arm", "strategy", "ratio", "scope", "metric"]
SIDES = {
    "gain": (
        "Normalised gain",
        "(score - unfilled) / (oracle - unfilled): 0 is the text without the blanks. ",
    ),
    "variety": (
        "Variety and repetition",
        "Greedy decoding can score well on overlap and still be repetitive. ",
    ),
}
ORDER_METRICS = ("exact_match", "repetition")


def quality_tables(scores: pd.DataFrame, study: Study) -> list[Table]:
    """Return the main table of every corpus and scope: arms down, overlap metrics across, at the main cell."""
    tables = []
    for (corpus, scope), rows in study.at_main(scores).groupby(["corpus", "scope"]):
        share = f"actual share masked {rows['share'].mean():.3f}"
        about = f"{study.describe_main()} ({share}), {describe_count(rows)} documents. {INTERVALS}"
        title = f"{corpus}, {style.name_scope(scope)}: overlap with the original"
        tables.append(
            metric_table(f"quality_{corpus}_{scope}", title, about, rows, ["arm"], "overlap", study)
        )
    return tables


def side_tables(scores: pd.DataFrame, study: Study) -> list[Table]:
    """Return the tables of normalised gain and of variety at the main cell, all corpora together."""
    rows, keys = study.at_main(scores), ["corpus", "scope", "arm"]
    tables = [
        metric_table(kind, title, f"{meaning}{study.describe_main()}. {INTERVALS}", rows, keys, kind, study)
        for kind, (title, meaning) in SIDES.items()
    ]
    return [table for table in tables if table.rows]


def metric_table(
    name: str, title: str, caption: str, rows: pd.DataFrame, keys: list[str], kind: str, study: Study
) -> Table:
    """Return a table of the metrics of one kind, a dash where a metric is measured for no arm at a scope."""
    metrics = style.order_metrics(rows["metric"], kind)
    rows = rows[rows["metric"].isin(metrics)]
    measured = set(zip(rows["scope"], rows["metric"], strict=True))

    def dash_undefined(entry: Entry, line: tuple, metric: str) -> Entry:
        return entry if len(line) == 1 or (line[1], metric) in measured else DASH

    return Table(
        name=name,
        title=title,
        caption=caption,
        header=[*keys, *(style.name_metric(metric).removesuffix(", normalised gain") for metric in metrics)],
        rows=cross(rows, keys, "metric", metrics, dash_undefined),
        command=command_for_cells("score", study.scale, rows),
    )


def sanity_table(sanity: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: metrics down, how far each step of the order is apart across."""
    if sanity.empty:
        return []
    keys, steps = ["corpus", "scope", "metric"], ["above_arms", "above_floors", "above_unfilled"]
    rows = sanity.set_index(keys)
    return [
        Table(
            name="sanity",
            title="Do the metrics rank the original, competent arms, floors and unfilled text?",
            caption=(
                f"{study.describe_main()}. Steps as shares of oracle minus unfilled: from the best competent arm up to the "
                "oracle, from its floor up to the arm that clears it least (both named), from unfilled text up to the lowest "
                "floor. A metric ranks where all three are above 0."
            ),
            header=[
                "corpus",
                "scope",
                "metric",
                "ranks",
                "oracle",
                "arm",
                "floor",
                "unfilled",
                *SANITY_STEPS,
            ],
            rows=[
                (
                    Entry(line[0]),
                    Entry(style.name_scope(line[1])),
                    Entry(style.name_metric(line[2])),
                    Entry(row["outcome"], reason=row["reason"] if isinstance(row["reason"], str) else ""),
                    enter_number(row["oracle_value"], "{:.3f}"),
                    *(_enter_named(row, side) for side in ("arm", "floor")),
                    enter_number(row["unfilled_value"], "{:.3f}"),
                    *(enter_number(row[step], "{:+.3f}", DASH) for step in steps),
                )
                for line in order_lines(sanity, keys)
                for row in [rows.loc[line]]
            ],
            command=command_for_report(study.scale),
        )
    ]


def _enter_named(row: pd.Series, side: str) -> Entry:
    value = row[f"{side}_value"]
    return Entry(f"{row[side]} {value:.3f}", float(value)) if pd.notna(value) else DASH


def strategy_tables(scores: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table per scope: corpus, strategy, ratio and share down, arms across."""
    keys, tables = ["corpus", "strategy", "ratio"], []
    for scope, metric in style.main_qualities(scores):
        rows = scores[(scores["scope"] == scope) & (scores["metric"] == metric)]
        arms = ordered(rows["arm"], style.ARMS)
        shares = rows.groupby(keys)["share"].mean()
        shares = [enter_number(shares.get(line), "{:.3f}") for line in order_lines(rows, keys)]
        entries = cross(rows, keys, "arm", arms)
        tables.append(
            Table(
                name=f"strategy_{scope}",
                title=f"{style.name_metric(metric)} by strategy, {style.name_scope(scope)}",
                caption=(
                    "Ratio is what was asked for (of its class, for a class strategy); share is the actual share masked of "
                    f"all words. {describe_count(rows)} documents. {INTERVALS}"
                ),
                header=[*keys, "share", *arms],
                rows=[(*row[:3], share, *row[3:]) for row, share in zip(entries, shares, strict=True)],
                command=command_for_cells("score", study.scale, rows),
            )
        )
    return tables


def at_orders(scores: pd.DataFrame, ledger: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Return the fill scores of the method with most arms, which differ in order and pace alone; none of a single arm."""
    methods = ledger[ledger["flops"] > 0].groupby("method")["arm"].unique()
    arms = max(methods, key=len, default=())
    is_shown = scores["metric"].isin(ORDER_METRICS) & (scores["scope"] == "fills") & scores["arm"].isin(arms)
    return scores[is_shown & (scores["strategy"] == study.main[0]) & (len(arms) > 1)]


def order_table(scores: pd.DataFrame, ledger: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: measure, corpus and ratio down, arms across."""
    rows = at_orders(scores, ledger, study)
    if rows.empty:
        return []
    arms, keys = ordered(rows["arm"], style.ARMS), ["metric", "corpus", "ratio"]
    orders = dict(zip(rows["arm"], rows["order"], strict=True))
    return [
        Table(
            name="orders",
            title="Order of filling, by ratio",
            caption=(
                "Arms that differ in the order and pace of filling alone "
                f"({', '.join(f'{arm}: {orders[arm]}' for arm in arms)}). Fills only; repetition is better when lower. {INTERVALS}"
            ),
            header=["measure", *keys[1:], *arms],
            rows=cross(rows, keys, "arm", arms),
            command=command_for_cells("score", study.scale, rows),
        )
    ]


def draw_quality_by_ratio(scores: pd.DataFrame, study: Study) -> list[Drawing]:
    """Return one figure per metric: corpora across, scopes down, one line with a band per arm over the ratios.

    Arms are left out whose value is fixed by the definition of the metric.
    """
    rows = scores[(scores["strategy"] == study.main[0]) & scores["value"].notna()]
    drawings = []
    for metric in (metric for metric in RATIO_METRICS if metric in set(rows["metric"])):
        fixed = FIXED[style.kind_of(metric)]
        cells = over_seeds(rows[(rows["metric"] == metric) & ~rows["arm"].isin(fixed)], CELL)
        measures = [(scope, metric) for scope in ordered(cells["scope"], style.SCOPES)]
        values = describe_values(study.at_main(cells), ["corpus", "scope", "arm"])
        drawings.append(
            Drawing(
                name=f"quality_by_ratio_{metric}",
                title=f"{style.name_metric(metric)} against masking ratio",
                caption=(
                    "Each line is an arm on the same blanks, each band its 95 % interval over documents. "
                    f"Left out, fixed by definition: {', '.join(sorted(fixed))}. "
                    "Compare lines within a panel: at document scope, copied words raise every line at a low ratio."
                ),
                alt=f"Line charts of {style.name_metric(metric)} against ratio. At ratio {study.main[1]:g}: {values}.",
                figure=draw_over_ratios(cells, measures),
            )
        )
    return drawings


def draw_orders(scores: pd.DataFrame, ledger: pd.DataFrame, study: Study) -> list[Drawing]:
    """Return one figure: measures down, corpora across, a line with its band per arm over the ratios."""
    rows = at_orders(scores, ledger, study)
    if rows.empty:
        return []
    cells = over_seeds(rows, CELL)
    return [
        Drawing(
            name="orders",
            title="Order of filling, by ratio",
            caption="The same model, blanks and lengths; order and pace of filling alone differ. Bands are 95 % intervals.",
            alt=f"Line charts of fill scores by order. {describe_values(cells, ['metric', 'corpus', 'ratio', 'arm'])}.",
            figure=draw_over_ratios(cells, [("fills", m) for m in ordered(cells["metric"], ORDER_METRICS)]),
        )
    ]


def draw_over_ratios(cells: pd.DataFrame, measures: list[tuple[str, str]]) -> Figure:
    """Return a figure with a row of panels per measure (scope, metric): corpora across, a line per arm over the ratios."""
    looks = style.looks(ordered(cells["arm"], style.ARMS))
    figure = draw_grid(cells, measures, "masking ratio", lambda axes, panel: draw_bands(axes, panel, looks))
    add_legend(figure, looks)
    return figure


def draw_bands(axes: Axes, panel: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Draw a line with its band per arm; a single ratio shows its interval as a bar."""
    for arm, look in looks.items():
        line = panel[panel["arm"] == arm].sort_values("ratio")
        axes.plot(line["ratio"], line["value"], **look)
        if len(line) == 1:
            axes.vlines(line["ratio"], line["low"], line["high"], color=look["color"], linewidth=1)
        axes.fill_between(
            line["ratio"], line["low"], line["high"], color=look["color"], alpha=0.16, linewidth=0
        )


def draw_heat_maps(scores: pd.DataFrame, study: Study) -> list[Drawing]:
    """Return one figure per scope: strategies down, arms across, the number printed in every cell."""
    drawings = []
    for scope, metric in style.main_qualities(scores):
        rows = scores[(scores["scope"] == scope) & (scores["metric"] == metric) & (scores["arm"] != "oracle")]
        cells = over_seeds(rows, CELL)
        drawings.append(
            Drawing(
                name=f"strategy_by_arm_{scope}",
                title=f"{style.name_metric(metric)} by strategy and arm, {style.name_scope(scope)}",
                caption=(
                    "Rows are the strategy and the ratio asked for, columns are arms; the number is the score, the shade "
                    "repeats it. Cells marked × are missing; the table by strategy has the reasons and the intervals."
                ),
                alt=f"Heat map. {describe_values(cells, ['corpus', 'strategy', 'ratio', 'arm'])}.",
                figure=draw_heat_map(cells, metric),
            )
        )
    return drawings


def draw_heat_map(cells: pd.DataFrame, metric: str) -> Figure:
    """Draw the cells of one scope, a panel per corpus, on one colour scale."""
    corpora, arms = ordered(cells["corpus"]), ordered(cells["arm"], style.ARMS)
    choices = order_lines(cells, ["strategy", "ratio"])
    limits = cells["value"].min(), cells["value"].max()
    figure, axes = panels(len(corpora), 1, height=0.36 * len(choices) + 0.5, sharex=True)
    figure.set_figwidth(max(7.0, 1.15 * len(arms) + 1.8))
    for axis, corpus in zip(axes[:, 0], corpora, strict=True):
        grid = cells[cells["corpus"] == corpus].pivot(
            index=["strategy", "ratio"], columns="arm", values="value"
        )
        grid = grid.reindex(index=pd.MultiIndex.from_tuples(choices), columns=arms)
        image = draw_numbers(axis, grid, limits, style.decimals(cells["value"]))
        axis.set_title(corpus, loc="left")
    axes[-1, 0].set_xticks(range(len(arms)), arms, rotation=25, ha="right", rotation_mode="anchor")
    figure.colorbar(image, ax=axes[:, 0], shrink=0.6, label=style.label_axis(metric), pad=0.02)
    return figure


def draw_numbers(axes: Axes, grid: pd.DataFrame, limits: tuple[float, float], digits: int) -> AxesImage:
    """Draw one grid with its numbers, dark on light and light on dark; a missing cell is crossed out."""
    values = grid.to_numpy(dtype=float)
    image = axes.imshow(values, cmap="cividis", vmin=limits[0], vmax=limits[1], aspect="auto")
    shades = np.asarray(image.norm(values), dtype=float)
    for (i, j), value in np.ndenumerate(values):
        if np.isnan(value):
            axes.text(j, i, "×", ha="center", va="center", color="#555555")
            continue
        colour = "black" if shades[i, j] > 0.55 else "white"
        axes.text(j, i, f"{value:.{digits}f}", ha="center", va="center", color=colour)
    axes.set_yticks(range(len(grid)), [f"{strategy} {ratio:g}" for strategy, ratio in grid.index])
    axes.grid(False)
    axes.tick_params(length=0)
    return image
