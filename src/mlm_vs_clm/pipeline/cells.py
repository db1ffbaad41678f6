"""What is read from the stored cells: the texts with their blanks and fills, scores, task results, and their names."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd

from ..analysis.cells import CELL, Cell, Trained
from ..analysis.claim_evidence import Stored
from ..blanks import BlankedText, Corruption, FilledText
from ..corpora import load_split
from ..files import read_lines, write_lines
from ..tasks import TASKS
from ..tasks.outcome import UNTRAINED
from .artifacts import inputs_of, read_record


def save_corruptions(path: Path, corruptions: list[Corruption]) -> None:
    """Write which words of each document are blanks."""
    write_lines(
        path,
        ({"id": c.id, "words": c.words, "blanks": c.blanks, "n_eligible": c.n_eligible} for c in corruptions),
    )


def load_blanked(folder: Path, texts: dict[str, str]) -> list[BlankedText]:
    """Return the blanked documents of a corruption, given the text of each id."""
    return [
        BlankedText(row["id"], texts[row["id"]], [tuple(word) for word in row["words"]], row["blanks"])
        for row in read_lines(folder / "blanks.jsonl")
    ]


def save_filled(path: Path, filled: list[FilledText]) -> None:
    """Write what an arm wrote, a document a line."""
    write_lines(path, ({"id": f.id, "text": f.text, "fills": f.fills, "spans": f.spans} for f in filled))


def load_filled(folder: Path) -> list[FilledText]:
    """Return what an arm wrote."""
    return [
        FilledText(row["id"], row["text"], row["fills"], [tuple(s) if s else None for s in row["spans"]])
        for row in read_lines(folder / "fills.jsonl")
    ]


def read_statistics(folder: Path) -> dict[tuple[str, str], np.ndarray]:
    """Return the stored statistics of a cell by (scope, metric), rows in the order of its documents."""
    lines = read_lines(folder / "statistics.jsonl")
    return {(line["scope"], line["metric"]): np.array(line["rows"], dtype=float) for line in lines}


def cluster_by_author(authors: list[str]) -> list[str] | None:
    """Return each document's author where authors repeat, so that intervals draw authors and not documents."""
    return authors if any(authors) and len(set(authors)) < len(authors) else None


def describe_cell(inputs: dict[str, Path]) -> dict:
    """Return the columns that name a cell, from the records of its inputs."""
    arm = read_record(inputs["generation"])["settings"]
    corpus = read_record(inputs["corpus"])["settings"]["name"]
    corruption = json.loads((inputs["corruption"] / "summary.json").read_text())
    names = {"corpus": corpus, "arm": arm["name"], "objective": arm["objective"] or "none"}
    axes = {axis: arm[axis] for axis in ("context", "length", "order")}
    return names | axes | {key: corruption[key] for key in ("strategy", "ratio", "share", "seed")}


def read_cells(inputs: dict[str, Path]) -> dict[str, list[Cell]]:
    """Return what every arm scored in the cell of the gap, by corpus."""
    cells: dict[str, list[Cell]] = {}
    for path in _of_stage(inputs, "score").values():
        read = inputs_of(path)
        about = describe_cell(read)
        if (about["strategy"], about["ratio"]) == CELL:
            documents = load_split(read["corpus"], "generate")
            units = cluster_by_author([d.author for d in documents]) or [d.id for d in documents]
            cell = Cell(about["arm"], about["seed"], read_statistics(path), units)
            cells.setdefault(about["corpus"], []).append(cell)
    return cells


def read_trained(inputs: dict[str, Path]) -> dict[tuple[str, str], list[Trained]]:
    """Return what was answered after training on each arm's text in the cell of the gap, by corpus and task."""
    cells: dict[tuple[str, str], list[Trained]] = {}
    for path in _of_stage(inputs, "downstream").values():
        about = _describe_task(path)
        if (about["strategy"], about["ratio"]) == CELL:
            found = pd.read_csv(path / "scores.csv", keep_default_na=False).set_index("metric")
            reason = found.loc[TASKS[about["task"]].main_metric, "reason"]
            reason = reason if reason.startswith(UNTRAINED) else ""
            trained = Trained(
                about["trained_on"], about["seed"], list(read_lines(path / "units.jsonl")), reason
            )
            cells.setdefault((about["corpus"], about["task"]), []).append(trained)
    return cells


def _read_stored(path: Path) -> Stored:
    """Return what a claim reads of a score or a downstream result."""
    if path.parent.name == "downstream":
        return Stored(units=list(read_lines(path / "units.jsonl")))
    documents = load_split(inputs_of(path)["corpus"], "generate")
    return Stored(read_statistics(path), cluster_by_author([document.author for document in documents]))


def _of_stage(inputs: dict[str, Path], stage: str) -> dict[str, Path]:
    return {name: path for name, path in sorted(inputs.items()) if path.parent.name == stage}


def name_model(generation: Path) -> str:
    """Return the name of the model that wrote a text, `none` for a baseline: which initialisation it comes from."""
    read = inputs_of(generation)
    if "model" not in read:
        return "none"
    start = inputs_of(read["model"]).get("start", read["model"])
    return read_record(start)["settings"]["name"]


def _describe_score(path: Path) -> dict:
    read = inputs_of(path)
    return describe_cell(read) | {"model": name_model(read["generation"])}


def _describe_task(path: Path) -> dict:
    settings, read = read_record(path)["settings"], inputs_of(path)
    about = {"task": settings["task"], "corpus": read_record(read["corpus"])["settings"]["name"]}
    if settings["trained_on"] != "generated":
        return about | {
            "trained_on": settings["trained_on"],
            "strategy": "",
            "ratio": math.nan,
            "share": math.nan,
            "seed": 0,
            "model": "none",
        }
    cell = describe_cell(read)
    return (
        about
        | {"trained_on": cell["arm"]}
        | {key: cell[key] for key in ("strategy", "ratio", "share", "seed")}
        | {"model": name_model(read["generation"])}
    )
