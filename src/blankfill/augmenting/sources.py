"""The texts that are given to an augmenter, with their entities and the spans that may be replaced."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..arguments import list_requests, read_spans, to_list
from ..draws import name_text
from ..errors import BlankfillError
from ..text import CharSpan, blank_out, find_words
from .choosing import OF_LABELS, eligible_words, read_protected, read_strategy, touches
from .labels import Entity, check_characters, keys_of, read_entities


@dataclass(frozen=True)
class Source:
    """A text to vary; `place` names it in messages, `name` keys its draws, `eligible` has the spans that may be replaced.

    `keys` has those of entities that were given as a mapping to lists, else None.
    """

    place: str
    name: str
    text: str
    entities: list[Entity]
    eligible: list[CharSpan]
    keys: list[str] | None


class SourceReader:
    """Reads texts and finds what may change in them, by a strategy and by rules of what never changes."""

    def __init__(self, strategy: Any, protect: Any):
        self.strategy, self.needs_entities = read_strategy(strategy), strategy in OF_LABELS
        self.name = strategy
        self.protected = read_protected(protect)

    def read(self, texts: Any, entities: Any, blanks: Any, protect: Any, ids: Any) -> list[Source]:
        """Return the sources of texts (or one string); the other arguments, one for each text, may be None.

        Raises BlankfillError, by the id or number of a text and without its words, for what is wrong.
        """
        is_single = isinstance(texts, str)
        requests = list_requests(texts, "_", ids)
        places, read = [request.id for request in requests], [request.text for request in requests]
        if self.needs_entities and entities is None:
            raise BlankfillError(f"strategy={self.name} needs entities: give those of each text")
        if blanks is not None and self.name != "random":
            raise BlankfillError("blanks stand in place of a strategy: leave strategy out")
        names = [*map(name_text, read)] if ids is None else places
        labels = _read_labels(places, read, is_single, entities)
        never = _read_given_spans("protect", protect, places, is_single)
        allowed = _read_given_spans("blanks", blanks, places, is_single)
        sources = []
        for place, name, text, (marked, keys), fixed, spans in zip(
            places, names, read, labels, never, allowed, strict=True
        ):
            if spans is None:
                spans = self._choose(text, marked)
            else:
                blank_out(place, text, spans)  # raises for what is no blank
            for start, end in fixed or []:
                check_characters(f"protect of document {place}", text, start, end)
            kept = [match.span() for pattern in self.protected for match in pattern.finditer(text)]
            eligible = [span for span in spans if not touches(span, [*kept, *(fixed or [])])]
            sources.append(Source(place, name, text, marked, eligible, keys))
        return sources

    def _choose(self, text: str, entities: Iterable[Entity]) -> list[CharSpan]:
        words = find_words(text)
        numbers = eligible_words(self.strategy, text, words, [entity.span for entity in entities])
        return [words[number] for number in numbers]


def _read_given_spans(
    name: str, spans: Any, places: list[str], is_single: bool
) -> list[list[CharSpan]] | list[None]:
    return [None] * len(places) if spans is None else read_spans(name, spans, places, is_single)


def _read_labels(
    places: list[str], texts: list[str], is_single: bool, entities: Any
) -> list[tuple[list[Entity], list[str] | None]]:
    """Return the entities of each text, and the keys of those that are a mapping to lists."""
    if entities is None:
        return [([], None) for _ in texts]
    listed = [entities] if is_single else to_list("entities", entities)
    if len(listed) != len(texts):
        raise BlankfillError(f"entities: {len(texts)} texts need as many lists, these are {len(listed)}")
    return [
        (read_entities(f"document {place}", text, row), keys_of(row))
        for place, text, row in zip(places, texts, listed, strict=True)
    ]
