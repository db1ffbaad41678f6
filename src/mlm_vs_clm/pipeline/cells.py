"""Stored cells: texts with their blanks and fills, scores, task results and their names, each artifact read once."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from blankfill.text import BlankedText, FilledText

from ..corpora import load_split
from ..documents import Document
from ..evidence.cells import Cell, ScoredCell, TrainedCell
from ..evidence.equal_compute import name_method
from ..files import read_lines, write_lines
from ..masking import Corruption
from ..tasks import TASKS
from ..tasks.outcome import NO_ROOM, UNTRAINED
from .artifacts import inputs_of, name_of, read_record
from .recipes import UNDERSTANDING

NAMES = ("corpus", "arm", "strategy", "ratio", "seed")
CURVE = "curve/"  # opens the names of scores at the budgets of a training


def save_corruptions(path: Path, corruptions: list[Corruption]) -> None:
    """Write which words of each document are blanks."""
    write_lines(path, map(vars, corruptions))


@lru_cache(maxsize=8)
def load_documents(corpus: Path, split: str) -> tuple[Document, ...]:
    """Return a split of a corpus, read once for the many cells that a process handles."""
    return tuple(load_split(corpus, split))


def load_blanked_texts(inputs: dict[str, Path]) -> tuple[tuple[Document, ...], list[BlankedText]]:
    """Return the documents of the `generate` split, and the same with their blanks."""
    documents = load_documents(inputs["corpus"], "generate")
    texts = {document.id: document.text for document in documents}
    blanked = [
        BlankedText(row["id"], texts[row["id"]], [tuple(word) for word in row["words"]], row["blanks"])
        for row in read_lines(inputs["corruption"] / "blanks.jsonl")
    ]
    return documents, blanked


def save_filled(path: Path, filled: list[FilledText]) -> None:
    """Write the texts that an arm filled, one line per document."""
    write_lines(path, ({"id": f.id, "text": f.text, "fills": f.fills, "spans": f.spans} for f in filled))


def load_filled(folder: Path) -> list[FilledText]:
    """Return the texts that an arm filled."""
    return [
        FilledText(row["id"], row["text"], row["fills"], [tuple(s) if s else None for s in row["spans"]])
        for row in read_lines(folder / "fills.jsonl")
    ]


def read_statistics(folder: Path) -> dict[tuple[str, str], np.ndarray]:
    """Return the stored statistics of a cell by (scope, metric), rows in the order of its documents."""
    lines = read_lines(folder / "statistics.jsonl")
    return {(line["scope"], line["metric"]): np.array(line["rows"], dtype=float) for line in lines}


def cluster_by_author(documents: Sequence[Document]) -> list[str] | None:
    """Return each document's author where authors repeat, so that intervals draw authors and not documents.

    A document without an author is drawn alone.
    """
    authors = [document.author or document.id for document in documents]
    return authors if len(set(authors)) < len(authors) else None


def of_stage(inputs: dict[str, Path], stage: str) -> list[Path]:
    """Return the folders of one stage's artifacts, in the order of their names; those of a curve, and networks that were
    fine-tuned with real text, are not among them.
    """
    named = sorted(
        (name, path) for name, path in inputs.items() if not name.startswith((CURVE, UNDERSTANDING))
    )
    return [path for _, path in named if path.parent.name == stage]


def opened_by(inputs: dict[str, Path], opening: str) -> list[Path]:
    """Return the folders of the artifacts whose names an opening begins (CURVE, UNDERSTANDING), in the order of their names."""
    return [path for name, path in sorted(inputs.items()) if name.startswith(opening)]


def describe_cell(inputs: dict[str, Path]) -> dict:
    """Return the columns that name a cell, from the records of its inputs."""
    arm = read_record(inputs["generation"])["settings"]
    corpus = read_record(inputs["corpus"])["settings"]["name"]
    corruption = json.loads((inputs["corruption"] / "summary.json").read_text())
    names = {"corpus": corpus, "arm": arm["name"], "objective": arm["objective"] or "none"}
    axes = {axis: arm[axis] for axis in ("context", "length", "order")}
    return names | axes | {key: corruption[key] for key in ("strategy", "ratio", "share", "seed")}


def name_model(generation: Path) -> str:
    """Return the name of the model that filled the blanks: its initial checkpoint; `none` for a baseline."""
    read = inputs_of(generation)
    if "model" not in read:
        return "none"
    start = inputs_of(read["model"]).get("start", read["model"])
    return read_record(start)["settings"]["name"]


@cache
def describe_score(path: Path) -> dict:
    """Return the columns that name a score artifact's cell."""
    read = inputs_of(path)
    return describe_cell(read) | {"model": name_model(read["generation"])}


@cache
def describe_task(path: Path) -> dict:
    """Return the columns that name a downstream artifact's cell; a control has no masking."""
    settings, read = read_record(path)["settings"], inputs_of(path)
    about = {"task": settings["task"], "corpus": read_record(read["corpus"])["settings"]["name"]}
    if settings["trained_on"] != "generated":
        control = {"trained_on": settings["trained_on"], "strategy": "", "ratio": math.nan}
        return about | control | {"share": math.nan, "seed": 0, "model": "none"}
    cell = describe_cell(read) | {"model": name_model(read["generation"])}
    policy = settings.get("label_policy")
    return (
        about
        | {"trained_on": " ".join([cell["arm"], *([f"label_policy={policy}"] if policy else [])])}
        | {key: cell[key] for key in ("strategy", "ratio", "share", "seed", "model")}
    )


@cache
def describe_network(path: Path) -> dict:
    """Return the columns that name a network which was fine-tuned with real text, as those of a control, and its examples."""
    settings, read = read_record(path)["settings"], inputs_of(path)
    about, how = describe_task(path), settings.get("finetuning", {})
    if "network" not in read:
        return about | {"trained_on": settings["trained_on"], "examples": how.get("examples", 0)}
    record = read_record(read["network"])["settings"]
    name = record["objective"]["name"] if "objective" in record else "start"
    sides = "" if how["sides"] == "own" else f" sides={how['sides']}"
    return about | {"trained_on": f"{name}{sides}", "examples": how["examples"]}


@cache
def read_network(path: Path) -> TrainedCell:
    """Return the cell of a network that was fine-tuned with real text."""
    about, trained = describe_network(path), read_trained(path)
    return replace(trained, cell=replace(trained.cell, arm=about["trained_on"]), examples=about["examples"])


@cache
def read_scored(path: Path) -> ScoredCell:
    """Return the cell of a score artifact."""
    read, about = inputs_of(path), describe_score(path)
    arm, model = read_record(read["generation"])["settings"], inputs_of(read["generation"]).get("model")
    place = read["generation"] / "model.json"
    return ScoredCell(
        Cell(**{key: about[key] for key in NAMES}, budget=arm.get("budget", 0)),
        name_of(path),
        read_statistics(path),
        cluster_by_author(load_documents(read["corpus"], "generate")),
        json.loads((read["generation"] / "ledger.json").read_text()),
        name_method(arm),
        arm["context"],
        arm.get("temperature", 0.0),
        name_of(model) if model else "",
        json.loads(place.read_text()) if place.is_file() else {},
    )


@cache
def read_trained(path: Path) -> TrainedCell:
    """Return the cell of a downstream artifact."""
    about = describe_task(path)
    scores = pd.read_csv(path / "scores.csv", keep_default_na=False).set_index("metric")
    reason = scores.loc[TASKS[about["task"]].main_metric, "reason"]
    return TrainedCell(
        Cell(*(about[key] for key in ("corpus", "trained_on", "strategy", "ratio", "seed"))),
        about["task"],
        name_of(path),
        pd.DataFrame(read_lines(path / "units.jsonl")),
        reason if reason.startswith((UNTRAINED, NO_ROOM)) else "",
    )
