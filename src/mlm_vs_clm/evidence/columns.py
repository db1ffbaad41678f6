"""The tables of a study as columns.txt declares them: what each holds, and of its columns the meaning, unit and kind."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

TEXT, NOTE, FLAG, NUMBER = KINDS = ("text", "note", "flag", "number")
KEY, RARELY = "*", " (rare)"


@dataclass(frozen=True)
class Column:
    """A column of a table; `holds` is one of KINDS, with a unit behind it where there is one, or the unit of a number."""

    name: str
    holds: str
    meaning: str
    is_key: bool = False

    @property
    def kind(self) -> str:
        """Return which of KINDS the column holds."""
        first = self.holds.partition(" ")[0]
        return first if first in KINDS else NUMBER

    @property
    def unit(self) -> str:
        """Return the unit, empty where there is none."""
        first, _, unit = self.holds.partition(" ")
        return unit if first in KINDS else self.holds


@dataclass(frozen=True)
class Declaration:
    """What a table holds, its columns in their order, and whether it has no file where it has no rows."""

    about: str
    columns: list[Column]
    is_rare: bool


def read_declarations(text: str) -> dict[str, Declaration]:
    """Return what a text in the form of columns.txt declares, by table; the first has the columns that others name alone."""
    tables: dict[str, Declaration] = {}
    shared: dict[str, Column] = {}
    for section in re.split(r"\n(?=\w)", text)[1:]:
        header, *lines = section.strip().split("\n")
        name, about = header.split(": ", 1)
        columns = [column for line in lines for column in _read_line(line.strip(), shared)]
        shared = shared or {column.name: column for column in columns}
        tables[name.removesuffix(RARELY)] = Declaration(about, columns, name.endswith(RARELY))
    return tables


def _read_line(line: str, shared: dict[str, Column]) -> list[Column]:
    if " | " in line:
        name, holds, meaning = line.split(" | ")
        return [Column(name.rstrip(KEY), holds, meaning, name.endswith(KEY))]
    return [replace(shared[name.rstrip(KEY)], is_key=name.endswith(KEY)) for name in line.split()]


TABLES = read_declarations(Path(__file__).with_name("columns.txt").read_text(encoding="utf-8"))
SHARED, DOCUMENTS = TABLES.pop("shared").columns, TABLES.pop("documents")  # the latter is a frame
COLUMNS = {name: [column.name for column in table.columns] for name, table in TABLES.items()}
KEYS = {
    name: [column.name for column in table.columns if column.is_key]  # those that name a row
    for name, table in TABLES.items()
}
