"""A `datasets` folder (save_to_disk), or a data set of the Hugging Face hub at a revision; never its code."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from ...documents import Document, Entity
from ...errors import StudyError
from .base import Columns, OnMistake, ReaderResult, check_id, parse_json, raise_mistake, read_text
from .cells import expand, read_list, text_of
from .files import is_hidden
from .official import find_split, part_of_value
from .tables import find_columns, name_columns

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict


SAVED = ("dataset_dict.json", "state.json")  # one of them lies in a folder of save_to_disk
HUB = re.compile(r"[\w.-]+(?:/[\w.-]+)?@[\w./-]+")
NO_NETWORK = "check the network and the name, or give a folder made with save_to_disk"
NO_CLASS = -1  # how unlabelled test splits mark a row
ENTITY_KEYS = ("start", "end", "type")
RULE = (
    "texts as they stand; labels are one value or a list, classes by their names; where there is no column id, a row is "
    "named by its number"
)


def read(
    path: Path | str, on_mistake: OnMistake = raise_mistake, columns: Columns | None = None
) -> ReaderResult:
    """Read every row of a saved Dataset or DatasetDict (its keys are official splits), or of owner/name@revision.

    Raises StudyError for a damaged folder, one without rows, no network, a missing column, and texts that are numbers.
    An id that is missing or used twice in a split is a mistake. A class of -1 is no label, nor are the numbers of a split
    that are all -1.
    """
    result = ReaderResult(on_mistake=on_mistake)
    loaded = load(path)
    splits = loaded if isinstance(loaded, dict) else {"": loaded}
    for key, rows in splits.items():
        where = f"{path}, split {key}" if key else str(path)
        result.attempt(_read_rows, rows, key, where, columns or {}, result)
    result.refuse_numbers(str(path))
    return result


def load(path: Path | str) -> "Dataset | DatasetDict":
    """Return the data of a folder, or of owner/name@revision on the hub or in its cache."""
    from datasets import load_dataset, load_from_disk

    try:
        if Path(path).is_dir():
            _refuse_parent(Path(path))
            _refuse_outside(Path(path))
            return load_from_disk(str(Path(path).absolute()))  # else the library reads ~ and :: in it
        if HUB.fullmatch(str(path)):
            name, _, revision = str(path).partition("@")
            return load_dataset(name, revision=revision)
    except StudyError:
        raise
    except IndexError:
        raise StudyError(f"{path} has no rows, or a split of it has none: remove it or fill it") from None
    except Exception as error:  # whatever the library says of a damaged or foreign file
        is_folder = Path(path).is_dir()
        advice = "it is damaged, save it again (save_to_disk)" if is_folder else NO_NETWORK
        raise StudyError(f"{path} cannot be loaded ({type(error).__name__}): {advice}") from None
    raise StudyError(f"{path} is missing: give a folder made with save_to_disk, or owner/name@revision")


def has_entities(path: str, columns: Columns) -> bool:
    """Return whether a data set has a column of entities, called as `columns` says."""
    loaded = load(path)
    splits = loaded.values() if isinstance(loaded, dict) else [loaded]
    return any(columns.get("entities", "entities") in rows.column_names for rows in splits)


def _refuse_parent(folder: Path) -> None:
    """Raise StudyError for a folder of data sets that is none itself."""
    inner = sorted(path.parent.name for name in SAVED for path in folder.glob(f"*/{name}"))
    if inner and not any((folder / name).is_file() for name in SAVED):
        raise StudyError(
            f"{folder} holds {len(inner)} data sets ({', '.join(inner[:3])}): give the path of one, or save them as one DatasetDict"
        )


def _refuse_outside(folder: Path) -> None:
    """Raise StudyError for a folder whose own lists (of splits, of files) name what lies elsewhere, or is hidden.

    No fingerprint covers what is hidden, and no check of links.
    """
    for listing in (path for name in SAVED for path in folder.rglob(name)):
        content = parse_json(read_text(listing), str(listing))
        content = content if isinstance(content, dict) else {}
        files = content.get("_data_files") or []
        names = [file.get("filename") if isinstance(file, dict) else None for file in files]
        for name in (*names, *(content.get("splits") or [])):
            if not isinstance(name, str) or PurePosixPath(name).name != name or is_hidden(name):
                raise StudyError(
                    f"{listing} names what lies outside of its folder or is hidden: save the data again (save_to_disk)"
                )


def _read_rows(rows: "Dataset", key: str, where: str, columns: Columns, result: ReaderResult) -> None:
    find_columns(rows.column_names, ("text",), columns, where)
    called = name_columns(rows.column_names, columns)
    called = {ours: theirs for ours, theirs in called.items() if theirs in rows.column_names}
    kinds = {ours: _kind_of(rows.features.get(theirs)) for ours, theirs in called.items()}
    if key and "split" not in called and not find_split(key):
        raise StudyError(
            f"{where}: the name is none of train, val, dev and test: rename the split, or leave it out"
        )
    has_classes = hasattr(kinds.get("labels"), "int2str")
    if "labels" in called and not has_classes:
        cells = rows.with_format(None)[called["labels"]]
        if _are_flags(cells):
            raise StudyError(
                f"{where}: its labels are 0 and 1, one for each class: give the classes' names instead"
            )
        if all(cell == NO_CLASS for cell in cells):
            del called["labels"]
    for number, row in _list_rows(rows, called, where):
        result.attempt(_read_row, row, number, kinds, key, f"{where}, row {number}", result)


def _kind_of(feature: Any) -> Any:
    """Return the type of a value of a column, or of each of its values where it holds lists; of entities that of the type."""
    kind = getattr(feature, "feature", feature)
    kind = kind.get("type") if isinstance(kind, dict) else kind
    return getattr(kind, "feature", kind)


def _are_flags(cells: Any) -> bool:
    """Return whether all rows of a column are lists of as many zeros and ones: a place for each class."""
    lists = [cell for cell in cells if isinstance(cell, list)]
    is_even = len(lists) == len(cells) > 0 and len({len(cell) for cell in lists}) == 1 < len(lists[0])
    return is_even and all(value in (0, 1) for cell in lists for value in cell)


def _name_class(value: Any, kind: Any) -> Any:
    """Return the name of a class that is stored as its number; any other value as it is."""
    if not hasattr(kind, "int2str") or not isinstance(value, int):
        return value
    with suppress(ValueError):
        return kind.int2str(value)
    return None


def _list_rows(rows: "Dataset", called: dict[str, str], where: str) -> Iterator[tuple[int, dict]]:
    """Yield (number, {our name of a column: value}) of each row, as plain values whatever format was saved."""
    plain = rows.with_format(None).select_columns(list(dict.fromkeys(called.values())))
    try:
        for number, row in enumerate(plain):
            yield number, {ours: row[theirs] for ours, theirs in called.items()}
    except Exception as error:  # of the library: not UTF-8, or a picture without its file
        raise StudyError(
            f"{where}: a row cannot be read ({type(error).__name__}): correct the folder"
        ) from None


def _read_row(
    row: dict, number: int, kinds: dict[str, Any], key: str, where: str, result: ReaderResult
) -> None:
    text, has_id = row["text"], "id" in row
    id = text_of(row["id"], "id", where) if has_id else f"{key or 'row'}-{number}"
    check_id(id, where)
    if not isinstance(text, str):
        raise StudyError(
            f"{where}: its text is not a string: correct it or name another column (corpus.columns.text=...)"
        )
    entries = row.get("entities") or []
    place = f"{where}, document {id}"
    listed = entries if isinstance(entries, list) else [entries]
    entities = tuple(_entity(entry, kinds.get("entities"), place) for entry in listed)
    labels = _read_labels(row.get("labels"), kinds.get("labels"), where)
    author = text_of(_name_class(row.get("author"), kinds.get("author")), "author", where)
    official = _part_of(_name_class(row.get("split"), kinds.get("split")), key, where)
    document = Document(id, text, labels, entities, author=author)
    if not has_id:
        result.refuse_other_labels(document, where)
    result.add(document, official, where)


def _read_labels(cell: Any, kind: Any, where: str) -> tuple[str, ...]:
    """Return the labels of a row, those that are none left out; `kind` is the type of one label."""
    values = cell if isinstance(cell, list) else [cell]
    has_names = hasattr(kind, "int2str")
    values = [value for value in values if value not in (None, "", *([NO_CLASS] if has_names else []))]
    if has_names:
        try:
            return tuple(kind.int2str(values))
        except (ValueError, TypeError):
            raise StudyError(f"{where}: a label is none of the classes: correct it") from None
    if all(value in (0, 1) for value in values) and values != sorted(set(values)):
        raise StudyError(
            f"{where}: its labels are 0 and 1, one for each class: give the classes' names instead"
        )
    texts = [text_of(value, "labels", where) for value in values]
    written = read_list(cell, where) if isinstance(cell, str) else None
    return expand(texts, where) if written is None else tuple(written)


def _part_of(split: Any, key: str, where: str) -> str:
    """Return the official split of a row, by its own column or the key of its data set, which may not differ."""
    officials = {part_of_value(value, where) for value in (split, key or None)} - {""}
    if len(officials) > 1:
        raise StudyError(f"{where}: its column split names another split than {key}: correct or rename it")
    return next(iter(officials), "")


def _entity(value: Any, kind: Any, where: str) -> Entity:
    """Return an entity that is a list or has names; StudyError for any other shape."""
    is_named = isinstance(value, dict) and value.keys() == set(ENTITY_KEYS)
    triple = [value[key] for key in ENTITY_KEYS] if is_named else value
    if is_named:
        triple[2] = _name_class(triple[2], kind)
    if isinstance(triple, list) and len(triple) == len(ENTITY_KEYS) and isinstance(triple[2], str | int):
        start, end = map(_offset, triple[:2])
        if start is not None and end is not None:
            return Entity(start, end, str(triple[2]))
    raise StudyError(
        f"{where}: an entity is not of the shape [start, end, type], or these by name: correct it"
    )


def _offset(value: Any) -> int | None:
    """Return a whole number, also one that is written as text or stored with a point; None for any other value."""
    if isinstance(value, bool):
        return None
    with suppress(TypeError, ValueError, OverflowError):
        return int(value) if int(value) == float(value) else None
    return None
