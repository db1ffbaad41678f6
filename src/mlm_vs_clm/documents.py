"""A document: a text with its labels, and the words in it."""

import re
from dataclasses import asdict, dataclass, replace

WORD = re.compile(r"[^\W_]+|[^\w\s]|_")


@dataclass(frozen=True)
class Entity:
    """A labelled span of characters, end exclusive."""

    start: int
    end: int
    type: str


@dataclass(frozen=True)
class Document:
    """A text with whatever is known about it; `source` is the id of the text that it was cut from."""

    id: str
    text: str
    labels: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    author: str = ""
    date: str = ""
    source: str = ""

    def to_row(self) -> dict:
        """Return plain values, as `datasets` stores them."""
        return asdict(self) | {
            "labels": list(self.labels),
            "entities": [asdict(entity) for entity in self.entities],
        }

    @classmethod
    def from_row(cls, row: dict) -> "Document":
        """Rebuild a document from `to_row`."""
        entities = tuple(Entity(**entity) for entity in row["entities"])
        return cls(**row | {"labels": tuple(row["labels"]), "entities": entities})

    def with_labels(self, labels: tuple[str, ...]) -> "Document":
        """Return the same document under other labels."""
        return replace(self, labels=labels)


def find_words(text: str) -> list[tuple[int, int]]:
    """Return the character offsets of every word: a run of letters and digits, or one mark.

    The rule knows no model and no language. Splitting every mark off makes scores blind to the spacing that
    sub-word tokenizers invent ("blood - pressure" and "blood-pressure" are the same three words).
    """
    return [match.span() for match in WORD.finditer(text)]


def split_words(text: str) -> list[str]:
    """Return the words of a text as strings."""
    return WORD.findall(text)
