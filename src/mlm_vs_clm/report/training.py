"""How the language models were trained: the table of their last steps, and their loss curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from ..training.objectives import OBJECTIVES
from .drawing import Drawing, add_legend, panels
from .style import Study, ordered
from .tables import Table, command_for_cells, enter_number, enter_words, list_choices

if TYPE_CHECKING:
    from matplotlib.axes import Axes


NUMBERS = {
    "step": "{:,.0f}",
    "tokens_seen": "{:,.0f}",
    "tokens_predicted": "{:,.0f}",
    "passes": "{:.2f}",
    "train_loss": "{:.3f}",
    "dev_loss": "{:.3f}",
    "nats_per_character": "{:.3f}",
    "flops": "{:.3g}",
}
NAMES = ("objective", "initialisation", "corpora", "corpus")
ONE_LINE = ["artifact", "corpus"]  # what a line of the figure, or a row of the table, is about
LOSSES: dict[str, tuple[str, dict[str, Any]]] = {
    "train_loss": ("training text", {"color": "#56B4E9", "linestyle": "-", "linewidth": 1.2}),
    "dev_loss": ("held-out text", {"color": "#D55E00", "linestyle": "--", "marker": "o", "markersize": 4}),
}


def training_table(training: pd.DataFrame, study: Study) -> list[Table]:
    """Return one table: every language model at its last budget, one row per corpus."""
    if training.empty:
        return []
    ends = training.sort_values("step", kind="stable").groupby(ONE_LINE, dropna=False, sort=True)
    rank = {objective: i for i, objective in enumerate(ordered(training["objective"], OBJECTIVES))}
    last = ends.last().reset_index().sort_values("corpora", kind="stable")
    last = last.sort_values("objective", kind="stable", key=lambda names: names.map(rank))
    objectives = list_choices("objective", training["objective"])
    numbers = {name: form for name, form in NUMBERS.items() if name in training}
    return [
        Table(
            name="training",
            title="Training of the language models",
            caption=(
                "Losses in nats per predicted token at the last budget; not comparable across objectives. Passes: how often "
                "the training read the corpus."
                + " Nats per character: where the loss bounds the likelihood of the whole text."
                * ("nats_per_character" in numbers)
            ),
            header=[*NAMES, *(name.replace("_", " ") for name in numbers)],
            rows=[
                (
                    *(enter_words(row[name]) for name in NAMES),
                    *(enter_number(row[name], form) for name, form in numbers.items()),
                )
                for _, row in last.iterrows()
            ],
            command=f"{command_for_cells('pretrain', study.scale, pd.DataFrame({'strategy': []}))} {objectives}",
        )
    ]


def draw_training(training: pd.DataFrame, study: Study) -> list[Drawing]:
    """Return one figure: a panel per objective and model, a line per corpus, the loss over the tokens seen."""
    trained = split_by_objective(training)
    if not trained:
        return []
    figure, axes = panels(1, len(trained), sharey=True, height=2.9)
    for axis, (title, rows) in zip(axes[0], trained.items(), strict=True):
        for _, model in rows.groupby(ONE_LINE, dropna=False):
            draw_losses(axis, model)
        axis.set_title(title)
        axis.set_xlabel("tokens seen (thousands)")
    axes[0, 0].set_ylabel("loss (nats per predicted token)")
    add_legend(figure, dict(LOSSES.values()))
    return [
        Drawing(
            name="training_curves",
            title="Training curves",
            caption=(
                "One panel per objective and model, one line of held-out loss per corpus. Losses of different objectives are not comparable, since they predict "
                "different tokens from different context; compare the two lines of one panel."
            ),
            alt=f"Line charts of loss against tokens seen. Last held-out loss: {describe_last_losses(trained)}.",
            figure=figure,
        )
    ]


def split_by_objective(training: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of each objective, and of each model where an objective trained several, by their title."""
    trained: dict[str, pd.DataFrame] = {}
    for objective in ordered(training["objective"], OBJECTIVES):
        rows = training[training["objective"] == objective]
        models = sorted(rows["model"].unique())
        titles = {model: objective if len(models) == 1 else f"{objective}, {model}" for model in models}
        trained |= {title: rows[rows["model"] == model] for model, title in titles.items()}
    return trained


def draw_losses(axes: Axes, model: pd.DataFrame) -> None:
    """Draw the two curves of one model, each over the steps at which it was measured."""
    for column, (_, look) in LOSSES.items():
        curve = model.dropna(subset=column).sort_values("step")
        axes.plot(curve["tokens_seen"] / 1000, curve[column], **look)


def describe_last_losses(trained: dict[str, pd.DataFrame]) -> str:
    """Return the last held-out loss of every objective, for the alternative text."""
    measured = {title: rows.dropna(subset="dev_loss").sort_values("step") for title, rows in trained.items()}
    last = [f"{title} {rows['dev_loss'].iloc[-1]:.2f}" for title, rows in measured.items() if len(rows)]
    return ", ".join(last) or "not measured"
