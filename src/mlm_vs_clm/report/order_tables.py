"""The order in which a masked model fills, by ratio: the same model, context and lengths, the order alone differs."""

import pandas as pd

from ..analysis.tables import over_seeds
from . import commands, style
from .drawing import Drawing, add_legend, panels, say_missing, tell_values
from .style import ordered
from .tables import INTERVALS, Entry, Table, cross, enter_number, order_lines

MEASURES = ("exact_match", "bleu", "repetition")
SAME = {"objective": "mlm", "context": "both", "length": "known", "strategy": "random", "scope": "fills"}
FAMILY = (  # the arms of conf/arm that are one network and one way of choosing words: order and pace alone differ
    "mlm",
    "mlm_parallel",
    "mlm_confidence",
    "mlm_cosine",
    "mlm_left_to_right",
    "mlm_mask_predict",
)
KEYS = ["metric", "corpus", "ratio"]


def at_orders(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the fill-scope rows of the masked arms that share all but their order; none where only one did.

    Rows do not tell training or temperature, so the arms are named: `mlm_general` and `mlm_gibbs` differ in those.
    """
    same = (scores[list(SAME)] == pd.Series(SAME)).all(axis=1) & scores["metric"].isin(MEASURES)
    rows = of_one_model(scores[same & scores["arm"].isin(FAMILY)])
    return rows if rows["arm"].nunique() > 1 else rows.iloc[:0]


def of_one_model(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the first arm's model, where rows name their model."""
    if rows.empty or "model" not in rows:
        return rows
    first = rows["arm"] == ordered(rows["arm"], FAMILY)[0]
    return rows[rows["model"] == rows.loc[first, "model"].iloc[0]]


def order_table(scores: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table: measure, corpus and ratio down, arms across."""
    rows = at_orders(scores)
    if rows.empty:
        return []
    arms = ordered(rows["arm"], style.ARMS)
    lines = order_lines(rows, KEYS, [MEASURES, style.CORPORA, ()])
    cells = over_seeds(rows, [*KEYS, "arm"])
    body = [cross(cells[cells["metric"] == line[0]], KEYS, [line], "arm", arms)[0] for line in lines]
    return [
        Table(
            name="orders",
            title="Order by ratio",
            caption=(
                "Masked arms with both sides in sight and known lengths, at random blanks: the order and its pace "
                f"alone differ ({tell_orders(rows, arms)}). Fills alone; repetition is better when lower. {INTERVALS}"
            ),
            header=("measure", "corpus", "ratio", *arms),
            rows=tuple(
                (Entry(style.name_metric(line[0])), Entry(line[1]), enter_number(line[2], "{:g}"), *places)
                for line, places in zip(lines, body, strict=True)
            ),
            command=commands.for_cells("score", scale, rows),
        )
    ]


def tell_orders(rows: pd.DataFrame, arms: list[str]) -> str:
    """Return "arm: order" of every arm."""
    order_of = dict(zip(rows["arm"], rows["order"], strict=True))
    return ", ".join(f"{arm}: {order_of[arm]}" for arm in arms)


def draw_orders(scores: pd.DataFrame) -> list[Drawing]:
    """Return one figure: measures down, corpora across, a line with its interval an arm over the ratios."""
    rows = at_orders(scores)
    if rows.empty:
        return []
    cells = over_seeds(rows, [*KEYS, "arm"])
    corpora, measures = ordered(cells["corpus"], style.CORPORA), ordered(cells["metric"], MEASURES)
    looks = style.looks(ordered(cells["arm"], style.ARMS))
    figure, axes = panels(len(measures), len(corpora), height=2.2, sharex=True, sharey="row")
    for i, metric in enumerate(measures):
        for j, corpus in enumerate(corpora):
            panel = cells[(cells["metric"] == metric) & (cells["corpus"] == corpus)]
            draw_lines(axes[i, j], panel, looks)
            axes[i, j].set_title(corpus)
        axes[i, 0].set_ylabel(style.label_axis(metric, cells.loc[cells["metric"] == metric, "value"]))
    for j in range(len(corpora)):
        axes[-1, j].set_xlabel("ratio of words hidden at random")
    add_legend(figure, looks)
    return [
        Drawing(
            name="orders",
            title="Order by ratio",
            caption="The same masked model, blanks and lengths; the order alone differs. Bars are 95 % intervals.",
            alt=f"Line charts of fill-scope scores by order. {tell_values(cells, [*KEYS, 'arm'])}.",
            figure=figure,
        )
    ]


def draw_lines(axes, panel: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Draw a line an arm, its intervals as bars set a little apart so that they do not cover each other."""
    if panel.empty:
        say_missing(axes)
    for number, (arm, look) in enumerate(looks.items()):
        line = panel[panel["arm"] == arm].sort_values("ratio")
        places = line["ratio"] + 0.012 * (number - (len(looks) - 1) / 2)
        axes.plot(places, line["value"], **look)
        axes.vlines(places, line["low"], line["high"], color=look["color"], linewidth=1)
