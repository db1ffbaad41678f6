"""Quality against usefulness, a point per writer, and what texts are worth as training data: panels, table and sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..arms.baselines import BASELINES, base_of
from ..arms.roles import CAUSAL, CONTROL, MASKED, find_role, is_network
from ..arms.roles import TABLE as OF_TABLE
from ..evidence.usefulness import BROKEN, FEWEST_WRITERS, FLOOR, NETWORK, REFERENCE, find_kind
from ..evidence.usefulness import TABLE as WORD_TABLE
from . import style
from .drawing import (
    Drawing,
    add_legend,
    describe_values,
    interval_arms,
    open_up,
    panels,
    style_context,
)
from .lead_words import span
from .panel_sentences import Spec
from .point_labels import label_points
from .style import Study, ordered
from .tables import Entry, Table, command_for_report, enter_number
from .wording import join_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOOKS = {
    "masked model": {"color": style.COLOURS[MASKED], "marker": "o", "linestyle": "none"},
    "causal model": {"color": style.COLOURS[CAUSAL], "marker": "^", "linestyle": "none"},
    "word table": {"color": style.COLOURS[OF_TABLE], "marker": "s", "linestyle": "none"},
    "reads no context": {"color": style.COLOURS[CONTROL], "marker": "x", "linestyle": "none"},
}
SAYS_NOTHING = ("neutral", "frequent", "constant")
GROUPS = {
    "words that say nothing": SAYS_NOTHING,
    "drawn words": tuple(arm for arm in BASELINES if find_kind(arm) == FLOOR and arm not in SAYS_NOTHING),
}
DEFAULT_POLICY = "projected"


def draw_scatter(spec: Spec, cells: pd.DataFrame) -> Drawing:
    """Return one figure: a panel per facet, usefulness over quality with 95 % intervals, the name of each writer at its point."""
    cells = cells[cells["line"] != REFERENCE]
    cells = cells.assign(look=[_find_look(cell) for cell in cells.itertuples()])
    facets, metric = [*dict.fromkeys(cells["facet"])], str(cells["metric"].iloc[0])
    height, width = 4.9, 8.2
    figure, axes = panels(len(facets), 1, height, width)
    for axis, facet in zip(axes[:, 0], facets, strict=True):
        in_facet = cells[cells["facet"] == facet].reset_index(drop=True)
        for name, look in LOOKS.items():
            points = in_facet[in_facet["look"] == name]
            axis.plot(points["x"], points["value"], markersize=4.5, **look)
            arms = {"yerr": interval_arms(points, "value"), "xerr": interval_arms(points, "x")}
            thin = {"fmt": "none", "ecolor": look["color"], "elinewidth": 0.6, "alpha": 0.3}
            axis.errorbar(points["x"], points["value"], **arms, **thin)
        axis.margins(x=0.09, y=0.06)
        open_up(axis, 0.05)
        label_points(axis, in_facet, (width - 0.9, height - 0.6))
        axis.set_title(facet)
        axis.set_xlabel(style.label_axis(metric))
        axis.set_ylabel("usefulness: score of the task model")
    add_legend(figure, {name: look for name, look in LOOKS.items() if name in {*cells["look"]}})
    values = describe_values(cells.assign(metric=""), ["facet", "full_name"])
    return Drawing(spec["name"], spec["title"], spec["caption"], f"Usefulness by writer. {values}.", figure)


def draw_writers(usefulness: pd.DataFrame) -> list[Drawing]:
    """Return the figure of exact match against usefulness, a panel per masking with many writers; none without rows."""
    rows = usefulness[usefulness["metric"] == "exact_match"]
    rows = rows[(rows["kind"] != REFERENCE) & ~rows["arm"].str.contains("label_policy=")]
    places = rows.groupby(["corpus", "strategy", "ratio"])["arm"].transform("size")
    rows = rows[places >= FEWEST_WRITERS]
    if rows.empty:
        return []
    names = {f"quality{end}": f"x{end}" for end in ("", "_low", "_high")}
    cells = rows.rename(columns=names | {"kind": "line", "arm": "full_name"})
    cells = cells.assign(arm=rows["arm"].map(base_of), facet=rows["corpus"] + " " + rows["strategy"])
    about = {
        "name": "writers",
        "title": "Exact match of the fills against usefulness as training data",
        "caption": "A point per writer. Bars are 95 % intervals over documents and over test units.",
    }
    with style_context():
        return [draw_scatter(about, cells)]


def _find_look(cell: Any) -> str:
    """Return the key in LOOKS of a writer."""
    if cell.line == NETWORK:
        return f"{find_role(cell.arm).family} model"
    return "reads no context" if cell.line == FLOOR else WORD_TABLE


def draw_dots(spec: Spec, cells: pd.DataFrame) -> Drawing:
    """Return one figure: a panel per facet, a row per arm from the highest, the lines (label policies) below one another."""
    cells = cells.assign(line=cells["line"].replace({"defaults": DEFAULT_POLICY, "": DEFAULT_POLICY}))
    facets, lines = [*dict.fromkeys(cells["facet"])], ordered(cells["line"], [DEFAULT_POLICY])
    looks = style.series_looks(lines)
    arms_of = {facet: _rank(cells[cells["facet"] == facet]) for facet in facets}
    heights = [0.27 * len(arms) + 0.7 for arms in arms_of.values()]
    figure, axes = panels(len(facets), 1, sum(heights) / len(facets), 7.2, height_ratios=heights)
    for axis, (facet, arms) in zip(axes[:, 0], arms_of.items(), strict=True):
        by_line = {(cell.arm, cell.line): cell for cell in cells[cells["facet"] == facet].itertuples()}
        _draw_intervals(
            axis, arms, [(looks[line], [by_line.get((arm, line)) for arm in arms]) for line in lines]
        )
        axis.set_title(facet)
    axes[-1, 0].set_xlabel("share of headroom (0: text without its blanks, 1: real text)")
    if len(lines) > 1:
        add_legend(figure, {f"labels {line}": looks[line] for line in lines})
    values_in_words = describe_values(cells.assign(metric=""), ["facet", "arm", "line"])
    return Drawing(
        spec["name"], spec["title"], spec["caption"], f"Share of headroom. {values_in_words}.", figure
    )


def _draw_intervals(axes: Axes, labels: Sequence[str], series: Sequence[tuple[dict, Sequence]]) -> None:
    """Draw points with 95 % intervals, one row per label from top to bottom, the series of a label below one another.

    A series is its look and, for every label, a row with value, low and high, or None.
    """
    from matplotlib.ticker import MaxNLocator

    axes.axvline(0, color="black", linewidth=1, zorder=1)
    for place in range(len(labels)):
        for number, (look, cells) in enumerate(series):
            if (cell := cells[place]) is not None:
                height = place + 0.5 * ((number + 0.5) / len(series) - 0.5)
                axes.plot([cell.low, cell.high], [height, height], linestyle="-", color=look["color"])
                axes.plot(cell.value, height, marker=look["marker"], color=look["color"])
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.xaxis.set_major_locator(MaxNLocator(5))


def _rank(cells: pd.DataFrame) -> list[str]:
    """Return the arms of a panel from the highest, by labels as projected."""
    first = cells.sort_values("line", key=lambda line: line != DEFAULT_POLICY, kind="stable").drop_duplicates(
        "arm"
    )
    return list(first.sort_values("value", ascending=False, kind="stable")["arm"])


def describe_groups(spec: Spec, cells: pd.DataFrame) -> str:
    """Return how much of the headroom words that say nothing, drawn words and networks reach, facet by facet and line by line."""
    sentences = []
    for (facet, line), group in cells.groupby(["facet", "line"], sort=False):
        groups = [(name, group[group["arm"].isin(arms)]) for name, arms in GROUPS.items()]
        groups.append(("language models", group[group["arm"].map(is_network).astype(bool)]))
        clauses = [f"{name} {span(of_arms['value'], 2)}" for name, of_arms in groups if len(of_arms)]
        where = " ".join(filter(None, [facet, "" if line in ("", "defaults") else f"with labels {line}"]))
        sentences.append(f"{where}: {', '.join(clauses)}")
    return f"Share of headroom: {'; '.join(sentences)}."


def describe_writers(spec: Spec, writers: pd.DataFrame) -> str:
    """Return the rank correlation by the measure of a panel at each masking, with its interval and what it decides, and the threshold.

    Nothing is told of a panel of several measures.
    """
    rows = writers
    for key in {"scope", "metric"} & {*spec["where"]}:
        chosen = spec["where"][key]
        rows = rows[rows[key].isin(chosen if isinstance(chosen, list) else [chosen])]
    if len(rows[["scope", "metric"]].drop_duplicates()) != 1:
        return ""
    clauses = []
    for (corpus, strategy, ratio), of_masking in rows.groupby(["corpus", "strategy", "ratio"], sort=True):
        by = of_masking.set_index("statistic")
        clauses.append(
            f"{corpus}, {strategy.replace('_', ' ')} {ratio:g}: {describe_correlation(by)}; {describe_threshold(by)}"
        )
    return f"Rank correlation of usefulness with {style.name_metric(rows['metric'].iloc[0])}: {'. '.join(clauses)}."


def describe_correlation(by: pd.DataFrame) -> str:
    """Return "0.31 [-0.05, 0.60] over 33 writers (inconclusive)" from rows of `writers` by statistic."""
    row = by.loc["spearman"]
    if pd.isna(row["value"]):
        return f"not defined ({row['reason']})"
    return f"{row['value']:.2f} [{row['low']:.2f}, {row['high']:.2f}] over {row['n_writers']:.0f} writers ({row['decision']})"


def describe_threshold(by: pd.DataFrame) -> str:
    """Return where a line with one break bends, or that none is shown, with the p of the test."""
    p = by.loc["threshold_p"]
    if pd.isna(p["value"]):
        return "no threshold could be looked for"
    end = f"p {p['value']:.2g}"
    if p["decision"] != BROKEN:
        return f"no threshold shown ({end})"
    below, above = (by.loc[name, "value"] for name in ("slope_below", "slope_above"))
    return f"a threshold at {by.loc['threshold', 'value']:.3g} ({end}; slope {below:.2g} below, {above:.2g} above)"


def writer_tables(writers: pd.DataFrame, study: Study) -> list[Table]:
    """Return the rank correlations over writers, one row per masking and measure; none without rows."""
    if writers.empty:
        return []
    rows = []
    keys = ["corpus", "strategy", "ratio", "scope", "metric"]
    for (corpus, strategy, ratio, scope, metric), of_masking in writers.groupby(keys, sort=True):
        by = of_masking.set_index("statistic")
        row, spline = by.loc["spearman"], by.loc["spline_p"]
        rows.append(
            (
                Entry(f"{corpus}, {strategy} {ratio:g}"),
                Entry(style.name_measure(scope, metric)),
                Entry(describe_correlation(by), row["value"] if pd.notna(row["value"]) else None),
                enter_number(by.loc["reliability", "value"], "{:.2f}"),
                enter_number(by.loc["room", "value"], "{:.1f}"),
                enter_number(spline["value"], "{:.3f}"),
                Entry(describe_threshold(by)),
            )
        )
    return [
        Table(
            name="writers",
            title="Does better text make better training data? Over writers at one masking",
            caption=(
                "Spearman with its 95 % interval, over writers and over the documents and test units that they share. Reliability: the share of the "
                "variance of usefulness between writers that is no noise of test units and task seeds. Room: headroom in detectable differences. "
                "Spline: p of a curve against the line. Threshold: sup-F of one break, p by permutation. p is Holm-corrected over the rows."
            ),
            header=(
                *("masking", "quality", "Spearman with usefulness", "reliability"),
                *("room", "spline, p", "threshold"),
            ),
            rows=rows,
            command=command_for_report(study.scale),
        )
    ]


def answer_usefulness(tables: Mapping[str, pd.DataFrame]) -> str:
    """Return how quality and usefulness are related per task by the first measure, and what else trains as well; "" without writers."""
    rows = tables["writers"]
    rows = rows[rows["metric"] == "exact_match"]
    clauses = []
    for (task, corpus), of_task in rows.groupby(["task", "corpus"], sort=True):
        maskings = of_task.groupby(["strategy", "ratio"], sort=True)
        for (strategy, ratio), of_masking in maskings:
            where = f"; {strategy.replace('_', ' ')} {ratio:g}" * (len(maskings) > 1)
            correlation = describe_correlation(of_masking.set_index("statistic"))
            clauses.append(
                f"on {corpus} ({task}{where}) the rank correlation with exact match is {correlation}"
            )
    return f"Over writers at one masking, {join_names(clauses)}." if clauses else ""
