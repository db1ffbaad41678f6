"""JSON Lines, for anyone's own documents."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from ...documents import Document, Entity
from ...errors import StudyError
from .base import Columns, OnMistake, ReaderResult, parse_json, raise_mistake, read_text, refuse_characters
from .cells import expand, text_of
from .official import part_of_value
from .tables import name_columns, refuse_near_names

RULE = "texts as they stand"
SHAPE = '{"id", "text", "labels"?: [str] or "label"?: str, "entities"?: [[start, end, type]], "author"?, "date"?: "2013-06-14", "split"?}'


def read(path: Path, on_mistake: OnMistake = raise_mistake, columns: Columns | None = None) -> ReaderResult:
    """Read one document a line, blank lines aside; `columns` names those keys that are called otherwise.

    A line that is not JSON or not of the shape, and an id used twice in a split, are mistakes, located by their line.
    """
    result = ReaderResult(on_mistake=on_mistake)
    keys: set[str] = set()
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            result.attempt(_read_line, line, f"{path}, line {number}", columns or {}, keys, result)
    for ours, theirs in (columns or {}).items() if keys else ():
        if theirs not in keys:
            raise StudyError(
                f"{path}: no line has a key {theirs}: name the right one (corpus.columns.{ours}=...)"
            )
    refuse_near_names(keys, name_columns(keys, columns or {}), str(path))
    result.refuse_numbers(str(path))
    return result


def parse(line: str, where: str) -> dict:
    """Return the JSON object that a line holds, {} for another value; StudyError names the line."""
    row = parse_json(line, where)
    row = row if isinstance(row, dict) else {}
    for value in _strings(row):
        refuse_characters(value, where)
    return row


def _strings(value: object) -> Iterator[str]:
    """Yield every string in a JSON value, at whatever depth."""
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str):
            yield inner
        elif isinstance(inner, dict | list):
            waiting += inner.values() if isinstance(inner, dict) else inner


def _read_line(line: str, where: str, columns: Columns, keys: set[str], result: ReaderResult) -> None:
    row = parse(line, where)
    keys.update(row)
    row = _rename(row, columns, where)
    if key := _find_misfit(row):
        raise StudyError(f"{where}: not of the shape {SHAPE}: {'correct' if key in row else 'add'} its {key}")
    entities = tuple(Entity(*entity) for entity in row.get("entities", []))
    labels = expand(row.get("labels", []), where)
    author, date = row.get("author", ""), _read_date(row.get("date", ""), where)
    document = Document(row["id"], row["text"], labels, entities, author, date)
    result.add(document, part_of_value(row.get("split") or None, where), where)


def _rename(row: dict, columns: Columns, where: str) -> dict:
    """Return a row with our names for the keys that it has, numbers as text, and without nulls.

    A key of ours that another was named for is left out.
    """
    called = name_columns(row, columns)
    renamed = {ours: row[theirs] for ours, theirs in called.items() if theirs in row}
    for name in ("id", "author"):
        if isinstance(renamed.get(name), int | float):
            renamed[name] = text_of(renamed[name], name, where)
    if isinstance(labels := renamed.get("labels"), str | int | float):
        renamed["labels"] = [text_of(labels, "labels", where)]
    renamed = {key: value for key, value in row.items() if key not in called} | renamed
    return {key: value for key, value in renamed.items() if value is not None}


def _read_date(date: str, where: str) -> str:
    """Return a date without its time; StudyError for one that is not written as ISO 8601 has it."""
    try:
        return date and datetime.fromisoformat(date).date().isoformat()
    except ValueError:
        raise StudyError(f"{where}: its date is not of the form 2013-06-14: correct or delete it") from None


def _find_misfit(row: dict) -> str:
    """Return the first key of a row whose value is missing or not of SHAPE, "" where all are."""
    labels, entities = row.get("labels", []), row.get("entities", [])
    fits = {key: _is_text(row.get(key, "")) for key in ("id", "text", "author", "date", "split")}
    fits["id"] &= bool(row.get("id"))
    fits["text"] &= "text" in row
    fits["labels"] = isinstance(labels, list) and all(map(_is_text, labels))
    fits["entities"] = isinstance(entities, list) and all(map(_is_entity, entities))
    return next((key for key in fits if not fits[key]), "")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_entity(value: object) -> bool:
    return isinstance(value, list) and [type(element) for element in value] == [int, int, str]
