"""Points with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .drawing import CENTRED

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def interval_arms(cells: pd.DataFrame, column: str) -> np.ndarray:
    """Return the (2, n) lengths of the intervals below and above their values, zero where there is no interval.

    The interval of `value` is in `low`, `high`; that of any other column in `<column>_low`, `<column>_high`.
    """
    prefix = "" if column == "value" else f"{column}_"
    below = cells[column] - cells[f"{prefix}low"]
    above = cells[f"{prefix}high"] - cells[column]
    return np.nan_to_num(np.array([below, above], dtype=float)).clip(min=0)


def draw_intervals(axes: Axes, labels: Sequence[str], series: Sequence[tuple[dict, Sequence]]) -> None:
    """Draw points with 95 % intervals, one row per label from top to bottom, the series of a label below one another.

    A series is its look and, for every label, a row with value, low and high, or None. A label without any value is
    marked missing.
    """
    from matplotlib.ticker import MaxNLocator

    axes.axvline(0, color="black", linewidth=1, zorder=1)
    for place in range(len(labels)):
        present = [
            (number, look, cells[place])
            for number, (look, cells) in enumerate(series)
            if cells[place] is not None and pd.notna(cells[place].value)
        ]
        for number, look, cell in present:
            height = place + 0.5 * ((number + 0.5) / len(series) - 0.5)
            axes.plot([cell.low, cell.high], [height, height], linestyle="-", color=look["color"])
            axes.plot(cell.value, height, marker=look["marker"], color=look["color"])
        if not present:
            axes.text(0.5, place, "missing", transform=axes.get_yaxis_transform(), **CENTRED)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.xaxis.set_major_locator(MaxNLocator(5))
