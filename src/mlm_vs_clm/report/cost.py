"""What generation costs: the table of the ledger, and cost against quality."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from ..arms.roles import TABLE, is_floor, is_network
from . import style
from .drawing import Drawing, describe_values, draw_grid, interval_arms, least_span, mark_decades, open_up
from .style import Study, ordered
from .tables import Entry, Table, command_for_cells, enter_key, enter_number, enter_words, order_lines
from .utility import CELL, quality_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes


GIGA = 1e9
WIDTH = 4.0  # inches of a panel with the names of its points
KEYS = ["corpus", "arm"]
AXES = ("context", "length", "order")
PER_DOCUMENT = {  # column of the ledger -> heading, unit, format
    "passes": ("passes", 1, "{:,.1f}"),
    "token_forwards": ("token-forwards", 1, "{:,.0f}"),
    "flops": ("GFLOPs", GIGA, "{:,.3g}"),
    "seconds": ("seconds", 1, "{:,.3f}"),
}
IN_ALL = {
    "documents": "documents",
    "blanks": "blanks",
    "tokens_filled": "tokens filled",
    "peak_memory_mb": "peak memory (MB)",
}
PLACE = ("device", "precision")


def cost_table(ledger: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: what each arm cost at the main cell, one row per corpus and arm, seeds averaged."""
    main = study.at_main(ledger)
    if main.empty:
        return []
    main = main.groupby([*KEYS, *AXES, *PLACE], dropna=False).mean(numeric_only=True).reset_index()
    costs = {tuple(row[key] for key in KEYS): row for _, row in main.iterrows()}
    headings = [heading for heading, *_ in PER_DOCUMENT.values()]
    return [
        Table(
            name="cost",
            title="Cost of generation",
            caption=(
                f"{study.describe_main()}; all other cells are in ledger.csv. Passes, token-forwards, GFLOPs and seconds are means "
                "per document. FLOPs leave out the products of attention, which grow with the square of the length. Seconds are "
                "wall time beside other work; memory is the peak of the process."
            ),
            header=[*KEYS, *AXES, *headings, *IN_ALL.values(), *PLACE],
            rows=[
                (*map(enter_key, KEYS, line), *enter_cost(costs[line])) for line in order_lines(main, KEYS)
            ],
            command=command_for_cells(
                "generate", study.scale, main.assign(strategy=study.main[0], ratio=study.main[1])
            ),
        )
    ]


def enter_cost(row: pd.Series) -> tuple[Entry, ...]:
    """Return one row of the table of costs."""
    return (
        *(enter_words(row[axis]) for axis in AXES),
        *(
            enter_number(row[column] / row["documents"] / unit, form)
            for column, (_, unit, form) in PER_DOCUMENT.items()
        ),
        *(enter_number(row[column]) for column in IN_ALL),
        *(enter_words(row[column]) for column in PLACE),
    )


def draw_cost_against_quality(scores: pd.DataFrame, ledger: pd.DataFrame, study: Study) -> list[Drawing]:
    """Return one figure: quality at the main cell against FLOPs per document; free baselines as lines across."""
    costs = ledger.assign(cost=ledger["flops"] / ledger["documents"])
    costs = costs.groupby(CELL, dropna=False)["cost"].mean().reset_index()
    cells = study.at_main(quality_cells(scores)).merge(costs, on=CELL)
    if not (cells["cost"] > 0).any():
        return []
    looks = style.looks(arm for arm in ordered(cells["arm"], style.ARMS) if is_network(arm) or is_floor(arm))
    figure = draw_grid(
        cells,
        [style.main_quality(scores)],
        "cost (GFLOPs per document, log scale)",
        lambda axes, panel: draw_costs(axes, panel, looks),
        WIDTH,
    )
    return [
        Drawing(
            name="cost_against_quality",
            title="Cost of generation against quality",
            caption=(
                f"{study.describe_main()}. Points are arms that run a network, with 95 % intervals; the shaded band is what "
                "word tables reach, which cost nothing. Further up and left is better."
            ),
            alt=f"Scatter plots of quality against FLOPs. {describe_values(cells, ['corpus', 'metric', 'arm'])}.",
            figure=figure,
        )
    ]


def draw_costs(axes: Axes, panel: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Draw one corpus: a named point where there is a cost, the span of the word tables as a band across."""
    axes.set_xscale("log")
    mark_decades(axes.xaxis, GIGA)
    floors = panel[(panel["cost"] == 0) & panel["arm"].isin([*looks])]
    if len(floors):
        axes.axhspan(
            floors["value"].min(), floors["value"].max(), color=style.COLOURS[TABLE], alpha=0.13, linewidth=0
        )
        axes.annotate(
            "word tables",
            (0.01, floors["value"].max()),
            xycoords=("axes fraction", "data"),
            fontsize=8,
            va="bottom",
        )
    for arm, look in looks.items():
        cells = panel[(panel["arm"] == arm) & (panel["cost"] > 0)]
        thin = {"fmt": "none", "ecolor": look["color"], "elinewidth": 0.7, "alpha": 0.45}
        dots = {"color": look["color"], "marker": look["marker"], "linestyle": "none", "alpha": 0.9}
        axes.plot(cells["cost"], cells["value"], **dots)
        axes.errorbar(cells["cost"], cells["value"], yerr=interval_arms(cells, "value"), **thin)
        for cell in cells.itertuples(index=False):
            place = {"textcoords": "offset points", "fontsize": 8, "color": look["color"]}
            axes.annotate(arm, (cell.cost, cell.value), (6, 3), **place)
    if len(panel):
        open_up(axes, least_span(str(panel["metric"].iloc[0])))
