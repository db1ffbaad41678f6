"""What every reader gives back, and how it opens a file."""

import gzip
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from ...documents import Document, Entity
from ...errors import StudyError

Report = Callable[[StudyError], None]


def refuse(mistake: StudyError) -> NoReturn:
    """Stop at the first mistake in the input: what a reader does unless it is given something else to do."""
    raise mistake


@dataclass(frozen=True)
class GivenProblem:
    """An authorship problem as its corpus gives it, by the ids of its documents."""

    id: str
    known: tuple[str, ...]
    unknown: str
    same: bool


@dataclass
class Reading:
    """The documents of one path, and a row {"id", "reason"} for everything left out of them.

    `parts` names the official split (train, dev or test) of a document's id, where the corpus has them;
    `problems` are the authorship problems that it gives; `counted` tells what was met and kept, or not used.
    A mistake goes to `report`, which raises it or notes it and lets the reader go on.
    """

    documents: list[Document] = field(default_factory=list)
    dropped: list[dict[str, str]] = field(default_factory=list)
    report: Report = refuse
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

    def attempt(self, step: Callable, *arguments):
        """Return what a step of reading returns, or None once its mistake was reported."""
        try:
            return step(*arguments)
        except StudyError as mistake:
            self.report(mistake)


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
    """Return a UTF-8 file's text without its byte-order mark; StudyError if it is not UTF-8."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StudyError(f"{path} is not UTF-8 at byte {error.start}: save it as UTF-8") from None


def check_offsets(entity: Entity, text: str, where: str) -> None:
    """Raise StudyError unless an entity's offsets lie inside its text; `where` names file and document."""
    if not 0 <= entity.start < entity.end <= len(text):
        raise StudyError(
            f"{where}: entity offsets {entity.start}-{entity.end} fall outside the text of "
            f"{len(text)} characters: correct the file"
        )
