"""The figure of quality at equal compute."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from ..analysis.cells import CELL, STEPS
from ..analysis.equal_compute import BASES
from ..analysis.gap import MEASURES
from . import style
from .differences import SCALES
from .drawing import Drawing, arm_lengths, panels, say_missing
from .style import ordered

LOOKS = {  # the basis, how it is told, and how far from the middle of its row it stands
    "equal documents": ({"color": "#0072B2", "marker": "o"}, -0.16),
    "equal compute": ({"color": "#D55E00", "marker": "s"}, 0.16),
}


def draw_equal(equal: pd.DataFrame) -> list[Drawing]:
    """Return one figure: measures down, corpora across, for every step its difference at equal documents and compute."""
    if equal["value"].isna().all():
        return []
    corpora = ordered(equal["corpus"], style.CORPORA)
    figure, axes = panels(len(MEASURES), len(corpora), sharex="row", sharey=True, height=2.4)
    figure.set_figwidth(figure.get_figwidth() + 1.6)
    for i, (scope, metric) in enumerate(MEASURES):
        rows = equal[(equal["scope"] == scope) & (equal["metric"] == metric)]
        for axis, corpus in zip(axes[i], corpora, strict=True):
            draw_bases(axis, rows[rows["corpus"] == corpus])
            axis.set_title(f"{corpus}, {style.SCOPES.get(scope, scope)}")
            axis.set_xlabel(f"difference in {style.name_metric(metric)}\n({SCALES[metric][0]})")
            axis.xaxis.set_major_locator(MaxNLocator(5))
    handles = [Line2D([], [], linestyle="-", label=name, **look) for name, (look, _) in LOOKS.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return [
        Drawing(
            name="equal_compute",
            title="Quality at equal documents and at equal compute",
            caption=(
                f"Random blanks at ratio {CELL[1]:g}; first arm minus second with 95 % intervals, above 0 the masked arm is "
                "ahead. Circles: both as they were run. Squares: one of them at an order or pace that takes the FLOPs of the "
                "other; left off where its method was not run on both sides of that cost (the table says why)."
            ),
            alt=f"Points with intervals. {tell_equal(equal)}.",
            figure=figure,
        )
    ]


def draw_bases(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw the steps of one panel from top to bottom, two points each where both are known."""
    axes.axvline(0, color="black", linewidth=1, zorder=1)
    if rows["value"].isna().all():
        say_missing(axes)
    for place, step in enumerate(STEPS):
        of_step = rows[(rows["step"] == step.name) & rows["value"].notna()]
        parts = of_step[of_step["basis"] == BASES[0]], of_step[of_step["basis"] != BASES[0]].head(1)
        for (look, offset), row in zip(LOOKS.values(), parts, strict=True):
            if len(row):
                axes.errorbar(
                    row["value"],
                    [place + offset],
                    xerr=arm_lengths(row, "value"),
                    capsize=2.5,
                    linestyle="none",
                    **look,
                )
    axes.set_yticks(range(len(STEPS)), [step.name for step in STEPS])
    axes.set_ylim(len(STEPS) - 0.5, -0.5)


def tell_equal(equal: pd.DataFrame) -> str:
    """Return every difference that is known, for the alternative text."""
    known = equal[equal["value"].notna()]
    return ", ".join(
        f"{r.corpus} {r.step} {style.name_metric(r.metric)} at {r.basis} {r.value:+.{SCALES[r.metric][1]}f}"
        for r in known.itertuples(index=False)
    )
