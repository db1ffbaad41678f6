"""Labels of characters: reading what callers give, and where each stands after blanks of its text were filled."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..arguments import is_number, to_list
from ..errors import BlankfillError
from ..text import SPELT, CharSpan

SURFACE = (
    "text",
    "word",
)  # keys of an entity that repeat its characters, as brat tools and taggers write them
KEEP, DROP = "keep", "drop_replaced"
POLICIES = (KEEP, DROP)


@dataclass(frozen=True)
class Entity:
    """A labelled span of characters, and the row that it was given as: a mapping, or a sequence (start, end, label)."""

    span: CharSpan
    row: Any

    def at(self, text: str, span: CharSpan) -> Any:
        """Return the row with other offsets, in another text; everything else in it is kept."""
        if not isinstance(self.row, Mapping):
            values = (*span, *self.row[2:])
            return self.row._make(values) if hasattr(self.row, "_make") else type(self.row)(values)
        surface = {key: text[slice(*span)] for key in SURFACE if key in self.row}
        return {**self.row, "start": span[0], "end": span[1], **surface}


def keys_of(rows: Any) -> list[str] | None:
    """Return the keys of entities in the form of a data set's `Sequence`, a mapping to lists of one length; else None."""
    if not isinstance(rows, Mapping) or not all(isinstance(values, list | tuple) for values in rows.values()):
        return None
    return [*rows] if len({*map(len, rows.values())}) == 1 else None


def read_entities(where: str, text: str, rows: Any) -> list[Entity]:
    """Return the entities of a text: mappings with `start` and `end`, or sequences that begin with both; None is none.

    Mappings may stand as one of lists (see `keys_of`).
    Raises BlankfillError, which names the text as `where` and shows none of it, for anything else and for offsets that
    cover no character of the text.
    """
    if rows is None:
        return []
    if keys_of(rows):
        rows = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    listed = to_list(f"entities of {where}", rows)
    return [_read_entity(f"entity {i} of {where}", text, row) for i, row in enumerate(listed)]


def _read_entity(where: str, text: str, row: Any) -> Entity:
    if isinstance(row, Mapping):
        edges: Sequence = (row.get("start"), row.get("end"))
    else:
        edges = row[:2] if isinstance(row, list | tuple) else ()
    if len(edges) != 2 or not all(map(is_number, edges)):
        raise BlankfillError(
            f'{where}: give {{"start": 0, "end": 7, "label": "Drug"}} or (0, 7, "Drug"), with whole numbers'
        )
    start, end = map(int, edges)
    check_characters(where, text, start, end)
    return Entity((start, end), row)


def check_characters(where: str, text: str, start: int, end: int) -> None:
    """Raise BlankfillError, which names the place as `where`, for offsets that cover no character of a text."""
    if not 0 <= start < end <= len(text):
        raise BlankfillError(
            f"{where}: characters {start}:{end} are none of a text of {len(text)} characters: correct the offsets"
        )


def move_span(span: CharSpan, blanks: Sequence[CharSpan], fills: Sequence[str]) -> CharSpan:
    """Return where a span is after `blanks` (in order) were filled.

    An edge inside a blank moves to the edge of what was written there, so the span then covers all of it.
    """
    (start, end), (moved_start, moved_end) = span, span
    for (first, last), fill in zip(blanks, fills, strict=True):
        growth = len(fill) - (last - first)
        if last <= start:
            moved_start += growth
        elif first < start:
            moved_start += first - start
        if last <= end:
            moved_end += growth
        elif first < end:
            moved_end += first + len(fill) - end
    return moved_start, moved_end


def is_replaced(text: str, span: CharSpan, blanks: Iterable[CharSpan]) -> bool:
    """Return whether blanks hide every letter and digit of a span, and some of its characters."""
    start, end = span
    inside = [(first, last) for first, last in blanks if first < end and start < last]
    return bool(inside) and not any(map(SPELT.search, _between(text, span, inside)))


def move_entities(
    entities: Sequence[Entity], policy: str, text: str, blanks: Sequence[CharSpan], fills: Sequence[str]
) -> list[Any]:
    """Return the rows of entities in the filled text, in the order given.

    policy: one of POLICIES, for an entity whose words were all replaced; one whose characters came back stays.
    """
    filled = join(text, blanks, fills)
    moved = []
    for entity in entities:
        span = move_span(entity.span, blanks, fills)
        is_same = filled[slice(*span)] == text[slice(*entity.span)]
        if policy == KEEP or is_same or not is_replaced(text, entity.span, blanks):
            moved.append(entity.at(filled, span))
    return moved


def join(text: str, blanks: Sequence[CharSpan], fills: Sequence[str]) -> str:
    """Return the text with the fills in its blanks; every other character is kept."""
    pairs = zip(_between(text, (0, len(text)), blanks), [*fills, ""], strict=True)
    return "".join(piece for pair in pairs for piece in pair)


def _between(text: str, span: CharSpan, blanks: Sequence[CharSpan]) -> list[str]:
    """Return what of a span stands before, between and after the blanks in it."""
    edges = [span[0], *(edge for blank in blanks for edge in blank), span[1]]
    return [text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
