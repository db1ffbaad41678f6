"""Tables of what follows from the text: downstream tasks, training, claims."""

from collections.abc import Collection

import pandas as pd

from ..analysis.tables import at_main_cell, over_seeds
from ..tasks import TASKS
from . import commands, style
from .evidence_tables import name_evidence
from .style import ordered
from .tables import ABSENT, INTERVALS, Entry, Table, cross, enter_number, order_lines

REFERENCE_ORDER = ("real", "unfilled", "shuffled", "majority")
OVERALL_COLUMNS = ("claim", "statement", "verdict", "reason")
VERDICTS_MEAN = (
    "Decided by rules that were written before the run. Supported: true as reported and once context and length are matched; "
    "explained: true as reported, gone once matched; contradicted: not true as reported; inconclusive: an interval spans "
    "its bound, or comparisons point both ways. "
)
NUMBERS_MEAN = (
    "The effect is that of the first comparison measured; p is Holm-corrected over the claim's comparisons; detectable is the "
    "smallest effect found with 80 % power; every comparison is in comparisons.csv."
)
CLAIM_COLUMNS = ("claim", "corpus", "verdict", "effect", "low", "high", "p", "detectable", "n", "reason")


def downstream_tables(downstream: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table a task: what it was trained on down, its measures across, ceiling and floors beside."""
    return [
        utility_table(downstream[downstream["task"] == task], task, scale)
        for task in ordered(downstream["task"], TASKS)
    ]


def utility_table(rows: pd.DataFrame, task: str, scale: str) -> Table:
    """Return the scores of one task and the copying audit of the text behind them."""
    keys = ["corpus", "trained_on", "strategy", "ratio"]
    asked = rows
    rows = rows.assign(strategy=rows["strategy"].fillna(""), ratio=rows["ratio"].fillna(0.0))
    metrics = ordered(rows["metric"], [*style.UTILITIES, *sorted(set(rows["metric"]) - set(style.COPYING))])
    lines = order_lines(rows, keys, [style.CORPORA, style.TRAINED_ON, ("", *style.STRATEGIES), ()])
    body = cross(over_seeds(rows, [*keys, "metric"]), keys, lines, "metric", metrics)
    body = [
        [not_applicable(entry, metric, line) for entry, metric in zip(places, metrics, strict=True)]
        for line, places in zip(lines, body, strict=True)
    ]
    return Table(
        name=f"downstream_{task}",
        title=f"Downstream: {task}, trained on written text and tested on real text",
        caption=f"{tell_seeds(rows)}. {INTERVALS} Ceiling and floors stand in the first and last rows of a corpus.",
        header=(*keys, *(style.name_metric(metric) for metric in metrics)),
        rows=tuple((*enter_keys(line), *places) for line, places in zip(lines, body, strict=True)),
        command=commands.for_training(scale, asked),
    )


def enter_keys(line: tuple) -> tuple[Entry, ...]:
    """Return the leading entries of a downstream row; references stand outside the grid of strategies."""
    corpus, trained_on, strategy, ratio = line
    name = Entry(style.REFERENCES.get(trained_on, trained_on))
    if not strategy:
        return Entry(corpus), name, Entry("–"), Entry("–")
    return Entry(corpus), name, Entry(strategy), enter_number(ratio, "{:g}")


def not_applicable(entry: Entry, metric: str, line: tuple) -> Entry:
    """Return a dash where a reference has no copying to audit, the entry itself elsewhere."""
    beside = metric in style.COPYING and line[1] in style.REFERENCES
    return Entry("–") if beside and entry.reason == ABSENT else entry


def tell_seeds(rows: pd.DataFrame) -> str:
    """Return how many seeds stand behind the rows."""
    count = rows["seed"].nunique()
    return "1 seed" if count == 1 else f"{count} seeds"


def ceiling_table(downstream: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table: per task the ceiling beside its floors, unfilled text at the main cell."""
    unfilled = at_main_cell(downstream[downstream["trained_on"] == "unfilled"])
    rows = pd.concat([downstream[downstream["trained_on"].isin(["real", "shuffled", "majority"])], unfilled])
    rows = rows[~rows["metric"].isin(style.COPYING)]
    if rows.empty:
        return []
    keys = ["task", "corpus", "metric"]
    columns = ordered(rows["trained_on"], REFERENCE_ORDER)
    lines = order_lines(rows, keys, [TASKS, style.CORPORA, style.UTILITIES])
    body = cross(over_seeds(rows, [*keys, "trained_on"]), keys, lines, "trained_on", columns)
    names = style.REFERENCES | {"unfilled": "unfilled (floor)"}
    return [
        Table(
            name="ceilings",
            title="Ceilings and floors of the tasks",
            caption=(
                "A task model must be worth fooling: the ceiling stands clearly above shuffled labels and majority. "
                f"{INTERVALS}"
            ),
            header=("task", "corpus", "metric", *(names[column] for column in columns)),
            rows=tuple(
                (Entry(line[0]), Entry(line[1]), Entry(style.name_metric(line[2])), *places)
                for line, places in zip(lines, body, strict=True)
            ),
            command=commands.for_training(scale, rows),
        )
    ]


def training_table(training: pd.DataFrame, scale: str) -> list[Table]:
    """Return one table: every language model at its last step."""
    if training.empty:
        return []
    ends = training.sort_values("step", kind="stable").groupby("artifact", dropna=False, sort=True)
    last = ends.last().reset_index()
    numbers = {
        "step": "{:,.0f}",
        "tokens_seen": "{:,.0f}",
        "tokens_predicted": "{:,.0f}",
        "train_loss": "{:.3f}",
        "dev_loss": "{:.3f}",
        "flops": "{:.3g}",
    }
    names = ("objective", "initialisation", "corpora")
    last = last.sort_values(
        ["objective", "corpora"], kind="stable", key=lambda column: column.map(rank_objectives(column))
    )
    return [
        Table(
            name="training",
            title="Training of the language models",
            caption="Losses in nats a predicted token, the last that was measured; not comparable across objectives.",
            header=(*names, *(name.replace("_", " ") for name in numbers)),
            rows=tuple(
                (
                    *(Entry(str(row[name])) for name in names),
                    *(enter_number(row[n], form) for n, form in numbers.items()),
                )
                for _, row in last.iterrows()
            ),
            command=f"python experiments/pretrain.py -m scale={scale} "
            + commands.list_choices("objective", training["objective"]),
        )
    ]


def rank_objectives(column: pd.Series) -> dict:
    """Return the reading order of objectives and of corpora."""
    return {value: i for i, value in enumerate(ordered(column, style.OBJECTIVES))}


def claim_table(claims: pd.DataFrame, scale: str, behind: Collection[str] = ()) -> list[Table]:
    """Return the verdict on each claim, and below it the verdicts by corpus, where claims have been decided.

    A claim links to the table of its comparisons where `behind` names one.
    """
    if claims.empty:
        return []
    is_overall = claims["corpus"] == "overall"
    meaning = f"{VERDICTS_MEAN}{claims.attrs.get('rules', '')}"
    tables = [("claims", "Verdict per claim", meaning, OVERALL_COLUMNS, claims[is_overall])]
    tables += [("claims_by_corpus", "Verdicts by corpus", NUMBERS_MEAN, CLAIM_COLUMNS, claims[~is_overall])]
    command = f"python experiments/report.py scale={scale}"
    return [
        Table(
            name,
            title,
            caption,
            tuple(columns),
            tuple(enter_claim(row, columns, behind) for _, row in part.iterrows()),
            command,
        )
        for name, title, caption, wanted, part in tables
        if len(part) and (columns := [column for column in wanted if column in part.columns])
    ]


def enter_claim(row: pd.Series, columns: list[str], behind: Collection[str]) -> tuple[Entry, ...]:
    """Return one line of a verdict table; a number that does not exist is a dash, as its reason has a column."""
    entries = []
    for column in columns:
        value = row[column]
        table = name_evidence(row["claim"]) if column == "claim" else ""
        if isinstance(value, str):
            entries.append(Entry(value, link=table if table in behind else ""))
        else:
            entries.append(enter_number(value, "{:.3g}") if pd.notna(value) else Entry("–"))
    return tuple(entries)
