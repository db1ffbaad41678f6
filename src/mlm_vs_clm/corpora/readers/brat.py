"""brat folders: a .ann of standoff annotations beside each .txt, as n2c2 2018 track 2 is given out."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath

from blankfill.text import compose

from ...documents import Document, Entity
from ...errors import StudyError
from .base import OnMistake, ReaderResult, name_documents, raise_mistake
from .files import Files, plain, reading
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
NUMBER = r"\d{1,15}"  # a longer one is no offset, and Python refuses some thousand digits
PLACE = re.compile(rf"(\S+) ({NUMBER} {NUMBER}(?:;{NUMBER} {NUMBER})*)")


@dataclass(frozen=True)
class TextBoundAnnotation:
    """A T line: its own text, one or more pieces (start, end) of the document, and `where` it is (file and line)."""

    where: str
    type: str
    pieces: tuple[tuple[int, int], ...]
    text: str


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read every .txt below a folder (or in a zip) with its .ann; folders named train and test are official splits.

    A missing .ann, a line that is no annotation, and offsets that do not hold their text are mistakes.
    """
    result = ReaderResult(on_mistake=on_mistake)
    with reading(path, result) as files:
        texts = files.ending(".txt")
        if not texts:
            raise StudyError(f"{path} holds no .txt file: give a folder of .txt and .ann files")
        ids = name_documents([name[: -len(".txt")] for name in texts])
        for name in texts:
            result.attempt(_read_document, files, name, ids[name[: -len(".txt")]], result)
        for name in files.ending(".ann"):
            if name[: -len(".ann")] not in ids:
                result.on_mistake(
                    StudyError(f"{files.where(name)}: its .txt is missing: add it or remove this")
                )
    return result


def _read_document(files: Files, name: str, id: str, result: ReaderResult) -> None:
    stem = name[: -len(".txt")]
    beside = next((f"{stem}{end}" for end in (".ann", ".ANN") if f"{stem}{end}" in files.names), None)
    if beside is None:
        raise StudyError(f"{files.where(name)}: its .ann is missing: add one, empty if there is no entity")
    raw = files.read_text(name)
    read = (
        result.attempt(_read_line, line, files.where(beside, number), result.counted)
        for number, line in files.lines(beside)
    )
    annotations = [annotation for annotation in read if annotation]
    text = choose_view(raw, annotations)
    placed = (result.attempt(place, annotation, text, id, result) for annotation in annotations)
    ordered = sorted(filter(None, placed), key=lambda entity: (entity.start, entity.end, entity.type))
    result.counted["overlapping entities (kept)"] += count_overlapping(list(dict.fromkeys(ordered)))
    official = part_of_path(str(PurePosixPath(name).parent))
    result.add(Document(id=id, text=plain(raw), entities=tuple(ordered)), official, files.where(name))


def _read_line(line: str, where: str, counted: Counter) -> TextBoundAnnotation | None:
    """Return the annotation of a T line; count any other known line, and return None."""
    kind = OTHER_LINES.get(line[0])
    if kind:
        counted[f"{kind} lines (not used)"] += 1
        return None
    columns = line.split("\t", 2)
    match = PLACE.fullmatch(columns[1]) if line[0] == "T" and len(columns) == 3 else None
    if not match:
        raise StudyError(f"{where}: not an annotation of brat (T1<tab>Type start end<tab>text): correct it")
    pieces = tuple((int(start), int(end)) for start, end in map(str.split, match[2].split(";")))
    return TextBoundAnnotation(where, match[1], pieces, columns[2])


def choose_view(raw: str, annotations: list[TextBoundAnnotation]) -> str:
    """Return the text that the offsets count in: with or without a byte-order mark, CRLF as two or one.

    Tools differ here; of the four, the first in which most annotations hold their own text is chosen.
    """
    unmarked = raw.removeprefix("\ufeff")
    views = dict.fromkeys([unmarked, plain(raw), raw, raw.replace("\r\n", "\n")])
    return max(views, key=lambda view: sum(_holds(annotation, view) for annotation in annotations))


def place(annotation: TextBoundAnnotation, view: str, id: str, result: ReaderResult) -> Entity | None:
    """Return the entity in the plain text, or None where it lies in pieces; StudyError where offsets are wrong."""
    first, last = annotation.pieces[0][0], annotation.pieces[-1][1]
    if not _are_inside(annotation, view):
        raise StudyError(f"{annotation.where}: offsets {first}-{last} fall outside the text: correct them")
    if not _holds(annotation, view):
        raise StudyError(f"{annotation.where}: the text at offsets {first}-{last} differs: correct the line")
    gaps = [view[end:start] for (_, end), (start, _) in pairwise(annotation.pieces)]
    if any(gap.strip() for gap in gaps):
        result.drop(id, "discontinuous entity")
        return None
    result.counted["entities over a line break (joined)"] += bool(gaps)
    return Entity(len(plain(view[:first])), len(plain(view[:last])), annotation.type)


def count_overlapping(ordered: list[Entity]) -> int:
    """Return how many of the entities, ordered by start, begin before an earlier one has ended."""
    count, reach = 0, 0
    for entity in ordered:
        count += entity.start < reach
        reach = max(reach, entity.end)
    return count


def _are_inside(annotation: TextBoundAnnotation, view: str) -> bool:
    edges = [edge for piece in annotation.pieces for edge in piece]
    are_ordered = edges == sorted(edges) and all(start < end for start, end in annotation.pieces)
    return are_ordered and edges[-1] <= len(view)


def _holds(annotation: TextBoundAnnotation, view: str) -> bool:
    """Return whether the text at the offsets is the annotation's own, white space aside."""
    covered = " ".join(view[start:end] for start, end in annotation.pieces)
    return _are_inside(annotation, view) and compose(covered).split() == compose(annotation.text).split()
