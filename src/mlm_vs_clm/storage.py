"""Rows on disk: JSON Lines for what has structure, CSV for what is a table."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from .fill.blanks import BlankedText, FilledText
from .masking import Corruption


def write_lines(path: Path, rows: Iterable[dict]) -> None:
    """Write one JSON object a line, keys in the order given."""
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_lines(path: Path) -> Iterator[dict]:
    """Yield the objects of a JSON Lines file."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def write_table(path: Path, rows: list[dict], columns: list[str]) -> None:
    """Write rows as CSV with exactly these columns; floats to seven digits, as the last bits are the machine's."""
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False, lineterminator="\n", float_format="%.7g")


def save_corruptions(path: Path, corruptions: list[Corruption]) -> None:
    """Write which words of each document are blanks."""
    write_lines(
        path,
        ({"id": c.id, "words": c.words, "blanks": c.blanks, "n_eligible": c.n_eligible} for c in corruptions),
    )


def load_blanked(folder: Path, texts: dict[str, str]) -> list[BlankedText]:
    """Return the blanked documents of a corruption, given the text of each id."""
    return [
        BlankedText(row["id"], texts[row["id"]], [tuple(word) for word in row["words"]], row["blanks"])
        for row in read_lines(folder / "blanks.jsonl")
    ]


def save_filled(path: Path, filled: list[FilledText]) -> None:
    """Write what an arm wrote, a document a line."""
    write_lines(path, ({"id": f.id, "text": f.text, "fills": f.fills, "spans": f.spans} for f in filled))


def load_filled(folder: Path) -> list[FilledText]:
    """Return what an arm wrote."""
    return [
        FilledText(row["id"], row["text"], row["fills"], [tuple(s) if s else None for s in row["spans"]])
        for row in read_lines(folder / "fills.jsonl")
    ]
