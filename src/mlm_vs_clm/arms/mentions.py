"""Mention replacement: another mention of the same type in place of an entity, real text elsewhere."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from blankfill.draws import keyed_uniform
from blankfill.text import BlankedText, FilledText, assemble_text, fold_case

from ..documents import Document, Entity
from ..errors import StudyError


@dataclass(frozen=True)
class Mentions:
    """The entities of each document to be written, by its id, and the mentions to draw from, by type."""

    of_document: dict[str, tuple[Entity, ...]]
    of_type: dict[str, list[str]]


def gather_mentions(written: Iterable[Document], labelled: Iterable[Document]) -> Mentions:
    """Return the entities of the documents `written`, and the mentions of those `labelled`, each as often as it occurs.

    Raises StudyError where no document of either has a labelled entity.
    """
    of_type: dict[str, list[str]] = defaultdict(list)
    for document in labelled:
        for entity in document.entities:
            of_type[entity.type].append(document.text[entity.start : entity.end])
    of_document = {document.id: document.entities for document in written}
    if not of_type or not any(of_document.values()):
        raise StudyError("arm mention needs labelled entities, and this corpus has none: choose another arm")
    return Mentions(of_document, dict(of_type))


def replace_mentions(text: BlankedText, mentions: Mentions, seed: int) -> FilledText:
    """Return the text with each entity that has a blank replaced by another mention of its type.

    All words of such an entity are replaced, the longest of overlapping ones first; other blanks have their originals. An
    entity of whose type there is no other mention stays as it is.
    """
    hidden, drawn = {*text.blanks}, _draw_mentions(text, mentions, seed)
    replaced = {word: words for words in drawn for word in words}
    units = sorted([*drawn, *((word,) for word in range(len(text.words)) if word not in replaced)])
    spans = [(text.words[unit[0]][0], text.words[unit[-1]][1]) for unit in units]
    blanks = [number for number, unit in enumerate(units) if unit in drawn]
    made = assemble_text(
        BlankedText(text.id, text.text, spans, blanks), [drawn[units[blank]] for blank in blanks]
    )
    span_of = {unit[0]: span for unit, span in zip(units, made.spans, strict=True)}
    first_hidden = {words: next(word for word in words if word in hidden) for words in drawn}
    fills = []
    for blank in text.blanks:
        words = replaced.get(blank)
        original = text.text[slice(*text.words[blank])]
        fills.append((drawn[words] if first_hidden[words] == blank else "") if words else original)
    return FilledText(text.id, made.text, fills, [span_of.get(word) for word in range(len(text.words))])


def _draw_mentions(text: BlankedText, mentions: Mentions, seed: int) -> dict[tuple[int, ...], str]:
    """Return the mention for the words (numbers, in order) of each entity that has a blank; no word is of two."""
    hidden, covered, drawn = {*text.blanks}, set[int](), {}
    entities = mentions.of_document[text.id]
    for number, entity in sorted(enumerate(entities), key=lambda pair: pair[1].start - pair[1].end):
        words = tuple(
            i for i, (start, end) in enumerate(text.words) if start < entity.end and entity.start < end
        )
        if not hidden & {*words} or covered & {*words}:
            continue
        name = fold_case(text.text[entity.start : entity.end])
        alternatives = [
            mention for mention in mentions.of_type.get(entity.type, ()) if fold_case(mention) != name
        ]
        if alternatives:
            place = keyed_uniform(seed, "mention", text.id, number) * len(alternatives)
            drawn[words] = alternatives[int(place)]
            covered |= {*words}
    return drawn
