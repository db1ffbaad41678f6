"""Long documents cut into windows at sentence boundaries."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise

from blankfill.text import find_words

from ..documents import Document, Entity, find_sentence_starts
from .readers.base import ReaderResult

RULE = (
    "cut at sentence boundaries, as many whole sentences a window as fit; a sentence too long for a window is cut "
    "between words; no boundary inside an entity"
)


@dataclass(frozen=True)
class Cutting:
    """How documents become windows of `min_words` to `max_words` words; `seed` draws the splits from these."""

    max_words: int
    min_words: int
    seed: int


def cut(documents: Iterable[Document], cutting: Cutting) -> ReaderResult:
    """Return windows, ids `<document>-<k>`, and what was dropped.

    Each window's text is a slice of the document's, with entity offsets relative to it. Windows of too few words are
    dropped (their k is not used again), as are entities longer than a window.
    """
    result = ReaderResult()
    for document in documents:
        _cut_document(document, cutting, result)
    return result


def _cut_document(document: Document, cutting: Cutting, result: ReaderResult) -> None:
    words = find_words(document.text)
    borders = find_borders(document, words, cutting.max_words)
    entities = list(document.entities)
    for number, (first, last) in enumerate(pairwise(borders)):
        start, end = words[first][0], words[last - 1][1]
        inside = [entity for entity in entities if start <= entity.start and entity.end <= end]
        id = f"{document.id}-{number}"
        for _ in [entity for entity in entities if entity.start < end < entity.end]:
            result.drop(id, "entity longer than a window")
        entities = [entity for entity in entities if entity.start >= end]
        if last - first < cutting.min_words:
            result.drop(id, f"window below {cutting.min_words} words")
        else:
            rebased = tuple(Entity(e.start - start, e.end - start, e.type) for e in inside)
            text = document.text[start:end]
            result.add(replace(document, id=id, text=text, entities=rebased, origin_id=document.id))


def find_borders(document: Document, words: list[tuple[int, int]], max_words: int) -> list[int]:
    """Return the indices of the words at which windows begin, and the number of words at the end."""
    starts = [start for start, _ in words]
    free = _free_borders(starts, document.entities)
    sentences = {bisect_left(starts, offset) for offset in find_sentence_starts(document.text)}
    at_sentences = sorted((sentences & set(free)) | {len(words)})
    borders = [0]
    while borders[-1] < len(words):
        limit = borders[-1] + max_words
        choices = (_last_between(at_sentences, borders[-1], limit), _last_between(free, borders[-1], limit))
        borders.append(next((choice for choice in choices if choice), limit))
    return borders


def _free_borders(starts: list[int], entities: tuple[Entity, ...]) -> list[int]:
    """Return the word indices that no entity runs across."""
    inside: set[int] = set()
    for entity in entities:
        inside.update(range(bisect_right(starts, entity.start), bisect_left(starts, entity.end)))
    return [index for index in range(len(starts)) if index not in inside]


def _last_between(borders: list[int], low: int, high: int) -> int:
    """Return the largest border in (low, high], or 0 if there is none."""
    position = bisect_right(borders, high)
    return borders[position - 1] if position and borders[position - 1] > low else 0
