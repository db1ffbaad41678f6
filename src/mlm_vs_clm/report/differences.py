"""What explains the gap: the table of its steps and the figure of their differences."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ..analysis.cells import CELL, STEPS
from ..analysis.gap import MEASURES
from ..analysis.tables import explain_missing
from . import commands, style
from .drawing import Drawing, arm_lengths, panels
from .style import ordered
from .tables import Entry, Table, enter, tell_count

SCALES = {"exact_match": ("share", 3), "bleu": ("0–100", 1), "bertscore": ("0–1", 3)}  # unit, decimals
COLOUR = "#0072B2"
ABOUT = (
    f"Random blanks at ratio {CELL[1]:g}. Differences are first arm minus second, paired over documents (over authors "
    "where they repeat), with 95 % bootstrap intervals, which cover the seeds, too, where there are several; above 0 the masked arm is ahead."
)
CHAIN = "; ".join(f"{step.name}: {step.first} - {step.second}" for step in STEPS)


def gap_table(gap: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table: corpus and step down, the difference by each measure across."""
    if gap.empty:
        return []
    gap = gap.assign(reason=explain_missing(gap))
    found = {(row.corpus, row.step, row.scope, row.metric): row for row in gap.itertuples(index=False)}
    rows = [
        (
            *map(Entry, (corpus, step.name, f"{step.first} - {step.second}")),
            *(
                enter_difference(found.get((corpus, step.name, *measure)), SCALES[measure[1]][1])
                for measure in MEASURES
            ),
            enter_count(gap[(gap["corpus"] == corpus) & (gap["step"] == step.name)]),
        )
        for corpus in ordered(gap["corpus"], style.CORPORA)
        for step in STEPS
    ]
    return [
        Table(
            name="gap",
            title="What explains the gap",
            caption=f"{ABOUT} Each step takes one more advantage away; p-values, not corrected, stand in gap.csv.",
            header=("corpus", "step", "difference", *(name_measure(*measure) for measure in MEASURES), "n"),
            rows=tuple(rows),
            command=tell_command(gap, scale),
        )
    ]


def utility_gap_table(gap: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table: corpus down with its task, the steps across, the difference as training data in each."""
    if gap.empty:
        return []
    gap = gap.assign(reason=explain_missing(gap))
    found = {(row.corpus, row.step): row for row in gap.itertuples(index=False)}
    names = {row.corpus: (row.task, row.metric) for row in gap.itertuples(index=False)}
    return [
        Table(
            name="utility_gap",
            title="The same steps, as training data",
            caption=(
                f"Random blanks at ratio {CELL[1]:g}. A task model is trained on the text of either arm; differences are first "
                "minus second on the same real test units, means over task seeds, with 95 % bootstrap intervals over units "
                f"(over authors where they repeat) and over task seeds. {CHAIN}."
            ),
            header=("corpus", "task", "measure", *(step.name for step in STEPS)),
            rows=tuple(
                (
                    *map(Entry, (corpus, names[corpus][0], style.name_metric(names[corpus][1]))),
                    *(enter_difference(found.get((corpus, step.name)), 3) for step in STEPS),
                )
                for corpus in ordered(gap["corpus"], style.CORPORA)
            ),
            command=tell_command(gap, scale, "downstream"),
        )
    ]


def enter_difference(row, digits: int) -> Entry:
    """Return a difference with its sign and its interval."""
    entry = enter(row, digits)
    return Entry(f"+{entry.text}", entry.number) if (entry.number or 0) > 0 else entry


def enter_count(rows: pd.DataFrame) -> Entry:
    """Return how many documents or authors a step was paired over, as a range where measures differ."""
    return Entry(tell_count(rows)) if rows["n"].notna().any() else Entry("–")


def name_measure(scope: str, metric: str) -> str:
    """Return a measure for people: the metric, and where it is taken."""
    return f"{style.name_metric(metric)}, {style.SCOPES.get(scope, scope)}"


def tell_command(gap: pd.DataFrame, scale: str, stage: str = "score") -> str:
    """Return the line that makes what stands behind the steps that were measured."""
    made = gap[gap["value"].notna()]
    arms = pd.concat([made[["corpus", side]].rename(columns={side: "arm"}) for side in ("first", "second")])
    return commands.for_cells(stage, scale, arms.assign(strategy=CELL[0], ratio=CELL[1]))


def draw_gap(gap: pd.DataFrame) -> list[Drawing]:
    """Return one figure: measures down, corpora across, a point and its interval a step."""
    if gap["value"].isna().all():
        return []
    corpora = ordered(gap["corpus"], style.CORPORA)
    figure, axes = panels(len(MEASURES), len(corpora), sharex="row", sharey=True, height=2.2)
    figure.set_figwidth(figure.get_figwidth() + 1.6)
    for i, (scope, metric) in enumerate(MEASURES):
        rows = gap[(gap["scope"] == scope) & (gap["metric"] == metric)]
        for axis, corpus in zip(axes[i], corpora, strict=True):
            draw_steps(axis, rows[rows["corpus"] == corpus].set_index("step"))
            axis.set_title(f"{corpus}, {style.SCOPES.get(scope, scope)}")
            axis.set_xlabel(f"difference in {style.name_metric(metric)}\n({SCALES[metric][0]})")
            axis.xaxis.set_major_locator(MaxNLocator(5))
    figure.legend(handles=LEGEND, loc="outside upper center", ncols=len(LEGEND))
    return [
        Drawing(
            name="gap",
            title="What explains the gap",
            caption=f"{ABOUT} Steps from top to bottom: {CHAIN}.",
            alt=f"Points with intervals. {tell_steps(gap)}.",
            figure=figure,
        )
    ]


LEGEND = [
    Line2D([], [], color=COLOUR, marker="o", linestyle="-", label="the interval leaves 0 out"),
    Line2D([], [], color=COLOUR, marker="o", linestyle="-", markerfacecolor="white", label="it holds 0"),
]


def draw_steps(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the steps of one panel from top to bottom, filled where the interval leaves zero out."""
    axes.axvline(0, color="black", linewidth=1, zorder=1)
    for place, step in enumerate(STEPS):
        row = rows.loc[[step.name]] if step.name in rows.index else rows.iloc[:0]
        if row["value"].isna().all():
            axes.text(
                0.5,
                place,
                "missing",
                transform=axes.get_yaxis_transform(),
                ha="center",
                va="center",
                style="italic",
            )
            continue
        is_clear = float(row["low"].iloc[0]) > 0 or float(row["high"].iloc[0]) < 0
        axes.errorbar(
            row["value"],
            [place],
            xerr=arm_lengths(row, "value"),
            color=COLOUR,
            marker="o",
            markerfacecolor=COLOUR if is_clear else "white",
            capsize=2.5,
        )
    axes.set_yticks(range(len(STEPS)), [step.name for step in STEPS])
    axes.set_ylim(len(STEPS) - 0.5, -0.5)


def tell_steps(gap: pd.DataFrame) -> str:
    """Return every difference in words, for the alternative text."""
    told = []
    for row in gap.itertuples(index=False):
        value = "missing" if np.isnan(row.value) else f"{row.value:+.{SCALES[row.metric][1]}f}"
        told.append(f"{row.corpus} {row.step} {style.name_metric(row.metric)} {value}")
    return ", ".join(told)
