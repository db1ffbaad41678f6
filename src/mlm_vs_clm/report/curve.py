"""What more training changes: scores and differences between arms along the training curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from ..evidence.curve import MATCHINGS
from ..evidence.tables import CURVE, over_seeds
from . import style
from .differences import CAPTIONS, TITLES, label
from .drawing import (
    FAINT,
    Drawing,
    describe_values,
    draw_alone,
    each_panel,
    label_lines,
    least_span,
    mark_decades,
    open_up,
    panels,
)
from .style import Study, ordered
from .tables import Table, command_for_report, enter, enter_key, order_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SHOWN = (("document", "bleu"), ("fills", "exact_match"))
THOUSAND = 1e3
PLACE = ["corpus", "scope", "metric", "budget"]


def draw_learning(learning: pd.DataFrame, study: Study) -> list[Drawing]:
    """Return one figure: each arm's score against the training tokens, measures down, corpora across."""
    pale = learning["excluded_because"].fillna("")
    rows = over_seeds(learning.assign(share=0.0, reason="", pale=pale), [*PLACE, "arm", "pale"])
    rows = rows[rows["value"].notna()].sort_values("budget", kind="stable")
    if rows.empty:
        return []
    rows = rows.assign(mark=range(len(rows)))  # by which the page finds a point and its bar
    corpora, looks = ordered(rows["corpus"]), style.looks(ordered(learning["arm"], style.ARMS))
    measures = [pair for pair in SHOWN if pair in set(zip(rows["scope"], rows["metric"], strict=True))]
    figure, axes = panels(len(measures), len(corpora), sharex=True, sharey="row")

    def draw(panel: Axes, measure: tuple[str, str], corpus: str) -> None:
        scope, metric = measure
        in_panel = rows[(rows["scope"] == scope) & (rows["metric"] == metric) & (rows["corpus"] == corpus)]
        _draw_lines(panel, in_panel, looks)
        panel.set_title(f"{corpus}, {style.name_scope(scope)}")
        panel.set_ylabel(style.label_axis(metric))
        panel.set_xlabel("training tokens (thousands, log scale)")

    for panel, measure, corpus in each_panel(axes, measures, corpora):
        draw(panel, measure, corpus)
        panel.label_outer()
    figure.set_figwidth(figure.get_figwidth() + 0.9 * len(corpora))
    marks = [(row.arm, _describe_score(row)) for row in rows.itertuples(index=False)]
    return [
        Drawing(
            name="learning",
            title="Scores against training tokens",
            caption=(
                f"{study.describe_main()}. Each point is an arm with the model that its training kept at that many tokens (of all "
                f"corpora), its bar a 95 % interval; how often it had read the corpus is in the table. Pale: the arm is not competent there."
            ),
            alt=f"Lines over training tokens. {describe_values(rows, ['corpus', 'metric', 'arm', 'budget'])}.",
            figure=figure,
            panels=draw_alone(draw, measures[:1], corpora),
            looks=looks,
            marks=marks,
        )
    ]


def _describe_score(row: Any) -> str:
    """Return a score in words."""
    value = enter(row, style.decimals_of(row.metric)).text
    measure = style.name_measure(row.scope, row.metric)
    silent = "; decides nothing: misses its floor" if row.pale else ""
    return f"{row.arm} on {row.corpus}, {row.budget:,.0f} tokens, {measure}: {value}, n {row.n:.0f}{silent}"


def _draw_lines(panel: Axes, rows: pd.DataFrame, looks: dict) -> None:
    panel.set_xscale("log")
    mark_decades(panel.xaxis, THOUSAND)
    ends = []
    for name, look in looks.items():
        line = rows[rows["arm"] == name]
        for cell in line.itertuples(index=False):
            faint = {"color": look["color"], "alpha": FAINT if cell.pale else 1}
            dot = {"marker": look["marker"], "linestyle": "none", "gid": f"point-{cell.mark}"}
            panel.plot(
                [cell.budget] * 2, [cell.low, cell.high], linewidth=0.9, gid=f"part-{cell.mark}", **faint
            )
            panel.plot(cell.budget, cell.value, **dot, **faint)
        if len(line):
            gid, alpha = f"part-{line['mark'].iloc[0]}", FAINT if (line["pale"] != "").all() else 1
            panel.plot(line["budget"], line["value"], color=look["color"], alpha=alpha, gid=gid, zorder=1.5)
            ends.append((name, float(line["value"].iloc[-1]), look["color"]))
    if len(rows):
        open_up(panel, least_span(str(rows["metric"].iloc[0])))
    label_lines(panel, ends)


def curve_table(comparisons: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: comparisons down, one row per corpus, measure and matching, the budgets across."""
    rows = label(comparisons, CURVE).rename(columns={"at": "matching"})
    if rows.empty:
        return []
    keys = ["corpus", "comparison", "difference", "measure", "matching"]
    budgets = sorted(rows["budget"].unique())
    differences = {(*(row[key] for key in keys), row["budget"]): row for _, row in rows.iterrows()}
    metrics = dict(zip(rows["measure"], rows["metric"], strict=True))
    return [
        Table(
            name="curve",
            title=TITLES[CURVE],
            caption=f"{study.describe_main()}. {CAPTIONS[CURVE]}",
            header=[*keys, *(f"{budget:,.0f} tokens" for budget in budgets)],
            rows=[
                (
                    *map(enter_key, keys, line),
                    *(
                        enter(differences.get((*line, budget)), style.decimals_of(metrics[line[3]]))
                        for budget in budgets
                    ),
                )
                for line in order_lines(rows, keys, matching=MATCHINGS)
            ],
            command=command_for_report(study.scale),
        )
    ]
