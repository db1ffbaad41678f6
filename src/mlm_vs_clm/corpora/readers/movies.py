"""The CSV of the CMU Movie Summary subset: plots with genres."""

import html
import re
from pathlib import Path

from ...documents import Document
from .base import OnMistake, ReaderResult, raise_mistake
from .files import Files
from .tables import read_each

COLUMNS = {"id": "ID", "text": "Plot", "labels": "Category"}
TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")
RESIDUE = re.compile(r"\{\{|\}\}|\||<ref|</?\w+>|https?:|={2,}")
RULE = (
    "closed {{templates}} and [[link marks]] removed, HTML entities decoded, runs of spaces and spaces before "
    "closing marks (left where links were) removed; plots that still hold wiki markup are left out"
)


def read(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read the columns ID, Plot and Category; the labels are the genres. StudyError for a missing column or bad row."""
    result = ReaderResult(on_mistake=on_mistake)
    with Files(path) as files:
        read_each(files, files.only(), _read_row, COLUMNS, result)
    return result


def _read_row(number: int, row: dict[str, str], where: str, result: ReaderResult) -> None:
    text = clean(row["text"])
    if RESIDUE.search(text):
        return result.drop(row["id"], "wiki markup in the plot")
    labels = tuple(dict.fromkeys(re.findall(r'"([^"]+)"', row["labels"])))
    result.add(Document(id=row["id"], text=text, labels=labels), where=where)


def clean(plot: str) -> str:
    """Return a plot without the wiki markup that is left in it."""
    text = html.unescape(TEMPLATE.sub(" ", plot)).replace("[[", "").replace("]]", "").replace("\xad", "")
    return re.sub(r"\s+([,.;:!?)])", r"\1", " ".join(text.split()))
