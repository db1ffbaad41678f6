"""The texts that are given to an augmenter, with their entities and the spans that may be replaced."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..arguments import read_arguments, read_spans
from ..errors import BlankfillError
from ..text import CharSpan, blank_out, find_words
from .choosing import OF_LABELS, eligible_words, protected_spans, read_protected, read_strategy, touches
from .labels import Entity, keys_of, read_entities


@dataclass(frozen=True)
class Given:
    """What callers give: texts (or one string), and for each text entities, blanks, protected spans and an id, or None."""

    texts: Any
    entities: Any = None
    blanks: Any = None
    protect: Any = None
    ids: Any = None


@dataclass(frozen=True)
class Source:
    """A text to vary; `place` names it in messages, `name` keys its draws, `eligible` has the spans that may be replaced.

    `keys` has those of entities that were given as a mapping to lists, else None.
    """

    place: str
    name: str
    text: str
    entities: list[Entity] = field(default_factory=list)
    eligible: list[CharSpan] = field(default_factory=list)
    keys: list[str] | None = None


class SourceReader:
    """Reads texts and finds what may change in them, by a strategy and by rules of what never changes."""

    def __init__(self, strategy: Any, protect: Any):
        self.strategy, self.needs_entities = read_strategy(strategy), strategy in OF_LABELS
        self.name = strategy
        self.protected = read_protected(protect)

    def read(self, request: Given) -> list[Source]:
        """Return the sources; BlankfillError, by the id or number of a text and without its words, for what is wrong."""
        is_single = isinstance(request.texts, str)
        read = read_arguments(request.texts, "_", request.ids)
        n_texts = len(read.texts)
        if read.ids is not None and not len(read.ids) == len({*read.ids}) == n_texts:
            raise BlankfillError(f"ids: {n_texts} texts need as many different ids")
        if self.needs_entities and request.entities is None:
            raise BlankfillError(f"strategy={self.name} needs entities: give those of each text")
        if request.blanks is not None and self.name != "random":
            raise BlankfillError("blanks stand in place of a strategy: leave strategy out")
        places = read.ids or [str(i) for i in range(n_texts)]
        names = read.ids or [_hash(text) for text in read.texts]
        labels = _read_labels(places, read.texts, is_single, request.entities)
        never = _read_given_spans("protect", request.protect, n_texts, is_single)
        blanks = _read_given_spans("blanks", request.blanks, n_texts, is_single)
        sources = []
        for place, name, text, (entities, keys), fixed, spans in zip(
            places, names, read.texts, labels, never, blanks, strict=True
        ):
            may_change = self._choose(text, entities) if spans is None else check_blanks(place, text, spans)
            fixed = [*protected_spans(text, self.protected), *(fixed or [])]
            eligible = [span for span in may_change if not touches(span, fixed)]
            sources.append(Source(place, name, text, entities, eligible, keys))
        return sources

    def _choose(self, text: str, entities: Iterable[Entity]) -> list[CharSpan]:
        words = find_words(text)
        numbers = eligible_words(self.strategy, text, words, [entity.span for entity in entities])
        return [words[number] for number in numbers]


def check_blanks(place: str, text: str, spans: list[CharSpan]) -> list[CharSpan]:
    """Return the spans; DocumentError unless they are blanks that can be filled (see `blank_out`)."""
    blank_out(place, text, spans)
    return spans


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _read_given_spans(
    name: str, spans: Any, n_texts: int, is_single: bool
) -> list[list[CharSpan]] | list[None]:
    return [None] * n_texts if spans is None else read_spans(name, spans, n_texts, is_single)


def _read_labels(
    places: list[str], texts: list[str], is_single: bool, entities: Any
) -> list[tuple[list[Entity], list[str] | None]]:
    """Return the entities of each text, and the keys of those that are a mapping to lists."""
    rows = [entities] if is_single and entities is not None else entities
    if rows is None:
        return [([], None) for _ in texts]
    if isinstance(rows, str | bytes) or not isinstance(rows, Iterable):
        raise BlankfillError(f"entities: a list for each text is needed, this is a {type(rows).__name__}")
    listed = [*rows]
    if len(listed) != len(texts):
        raise BlankfillError(f"entities: {len(texts)} texts need as many lists, these are {len(listed)}")
    return [
        (read_entities(f"document {place}", text, row), keys_of(row))
        for place, text, row in zip(places, texts, listed, strict=True)
    ]
