"""The CSV of film reviews with their sentiment."""

import html
import re
from pathlib import Path

from ...documents import Document
from ...errors import StudyError
from .base import OnMistake, ReaderResult, raise_mistake
from .files import Files
from .tables import read_each

# Of the columns that `read_rows` knows, the author's is the one for who published a review.
COLUMNS = {"text": "text", "labels": "label", "author": "source"}
SENTIMENTS = {"0": "negative", "1": "positive"}
SITE = "imdb"  # the other has single sentences of critics
TAG = re.compile(r"</?\w+ ?/?>")
CP1252 = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}
RULE = (
    "line breaks and other HTML tags are spaces, HTML entities and characters of Windows-1252 decoded, runs of spaces "
    "removed; the label is the sentiment; sentences of critics (Rotten Tomatoes) are left out; a review is named after its line"
)


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read the columns text, label and source; StudyError for a missing column or an unknown sentiment."""
    result = ReaderResult(on_mistake=on_mistake)
    with Files(path) as files:
        read_each(files, files.only(), _read_row, COLUMNS, result)
    return result


def _read_row(number: int, row: dict[str, str], where: str, result: ReaderResult) -> None:
    id = f"line-{number}"
    if row["author"] != SITE:
        return result.drop(id, "not a whole review")
    if row["labels"] not in SENTIMENTS:
        raise StudyError(f"{where}: its label is neither 0 nor 1: fetch it again")
    result.add(Document(id, clean(row["text"]), labels=(SENTIMENTS[row["labels"]],)), where=where)


def clean(review: str) -> str:
    """Return a review without HTML and residues of another encoding."""
    return " ".join(html.unescape(TAG.sub(" ", review)).translate(CP1252).split())
