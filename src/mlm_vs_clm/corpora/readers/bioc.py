"""BioC XML, the format of BC5CDR: passages at offsets, annotations at locations."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from xml.etree.ElementTree import Element
from xml.parsers.expat import ExpatError, ParserCreate

from ...documents import Document, Entity, check_offsets
from ...errors import StudyError
from .base import OnMistake, ReaderResult, check_id, raise_mistake, read_bytes

# Characters between two passages; a wider one is a wrong offset, and would fill the memory.
WIDEST_GAP = 1_000_000
LONGEST_NUMBER = 15  # digits
RULE = (
    "title and abstract joined as the file's offsets say; discontinuous entities, entities whose own text "
    "differs from the text at their offsets, and repeated entities are left out; overlapping ones stay"
)


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read a BioC collection (.xml or .xml.gz) with its entities.

    Text stands in passages or in their sentences (BioC.dtd). Raises StudyError for a file cut short, one with
    declarations of its own, offsets outside a document's text, and an id that is missing or used twice.
    """
    content = read_bytes(path)
    try:
        refuse_declarations(content, path)
        collection = ElementTree.fromstring(content)
    except (ExpatError, ElementTree.ParseError) as error:
        line = error.lineno if isinstance(error, ExpatError) else error.position[0]
        raise StudyError(f"{path} is incomplete XML (line {line}): fetch it again") from None
    except (LookupError, ValueError):
        raise StudyError(f"{path} is XML in an encoding that cannot be read: convert it to UTF-8") from None
    result, documents = ReaderResult(on_mistake=on_mistake), [*collection.iter("document")]
    if not documents:
        raise StudyError(
            f"{path} holds no <document> of BioC, its root is <{collection.tag}>: convert it, or name another reader"
        )
    for number, element in enumerate(documents, start=1):
        result.attempt(_read_document, element, number, path, result)
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


def _read_document(element: Element, number: int, path: Path, result: ReaderResult) -> None:
    id = element.findtext("id", "").strip()
    check_id(id, f"{path}, document number {number}")
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
    result.add(Document(id=id, text=text, entities=ordered), where=f"{path}, document number {number}")


def _join_passages(element: Element, where: str) -> str:
    """Place each passage or sentence at its offset, so that the annotations' offsets hold in the whole text."""
    text = ""
    for passage in element.iter("passage"):
        is_whole = _text_of(passage).strip() or not passage.findall("sentence")
        for piece in [passage] if is_whole else passage.findall("sentence"):
            offset, inside = _number(piece.findtext("offset"), where), _text_of(piece)
            if not inside:
                continue
            if offset < len(text):
                raise StudyError(f"{where}: the {piece.tag} at offset {offset} overlaps the one before it")
            if offset > len(text) + WIDEST_GAP:
                raise StudyError(
                    f"{where}: the {piece.tag} at offset {offset} is far behind the one before it"
                )
            text += " " * (offset - len(text)) + inside
    return text


def _text_of(element: Element) -> str:
    """Return the text of a passage, sentence or annotation, with that in elements inside it (<b>, <sub>)."""
    text = element.find("text")
    return "" if text is None else "".join(text.itertext())


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
    if _text_of(annotation) != text[start:end]:
        return "entity text differs from the text at its offsets"
    return entity


def _number(value: str | None, where: str) -> int:
    value = (value or "").strip()
    if not value.isdecimal() or len(value) > LONGEST_NUMBER:
        raise StudyError(f"{where}: an offset or length is missing or not a number: correct the file")
    return int(value)
