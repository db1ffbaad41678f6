"""How the language models were trained: the table of their last steps."""

import pandas as pd

from ..training.objectives import OBJECTIVES
from .panel_sentences import name_axis
from .style import Study, ordered
from .tables import DASH, Table, enter_key, enter_number, enter_words, list_choices

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
ONE_LINE = ["artifact", "corpus"]  # what a row of the table is about


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
    varied = [column for column in training if "." in column and last[column].nunique() > 1]
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
            header=[*NAMES, *map(name_axis, varied), *(name.replace("_", " ") for name in numbers)],
            rows=[
                (
                    *(enter_words(row[name]) for name in NAMES),
                    *(enter_key("", row[name]) if pd.notna(row[name]) else DASH for name in varied),
                    *(enter_number(row[name], form) for name, form in numbers.items()),
                )
                for _, row in last.iterrows()
            ],
            command=f"python experiments/pretrain.py -m scale={study.scale} {objectives}",
        )
    ]
