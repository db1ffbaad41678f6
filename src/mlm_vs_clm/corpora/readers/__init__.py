"""The formats of corpora that can be read, and how to infer the format from a path."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ...errors import StudyError
from . import (
    bio,
    bioc,
    brat,
    dialogue,
    folder,
    hub,
    jsonl,
    messages,
    movies,
    pan,
    pan_pairs,
    reviews,
    speeches,
    tables,
)
from .base import Columns, ReaderResult
from .files import Files


@dataclass(frozen=True)
class Reader:
    """A format: how it is read, by which rule (for the data card), and which paths have it.

    read(path, on_mistake, columns) returns a ReaderResult; only a reader that `takes_columns` has the last argument, and one
    that `takes_entities` reads theirs from a column.
    `pattern` is searched in the names below a folder (`in_folder`) or in the name of a file alone (`in_file`).
    """

    read: Callable[..., ReaderResult]
    rule: str
    pattern: str = ""
    in_folder: bool = True
    in_file: bool = False
    takes_columns: bool = False
    takes_entities: bool = False
    has_gold_entities: bool | None = False  # None: where its data have a column of them


MPST_PATTERN = rf"(^|/){re.escape(tables.MPST_FILE)}$"

# In the order in which a path is compared with them: a brat folder also has the .txt files of `folder`.
READERS = {
    "datasets": Reader(
        hub.read,
        hub.RULE,
        r"(^|/)(dataset_dict|state)\.json$",
        takes_columns=True,
        takes_entities=True,
        has_gold_entities=None,
    ),
    "pan": Reader(pan.read, pan.RULE, r"(^|/)known01\.txt$"),
    "pan_pairs": Reader(pan_pairs.read, pan_pairs.RULE, r"pairs[^/]*\.jsonl$|truth[^/]*\.jsonl$"),
    "brat": Reader(brat.read, brat.RULE, r"\.ann$", has_gold_entities=True),
    "mpst": Reader(tables.read_mpst, tables.MPST_RULE, MPST_PATTERN, in_file=True),
    "bio": Reader(
        bio.read,
        bio.RULE,
        r"\.(conllu?|bio|iob2?)$",
        in_file=True,
        takes_columns=True,
        takes_entities=True,
        has_gold_entities=True,
    ),
    "folder": Reader(folder.read, folder.RULE, r"\.txt$", takes_columns=True),
    "jsonl": Reader(
        jsonl.read,
        jsonl.RULE,
        r"\.jsonl(\.gz)?$",
        in_folder=False,
        in_file=True,
        takes_columns=True,
        takes_entities=True,
        has_gold_entities=True,
    ),
    "csv": Reader(tables.read, tables.RULE, r"\.[ct]sv(\.gz)?$", in_file=True, takes_columns=True),
    "bioc": Reader(bioc.read, bioc.RULE, r"\.xml(\.gz)?$", False, True, has_gold_entities=True),
    "movies": Reader(movies.read, movies.RULE),
    "speeches": Reader(speeches.read, speeches.RULE),
    "dialogue": Reader(dialogue.read, dialogue.RULE),
    "reviews": Reader(reviews.read, reviews.RULE),
    "messages": Reader(messages.read, messages.RULE),
}


def marks_entities(reader: str, path: str, columns: Columns) -> bool:
    """Return whether a corpus marks its entities: by its format, or where that leaves it open, by its columns."""
    is_gold = READERS[reader].has_gold_entities
    return hub.has_entities(path, columns) if is_gold is None else is_gold


def infer(path: str) -> str:
    """Return the name of the reader for a path; StudyError for a path that is missing or fits none."""
    if hub.HUB.fullmatch(path) and not Path(path).exists():
        return "datasets"
    with Files(Path(path)) as files:
        is_single = Path(path).is_file() and files.zip is None
    inferred = {name: reader for name, reader in READERS.items() if reader.pattern}
    for name, reader in inferred.items():
        is_possible = reader.in_file if is_single else reader.in_folder
        if is_possible and any(re.search(reader.pattern, file, re.IGNORECASE) for file in files.names):
            return name
    alone = [name for name, reader in inferred.items() if reader.in_file and not reader.in_folder]
    for file in files.names:
        if any(re.search(inferred[name].pattern, file, re.IGNORECASE) for name in alone):
            raise StudyError(f"{path} is no single file: give the path of {file} itself, out of a zip")
    raise StudyError(f"cannot infer the format of {path}: set corpus.reader=<one of {', '.join(inferred)}>")
