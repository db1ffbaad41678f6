"""What every reader returns, how it opens a file, and how it names documents that are files or folders."""

import gzip
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, TypeVar

from ...documents import Document
from ...errors import StudyError

OnMistake = Callable[[StudyError], None]
Columns = dict[str, str]  # the name that a corpus gives a column, by the name that the study gives it
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
    A mistake goes to `on_mistake`, which raises it, or records it so that reading continues.
    """

    documents: list[Document] = field(default_factory=list)
    dropped: list[dict[str, str]] = field(default_factory=list)
    on_mistake: OnMistake = raise_mistake
    parts: dict[str, str] = field(default_factory=dict)
    problems: list[GivenProblem] = field(default_factory=list)
    counted: Counter = field(default_factory=Counter)

    def drop(self, id: str, reason: str) -> None:
        """Record that a document, or a part of it, was left out."""
        self.dropped.append({"id": id, "reason": reason})

    def add(self, document: Document, part: str = "") -> None:
        """Keep a document of an official split ("" where there is none), unless it holds no text."""
        if not document.text.strip():
            return self.drop(document.id, "empty document")
        self.documents.append(document)
        if part:
            self.parts[document.id] = part

    def attempt(self, step: Callable[..., T], *arguments) -> T | None:
        """Return what a step of reading returns, or None after passing its mistake to `on_mistake`."""
        try:
            return step(*arguments)
        except StudyError as mistake:
            self.on_mistake(mistake)
            return None


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
    before, found, _ = text.partition("\0")
    if found:
        raise StudyError(f"{where}, line {before.count(chr(10)) + 1}: a NUL character: remove it")
    return text


def name_documents(paths: list[str]) -> dict[str, str]:
    """Return an id for each path without ending: its last step, or all steps joined by _ where last steps repeat.

    Raises StudyError where even these are not unique.
    """
    ids = [path.rpartition("/")[2] for path in paths]
    if len(set(ids)) < len(ids):
        ids = [path.replace("/", "_") for path in paths]
    if len(set(ids)) < len(ids):
        raise StudyError("two files would get the same id, as their paths differ in / and _ only: rename")
    return dict(zip(paths, ids, strict=True))
