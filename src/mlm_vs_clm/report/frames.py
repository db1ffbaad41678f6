"""A study on disk: the tables, examples and settings from which its page and figures follow, without store or data."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from ..errors import StudyError
from ..evidence import documents
from ..evidence import tables as tidy
from ..files import STUDY, read_lines, write_csv, write_lines

EXAMPLES = "examples.jsonl"
DERIVED = ("findings",)  # tables that follow from the others
Rows = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Frames:
    """What is recorded of a study.

    tables: those of `analysis.tables.COLUMNS`. examples: how the arms filled some documents of public corpora.
    cards: the data card of each corpus. about: the question, the settings and what the study was made from.
    """

    tables: Rows
    examples: list[dict]
    cards: list[dict]
    about: dict[str, Any]


def save_frames(frames: Frames, folder: Path) -> None:
    """Write a study to a folder; the same study gives the same bytes.

    Raises StudyError for a table that lacks a column or repeats a cell.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in tidy.COLUMNS:
        if name not in DERIVED:
            save_table(name, frames.tables.get(name, pd.DataFrame()), folder)
    if documents.NAME in frames.tables:
        write_csv(frames.tables[documents.NAME], folder / documents.FILE)
    write_lines(folder / EXAMPLES, frames.examples)
    settings = yaml.safe_dump(
        frames.about | {"corpora": frames.cards}, sort_keys=False, allow_unicode=True, width=110
    )
    (folder / STUDY).write_text(settings, encoding="utf-8", newline="\n")


def save_table(name: str, table: pd.DataFrame, folder: Path) -> None:
    """Write one tidy table as CSV; a rare one without rows has no file."""
    rows = tidy.tidy(name, table)
    if len(rows) or name not in tidy.RARE:
        write_csv(rows, folder / f"{name}.csv")


def load_frames(folder: Path) -> Frames:
    """Return the study of a folder; raises StudyError where a file is missing or is not what `save_frames` wrote."""
    try:
        about = yaml.safe_load((folder / STUDY).read_text(encoding="utf-8"))
        cards = about.pop("corpora")
        return Frames(tidy.read_tables(folder), list(read_lines(folder / EXAMPLES)), cards, about)
    except (OSError, ValueError, yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise StudyError(
            f"{folder} holds no whole study ({type(error).__name__}): it needs {STUDY}, {EXAMPLES} and the tables; "
            "give a folder of results, or run `make reproduce`"
        ) from None
