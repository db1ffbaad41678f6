"""What `fill` and `score` are given: one text or many, in any container, each of the right type."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from numbers import Integral
from typing import Any, NamedTuple

from .errors import BlankfillError
from .text import CharSpan

Spans = list[list[CharSpan]]
END = object()  # of an iterable


def read_spans(name: str, spans: Any, ids: Sequence[str], is_single: bool) -> Spans:
    """Return the spans of each text, named by `ids`, as lists of (start, end); those of a single text may be given alone.

    Raises BlankfillError for anything else, and for another number of lists than texts.
    """
    return _by_text(name, spans, ids, is_single, _is_span, _spans_of)


def _by_text(
    name: str, values: Any, ids: Sequence[str], is_single: bool, is_item: Callable, read: Callable
) -> list:
    """Return what `read` makes of what was given for each text; the items of a single text may be given alone."""
    listed = to_list(name, values)
    if len(ids) == 1 and (listed or is_single) and all(map(is_item, listed)):
        listed = [listed]
    made = [read(f"{name} of text {id}", of_text) for id, of_text in zip(ids, listed, strict=False)]
    if len(listed) != len(ids):
        raise BlankfillError(
            f"{name}: {len(ids)} texts need as many lists of {name}, these are {len(listed)}"
        )
    return made


def is_list(values: Any) -> bool:
    """Return whether these are values one after the other: a string, a mapping and a table, which gives its columns, are not."""
    is_single = isinstance(values, str | bytes | Mapping) or hasattr(values, "columns")
    is_scalar = getattr(values, "ndim", 1) == 0  # an array of no dimension, which is Iterable by its class
    return isinstance(values, Iterable) and not is_single and not is_scalar


def to_list(name: str, values: Any) -> list:
    """Return values as a list; BlankfillError for what is no list (`is_list`)."""
    return [*_refuse_single(name, values)]


def _refuse_single(name: str, values: Any) -> Iterable:
    if not is_list(values):
        raise BlankfillError(f"{name}: a list is needed, this is a {type(values).__name__}")
    return values


def is_number(value: Any) -> bool:
    """Return whether it is a whole number, of Python or numpy, and no boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _text(i: int, text: Any) -> str:
    if not isinstance(text, str):
        raise BlankfillError(f"texts: number {i} is a {type(text).__name__}, not a string")
    return str(text)


def _id(i: int, id: Any) -> str:
    if not isinstance(id, str) and not is_number(id):
        raise BlankfillError(f"ids: number {i} is a {type(id).__name__}, not a string")
    return str(id)


def _is_span(span: Any) -> bool:
    is_row = hasattr(span, "__len__") and hasattr(span, "__getitem__")
    return (
        is_row
        and not isinstance(span, str | bytes | Mapping)
        and len(span) == 2
        and all(map(is_number, span))
    )


def _spans_of(name: str, blanks: Any) -> list[CharSpan]:
    spans = to_list(name, blanks)
    if not all(map(_is_span, spans)):
        raise BlankfillError(f"{name}: each is (start, end), two character numbers")
    return [(int(start), int(end)) for start, end in spans]


def _counts_of(name: str, counts: Any) -> list[int]:
    numbers = to_list(name, counts)
    if not all(map(is_number, numbers)):
        raise BlankfillError(f"{name}: each is a whole number")
    return [int(number) for number in numbers]


class Request(NamedTuple):
    """One text to fill: its id, its text, its blanks as characters or a marker, and their token counts."""

    id: str
    text: str
    blanks: list[CharSpan] | str
    counts: list[int] | None


def list_requests(texts: Any, blanks: Any, ids: Any = None, counts: Any = None) -> list[Request]:
    """Return what is to be filled, text by text.

    A string is one text; its blanks, id and counts may then stand without a list around them. Ids may be numbers.
    Raises BlankfillError for anything else, and for ids that are not different, by the id of the text (by its number
    where it is no string or its id is wrong), and never shows the text.
    """
    is_one = isinstance(texts, str)
    read = [_text(i, text) for i, text in enumerate([texts] if is_one else to_list("texts", texts))]
    n = len(read)
    is_one_id = isinstance(ids, str) or is_number(ids)
    given = range(n) if ids is None else [ids] if is_one_id else to_list("ids", ids)
    names = [_id(i, id) for i, id in enumerate(given)]
    if len({*names}) != len(names) or len(names) != n:
        raise BlankfillError(f"ids: {n} texts need as many different ids, these are {len({*names})}")
    is_marker = isinstance(blanks, str)
    spans = [str(blanks)] * n if is_marker else read_spans("blanks", blanks, names, is_one)
    numbers = [None] * n
    if counts is not None:
        numbers = _by_text("counts", counts, names, is_one, is_number, _counts_of)
    return [*map(Request, names, read, spans, numbers)]


def iterate_requests(texts: Any, blanks: Any, ids: Any = None, counts: Any = None) -> Iterator[Request]:
    """Yield the same one by one, without holding them; ids are then not compared.

    Raises BlankfillError where blanks, ids or counts are fewer than the texts, or more: of ids those that have a length,
    as a counter never ends.
    """
    if isinstance(texts, str):
        return iter(list_requests(texts, blanks, ids, counts))
    given = {"blanks": blanks, "ids": ids, "counts": counts}
    absent = {name for name, values in given.items() if values is None and name != "blanks"}
    if isinstance(blanks, str):
        absent.add("blanks")
    columns = {name: iter(_refuse_single(name, given[name])) for name in given if name not in absent}
    return _iterate(_refuse_single("texts", texts), blanks, columns, isinstance(ids, Sized))


def _iterate(
    texts: Iterable, marker: Any, columns: dict[str, Iterator], are_ids_counted: bool
) -> Iterator[Request]:
    """Yield requests; `columns` has an iterator for each of blanks, ids and counts that were given one by one."""
    n = 0
    for n, text in enumerate(texts, 1):
        values = {name: next(column, END) for name, column in columns.items()}
        if short := [name for name in values if values[name] is END]:
            raise BlankfillError(f"{short[0]}: there are {n - 1}, and more texts")
        id = _id(n - 1, values["ids"]) if "ids" in values else str(n - 1)
        yield Request(
            id,
            _text(n - 1, text),
            _spans_of(f"blanks of text {id}", values["blanks"]) if "blanks" in values else str(marker),
            _counts_of(f"counts of text {id}", values["counts"]) if "counts" in values else None,
        )
    for name, column in columns.items():
        if (name != "ids" or are_ids_counted) and next(column, END) is not END:
            raise BlankfillError(f"{name}: there are more than the {n} texts")
