"""What a cell may hold beside plain text: a list of labels, or a value of another type."""

import ast
import json
import math
import re
from collections.abc import Sequence

from ...errors import StudyError

SEPARATORS = "[,;|，；｜、،؛]"  # commas, semicolons and bars, also those of Chinese, Japanese and Arabic
EMPTY = ("set()", "frozenset()")  # as Python writes them
BRACKETS = {"[": "]", "(": ")", "{": "}"}
QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
NUMBER = r"-?\d{1,20}(?:\.\d{1,20})?"
ITEM = re.compile(rf"{QUOTED}|{NUMBER}")
ITEMS = re.compile(rf"(?:{ITEM.pattern})(?:[\s,;|]+(?:{ITEM.pattern}))*[\s,]*", re.DOTALL)
QUOTED_ITEMS = re.compile(rf"(?:{QUOTED})(?:[\s,;|]+(?:{QUOTED}))*[\s,]*", re.DOTALL)
HALF_LIST = re.compile(r"[\[{]\s*['\"]|['\"]\s*[\]}]|^\(\s*['\"].*\)$", re.DOTALL)


def split_labels(cell: str, where: str) -> tuple[str, ...]:
    """Return the labels in a cell, each once: a written list, or parted by commas, semicolons or bars."""
    labels = read_list(cell, where)
    if labels is None:
        labels = re.split(SEPARATORS, cell)
    return tuple(dict.fromkeys(label.strip() for label in labels if label.strip()))


def read_list(cell: str, where: str) -> list[str] | None:
    """Return the items of a list as Python, JSON and numpy write it ("['x', 'y']"), None for a cell that is no list.

    Items are in quotes or numbers. Raises StudyError for what looks like a list and is not: other items, one in another.
    """
    cell = cell.strip()
    is_closed = len(cell) > 1 and BRACKETS.get(cell[0]) == cell[-1]
    inner = cell[1:-1].strip() if is_closed else cell
    if (is_closed and not inner) or cell in EMPTY:
        return []
    if (ITEMS if is_closed and cell[0] != "(" else QUOTED_ITEMS).fullmatch(inner):
        return [_unquote(item, where) for item in ITEM.findall(inner)]
    if (is_closed and cell[0] != "(") or HALF_LIST.search(cell):
        raise _no_list(where)
    return None


def expand(labels: Sequence[str], where: str) -> tuple[str, ...]:
    """Return labels that are in a list already, with the items of those that are a written list themselves."""
    lists = (read_list(label, where) if HALF_LIST.search(label) else None for label in labels)
    pairs = zip(labels, lists, strict=True)
    return tuple(item for label, items in pairs for item in ([label] if items is None else items))


def _unquote(item: str, where: str) -> str:
    """Return an item without its quotes, and what its escapes stand for."""
    if item[0] not in "'\"":
        return item
    try:
        return json.loads(item) if item[0] == '"' else ast.literal_eval(item)
    except (ValueError, SyntaxError):
        raise _no_list(where) from None


def _no_list(where: str) -> StudyError:
    return StudyError(
        f"{where}: its labels look like a list that cannot be read: write them parted by commas, or name another "
        "column (corpus.columns.labels=...)"
    )


def text_of(value: object, name: str, where: str) -> str:
    """Return a string, or a number as one, "" for None; StudyError for not-a-number and any other type.

    7.0 is "7": whole numbers become floats where a table has a gap in their column.
    """
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)
    raise StudyError(
        f"{where}: its {name} is neither text nor a number ({type(value).__name__}): correct it, or name another "
        f"column (corpus.columns.{name}=...)"
    )
