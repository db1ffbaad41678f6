"""From stored cells to what they cost: a row a cell and a third of its documents, growth, and equal compute."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from ..analysis.cells import CELL
from ..analysis.equal_compute import (
    COST_COLUMNS,
    COUNTS,
    EQUAL_COLUMNS,
    GROWTH_COLUMNS,
    PARTS,
    Run,
    as_table,
    average_costs,
    compare_at_equal_compute,
    fit_growth,
    name_family,
)
from ..corpora import load_split
from ..models.checkpoints import load_tokenizer
from .artifacts import read_record
from .cells import cluster_by_author, describe_cell, load_blanked, read_statistics
from .document_costs import (
    DocumentCost,
    add_up,
    cost_documents,
    explain_unknown,
    open_sizes,
    tokenize_blanked,
)

NAMES = ("corpus", "arm", "strategy", "ratio", "seed")
AXES = ("context", "length", "order")
NOT_BY_RULE = "what the documents cost by the rule does not add up to the ledger of the cell"


@dataclass(frozen=True)
class Scored:
    """A score artifact, and the folders that it was made from."""

    folder: Path
    inputs: dict[str, Path]

    @cached_property
    def names(self) -> dict:
        """Return the columns that name the cell."""
        return describe_cell(self.inputs)

    @cached_property
    def generation(self) -> dict:
        """Return the record of the generated text."""
        return read_record(self.inputs["generation"])

    @cached_property
    def ledger(self) -> dict:
        """Return what the cell cost, in sums."""
        return json.loads((self.inputs["generation"] / "ledger.json").read_text())

    @property
    def is_main(self) -> bool:
        """Tell whether this is the masking at which documents are looked at one by one."""
        return (self.names["strategy"], self.names["ratio"]) == CELL

    @property
    def model(self) -> Path | None:
        """Return the folder of the network that wrote, None for a baseline."""
        reference = self.generation["inputs"].get("model")
        return self.inputs["generation"].parents[1] / reference if reference else None


def cost_cells(cells: list[Scored]) -> dict[str, pd.DataFrame]:
    """Return the tables `compute`, `growth` and `equal_compute` of a study's cells."""
    main = [cell for cell in cells if cell.is_main]
    read = _reader()
    priced = [(cell, *price(cell, read)) for cell in main if cell.model]
    reasons = {cell.folder: reason for cell, _, reason in priced}
    compute = [row for cell in cells for row in list_costs(cell)]
    compute += [row for cell, costs, _ in priced for row in list_thirds(cell, costs)]
    compute += [list_unknown(cell, reasons[cell.folder]) for cell, costs, _ in priced if not costs]
    growth = [row for cell, costs, reason in priced for row in list_growth(cell, costs, reason)]
    corpora = sorted({cell.names["corpus"] for cell in main})
    equal = [
        row for corpus in corpora for row in list_equal([c for c in main if c.names["corpus"] == corpus])
    ]
    return {
        "compute": as_table(compute, COST_COLUMNS),
        "growth": as_table(growth, GROWTH_COLUMNS),
        "equal_compute": as_table(equal, EQUAL_COLUMNS),
    }


def _name(cell: Scored, *more: str) -> dict:
    return {key: cell.names[key] for key in (*NAMES, *more)}


def list_costs(cell: Scored) -> list[dict]:
    """Return the row of all documents of a cell: the ledger and what was measured, a document."""
    n, measured = cell.ledger["documents"], cell.generation["measured"]
    counts = {key: cell.ledger[key] / n for key in COUNTS} if n else {}
    spent = {"seconds": measured["seconds"] / n} if n else {}
    about = {"part": PARTS[0], "documents": n, "peak_memory_mb": measured["peak_memory_mb"]}
    return [_name(cell, *AXES) | counts | spent | about | {"reason": "" if n else "no document was filled"}]


def list_thirds(cell: Scored, costs: list[DocumentCost]) -> list[dict]:
    """Return a row a third of the documents by length; seconds and memory were measured for all at once."""
    named = _name(cell, *AXES)
    return [named | row | {"reason": ""} for row in average_costs(costs) if row["part"] != PARTS[0]]


def list_unknown(cell: Scored, reason: str) -> dict:
    """Return the row of a cell whose cost is not known by length."""
    return _name(cell, *AXES) | {"part": "by length", "reason": reason}


def list_growth(cell: Scored, costs: list[DocumentCost], reason: str) -> list[dict]:
    """Return a row a count: how it grows with the length of a document."""
    named = {key: cell.names[key] for key in ("corpus", "arm", "seed")}
    resamples = read_record(cell.folder)["settings"]["resamples"]
    return [
        named
        | {"measure": measure}
        | ({"reason": reason} if reason else fit_growth(costs, measure, resamples))
        for measure in ("token_forwards", "flops")
    ]


def price(cell: Scored, read: Callable) -> tuple[list[DocumentCost], str]:
    """Return what each document of a cell cost, or nothing and why that is not known."""
    arm = cell.generation["settings"]
    if reason := explain_unknown(arm):
        return [], reason
    skipped = set(json.loads((cell.inputs["generation"] / "skipped.json").read_text()))
    rows, sizes = read(cell, arm)
    costs = cost_documents(arm, [row for row in rows if row.id not in skipped], sizes)
    counted = {key: cell.ledger[key] for key in COUNTS}
    return (costs, "") if add_up(costs) == counted else ([], NOT_BY_RULE)


def _reader() -> Callable:
    """Return what reads the sub-words of a cell and the shape of its network, each once for all arms that share it."""
    rows, sizes = {}, {}

    def read(cell: Scored, arm: dict):
        vocabulary = (cell.model / "tokenizer.json").read_bytes()
        key = (cell.inputs["corruption"], hash(vocabulary), arm["length"] == "one")
        if key not in rows:
            texts = {d.id: d.text for d in load_split(cell.inputs["corpus"], "generate")}
            blanked = load_blanked(cell.inputs["corruption"], texts)
            rows[key] = tokenize_blanked(arm, blanked, load_tokenizer(cell.model))
        shape = (cell.model, arm["writer"])
        if shape not in sizes:
            sizes[shape] = open_sizes(*shape)
        return rows[key], sizes[shape]

    return read


def list_equal(cells: list[Scored]) -> list[dict]:
    """Return the comparisons at equal compute of one corpus; the seeds of an arm are put together."""
    by_arm: dict[str, list[Scored]] = {}
    for cell in sorted(cells, key=lambda cell: (cell.names["arm"], cell.names["seed"])):
        by_arm.setdefault(cell.names["arm"], []).append(cell)
    runs = [put_together(arm, made) for arm, made in by_arm.items()]
    resamples = read_record(cells[0].folder)["settings"]["resamples"]
    return compare_at_equal_compute(cells[0].names["corpus"], runs, resamples)


def put_together(arm: str, cells: list[Scored]) -> Run:
    """Return the seeds of an arm as one run, document by document."""
    statistics = [read_statistics(cell.folder) for cell in cells]
    shared = set.intersection(*map(set, statistics))
    spent = [cell.ledger["flops"] / max(1, cell.ledger["documents"]) for cell in cells]
    return Run(
        arm,
        name_family(cells[0].generation["settings"]),
        float(np.mean(spent)),
        {key: np.vstack([one[key] for one in statistics]) for key in shared},
        [unit for cell in cells for unit in _list_units(cell)],
    )


def _list_units(cell: Scored) -> list[str]:
    documents = load_split(cell.inputs["corpus"], "generate")
    return cluster_by_author([d.author for d in documents]) or [d.id for d in documents]
