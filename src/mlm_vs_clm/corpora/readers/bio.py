"""BIO columns (CoNLL): one token per line with its tag last, a blank line after a sentence."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from ...documents import Document, Entity
from ...errors import StudyError
from .base import Columns, OnMistake, ReaderResult, raise_mistake
from .bio_columns import (
    OTHER_TAGS,
    RANGE,
    TAG,
    Cells,
    count_other_tags,
    find_column,
    given_columns,
    holds_ranges,
)
from .files import Files, reading
from .official import part_of_path

ENDINGS = (".conll", ".conllu", ".bio", ".iob", ".iob2")
DOCSTART = "-DOCSTART-"
NEW_DOCUMENT = re.compile(r"# ?new ?doc|# ?doc_?id", re.IGNORECASE)
RULE = (
    "tokens joined by single spaces, a sentence a line; they are in the first column that neither counts nor names parts "
    "of speech, or in the one that the settings name; a document begins at a -DOCSTART- or `# newdoc` line, or is one "
    "sentence where a file has none; an I tag after another type or none begins an entity, as in IOB1; words of "
    "several tokens and empty nodes of CoNLL-U are left out"
)
Line = tuple[int, Cells]  # its number and its cells
Sentence = list[tuple[str, str]]  # tokens and tags
MARK: list[Line] = []  # stands among the lines of sentences where a document begins


def read(path: Path, on_mistake: OnMistake = raise_mistake, columns: Columns | None = None) -> ReaderResult:
    """Read a file, or every one with an ending of ENDINGS (else .txt and .tsv, else all) below a folder or in a zip.

    Files named train, dev and test are official splits. `columns` may have the number of the tokens' column, from 1, as
    `text`, and that of the tags' as `entities` (by default the last). A line without a tag, or of another width than most of its sentence, is a mistake, and so is a file in which
    no other column can hold words.
    """
    result, given = ReaderResult(on_mistake=on_mistake), given_columns(columns or {})
    with reading(path, result) as files:
        names = files.ending(*ENDINGS) or files.ending(".txt", ".tsv") or files.names
        if not names:
            raise StudyError(f"{path} is empty: give a file of tokens and tags, or a folder of them")
        stems = _name_files(names)
        for name in names:
            official = part_of_path(name) if len(names) > 1 else ""
            result.attempt(_read_file, files, name, stems[name], official, given, result)
    return result


def _name_files(names: list[str]) -> dict[str, str]:
    """Return the names without their endings, but for those that would then be the same."""
    stems = {name: str(PurePosixPath(name).with_suffix("")) for name in names}
    times = Counter(stems.values())
    return {name: stem if times[stem] == 1 else name for name, stem in stems.items()}


def _read_file(
    files: Files, name: str, stem: str, official: str, given: dict[str, int], result: ReaderResult
) -> None:
    """Add the documents of a file, named after it and their number."""
    lines = [_split(line, given.get("entities")) for line in files.read_plain(name).split("\n")]
    groups = _group(lines)
    tagged = [[cells for _, cells in group if _has_tag(cells)] for group in groups]
    column = given["text"] if "text" in given else find_column(tagged, files.where(name))
    result.counted[OTHER_TAGS] += 0 if "entities" in given else count_other_tags(tagged)
    if holds_ranges(tagged, column):
        groups = _leave_out_ranges(groups, result)
    for number, document in enumerate(_join_groups(groups)):
        widths = [_find_width(cells for _, cells in group) for group in document]
        rows = (
            [result.attempt(_read_token, *line, column, width, files.where(name, line[0])) for line in group]
            for group, width in zip(document, widths, strict=True)
        )
        sentences = ([token for token in row if token] for row in rows)
        text, entities = join([sentence for sentence in sentences if sentence])
        where = files.where(name, document[0][0][0])
        result.attempt(result.add, Document(f"{stem}-{number}", text, entities=entities), official, where)


def _leave_out_ranges(groups: list[list[Line]], result: ReaderResult) -> list[list[Line]]:
    """Return the lines without words of several tokens and empty nodes of CoNLL-U, which are counted."""
    words_only = [
        group if group is MARK else [line for line in group if not RANGE.fullmatch(line[1][0])]
        for group in groups
    ]
    n_left_out = sum(map(len, groups)) - sum(map(len, words_only))
    result.counted["words of several tokens and empty nodes (not used)"] += n_left_out
    return words_only


def _split(line: str, tag_column: int | None) -> Cells:
    """Return the cells of a line, none for a blank one, with that of the tag last."""
    if not line.strip():
        return []
    cells = [cell.strip() for cell in line.split("\t" if "\t" in line else None)]
    return cells if tag_column is None else [*cells, *cells[tag_column : tag_column + 1]]


def _group(lines: list[Cells]) -> list[list[Line]]:
    """Return the lines of each sentence with their numbers, comments left out, and MARK where a document begins.

    A comment begins with # before a sentence. A line with a tag, and as many cells as others have, is a token.
    """
    width = _find_width(cells for cells in lines if cells and not cells[0].startswith("#"))
    groups: list[list[Line]] = [[]]
    for number, cells in enumerate(lines, start=1):
        is_token = _has_tag(cells) and width in (0, len(cells))
        if _is_mark(cells, is_token):
            groups += [MARK, []]
        elif not cells:
            groups.append([])
        elif groups[-1] or is_token or not (cells[0] + " ").startswith("# "):
            groups[-1].append((number, cells))
    return [group for group in groups if group or group is MARK]


def _has_tag(cells: Cells) -> bool:
    return len(cells) > 1 and bool(TAG.fullmatch(cells[-1]))


def _is_mark(cells: Cells, is_token: bool) -> bool:
    """Return whether a document begins at a line."""
    if any(cell.startswith(DOCSTART) for cell in cells):
        return True
    return not is_token and bool(NEW_DOCUMENT.match(" ".join(cells)))


def _join_groups(groups: list[list[Line]]) -> Iterator[list[list[Line]]]:
    """Yield the sentences of each document: those between two marks, or one where a file has no mark."""
    has_marks = any(group is MARK for group in groups)
    document: list[list[Line]] = []
    for group in [*groups, MARK]:
        document += [group] if group else []
        if document and (group is MARK or not has_marks):
            yield document
            document = []


def _find_width(lines: Iterable[Cells]) -> int:
    """Return how many cells most lines with a tag have; 0 where none has one."""
    widths = Counter(len(cells) for cells in lines if _has_tag(cells))
    return widths.most_common(1)[0][0] if widths else 0


def _read_token(number: int, cells: Cells, column: int, width: int, where: str) -> tuple[str, str]:
    if not _has_tag(cells) or len(cells) < column + 2 or not cells[column]:
        problem = "no token with a tag (O, B-Type, I-Type) in the last column"
        raise StudyError(f"{where}: {problem}: correct it")
    if len(cells) != width:
        raise StudyError(
            f"{where}: {len(cells)} cells where most of its sentence have {width}: correct it, or part all cells by tabs"
        )
    return cells[column], cells[-1]


def join(sentences: list[Sentence]) -> tuple[str, tuple[Entity, ...]]:
    """Return the text of a document, and its entities at their offsets in it."""
    lines, entities, offset = [], [], 0
    for sentence in sentences:
        lines.append(" ".join(token for token, _ in sentence))
        entities += find_entities(sentence, offset)
        offset += len(lines[-1]) + 1
    return "\n".join(lines), tuple(entities)


def find_entities(sentence: Sentence, offset: int) -> list[Entity]:
    """Return the entities of a sentence whose text starts at `offset`."""
    entities: list[Entity] = []
    is_open = False
    for token, tag in sentence:
        prefix, _, kind = tag.partition("-")
        if is_open and prefix in "IEL" and entities[-1].type == kind:
            entities[-1] = Entity(entities[-1].start, offset + len(token), kind)
        elif prefix != "O":
            entities.append(Entity(offset, offset + len(token), kind))
        is_open = prefix in "BI"
        offset += len(token) + 1
    return entities
