"""BioC XML, the format of BC5CDR: passages at offsets, annotations at locations."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from xml.etree.ElementTree import Element
from xml.parsers.expat import ExpatError, ParserCreate

from ...documents import Document, Entity, check_offsets
from ...errors import StudyError
from .base import OnMistake, ReaderResult, raise_mistake, read_bytes

RULE = (
    "title and abstract joined as the file's offsets say; discontinuous entities, entities whose own text "
    "differs from the text at their offsets, and repeated entities are left out; overlapping ones stay"
)


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read a BioC collection (.xml or .xml.gz) with its entities.

    Raises StudyError for a file cut short, one with declarations of its own, and offsets outside a document's text.
    """
    content = read_bytes(path)
    try:
        refuse_declarations(content, path)
        collection = ElementTree.fromstring(content)
    except (ExpatError, ElementTree.ParseError) as error:
        line = error.lineno if isinstance(error, ExpatError) else error.position[0]
        raise StudyError(f"{path} is incomplete XML (line {line}): fetch it again") from None
    result = ReaderResult(on_mistake=on_mistake)
    for element in collection.iter("document"):
        result.attempt(_read_document, element, path, result)
    return result


def refuse_declarations(content: bytes, path: Path) -> None:
    """Raise StudyError for a DTD inside the file, whose entities may grow without end or name other files.

    A DTD that is only named, as in BC5CDR, is never read. Raises ExpatError for what is no XML.
    """

    def refuse(name: str, system: str | None, public: str | None, is_inside: bool) -> None:
        if is_inside:
            raise StudyError(f"{path}: XML with declarations of its own (a DTD): remove <!DOCTYPE ...[...]>")

    parser = ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.Parse(content, True)


def _read_document(element: Element, path: Path, result: ReaderResult) -> None:
    id = element.findtext("id", "")
    where = f"{path}, document {id}"
    text = _join_passages(element, where)
    entities: dict[Entity, None] = {}
    for annotation in element.iter("annotation"):
        entity = _read_entity(annotation, text, where)
        if isinstance(entity, str):
            result.drop(id, entity)
        elif entity in entities:
            result.drop(id, "repeated entity")
        else:
            entities[entity] = None
    ordered = tuple(sorted(entities, key=lambda entity: (entity.start, entity.end, entity.type)))
    result.add(Document(id=id, text=text, entities=ordered))


def _join_passages(element: Element, where: str) -> str:
    """Place each passage at its offset, so that the annotations' offsets hold in the whole text."""
    text = ""
    for passage in element.iter("passage"):
        offset = _number(passage.findtext("offset"), where)
        if offset < len(text):
            raise StudyError(f"{where}: the passage at offset {offset} overlaps the one before it")
        text += " " * (offset - len(text)) + passage.findtext("text", "")
    return text


def _read_entity(annotation: Element, text: str, where: str) -> Entity | str:
    """Return the entity, or why it is left out."""
    locations = annotation.findall("location")
    if len(locations) != 1:
        return "discontinuous entity"
    start = _number(locations[0].get("offset"), where)
    end = start + _number(locations[0].get("length"), where)
    kind = next((info.text or "" for info in annotation.iter("infon") if info.get("key") == "type"), "")
    entity = Entity(start, end, kind)
    check_offsets(entity, text, where)
    if annotation.findtext("text") != text[start:end]:
        return "entity text differs from the text at its offsets"
    return entity


def _number(value: str | None, where: str) -> int:
    if value is None or not value.isdecimal():
        raise StudyError(f"{where}: an offset or length is missing or not a number: correct the file")
    return int(value)
