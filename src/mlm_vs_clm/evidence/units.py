"""The frame `units`: what task models answered, one row per test unit, task seed and training set; and cells made of it.

A test unit is a document or a problem. `cluster` is what a resample draws together. The other columns are counts or
answers, each in the corpora whose task has it: of entities true positives, false positives and false negatives (`tp`,
`fp`, `fn`; in all and by type); of genres the true labels (`gold`) and two sets of answers; of problems whether both
texts are by the same author, and the score. No unit is named by more than its number.
"""

from collections.abc import Iterable, Iterator, Mapping
from graphlib import TopologicalSorter
from itertools import pairwise

import pandas as pd

from ..tasks.outcome import NO_ROOM, UNTRAINED
from ..tasks.pan import NO_ANSWER
from .cells import Cell, TrainedCell

NAMES = ["task", "corpus", "trained_on", "strategy", "ratio", "seed"]
KEYS = [*NAMES, "task_seed", "unit"]
SCORE = "score"  # of verification
EXAMPLES = "examples"  # a column of studies that fine-tune networks; missing for the text of an arm


def list_units(cells: Iterable[TrainedCell]) -> pd.DataFrame:
    """Return the frame: the answers of every task model, in the order of the test set; scores mostly in single precision, see `narrow`."""
    tables = [_number(model) for model in cells if len(model.units)]
    rows = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=[*KEYS, "cluster"])
    examples = [EXAMPLES] if EXAMPLES in rows else []
    named = [*KEYS, "cluster", *examples]
    answers = order_columns([column for column in table if column not in named] for table in tables)
    return rows[[*named, *answers]]


def _number(model: TrainedCell) -> pd.DataFrame:
    rows = model.units
    rows = rows.assign(
        cluster=pd.factorize(rows["cluster"])[0] + 1, unit=rows.groupby("task_seed").cumcount() + 1
    )
    if SCORE in rows:
        rows[SCORE] = rows.groupby("task_seed")[SCORE].transform(narrow)
    cell = model.cell
    names = (model.task, cell.corpus, cell.arm, cell.strategy, cell.ratio, cell.seed)
    with_examples = {EXAMPLES: model.examples} if model.is_network else {}
    return rows.drop(columns="id", errors="ignore").assign(
        **dict(zip(NAMES, names, strict=True)), **with_examples
    )


def narrow(scores: pd.Series) -> pd.Series:
    """Return scores in single precision; as they are where some would fall together, since their order decides AUC, or on 0.5."""
    single = scores.astype("float32").astype(float)
    is_kept = single.nunique() == scores.nunique() and ((single == NO_ANSWER) == (scores == NO_ANSWER)).all()
    return single if is_kept else scores


def order_columns(lists: Iterable[list[str]]) -> list[str]:
    """Return the names of all lists in one order that keeps the order of each, since measures read columns by place."""
    sorter: TopologicalSorter = TopologicalSorter()
    for names in lists:
        for name in names:
            sorter.add(name)
        for before, after in pairwise(names):
            sorter.add(after, before)
    return list(sorter.static_order())


def list_trained(units: pd.DataFrame, task_models: pd.DataFrame) -> list[TrainedCell]:
    """Return a cell for each row of `task_models`, with its answers."""
    answers = dict(_group_answers(units))
    return [
        TrainedCell(
            Cell(row["corpus"], row["trained_on"], row["strategy"], row["ratio"], int(row["seed"])),
            row["task"],
            row["artifact"],
            answers.get(_name(row), pd.DataFrame()),
            row["reason"] if row["reason"].startswith((UNTRAINED, NO_ROOM)) else "",
            _read_examples(row),
        )
        for row in task_models.to_dict("records")
    ]


def _group_answers(units: pd.DataFrame) -> Iterator[tuple[tuple, pd.DataFrame]]:
    """Yield the names of a training set and the answers after it, without the columns of other tasks."""
    for _, table in units.groupby(["task", "corpus"], sort=False):
        names = [*NAMES, *([EXAMPLES] if EXAMPLES in table else [])]
        of_task = table.dropna(axis="columns", how="all").assign(**{name: table[name] for name in names})
        for _, rows in of_task.groupby(names, sort=False, dropna=False):
            yield _name(rows.iloc[0]), rows.drop(columns=[*names, "unit"])


def _name(row: Mapping) -> tuple:
    """Return the names of a training set, of a control without its missing ratio."""
    named = tuple(row[name] for name in NAMES if name != "ratio" or row["strategy"])
    return *named, _read_examples(row)


def _read_examples(row: Mapping) -> int | None:
    number = row.get(EXAMPLES)
    return None if number is None or number != number else int(number)
