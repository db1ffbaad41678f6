"""A folder of .txt files, and a table of their labels: the plainest form of anyone's own documents."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from blankfill.text import compose

from ...documents import Document
from ...errors import StudyError
from .base import Columns, OnMistake, ReaderResult, name_documents, raise_mistake
from .cells import split_labels
from .files import Files, reading
from .official import part_of_path, part_of_value
from .tables import read_rows

RULE = (
    "a document a .txt file, line ends made line feeds; labels, author and split from the one .csv or .tsv beside "
    "them, labels parted by commas, semicolons or bars"
)


@dataclass(frozen=True)
class Row:
    """What the table of labels says of a document; `part` is "" where it names no split."""

    labels: tuple[str, ...] = ()
    author: str = ""
    part: str = ""


Rows = dict[str, Row]  # by document id
# The files that a name in the table may mean: {path without .txt: document id}.
Names = dict[str, dict[str, str]]


def read(path: Path, on_mistake: OnMistake = raise_mistake, columns: Columns | None = None) -> ReaderResult:
    """Read every .txt below a folder (or in a zip), with the table that names files in its column `id`.

    A file without a row, a row without a file and a second row for a file are mistakes. Without a table there
    are no labels, and official splits are those of folders named train and test.
    """
    result = ReaderResult(on_mistake=on_mistake)
    with reading(path, result) as files:
        texts, tables = files.ending(".txt"), files.ending(".csv", ".tsv")
        if not texts:
            raise StudyError(f"{path} holds no .txt file: give a folder of texts")
        if len(tables) > 1:
            raise StudyError(f"{path} holds {len(tables)} tables: leave one .csv of labels in it")
        ids = name_documents([name[: -len(".txt")] for name in texts])
        rows = _read_labels(files, tables[0], _index(ids), result, columns or {}) if tables else {}
        for name in texts:
            id = ids[name[: -len(".txt")]]
            result.attempt(_read_document, files, name, id, rows if tables else None, result)
    return result


def _read_labels(files: Files, table: str, names: Names, result: ReaderResult, columns: Columns) -> Rows:
    """Return the row of each document's id, with its official split checked."""
    rows: Rows = {}
    for number, row in read_rows(files, table, ("id",), columns, result.on_mistake):
        result.attempt(_keep_row, row, files.where(table, number), names, rows)
    return rows


def _keep_row(row: dict[str, str], where: str, names: Names, rows: Rows) -> None:
    given = re.sub(r"\.txt$", "", row["id"].strip(), flags=re.IGNORECASE).removeprefix("./")
    part = part_of_value(row.get("split"), where)
    candidates = names.get(compose(given), {})
    if len(candidates) > 1 and part:  # the same name in the folders of several splits
        candidates = {name: id for name, id in candidates.items() if _part_of(name) == part}
    if not candidates:
        raise StudyError(f"{where}: no .txt file of that name: add it or remove the row")
    if len(candidates) > 1:
        raise StudyError(f"{where}: {len(candidates)} .txt files of that name: give its path")
    (id,) = candidates.values()
    if id in rows:
        raise StudyError(f"{where}: a second row for the file {id}.txt: remove one")
    labels = split_labels(row.get("labels", ""), where)
    rows[id] = Row(labels, row.get("author", "").strip(), part)


def _index(ids: dict[str, str]) -> Names:
    """Return the files that a row may mean, by path, by path with _ for /, and by name; a path goes before a name."""
    ways = (lambda name: name, lambda name: name.replace("/", "_"), lambda name: name.rpartition("/")[2])
    names: Names = {}
    for way in ways:
        by_name: Names = {}
        for name, id in ids.items():
            by_name.setdefault(compose(way(name)), {})[name] = id
        names = by_name | names
    return names


def _part_of(name: str) -> str:
    return part_of_path(str(PurePosixPath(name).parent))


def _read_document(files: Files, name: str, id: str, rows: Rows | None, result: ReaderResult) -> None:
    row = Row() if rows is None else rows.get(id)
    if row is None:
        raise StudyError(f"{files.where(name)}: no row for it in the table of labels: add one")
    official = row.part or _part_of(name)
    document = Document(id, files.read_plain(name), labels=row.labels, author=row.author)
    result.add(document, official, files.where(name))
