"""CSV with named columns, for anyone's own documents and for MPST."""

import csv
import io
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from ...documents import Document
from ...errors import StudyError
from .base import Columns, OnMistake, ReaderResult, raise_mistake
from .cells import split_labels
from .files import Files, reading
from .official import part_of_value

NAMES = ("id", "text", "labels", "author", "split")
LABEL = "label"  # as the Hugging Face hub has it where there is one
LONGEST_CELL = 100_000_000
MPST_FILE = "mpst_full_data.csv"
MPST_COLUMNS = {"id": "imdb_id", "text": "plot_synopsis", "labels": "tags", "split": "split"}
RULE = (
    "texts as they stand, line ends made line feeds; labels in one cell are parted by commas, semicolons or bars, or "
    "are a list in quotes; a row without id is named after its line"
)
MPST_RULE = "synopses as they stand; labels are the tags"


def read(path: Path, on_mistake: OnMistake = raise_mistake, columns: Columns | None = None) -> ReaderResult:
    """Read one document per row (tabs in a .tsv); `columns` names those that are named otherwise than NAMES.

    A missing column, a bad quote, a row of another width, an id used twice and an unknown split are mistakes.
    """
    result = ReaderResult(on_mistake=on_mistake)
    with reading(path, result) as files:
        read_each(files, files.only(".csv", ".tsv", ".csv.gz", ".tsv.gz"), _read_row, columns or {}, result)
    return result


def read_mpst(path: Path, on_mistake: OnMistake = raise_mistake) -> ReaderResult:
    """Read MPST's mpst_full_data.csv, or the folder or zip that holds it, with its official split."""
    result = ReaderResult(on_mistake=on_mistake)
    with reading(path, result) as files:
        read_each(files, files.only(MPST_FILE), _read_row, MPST_COLUMNS, result)
    return result


def read_each(files: Files, name: str, step: Callable, columns: Columns, result: ReaderResult) -> None:
    """Add a document for each row of a table with texts, by step(line, row, where, result)."""
    for number, row in read_rows(files, name, ("text",), columns, result.on_mistake):
        result.attempt(step, number, row, files.where(name, number), result)
    result.refuse_numbers(files.where(name))


def _read_row(number: int, row: dict[str, str], where: str, result: ReaderResult) -> None:
    id = row.get("id", f"line-{number}").strip()
    official = part_of_value(row.get("split"), where)
    author, labels = row.get("author", "").strip(), split_labels(row.get("labels", ""), where)
    document = Document(id, row["text"], labels=labels, author=author)
    if "id" not in row:
        result.refuse_other_labels(document, where)
    result.add(document, official, where)


def read_rows(
    files: Files, name: str, needed: tuple[str, ...], columns: Columns, on_mistake: OnMistake
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield (line on which it begins, {our name of a column: cell}) of each row of a table.

    Columns are those of NAMES that the table has, called as `columns` says. Raises StudyError at a bad quote, since where
    the rows after it begin cannot be known.
    """
    is_tsv = name.lower().removesuffix(".gz").endswith(".tsv")
    rows, bad_line = parse(files.read_plain(name), "\t" if is_tsv else ",")
    quote = StudyError(
        f"{files.where(name, bad_line)}: a bad or open quote in the row, so that no row after it can be read: correct it"
    )
    if bad_line == 1:
        raise quote
    head = rows[0][1] if rows else []
    places = find_columns(head, needed, columns, files.where(name, 1))
    for number, cells in rows[1:]:
        where = files.where(name, number)
        if len(cells) != len(head):
            mistake = f"{where}: {len(cells)} cells where the head has {len(head)}: correct the row"
            on_mistake(StudyError(mistake))
        elif is_tsv and any("\t" in cell and "\n" in cell for cell in cells):
            mistake = f"{where}: a cell in quotes holds tabs and line breaks, as whole rows do: double the quotes that are text"
            on_mistake(StudyError(mistake))
        else:
            yield number, {ours: cells[place] for ours, place in places.items()}
    if bad_line:
        raise quote


def parse(text: str, delimiter: str) -> tuple[list[tuple[int, list[str]]], int]:
    """Return (first line, cells) of every row up to the first bad quote, and that row's line (0 if none is bad)."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    rows, number = [], 1
    csv.field_size_limit(LONGEST_CELL)  # else a cell as long as a book is read as an open quote
    try:
        for cells in reader:
            rows += [(number, cells)] if cells else []
            number = reader.line_num + 1
    except csv.Error:
        return rows, number
    return rows, 0


def name_columns(present: Collection[str], columns: Columns) -> dict[str, str]:
    """Return what each of our columns is called: as the settings say, else by our name; `label` where there is no `labels`."""
    called = {name: name for name in (*NAMES, "entities")} | columns
    if "labels" not in {*columns, *present} and LABEL in present:
        called["labels"] = LABEL
    return called


def refuse_near_names(present: Collection[str], called: Columns, where: str) -> None:
    """Raise StudyError for a column that has one of our names but for its case (Labels), where none is called so: it would not be read."""
    others = {name.lower(): name for name in present if name not in called.values()}
    for ours in called:
        unread = others.get(ours) or (others.get(LABEL) if ours == "labels" else None)
        if unread and called[ours] not in present:
            raise StudyError(
                f"{where}: a column {unread} and none {ours}: rename it, or name it (corpus.columns.{ours}=...)"
            )


def find_columns(head: list[str], needed: tuple[str, ...], columns: Columns, where: str) -> dict[str, int]:
    """Return the place of each column that is there; StudyError for one that was named or is needed, and is not,
    and for two of the same name."""
    head = [name.strip() for name in head]
    called = name_columns(head, columns)
    for ours in dict.fromkeys([*needed, *columns]):
        theirs = called[ours]
        if theirs not in head:
            is_one = ", or part the cells by commas (a .tsv by tabs)" if len(head) < 2 else ""
            raise StudyError(
                f"{where}: no column {theirs}: name its column (corpus.columns.{ours}=...){is_one}"
            )
    places = {ours: called[ours] for ours in NAMES if called[ours] in head}
    refuse_near_names(head, called, where)
    for ours, theirs in places.items():
        if head.count(theirs) > 1:
            raise StudyError(
                f"{where}: two columns {theirs}: rename one, or name another (corpus.columns.{ours}=...)"
            )
    return {ours: head.index(theirs) for ours, theirs in places.items()}
