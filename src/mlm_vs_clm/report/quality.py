"""How close the filled text is to the original: at the main cell, by masking ratio, and whether metrics can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ..arms.baselines import BOUNDS
from ..arms.roles import TABLE, is_floor, is_network
from ..evidence.paired import GAIN
from ..evidence.sanity import rank_alike
from ..evidence.tables import over_seeds
from ..metrics import METRICS, NATS, PROXIES
from . import style
from .drawing import Drawing, describe_values, draw_grid, label_lines, least_span, open_up
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
    enter,
    enter_number,
    order_lines,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SANITY_STEPS = ("oracle above arms", "arm above floor", "floor above unfilled")
RATIO_METRICS = ("exact_match", "bleu")
WIDTH = 4.2  # inches of a panel with the names of its lines
CELL = ["corpus", "arm", "strategy", "ratio", "scope", "metric"]


def describe_documents(rows: pd.DataFrame) -> str:
    """Return on how many documents the scores of a table are, and on how many the likelihood."""
    of_nats = rows["metric"] == NATS
    nats = rows[of_nats & rows["value"].notna()]
    counted = rows[~of_nats & rows["metric"].isin(METRICS)]
    words = f"{describe_count(counted if len(counted) else rows)} documents"
    return f"{words}, nats per character on {describe_count(nats)}" if len(nats) else words


def quality_tables(scores: pd.DataFrame, study: Study) -> list[Table]:
    """Return the main table of every corpus and scope: arms down, metrics across, at the main cell."""
    tables = []
    for (corpus, scope), rows in study.at_main(scores).groupby(["corpus", "scope"]):
        measured = (name for name in rows["metric"] if name not in PROXIES and not name.endswith(GAIN))
        metrics = ordered(measured, style.METRICS)
        share = f"actual share masked {rows['share'].mean():.3f}"
        tables.append(
            Table(
                name=f"quality_{corpus}_{scope}",
                title=f"{corpus}, {style.name_scope(scope)}: overlap with the original, variety and repetition",
                caption=f"{study.describe_main()} ({share}), {describe_documents(rows)}. {INTERVALS}",
                header=["arm", *map(style.name_metric, metrics)],
                rows=cross(rows, ["arm"], "metric", metrics),
                command=command_for_cells("score", study.scale, rows),
            )
        )
    return tables


def proxy_tables(scores: pd.DataFrame, study: Study) -> list[Table]:
    """Return two tables: the proxies of coherence and grammar of every arm, and whether two of them rank arms alike."""
    rows = study.at_main(scores)
    rows = rows[rows["metric"].isin(PROXIES)]
    if rows.empty:
        return []
    agreement, run = rank_alike(scores, study.main), [name for name in PROXIES if name in set(rows["metric"])]
    absent = [name for name in PROXIES if name not in run]
    values = Table(
        name="proxies",
        title="Proxies of coherence and grammar (not C7)",
        caption=(
            f"{study.describe_main()}; lower is better. No reader judged a text here. {INTERVALS}"
            + f" Not run, as scoring.metrics does not name them: {', '.join(absent)}." * bool(absent)
        ),
        header=["corpus", "arm", *map(style.name_metric, run)],
        rows=cross(rows, ["corpus", "arm"], "metric", run),
        command=command_for_report(study.scale),
    )
    alike = Table(
        name="proxies_agreement",
        title="Do the proxies rank the arms alike?",
        caption="Spearman's correlation over arms, seeds averaged [95 % bootstrap over arms]; 1: the same order.",
        header=["corpus", "first", "second", "correlation", "arms"],
        rows=[
            (
                *map(Entry, (row.corpus, style.name_metric(row.first), style.name_metric(row.second))),
                enter(row, 2),
                enter_number(row.n),
            )
            for row in agreement.itertuples()
        ],
        command=command_for_report(study.scale),
    )
    return [values, alike] if len(run) > 1 else [values]


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
                f"{study.describe_main()}. Three steps, as shares of oracle minus unfilled: best competent arm to oracle; floor to "
                "the arm that clears it least; unfilled text to lowest floor. Reversed where less is better. On the draws that all arms "
                "have. A metric ranks where all three are above 0."
            ),
            header=[*keys, "ranks", "oracle", "arm", "floor", "unfilled", *SANITY_STEPS],
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


def draw_quality_by_ratio(scores: pd.DataFrame, study: Study) -> list[Drawing]:
    """Return one figure per metric: corpora across, a line with its band per network over the ratios, word tables as a band.

    A study of one ratio has none.
    """
    rows = scores[(scores["strategy"] == study.main[0]) & scores["value"].notna()]
    rows = rows[rows["metric"].isin(RATIO_METRICS) & (rows["arm"] != BOUNDS[1])]
    if rows["ratio"].nunique() < 2:
        return []
    drawings = []
    for metric in (metric for metric in RATIO_METRICS if metric in set(rows["metric"])):
        cells = over_seeds(rows[rows["metric"] == metric], CELL)
        measures = [(scope, metric) for scope in ordered(cells["scope"], style.SCOPES)]
        values = describe_values(study.at_main(cells), ["corpus", "scope", "arm"])
        drawings.append(
            Drawing(
                name=f"quality_by_ratio_{metric}",
                title=f"{style.name_metric(metric)} against masking ratio",
                caption=(
                    "Each line is an arm on the same blanks, each bar its 95 % interval. Shaded: from the lowest to the highest "
                    "word table that sees no more than the networks do. Copied words raise BLEU at a low ratio."
                ),
                alt=f"Line charts of {style.name_metric(metric)} against ratio. At ratio {study.main[1]:g}: {values}.",
                figure=draw_over(cells, measures),
            )
        )
    return drawings


def draw_over(
    cells: pd.DataFrame, measures: list[tuple[str, str]], x: str = "ratio", label: str = "masking ratio"
) -> Figure:
    """Return a figure with a row of panels per measure (scope, metric): corpora across, a line per network over the numbers `x`.

    Where there are no networks every arm has a line.
    """
    networks = [
        arm for arm in ordered(cells["arm"], style.ARMS) if is_network(arm) and not arm.endswith("_sampled")
    ]
    looks = style.looks(networks or ordered(cells["arm"], style.ARMS))
    return draw_grid(cells, measures, label, lambda axes, panel: draw_bands(axes, panel, looks, x), WIDTH)


def draw_bands(axes: Axes, panel: pd.DataFrame, looks: dict[str, dict], x: str) -> None:
    """Draw a line with its name and thin intervals per arm, and behind them the span of the word tables."""
    floors = panel[panel["arm"].map(is_floor).astype(bool)].groupby(x)["value"].agg(["min", "max"])
    ends = []
    if len(floors) > 1:
        axes.fill_between(
            floors.index, floors["min"], floors["max"], color=style.COLOURS[TABLE], alpha=0.13, linewidth=0
        )
        ends.append(("word tables", float(floors["max"].iloc[-1]), style.COLOURS[TABLE]))
    for arm, look in looks.items():
        line = panel[panel["arm"] == arm].sort_values(x)
        if line.empty:
            continue
        axes.plot(line[x], line["value"], **look)
        axes.vlines(line[x], line["low"], line["high"], color=look["color"], linewidth=0.8, alpha=0.6)
        ends.append((arm, float(line["value"].iloc[-1]), look["color"]))
    if len(panel):
        open_up(axes, least_span(str(panel["metric"].iloc[0])))
    label_lines(axes, ends)
