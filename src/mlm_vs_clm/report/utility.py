"""What the written text is good for and what it costs: quality against utility, cost against quality, training."""

import pandas as pd
from matplotlib.axes import Axes

from ..analysis.tables import at_main_cell, find_utility, main_ratio, over_seeds
from . import style
from .drawing import Drawing, add_legend, draw_points, mark_decades, panels, say_missing, tell_values
from .style import ordered

CELL = ["corpus", "arm", "strategy", "ratio"]
LINES = {
    "real": {"color": "#000000", "linestyle": "-", "linewidth": 1.2},
    "shuffled": {"color": "#555555", "linestyle": "--", "linewidth": 1.2},
    "majority": {"color": "#555555", "linestyle": ":", "linewidth": 1.6},
}
LOSSES = {"train_loss": "training text", "dev_loss": "held-out text"}


def quality_cells(scores: pd.DataFrame, scope: str, metric: str) -> pd.DataFrame:
    """Return one row a cell with a value of one metric at one scope; the oracle, fixed by definition, left out."""
    chosen = (scores["scope"] == scope) & (scores["metric"] == metric) & (scores["arm"] != "oracle")
    return over_seeds(scores[chosen & scores["value"].notna()], CELL)


def utility_cells(downstream: pd.DataFrame) -> pd.DataFrame:
    """Return one row a cell with each corpus's main utility: columns of CELL, utility, utility_low, utility_high."""
    metrics = {corpus: find_utility(downstream, corpus) for corpus in downstream["corpus"].unique()}
    main = downstream[downstream["metric"] == downstream["corpus"].map(metrics)]
    cells = over_seeds(main[main["value"].notna()].rename(columns={"trained_on": "arm"}), CELL)
    names = {"value": "utility", "low": "utility_low", "high": "utility_high"}
    return cells[[*CELL, *names]].rename(columns=names)


def draw_quality_against_utility(scores: pd.DataFrame, downstream: pd.DataFrame) -> list[Drawing]:
    """Return one figure: a point a cell, corpora across and scopes down, with the ceiling and the floors as lines."""
    qualities, utilities = style.main_qualities(scores.dropna(subset="value")), utility_cells(downstream)
    cells = [quality_cells(scores, *quality).merge(utilities, on=CELL) for quality in qualities]
    joined = pd.concat(cells) if cells else utilities.iloc[:0]
    if joined.empty:
        return []
    corpora = ordered(joined["corpus"], style.CORPORA)
    looks = style.looks(ordered(joined["arm"], style.ARMS))
    figure, axes = panels(len(qualities), len(corpora), sharey="col", height=3.0)
    for i, (scope, metric) in enumerate(qualities):
        for j, corpus in enumerate(corpora):
            panel = cells[i][cells[i]["corpus"] == corpus]
            draw_scatter(axes[i, j], panel, looks)
            draw_references(axes[i, j], utilities[utilities["corpus"] == corpus])
            axes[i, j].set_title(f"{corpus}, {style.SCOPES.get(scope, scope)}")
            axes[i, j].set_xlabel(style.label_axis(metric, cells[i]["value"]))
            utility = find_utility(downstream, corpus)
            axes[i, j].set_ylabel(f"utility: {style.name_metric(utility)}")
    drawn = {style.REFERENCES[name]: line for name, line in LINES.items() if name in set(utilities["arm"])}
    dots = {arm: look | {"linestyle": "none"} for arm, look in looks.items()}
    add_legend(figure, dots, drawn)
    told = "; ".join(tell_counts(cell, quality) for cell, quality in zip(cells, qualities, strict=True))
    return [
        Drawing(
            name="quality_against_utility",
            title="Quality of the text against its utility as training data",
            caption=(
                "Each point is a cell: one arm, strategy and ratio. Upwards is a better task model on real test "
                "text, to the right is better text. Lines: training on the unaltered documents, and the floors. "
                "Thin bars are 95 % intervals. Ratio moves both axes, so read the partial correlation too."
            ),
            alt=f"Scatter plots of utility against quality. {told}.",
            figure=figure,
        )
    ]


def tell_counts(cells: pd.DataFrame, quality: tuple[str, str]) -> str:
    """Return how many points a row of panels holds, for its alternative text."""
    counts = cells.groupby("corpus").size()
    told = ", ".join(f"{corpus} {count} cells" for corpus, count in counts.items())
    return f"{style.name_metric(quality[1])} of the {style.SCOPES.get(quality[0], quality[0])}: {told}"


def draw_scatter(axes: Axes, panel: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Draw the cells of one corpus, a marker an arm."""
    if panel.empty:
        say_missing(axes)
    for arm, look in looks.items():
        draw_points(axes, panel[panel["arm"] == arm], "value", "utility", look, crossed=True)


def draw_references(axes: Axes, utilities: pd.DataFrame) -> None:
    """Draw the ceiling and the floors across the panel."""
    for name, line in LINES.items():
        for value in utilities.loc[utilities["arm"] == name, "utility"]:
            axes.axhline(value, zorder=1, **line)


def draw_cost_against_quality(scores: pd.DataFrame, ledger: pd.DataFrame) -> list[Drawing]:
    """Return one figure: quality at the main cell against FLOPs a document; free baselines as lines across."""
    qualities = style.main_qualities(scores.dropna(subset="value"))
    cost = cost_per_document(ledger)
    cells = [quality_cells(at_main_cell(scores), *quality).merge(cost, on=CELL) for quality in qualities]
    joined = pd.concat(cells) if cells else cost.iloc[:0]
    if not (joined["flops_per_document"] > 0).any():
        return []
    corpora = ordered(joined["corpus"], style.CORPORA)
    looks = style.looks(ordered(joined["arm"], style.ARMS))
    figure, axes = panels(len(qualities), len(corpora), sharex=True, sharey="row", height=2.8)
    for i, (scope, metric) in enumerate(qualities):
        for j, corpus in enumerate(corpora):
            draw_cost(axes[i, j], cells[i][cells[i]["corpus"] == corpus], looks)
            axes[i, j].set_title(f"{corpus}, {style.SCOPES.get(scope, scope)}")
        axes[i, 0].set_ylabel(style.label_axis(metric, cells[i]["value"]))
    for j in range(len(corpora)):
        axes[-1, j].set_xlabel("cost (GFLOPs a document, log scale)")
    add_legend(figure, looks)
    return [
        Drawing(
            name="cost_against_quality",
            title="Cost of writing against quality",
            caption=(
                f"Random blanks at ratio {main_ratio(scores):g}. Points are arms that run a network, with 95 % intervals; "
                "lines across are baselines that cost nothing. Up and to the left is better."
            ),
            alt=f"Scatter plots of quality against FLOPs a document. {tell_values(joined, ['corpus', 'arm'])}.",
            figure=figure,
        )
    ]


def cost_per_document(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return FLOPs a document for every cell of the ledger, the mean over seeds."""
    costs = ledger.assign(flops_per_document=ledger["flops"] / ledger["documents"])
    return costs.groupby(CELL, dropna=False)["flops_per_document"].mean().reset_index()


def draw_cost(axes: Axes, panel: pd.DataFrame, looks: dict[str, dict]) -> None:
    """Draw one corpus: a point where there is a cost, a line across where there is none."""
    axes.set_xscale("log")
    mark_decades(axes.xaxis, 1e9)
    if panel.empty:
        say_missing(axes)
    for arm, look in looks.items():
        cells = panel[panel["arm"] == arm]
        draw_points(axes, cells[cells["flops_per_document"] > 0], "flops_per_document", "value", look)
        for value in cells.loc[cells["flops_per_document"] == 0, "value"]:
            axes.axhline(value, color=look["color"], linestyle=look["linestyle"], linewidth=1.2, zorder=1)


def draw_training(training: pd.DataFrame) -> list[Drawing]:
    """Return one figure: a panel an objective, the loss on training and on held-out text over the tokens seen."""
    trained = split_by_objective(training)
    if not trained:
        return []
    figure, axes = panels(1, len(trained), sharey=True, height=2.9)
    for axis, (title, rows) in zip(axes[0], trained.items(), strict=True):
        for _, model in rows.groupby("artifact", dropna=False):
            draw_losses(axis, model)
        axis.set_title(title)
        axis.set_xlabel("tokens seen (thousands)")
    axes[0, 0].set_ylabel("loss (nats a predicted token)")
    add_legend(figure, {LOSSES["train_loss"]: TRAIN_LOOK, LOSSES["dev_loss"]: DEV_LOOK})
    return [
        Drawing(
            name="training_curves",
            title="Training curves",
            caption=(
                "One panel an objective and model. Losses of different objectives are not comparable, since they predict "
                "different tokens from different context; compare the two lines of one panel."
            ),
            alt=f"Line charts of loss against tokens seen. Last held-out loss: {tell_last_losses(training)}.",
            figure=figure,
        )
    ]


def split_by_objective(training: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of each objective, and of each model where an objective trained several, by their title."""
    trained = {}
    for objective in ordered(training["objective"], style.OBJECTIVES):
        rows = training[training["objective"] == objective]
        models = sorted(rows["model"].unique())
        titles = {model: objective if len(models) == 1 else f"{objective}, {model}" for model in models}
        trained |= {title: rows[rows["model"] == model] for model, title in titles.items()}
    return trained


TRAIN_LOOK = {"color": "#56B4E9", "linestyle": "-", "linewidth": 1.2}
DEV_LOOK = {"color": "#D55E00", "linestyle": "--", "marker": "o", "markersize": 4}


def draw_losses(axes: Axes, model: pd.DataFrame) -> None:
    """Draw the two curves of one model, each over the steps at which it was measured."""
    for column, look in (("train_loss", TRAIN_LOOK), ("dev_loss", DEV_LOOK)):
        curve = model.dropna(subset=column).sort_values("step")
        axes.plot(curve["tokens_seen"] / 1000, curve[column], **look)


def tell_last_losses(training: pd.DataFrame) -> str:
    """Return the last held-out loss of every objective, for the alternative text."""
    measured = training.dropna(subset="dev_loss").sort_values("step", kind="stable")
    last = {title: rows["dev_loss"].iloc[-1] for title, rows in split_by_objective(measured).items()}
    return ", ".join(f"{title} {loss:.2f}" for title, loss in last.items()) or "not measured"
