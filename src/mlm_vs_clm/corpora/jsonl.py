"""JSON Lines, for anyone's own documents."""

import json
from pathlib import Path

from mlm_vs_clm.corpora.reading import Reading, check_offsets, read_text
from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.errors import StudyError

RULE = "texts as they stand"
SHAPE = '{"id", "text", "labels"?: [str], "entities"?: [[start, end, type]], "author"?, "date"?}'


def read(path: Path) -> Reading:
    """Read one document a line, blank lines aside; StudyError names the line that does not fit the shape."""
    reading = Reading()
    seen = set()
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        document = _read_line(line, f"{path}, line {number}")
        if document.id in seen:
            raise StudyError(f"{path}, line {number}: the id {document.id} is used twice: make ids unique")
        seen.add(document.id)
        reading.add(document)
    return reading


def _read_line(line: str, where: str) -> Document:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise StudyError(f"{where}: not JSON (column {error.colno}): correct the line") from None
    if not _fits(row):
        raise StudyError(f"{where}: not of the shape {SHAPE}: correct the line")
    entities = tuple(Entity(*entity) for entity in row.get("entities", []))
    for entity in entities:
        check_offsets(entity, row["text"], f"{where}, document {row['id']}")
    return Document(
        id=row["id"],
        text=row["text"],
        labels=tuple(row.get("labels", [])),
        entities=entities,
        author=row.get("author", ""),
        date=row.get("date", ""),
        source=row["id"],
    )


def _fits(row: object) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("text"), str) or not row.get("id"):
        return False
    texts = [row["id"], row.get("author", ""), row.get("date", "")]
    labels, entities = row.get("labels", []), row.get("entities", [])
    if not isinstance(labels, list) or not isinstance(entities, list):
        return False
    return all(isinstance(text, str) for text in texts + labels) and all(map(_is_entity, entities))


def _is_entity(value: object) -> bool:
    return isinstance(value, list) and [type(part) for part in value] == [int, int, str]
