"""What every reader gives back, and how it opens a file."""

import gzip
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.errors import StudyError


@dataclass
class Reading:
    """The documents of one file, and a row {"id", "reason"} for everything left out of them."""

    documents: list[Document] = field(default_factory=list)
    dropped: list[dict[str, str]] = field(default_factory=list)

    def drop(self, id: str, reason: str) -> None:
        """Record that a document, or a part of it, was left out."""
        self.dropped.append({"id": id, "reason": reason})

    def add(self, document: Document) -> None:
        """Keep a document, unless it holds no text."""
        if document.text.strip():
            self.documents.append(document)
        else:
            self.drop(document.id, "empty document")


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
