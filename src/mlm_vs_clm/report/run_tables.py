"""The steps of the gap run by run: a table of every run's difference, and a figure of them."""

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from ..analysis.cells import CELL, STEPS
from ..analysis.tables import explain_missing
from . import style
from .differences import CHAIN, SCALES, enter_difference, name_measure
from .drawing import Drawing, add_legend, arm_lengths, panels, say_missing
from .style import ordered
from .tables import Entry, Table

SHOWN = ("document", "bleu")  # what is drawn, and tabled beside the difference as training data
UTILITY = "utility"
ABOUT = (
    f"Random blanks at ratio {CELL[1]:g}. Every run has another seed: other blanks and other words drawn and, where the grid "
    "retrains (track=runs), language models trained anew from another output layer on documents in another order. First arm "
    "minus second, above 0 the masked arm is ahead"
)


def run_table(runs: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table: corpus, step and measure down, the runs across, their mean and standard deviation."""
    rows = at_shown(runs)
    if rows.empty:
        return []
    seeds = sorted(rows["seed"].unique())
    return [
        Table(
            name="runs",
            title="The same steps, run by run",
            caption=(
                f"{ABOUT}. Each run's interval is over documents alone (as training data: over test units and task seeds); the "
                "standard deviation is between the runs."
            ),
            header=(
                *("corpus", "step", "measure"),
                *(f"run {seed:g}" for seed in seeds),
                *("mean", "standard deviation"),
            ),
            rows=tuple(
                (
                    *map(Entry, (corpus, step.name, tell_measure(scope, metric))),
                    *enter_runs(cell, seeds, digits_of(scope, metric)),
                )
                for corpus in ordered(rows["corpus"], style.CORPORA)
                for step in STEPS
                for (scope, metric), cell in pick(rows, corpus, step.name)
            ),
            command=f"python experiments/report.py scale={scale}",
        )
    ]


def at_shown(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the measures that are shown, each with why it is missing."""
    if runs.empty:
        return runs
    rows = runs[((runs["scope"] == SHOWN[0]) & (runs["metric"] == SHOWN[1])) | (runs["scope"] == UTILITY)]
    return rows.assign(reason=explain_missing(rows))


def pick(rows: pd.DataFrame, corpus: str, step: str):
    """Return ((scope, metric), rows of all runs) of a corpus and step, text before utility."""
    return list(rows[(rows["corpus"] == corpus) & (rows["step"] == step)].groupby(["scope", "metric"]))


def tell_measure(scope: str, metric: str) -> str:
    """Return a measure for people."""
    return (
        f"{style.name_metric(metric)}, as training data" if scope == UTILITY else name_measure(scope, metric)
    )


def digits_of(scope: str, metric: str) -> int:
    """Return how many decimals a measure is shown with."""
    return 3 if scope == UTILITY else SCALES[metric][1]


def enter_runs(cell: pd.DataFrame, seeds: list, digits: int) -> list[Entry]:
    """Return the difference of every run, their mean and their standard deviation (n - 1); the last two need all runs."""
    by_seed = {row.seed: row for row in cell.itertuples(index=False)}
    values = np.array([by_seed[seed].value if seed in by_seed else np.nan for seed in seeds], dtype=float)
    entries = [enter_difference(by_seed.get(seed), digits) for seed in seeds]
    if np.isnan(values).any():
        return [*entries, *[Entry("missing", reason="not every run has the difference")] * 2]
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    return [*entries, Entry(f"{mean:+.{digits}f}", mean), Entry(f"{spread:.{digits}f}", spread)]


def draw_runs(runs: pd.DataFrame) -> list[Drawing]:
    """Return one figure: corpora across, document BLEU above and utility below, a point and its interval a run and step."""
    rows = at_shown(runs)
    if rows["value"].isna().all():
        return []
    corpora, seeds = ordered(rows["corpus"], style.CORPORA), sorted(rows["seed"].unique())
    scopes = [scope for scope in (SHOWN[0], UTILITY) if (rows["scope"] == scope).any()]
    figure, axes = panels(len(scopes), len(corpora), sharey=True, height=2.6)
    figure.set_figwidth(figure.get_figwidth() + 1.6)
    looks = style.looks([f"run {seed:g}" for seed in seeds])
    for i, scope in enumerate(scopes):
        for axis, corpus in zip(axes[i], corpora, strict=True):
            panel = rows[(rows["scope"] == scope) & (rows["corpus"] == corpus)]
            draw_panel(axis, panel, seeds, list(looks.values()))
            metric = panel["metric"].iloc[0] if len(panel) else SHOWN[1]
            axis.set_title(corpus)
            axis.set_xlabel(f"difference in {tell_measure(scope, metric)}")
            axis.xaxis.set_major_locator(MaxNLocator(5))
    add_legend(figure, looks)
    return [
        Drawing(
            name="runs",
            title="The same steps, run by run",
            caption=f"{ABOUT}. Steps from top to bottom: {CHAIN}. Intervals are within a run.",
            alt=f"Points with intervals. {tell_runs(rows)}.",
            figure=figure,
        )
    ]


def draw_panel(axes, rows: pd.DataFrame, seeds: list, looks: list[dict]) -> None:
    """Draw the steps from top to bottom, the runs of each below one another."""
    if rows["value"].isna().all():
        say_missing(axes)
    axes.axvline(0, color="black", linewidth=1, zorder=1)
    for number, (seed, look) in enumerate(zip(seeds, looks, strict=True)):
        for place, step in enumerate(STEPS):
            row = rows[(rows["seed"] == seed) & (rows["step"] == step.name)]
            if row["value"].isna().all():
                continue
            height = place + 0.5 * ((number + 0.5) / len(seeds) - 0.5)
            axes.errorbar(
                row["value"], [height], xerr=arm_lengths(row, "value"), capsize=2, **look | {"linestyle": "-"}
            )
    axes.set_yticks(range(len(STEPS)), [step.name for step in STEPS])
    axes.set_ylim(len(STEPS) - 0.5, -0.5)


def tell_runs(rows: pd.DataFrame) -> str:
    """Return every difference in words, for the alternative text."""
    told = []
    for row in rows.itertuples(index=False):
        digits = digits_of(row.scope, row.metric)
        value = "missing" if np.isnan(row.value) else f"{row.value:+.{digits}f}"
        told.append(f"run {row.seed:g} {row.corpus} {row.step} {tell_measure(row.scope, row.metric)} {value}")
    return ", ".join(told)
