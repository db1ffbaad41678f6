"""Names beside the points of a scatter, each where it meets no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHORT = {"temperature": "T", "per_pass": "pace", "table_order": "n", "unique_tokens": "tokens", "order": ""}
CHARACTER, LINE = 0.047, 0.11  # inches of a label's letter and of its height
RINGS = (0.05, 0.14, 0.24, 0.36, 0.5, 0.66)  # inches between a point and its label, the nearest first
Box = tuple[float, float, float, float]  # left, bottom, right, top


def shorten(name: str) -> str:
    """Return the name of a variant as short as a label: "mlm T=0.7 pace=64"."""
    words = [word.partition("=") for word in name.split()]
    return " ".join(
        f"{SHORT.get(key, key)}{'=' * bool(SHORT.get(key, key))}{value}" if equals else key
        for key, equals, value in words
    )


def label_points(axis: Axes, cells: pd.DataFrame, size: tuple[float, float]) -> None:
    """Write the name of each writer beside its point, with a line to it where there is no place near; `size` in inches."""
    (left, right), (bottom, top) = axis.get_xlim(), axis.get_ylim()
    x = (cells["x"] - left) / (right - left) * size[0]
    y = (cells["value"] - bottom) / (top - bottom) * size[1]
    boxes: list[Box] = [(a - 0.04, b - 0.04, a + 0.04, b + 0.04) for a, b in zip(x, y, strict=True)]
    for number in y.sort_values(ascending=False).index:
        name = shorten(cells["full_name"][number])
        place, ring = _find_place(x[number], y[number], CHARACTER * len(name), boxes, size)
        boxes.append(place)
        axis.annotate(
            name,
            (cells["x"][number], cells["value"][number]),
            ((place[0] - x[number]) * 72, (place[1] - y[number]) * 72),
            textcoords="offset points",
            fontsize=6.5,
            va="bottom",
            arrowprops={"arrowstyle": "-", "linewidth": 0.4, "color": "#777777", "shrinkA": 0, "shrinkB": 2}
            if ring > RINGS[1]
            else None,
        )


def _find_place(
    x: float, y: float, width: float, boxes: Sequence[Box], size: tuple[float, float]
) -> tuple[Box, float]:
    """Return the nearest box for a label that meets no other and lies inside the axes, and how far off it is."""
    box, ring = (x, y, x + width, y + LINE), RINGS[-1]
    for ring in RINGS:
        diagonal = 0.7 * ring
        for a, b in (
            (ring, -LINE / 2),
            (-ring - width, -LINE / 2),
            (diagonal, diagonal),
            (-diagonal - width, diagonal),
            (diagonal, -diagonal - LINE),
            (-diagonal - width, -diagonal - LINE),
            (-width / 2, ring),
            (-width / 2, -ring - LINE),
        ):
            box = (x + a, y + b, x + a + width, y + b + LINE)
            is_inside = box[0] > 0 and box[1] > 0 and box[2] < size[0] and box[3] < size[1]
            if is_inside and not any(_meet(box, placed) for placed in boxes):
                return box, ring
    return box, ring


def _meet(first: Box, second: Box) -> bool:
    return first[0] < second[2] and second[0] < first[2] and first[1] < second[3] and second[1] < first[3]
