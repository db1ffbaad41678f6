"""BIO columns (CoNLL): one token per line with its tag last, a blank line after a sentence."""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ...documents import Document, Entity
from ...errors import StudyError
from .base import OnMistake, ReaderResult, raise_mistake
from .files import Files
from .official import part_of_path

ENDINGS = (".conll", ".bio", ".iob", ".iob2")
NEW_DOCUMENT = re.compile(r"-DOCSTART-|# ?new ?doc|# ?doc_?id", re.IGNORECASE)
TAG = re.compile(r"O|[BIESLU]-\S+")
RULE = (
    "tokens joined by single spaces, a sentence a line; a document begins at a -DOCSTART- or `# newdoc` line, or is "
    "one sentence where a file has none; an I tag after another type or none begins an entity, as in IOB1"
)
Sentence = list[tuple[str, str]]


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read a file, or every .conll, .bio, .iob and .iob2 (else .txt and .tsv) below a folder or in a zip.

    Files named train, dev and test are official splits. A line without a tag is a mistake.
    """
    result = ReaderResult(on_mistake=on_mistake)
    with Files(path) as files:
        names = files.ending(*ENDINGS) or files.ending(".txt", ".tsv") or files.names[:1]
        if not names:
            raise StudyError(f"{path} is empty: give a file of tokens and tags, or a folder of them")
        for name in names:
            part = part_of_path(name) if len(names) > 1 else ""
            for number, sentences in enumerate(_read_documents(files, name, result)):
                text, entities = join(sentences)
                id = f"{PurePosixPath(name).with_suffix('')}-{number}"
                result.add(Document(id=id, text=text, entities=entities), part)
    return result


def _read_documents(files: Files, name: str, result: ReaderResult) -> Iterator[list[Sentence]]:
    """Yield the sentences of each document of a file."""
    lines = files.read_plain(name).split("\n")
    has_marks = any(NEW_DOCUMENT.match(line) for line in lines)
    document: list[Sentence] = []
    sentence: Sentence = []
    for number, line in enumerate([*lines, ""], start=1):
        is_mark = bool(NEW_DOCUMENT.match(line))
        if line.strip() and not is_mark and not line.startswith("# "):
            token = result.attempt(_read_token, line, files.where(name, number))
            sentence += [token] if token else []
            continue
        document += [sentence] if sentence else []
        sentence = []
        if document and (is_mark or not has_marks):
            yield document
            document = []
    if document:
        yield document


def _read_token(line: str, where: str) -> tuple[str, str]:
    columns = [column.strip() for column in line.split("\t" if "\t" in line else None)]
    if len(columns) < 2 or not columns[0] or not TAG.fullmatch(columns[-1]):
        raise StudyError(f"{where}: no token with a tag (O, B-Type, I-Type) in the last column: correct it")
    return columns[0], columns[-1]


def join(sentences: list[Sentence]) -> tuple[str, tuple[Entity, ...]]:
    """Return the text of a document, and its entities at their offsets in it."""
    lines, entities, offset = [], [], 0
    for sentence in sentences:
        lines.append(" ".join(token for token, _ in sentence))
        entities += find_entities(sentence, offset)
        offset += len(lines[-1]) + 1
    return "\n".join(lines), tuple(entities)


def find_entities(sentence: Sentence, offset: int) -> list[Entity]:
    """Return the entities of a sentence whose text starts at `offset`."""
    entities: list[Entity] = []
    is_open = False
    for token, tag in sentence:
        prefix, _, kind = tag.partition("-")
        if is_open and prefix in "IEL" and entities[-1].type == kind:
            entities[-1] = Entity(entities[-1].start, offset + len(token), kind)
        elif prefix != "O":
            entities.append(Entity(offset, offset + len(token), kind))
        is_open = prefix in "BI"
        offset += len(token) + 1
    return entities
