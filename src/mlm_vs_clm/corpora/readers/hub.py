"""A `datasets` folder (save_to_disk), or a data set of the Hugging Face hub at a revision; never its code."""

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...documents import Document, Entity, check_offsets
from ...errors import StudyError
from .base import Columns, OnMistake, ReaderResult, raise_mistake
from .official import part_of_value
from .tables import NAMES, find_columns

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

HUB = re.compile(r"[\w.-]+(?:/[\w.-]+)?@[\w./-]+")
NO_CLASS = -1  # how unlabelled test splits mark a row
ENTITY_KEYS = ("start", "end", "type")
RULE = "texts as they stand; labels are one value or a list, classes by their names; a row without id is named by its number"


def read(
    path: Path | str, on_mistake: OnMistake = raise_mistake, columns: Columns | None = None
) -> ReaderResult:
    """Read every row of a saved Dataset or DatasetDict (its keys are official splits), or of owner/name@revision.

    Raises StudyError for a damaged folder, no network and a missing column; a class of -1 is no label.
    """
    result = ReaderResult(on_mistake=on_mistake)
    loaded = load(path)
    parts = loaded if isinstance(loaded, dict) else {"": loaded}
    for key, rows in parts.items():
        where = f"{path}, split {key}" if key else str(path)
        result.attempt(_read_rows, rows, key, where, columns or {}, result)
    return result


def load(path: Path | str) -> "Dataset | DatasetDict":
    """Return the data of a folder, or of owner/name@revision on the hub or in its cache."""
    from datasets import load_dataset, load_from_disk

    try:
        if Path(path).is_dir():
            return load_from_disk(str(path))
        if HUB.fullmatch(str(path)):
            name, _, revision = str(path).partition("@")
            return load_dataset(name, revision=revision)
    except (OSError, ValueError, KeyError, TypeError) as error:
        advice = "check the network and the name, or give a folder made with save_to_disk"
        raise StudyError(f"{path} cannot be loaded ({type(error).__name__}): {advice}") from None
    raise StudyError(f"{path} is missing: give a folder made with save_to_disk, or owner/name@revision")


def _read_rows(rows: "Dataset", key: str, where: str, columns: Columns, result: ReaderResult) -> None:
    called = {ours: columns.get(ours, ours) for ours in (*NAMES, "entities")}
    find_columns(rows.column_names, ("text",), columns, where)
    kind = rows.features.get(called["labels"])
    kind = getattr(kind, "feature", kind)  # of each label, where the column holds lists
    for number, row in enumerate(rows):
        found = {ours: row[theirs] for ours, theirs in called.items() if theirs in row}
        result.attempt(_read_row, found, kind, key, number, f"{where}, row {number}", result)


def _read_row(row: dict, kind: Any, key: str, number: int, where: str, result: ReaderResult) -> None:
    id = str(row.get("id", f"{key or 'row'}-{number}"))
    text, given = row["text"], row.get("labels")
    if not isinstance(text, str):
        raise StudyError(f"{where}: its text is not a string: correct it or name another column")
    if "\0" in text:
        raise StudyError(f"{where}: a NUL character: remove it")
    labels = [
        one for one in (given if isinstance(given, list) else [given]) if one not in (None, NO_CLASS, "")
    ]
    if hasattr(kind, "int2str"):
        labels = kind.int2str(labels)
    place, given = f"{where}, document {id}", row.get("entities") or []
    entities = tuple(_entity(one, place) for one in (given if isinstance(given, list) else [given]))
    for entity in entities:
        check_offsets(entity, text, place)
    part = part_of_value(row.get("split", key or None), where)
    author = str(row.get("author") or "")
    document = Document(id, text, tuple(map(str, labels)), entities, author=author)
    result.add(document, part)


def _entity(value: Any, where: str) -> Entity:
    """Return an entity that is a list or has names; StudyError for any other shape."""
    is_named = isinstance(value, dict) and value.keys() == set(ENTITY_KEYS)
    parts = [value[key] for key in ENTITY_KEYS] if is_named else value
    if isinstance(parts, list) and len(parts) >= len(ENTITY_KEYS) and parts[2] is not None:
        with suppress(TypeError, ValueError, OverflowError):
            return Entity(int(parts[0]), int(parts[1]), str(parts[2]))
    raise StudyError(
        f"{where}: an entity is not of the shape [start, end, type], or these by name: correct it"
    )
