"""A corpus, and how it is stored: the same documents give the same bytes."""

import csv
import hashlib
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import datasets
import pyarrow
from datasets import Dataset, DatasetInfo, Features, List, Value, load_from_disk

from ..documents import Document
from ..errors import StudyError

PROBLEMS = "problems.jsonl"
ENTITY = {"start": Value("int64"), "end": Value("int64"), "type": Value("string")}
FEATURES = Features(
    {
        "id": Value("string"),
        "text": Value("string"),
        "labels": List(Value("string")),
        "entities": List(ENTITY),
        "author": Value("string"),
        "date": Value("string"),
        "source": Value("string"),
    }
)


@dataclass(frozen=True)
class Corpus:
    """The splits of a corpus, a row {"id", "reason"} for everything left out, its data card, and a row
    {"split", "id", "known", "unknown", "same"} for each authorship problem that it gives, whole in a split."""

    splits: dict[str, list[Document]]
    dropped: list[dict[str, str]]
    card: dict
    problems: list[dict] = field(default_factory=list)


def save(corpus: Corpus, folder: Path) -> None:
    """Write a folder for each split, card.json and dropped.csv; problems.jsonl where problems are given."""
    for split, documents in corpus.splits.items():
        with _no_progress_bars():
            _to_dataset(documents).save_to_disk(folder / split, num_shards=1)
    card = json.dumps(corpus.card, indent=2, ensure_ascii=False)
    (folder / "card.json").write_text(card + "\n", encoding="utf-8")
    with open(folder / "dropped.csv", "w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, ["id", "reason"], lineterminator="\n")
        rows.writeheader()
        rows.writerows(corpus.dropped)
    if corpus.problems:
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in corpus.problems)
        (folder / PROBLEMS).write_text(lines, encoding="utf-8")


def load_problems(folder: Path, split: str) -> list[dict]:
    """Return the authorship problems given for a split: {"id", "known": [document ids], "unknown", "same"}."""
    if not (folder / PROBLEMS).is_file():
        return []
    rows = [json.loads(line) for line in (folder / PROBLEMS).read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row.pop("split") == split]


def load_split(folder: Path, split: str) -> list[Document]:
    """Return the documents of one split of a stored corpus; StudyError if it is missing or damaged."""
    try:
        stored = load_from_disk(folder / split, keep_in_memory=True)
    except (OSError, ValueError, KeyError) as error:
        raise StudyError(
            f"{folder / split} is no stored split ({type(error).__name__}): remove {folder} and run again"
        ) from None
    return [Document.from_row(row) for row in stored]


def _to_dataset(documents: list[Document]) -> Dataset:
    """Build a dataset in memory, its fingerprint drawn from the rows instead of from a random number."""
    rows = [document.to_row() for document in documents]
    fingerprint = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
    table = pyarrow.Table.from_pylist(rows, schema=FEATURES.arrow_schema)
    return Dataset(table, info=DatasetInfo(features=FEATURES), fingerprint=fingerprint)


@contextmanager
def _no_progress_bars():
    shown = not datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        if shown:
            datasets.enable_progress_bars()
