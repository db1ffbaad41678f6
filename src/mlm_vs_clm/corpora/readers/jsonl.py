"""JSON Lines, for anyone's own documents."""

import json
from pathlib import Path

from ...documents import Document, Entity, check_offsets
from ...errors import StudyError
from .base import Columns, OnMistake, ReaderResult, raise_mistake, read_text
from .official import part_of_value

RULE = "texts as they stand"
SHAPE = '{"id", "text", "labels"?: [str], "entities"?: [[start, end, type]], "author"?, "date"?, "split"?}'


def read(path: Path, on_mistake: OnMistake = raise_mistake, columns: Columns | None = None) -> ReaderResult:
    """Read one document a line, blank lines aside; `columns` names those keys that are called otherwise.

    A line that is not JSON or not of the shape, and an id used twice, are mistakes, located by their line.
    """
    result = ReaderResult(on_mistake=on_mistake)
    seen: set[str] = set()
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            result.attempt(_read_line, line, f"{path}, line {number}", columns or {}, seen, result)
    return result


def parse(line: str, where: str) -> dict:
    """Return the JSON object that a line holds; StudyError names the line."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise StudyError(f"{where}: not JSON (column {error.colno}): correct the line") from None
    row = row if isinstance(row, dict) else {}
    if any(isinstance(value, str) and "\0" in value for value in row.values()):
        raise StudyError(f"{where}: a NUL character, written \\u0000: remove it")
    return row


def _read_line(line: str, where: str, columns: Columns, seen: set[str], result: ReaderResult) -> None:
    row = parse(line, where)
    row |= {ours: row.get(theirs) for ours, theirs in columns.items()}
    if not _fits(row):
        raise StudyError(f"{where}: not of the shape {SHAPE}: correct the line")
    id = row["id"]
    if id in seen:
        raise StudyError(f"{where}: the id {id} is used twice: make ids unique")
    seen.add(id)
    entities = tuple(Entity(*entity) for entity in row.get("entities", []))
    for entity in entities:
        check_offsets(entity, row["text"], f"{where}, document {id}")
    about = {key: row.get(key, "") for key in ("author", "date")}
    document = Document(id, row["text"], tuple(row.get("labels", [])), entities, **about)
    result.add(document, part_of_value(row.get("split") or None, where))


def _fits(row: object) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("text"), str) or not row.get("id"):
        return False
    texts = [row["id"], *(row.get(key, "") for key in ("author", "date", "split"))]
    labels, entities = row.get("labels", []), row.get("entities", [])
    if not isinstance(labels, list) or not isinstance(entities, list):
        return False
    return all(isinstance(text, str) for text in texts + labels) and all(map(_is_entity, entities))


def _is_entity(value: object) -> bool:
    return isinstance(value, list) and [type(part) for part in value] == [int, int, str]
