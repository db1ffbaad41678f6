"""A corpus, and how it is stored: the same documents give the same bytes."""

import csv
import hashlib
import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..documents import Document
from ..errors import StudyError
from ..files import read_lines

if TYPE_CHECKING:
    from datasets import Dataset


PROBLEMS = "problems.jsonl"


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
    from datasets import disable_progress_bars

    disable_progress_bars()
    datasets, files = encode(corpus)
    for split, dataset in datasets.items():
        dataset.save_to_disk(folder / split, num_shards=1)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def encode(corpus: Corpus) -> tuple[dict[str, "Dataset"], dict[str, bytes]]:
    """Return what `save` writes: the data set of each split, and the content of each file."""
    table = io.StringIO()
    rows = csv.DictWriter(table, ["id", "reason"], lineterminator="\n")
    rows.writeheader()
    rows.writerows(corpus.dropped)
    lines = [json.dumps(problem, ensure_ascii=False) + "\n" for problem in corpus.problems]
    card = json.dumps(corpus.card, indent=2, ensure_ascii=False) + "\n"
    files = {"card.json": card, "dropped.csv": table.getvalue()} | (
        {PROBLEMS: "".join(lines)} if lines else {}
    )
    datasets = {split: to_dataset(documents) for split, documents in corpus.splits.items()}
    return datasets, {name: text.encode() for name, text in files.items()}


def load_problems(folder: Path, split: str) -> list[dict]:
    """Return the authorship problems given for a split: {"id", "known": [document ids], "unknown", "same"}."""
    if not (folder / PROBLEMS).is_file():
        return []
    return [row for row in read_lines(folder / PROBLEMS) if row.pop("split") == split]


def load_split(folder: Path, split: str) -> list[Document]:
    """Return the documents of one split of a stored corpus; StudyError if it is missing or damaged."""
    from datasets import load_from_disk

    try:
        stored = load_from_disk(folder / split, keep_in_memory=True)
    except (OSError, ValueError, LookupError) as error:
        problem = f"{folder / split} is not a stored split ({type(error).__name__})"
        raise StudyError(f"{problem}: remove {folder} and run again") from None
    return [Document.from_row(row) for row in stored]


def to_dataset(documents: list[Document]) -> "Dataset":
    """Build a dataset in memory, its fingerprint computed from the rows instead of drawn at random."""
    import pyarrow
    from datasets import Dataset, DatasetInfo, Features, List, Value

    text = Value("string")
    entity = {"start": Value("int64"), "end": Value("int64"), "type": text}
    columns = {"id": text, "text": text, "labels": List(text), "entities": List(entity)}
    features = Features(columns | dict.fromkeys(("author", "date", "source"), text))
    rows = [document.to_row() for document in documents]
    fingerprint = hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
    table = pyarrow.Table.from_pylist(rows, schema=features.arrow_schema)
    return Dataset(table, info=DatasetInfo(features=features), fingerprint=fingerprint)
