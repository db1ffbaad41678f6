"""The CSV of the CMU Movie Summary subset: plots with genres."""

import csv
import html
import io
import re
from collections.abc import Iterator
from pathlib import Path

from ...documents import Document
from ...errors import StudyError
from .base import OnMistake, ReaderResult, raise_mistake, read_text

COLUMNS = ("ID", "Title", "Category", "Plot")
TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")
RESIDUE = re.compile(r"\{\{|\}\}|\||<ref|</?\w+>|https?:|={2,}")
RULE = (
    "closed {{templates}} and [[link marks]] removed, HTML entities decoded, runs of spaces and spaces before "
    "closing marks (left where links were) removed; plots that still hold wiki markup are left out"
)


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read ID,Title,Category,Plot; the labels are the genres. StudyError for a missing column or bad row."""
    result = ReaderResult(on_mistake=on_mistake)
    for where, row in _rows(path):
        result.attempt(_read_row, row, where, result)
    return result


def _read_row(row: dict[str, str], where: str, result: ReaderResult) -> None:
    if None in row or None in row.values():
        raise StudyError(f"{where}: wrong number of columns: fetch it again")
    text = clean(row["Plot"])
    if RESIDUE.search(text):
        result.drop(row["ID"], "wiki markup in the plot")
    else:
        labels = tuple(dict.fromkeys(re.findall(r'"([^"]+)"', row["Category"])))
        result.add(Document(id=row["ID"], text=text, labels=labels))


def clean(plot: str) -> str:
    """Return a plot without the wiki markup that is left in it."""
    text = html.unescape(TEMPLATE.sub(" ", plot)).replace("[[", "").replace("]]", "").replace("\xad", "")
    return re.sub(r"\s+([,.;:!?)])", r"\1", " ".join(text.split()))


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (file and line, row); a quote left open (a file cut short) and a missing column are errors."""
    rows = csv.DictReader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
        if missing:
            raise StudyError(f"{path} has no column {', '.join(missing)}: it needs {','.join(COLUMNS)}")
        for row in rows:
            yield f"{path}, line {rows.line_num}", row
    except csv.Error as error:
        raise StudyError(f"{path}, line {rows.line_num}: {error}: fetch it again") from None
