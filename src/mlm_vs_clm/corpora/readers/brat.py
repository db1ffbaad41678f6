"""brat folders: a .ann of standoff annotations beside each .txt, as n2c2 2018 track 2 is given out."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath

from ...documents import Document, Entity
from ...errors import StudyError
from .base import Reading, Report, refuse
from .files import Files, plain
from .naming import name_documents
from .official import part_of_path

RULE = (
    "entities are the T lines; relations, events, attributes, equivalences, normalisations and notes are counted and "
    "not used; a span in pieces that only white space parts (a mention over a line break) is one entity, any other "
    "span in pieces is left out, as are repeated entities; overlapping ones stay; line ends become line feeds and a "
    "byte-order mark is removed, offsets moved with them"
)
OTHER_LINES = {
    "R": "relation",
    "E": "event",
    "A": "attribute",
    "M": "attribute",
    "N": "normalisation",
    "#": "note",
    "*": "equivalence",
}
PLACE = re.compile(r"(\S+) (\d+ \d+(?:;\d+ \d+)*)")


@dataclass(frozen=True)
class Span:
    """A T line: its own text at one or more pieces (start, end) of the document; `where` names file and line."""

    where: str
    type: str
    pieces: tuple[tuple[int, int], ...]
    text: str


def read(path: Path, report: Report = refuse) -> Reading:
    """Read every .txt below a folder (or in a zip) with its .ann; folders named train and test are official splits.

    A missing .ann, a line that is no annotation, and offsets that do not hold their text are mistakes.
    """
    files, reading = Files(path), Reading(report=report)
    texts = files.ending(".txt")
    if not texts:
        raise StudyError(f"{path} holds no .txt file: give a folder of .txt and .ann files")
    ids = name_documents([name[: -len(".txt")] for name in texts])
    for name in texts:
        reading.attempt(_read_document, files, name, ids[name[: -len(".txt")]], reading)
    for name in files.ending(".ann"):
        if name[: -len(".ann")] not in ids:
            reading.report(StudyError(f"{files.where(name)}: its .txt is missing: add it or remove the .ann"))
    return reading


def _read_document(files: Files, name: str, id: str, reading: Reading) -> None:
    stem = name[: -len(".txt")]
    beside = next((f"{stem}{end}" for end in (".ann", ".ANN") if f"{stem}{end}" in files.names), None)
    if beside is None:
        raise StudyError(f"{files.where(name)}: its .ann is missing: add one, empty if there is no entity")
    raw = files.read_text(name)
    read = (
        reading.attempt(_read_line, line, files.where(beside, number), reading.counted)
        for number, line in files.lines(beside)
    )
    spans = [span for span in read if span]
    text = choose_view(raw, spans)
    placed = (reading.attempt(place, span, text, id, reading) for span in spans)
    entities: dict[Entity, None] = {}
    for entity in filter(None, placed):
        if entity in entities:
            reading.drop(id, "repeated entity")
        entities[entity] = None
    ordered = sorted(entities, key=lambda entity: (entity.start, entity.end, entity.type))
    reading.counted["overlapping entities (kept)"] += count_overlapping(ordered)
    reading.add(
        Document(id=id, text=plain(raw), entities=tuple(ordered), source=id),
        part_of_path(str(PurePosixPath(name).parent)),
    )


def _read_line(line: str, where: str, counted: Counter) -> Span | None:
    """Return the span of a T line; count any other known line, and return None."""
    kind = OTHER_LINES.get(line[0])
    if kind:
        counted[f"{kind} lines (not used)"] += 1
        return None
    columns = line.split("\t", 2)
    found = PLACE.fullmatch(columns[1]) if line[0] == "T" and len(columns) == 3 else None
    if not found:
        raise StudyError(
            f"{where}: no annotation that brat knows (T1<tab>Type start end<tab>text): correct it"
        )
    pieces = (piece.split() for piece in found[2].split(";"))
    return Span(where, found[1], tuple((int(start), int(end)) for start, end in pieces), columns[2])


def choose_view(raw: str, spans: list[Span]) -> str:
    """Return the text that the offsets count in: with or without a byte-order mark, CRLF as two or one.

    Tools differ here; of the four, the first in which most spans hold their own text is taken.
    """
    unmarked = raw.removeprefix("\ufeff")
    views = dict.fromkeys([unmarked, plain(raw), raw, raw.replace("\r\n", "\n")])
    return max(views, key=lambda view: sum(_holds(span, view) for span in spans))


def place(span: Span, view: str, id: str, reading: Reading) -> Entity | None:
    """Return the entity in the plain text, or None where it lies in pieces; StudyError where offsets are wrong."""
    first, last = span.pieces[0][0], span.pieces[-1][1]
    if not _are_inside(span, view):
        raise StudyError(f"{span.where}: offsets {first}-{last} fall outside the text: correct the line")
    if not _holds(span, view):
        raise StudyError(
            f"{span.where}: the text at offsets {first}-{last} is not the line's own: correct it"
        )
    gaps = [view[end:start] for (_, end), (start, _) in pairwise(span.pieces)]
    if any(gap.strip() for gap in gaps):
        reading.drop(id, "discontinuous entity")
        return None
    reading.counted["entities over a line break (joined)"] += bool(gaps)
    return Entity(len(plain(view[:first])), len(plain(view[:last])), span.type)


def count_overlapping(ordered: list[Entity]) -> int:
    """Return how many of the entities, ordered by start, begin before an earlier one has ended."""
    count, reach = 0, 0
    for entity in ordered:
        count += entity.start < reach
        reach = max(reach, entity.end)
    return count


def _are_inside(span: Span, view: str) -> bool:
    edges = [edge for piece in span.pieces for edge in piece]
    return (
        edges == sorted(edges) and all(start < end for start, end in span.pieces) and edges[-1] <= len(view)
    )


def _holds(span: Span, view: str) -> bool:
    """Tell whether the text at the offsets is the span's own, white space aside."""
    found = " ".join(view[start:end] for start, end in span.pieces)
    return _are_inside(span, view) and found.split() == span.text.split()
