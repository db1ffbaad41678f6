"""What every reader returns, how it opens a file, and how it names documents that are files or folders."""

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from blankfill.commands.lines import refuse_twice
from blankfill.text import WORD, compose, would_merge

from ...documents import Document, Entity, check_offsets
from ...errors import StudyError

OnMistake = Callable[[StudyError], None]
Columns = dict[str, str]  # the name that a corpus gives a column, by the name that the study gives it
NUMBERS = re.compile(r"[\s.,:;/+-]*\d[\s\d.,:;/+-]*")  # the first part without digits, so that time is linear
MOSTLY = 0.9  # of a column: the few cells that differ are mistakes in it
T = TypeVar("T")


def raise_mistake(mistake: StudyError) -> NoReturn:
    """Stop at the first mistake in the input, as every reader does by default."""
    raise mistake


@dataclass(frozen=True)
class GivenProblem:
    """An authorship problem as its corpus gives it, by the ids of its documents."""

    id: str
    known: tuple[str, ...]
    unknown: str
    same: bool


@dataclass
class ReaderResult:
    """The documents of one path, and a row {"id", "reason"} for everything left out of them.

    `parts` maps the id of a document to its official split (train, dev or test), where the corpus has them;
    `problems` are the authorship problems that the corpus gives; `counted` counts what was kept as it is, or not used.
    A mistake goes to `on_mistake`, which raises it, or records it so that reading continues. A document is known by
    its split and the id that its corpus gives it: `ids` maps both to the id that it has here, which no other has.
    `labels` has those of each text that has no id of its own.
    """

    documents: list[Document] = field(default_factory=list)
    dropped: list[dict[str, str]] = field(default_factory=list)
    on_mistake: OnMistake = raise_mistake
    parts: dict[str, str] = field(default_factory=dict)
    problems: list[GivenProblem] = field(default_factory=list)
    counted: Counter = field(default_factory=Counter)
    ids: dict[tuple[str, str], str] = field(default_factory=dict, repr=False)
    used_ids: set[str] = field(default_factory=set, repr=False)
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def drop(self, id: str, reason: str) -> None:
        """Record that a document, or a part of it, was left out."""
        self.dropped.append({"id": id, "reason": reason})

    def add(self, document: Document, official: str = "", where: str = "the corpus") -> str:
        """Keep a document of an official split ("" where there is none), unless it holds no text; return its id here.

        An id that another split has too gets the split before it. Raises StudyError, which names the place `where`
        the document stands, for an id that is missing or used twice in a split, and for what cannot be stored.
        """
        check_document(document, where)
        if (official, document.id) in self.ids:
            raise StudyError(f"{where}: the id {document.id} is used twice: make ids unique")
        id = self._name(document.id, official)
        if not WORD.search(document.text):
            self.drop(id, "empty document")
            return id
        document = replace(_tidy(document), id=id)
        self.documents.append(replace(document, entities=self._usable(document)))
        if official:
            self.parts[id] = official
        return id

    def refuse_other_labels(self, document: Document, where: str) -> None:
        """Raise StudyError for a text of an earlier row with other labels, as a table with a row for each label has it.

        It is for rows without an id: one of these would be dropped as a repeated document, and its labels with it.
        """
        if set(self.labels.setdefault(document.text, document.labels)) != set(document.labels):
            raise StudyError(
                f"{where}: its text stands in an earlier row, with other labels: give each text one row with all its "
                "labels, or documents of the same text an id each"
            )

    def _usable(self, document: Document) -> tuple[Entity, ...]:
        """Return a document's entities from first to last word, without repeated ones and those without a word, which are recorded."""
        entities: dict[Entity, None] = {}
        for entity in document.entities:
            words = [match.span() for match in WORD.finditer(document.text, entity.start, entity.end)]
            kind = " ".join(compose(entity.type).split())
            trimmed = Entity(words[0][0], words[-1][1], kind) if words else entity
            if not words:
                self.drop(document.id, "entity without a word")
            elif trimmed in entities:
                self.drop(document.id, "repeated entity")
            else:
                entities[trimmed] = None
                if any(would_merge(document.text, place) for place in (trimmed.start, trimmed.end)):
                    self.counted["entities that begin or end inside a word (kept)"] += 1
        return tuple(entities)

    def _name(self, original: str, official: str) -> str:
        """Return an id that no document has yet."""
        id = original
        while id in self.used_ids:
            id = f"{official or 'unsplit'}-{id}"
        self.ids[official, original] = id
        self.used_ids.add(id)
        return id

    def refuse_numbers(self, where: str) -> None:
        """Raise StudyError if the texts are numbers: then a column that counts was taken for theirs."""
        n_numbers = sum(bool(NUMBERS.fullmatch(document.text)) for document in self.documents)
        if self.documents and n_numbers >= MOSTLY * len(self.documents):
            raise StudyError(
                f"{where}: the texts are numbers: name the column of the texts (corpus.columns.text=...)"
            )

    def attempt(self, step: Callable[..., T], *arguments) -> T | None:
        """Return what a step of reading returns, or None after passing its mistake to `on_mistake`."""
        try:
            return step(*arguments)
        except StudyError as mistake:
            self.on_mistake(mistake)
            return None


def _tidy(document: Document) -> Document:
    """Return a document whose labels, each once, and author are composed (NFC) and in single spaces: what looks the
    same is the same."""
    author, *labels = (" ".join(compose(name).split()) for name in (document.author, *document.labels))
    return replace(document, author=author, labels=tuple(dict.fromkeys(filter(None, labels))))


def check_document(document: Document, where: str) -> None:
    """Raise StudyError for an id that is missing or has two lines, characters that cannot be stored, and entities
    without a type or with bad offsets."""
    types = (entity.type for entity in document.entities)
    for value in (document.id, document.text, document.author, document.date, *document.labels, *types):
        refuse_characters(value, where)
    check_id(document.id, where)
    for entity in document.entities:
        check_offsets(entity, document.text, f"{where}, document {document.id}")
        if not entity.type.strip():
            raise StudyError(f"{where}, document {document.id}: an entity has no type: give it one")


def check_id(id: str, where: str) -> None:
    """Raise StudyError for an id that is missing, or that cannot stand in a line of a log."""
    refuse_characters(id, where)
    if not id.strip() or len(id.splitlines()) > 1:
        raise StudyError(f"{where}: the id is empty or has a line break: give each document an id of its own")


def refuse_characters(value: str, where: str) -> None:
    """Raise StudyError for a NUL, and for half of a character (a surrogate without its other half)."""
    if "\0" in value:
        raise StudyError(f"{where}: a NUL character: remove it")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise StudyError(
            f"{where}: half of a character (a surrogate without its other half): remove it"
        ) from None


def parse_json(text: str, where: str) -> Any:
    """Return what a line or a file of JSON holds; StudyError, with the line in a file, for what cannot be read."""
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: refuse_twice(pairs, where))
    except json.JSONDecodeError as error:
        place = f"{where}, line {error.lineno}" if "\n" in text else where
        problem = f"{place}: not JSON (column {error.colno})"
    except RecursionError:
        problem = f"{where}: JSON nested too deeply"
    except ValueError:  # Python reads integers of up to 4,300 digits
        problem = f"{where}: JSON with a number of too many digits"
    raise StudyError(f"{problem}: correct it")


def read_bytes(path: Path) -> bytes:
    """Return a file's content, unpacked if its name ends in .gz; StudyError if it is missing or cut short."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except FileNotFoundError:
        raise StudyError(f"{path} is missing: run make data, or correct the path") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise StudyError(f"{path} is cut short or not gzip: fetch it again") from None
    except OSError as error:
        raise StudyError(f"{path} cannot be read ({error.strerror}): correct the path") from None


def read_text(path: Path) -> str:
    """Return a UTF-8 file's text without its byte-order mark; StudyError if it is not UTF-8 or holds NUL."""
    try:
        return refuse_nul(read_bytes(path).decode("utf-8-sig"), str(path))
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 at byte {error.start}: save it as UTF-8") from None


def refuse_nul(text: str, where: str) -> str:
    """Return the text; StudyError for a NUL character, with its line, as it ends a text for some libraries."""
    before, nul, _ = text.partition("\0")
    if nul:
        raise StudyError(f"{where}, line {before.count(chr(10)) + 1}: a NUL character: remove it")
    return text


def name_documents(paths: list[str]) -> dict[str, str]:
    """Return an id for each path without ending: its last step, or all steps joined by _ where last steps repeat.

    Raises StudyError, which names two of them, where even these are not unique.
    """
    ids = [path.rpartition("/")[2] for path in paths]
    if len(set(ids)) < len(ids):
        ids = [path.replace("/", "_") for path in paths]
    first: dict[str, str] = {}
    for path, id in zip(paths, ids, strict=True):
        if id in first:
            raise StudyError(
                f"{first[id]} and {path}: files that differ in an ending or in _ and / alone would share the id {id}: rename one of them"
            )
        first[id] = path
    return dict(zip(paths, ids, strict=True))
