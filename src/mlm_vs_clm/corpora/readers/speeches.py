"""The JSON of House speeches: one-minute speeches by author and day."""

import re
from datetime import date, timedelta
from pathlib import Path

from ...documents import Document
from ...errors import StudyError
from .base import OnMistake, ReaderResult, parse_json, raise_mistake, read_text

FIELDS = ("id", "speech", "bioguide_id", "date")
OPENING = re.compile(
    r"(?:(?:M(?:r|s|rs)\.|Madam) (?:Speaker|Chair(?:man|woman)?)[,.:;]?\s+"
    r"|I rise today\b,?\s*"
    r"|I yield myself such time as I may consume\.\s+"
    r"|I submit the following\.\s+)+"
)
DAYS = re.compile(r"\d{1,6}")
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
RULE = (
    'the opening formula is removed: any run, at the start, of a salutation ("Mr. Speaker,"), "I rise today", '
    '"I yield myself such time as I may consume.", "I submit the following."; control characters and runs of '
    "spaces are removed"
)


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read the speeches with author and date; StudyError for a file cut short or a row without a field."""
    result, first = ReaderResult(on_mistake=on_mistake), dict[str, Document]()
    rows = parse_json(read_text(path), str(path))
    if not isinstance(rows, list):
        raise StudyError(f"{path} is not a list of speeches: fetch it again")
    for number, row in enumerate(rows):
        result.attempt(_read_row, row, f"{path}, row {number}", first, result)
    return result


def _read_row(row: object, where: str, first: dict[str, Document], result: ReaderResult) -> None:
    """Add a speech; one that the file lists again is kept as well, and counted with the other repeated texts later."""
    if not isinstance(row, dict) or any(not isinstance(row.get(field), str) for field in FIELDS):
        raise StudyError(f"{where}: one of {', '.join(FIELDS)} is missing: fetch it again")
    id, author = row["id"], row["bioguide_id"]
    document = Document(id, clean(row["speech"]), author=author, date=_day(row, where))
    earlier = first.setdefault(id, document)
    if earlier is not document and earlier == document and document.text:
        result.documents.append(document)
    else:
        result.add(document, where=where)


def clean(speech: str) -> str:
    """Return a speech without its opening formula, control characters and runs of spaces."""
    text = " ".join(CONTROL.sub("", speech).split())
    formula = OPENING.match(text)
    return text[formula.end() :] if formula else text


def _day(row: dict, where: str) -> str:
    """Turn days since 1970 into an ISO date."""
    if not DAYS.fullmatch(row["date"]):
        raise StudyError(f"{where}: the date is not a count of days since 1970: fetch it again")
    return (date(1970, 1, 1) + timedelta(days=int(row["date"]))).isoformat()
