"""A document: a text with its labels, its words and sentences, and its hash."""

import hashlib
import re
import unicodedata
from dataclasses import asdict, dataclass

from .errors import StudyError

WORD = re.compile(r"[^\W_]+|[^\w\s]|_")
SENTENCE_END = re.compile(r"[.!?]+[\"'”’)\]]*\s+(?=[\"'“‘(\[`]*[A-Z0-9À-ÖØ-Þ])|\s*\n\s*\n\s*")
ACRONYM = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
ABBREVIATIONS = frozenset(
    "mr mrs ms dr st jr sr prof rev hon gov gen sen rep lt col capt sgt maj adm cmdr supt messrs pres "
    "vs al etc cf ca approx dept inc ltd co corp mt ft ave blvd spp".split()
)
WORD_CLASSES = ("content", "stopword", "punctuation")
BEFORE_NUMBERS = frozenset(
    "no nos fig figs tab eq p pp vol ch sec ref refs res h.r jan feb mar apr aug sept oct nov dec".split()
)


@dataclass(frozen=True)
class Entity:
    """A labelled span of characters, end exclusive."""

    start: int
    end: int
    type: str


@dataclass(frozen=True)
class Document:
    """A text with what is known about it; `origin_id` is the id of the text that it was cut from."""

    id: str
    text: str
    labels: tuple[str, ...] = ()
    entities: tuple[Entity, ...] = ()
    author: str = ""
    date: str = ""
    origin_id: str = ""

    def to_row(self) -> dict:
        """Return plain values, as `datasets` stores them; `origin_id` is stored as `source`."""
        row = asdict(self) | {"labels": list(self.labels), "entities": list(map(asdict, self.entities))}
        return row | {"source": row.pop("origin_id")}

    @classmethod
    def from_row(cls, row: dict) -> "Document":
        """Rebuild a document from `to_row`."""
        entities = tuple(Entity(**entity) for entity in row["entities"])
        labels = tuple(row["labels"])
        return cls(row["id"], row["text"], labels, entities, row["author"], row["date"], row["source"])


def check_offsets(entity: Entity, text: str, where: str) -> None:
    """Raise StudyError unless an entity's offsets lie inside its text; `where` names the document."""
    if not 0 <= entity.start < entity.end <= len(text):
        offsets = f"entity offsets {entity.start}-{entity.end}"
        raise StudyError(f"{where}: {offsets} fall outside the text of {len(text)} characters: correct it")


def find_words(text: str) -> list[tuple[int, int]]:
    """Return the character offsets of every word: a run of letters and digits, or a punctuation character.

    The rule depends on no model and no language. As punctuation is split off, scores ignore the spacing that
    tokenizers introduce ("blood - pressure" and "blood-pressure" are the same three words).
    """
    return [match.span() for match in WORD.finditer(text)]


def split_words(text: str) -> list[str]:
    """Return the words of a text as strings."""
    return WORD.findall(text)


def classify_word(word: str) -> str:
    """Return the class of a word, one of WORD_CLASSES; the stopwords are scikit-learn's 318 English function words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    if len(word) == 1 and not word.isalnum():
        return "punctuation"
    return "stopword" if word.lower() in ENGLISH_STOP_WORDS else "content"


def hash_text(text: str) -> str:
    """Return a sha256 of a text that ignores case, punctuation and spaces."""
    words = split_words(unicodedata.normalize("NFKC", text).casefold())
    return hashlib.sha256(" ".join(word for word in words if word[0].isalnum()).encode()).hexdigest()


def find_sentence_starts(text: str) -> list[int]:
    """Return the character offsets at which sentences after the first begin.

    A sentence ends at . ! or ? before white space and a capital or digit, or at a blank line; not after a
    title or abbreviation, an initial or acronym ("John F. Kennedy", "U.S. Army"), nor in "No. 5".
    """
    return [end.end() for end in SENTENCE_END.finditer(text) if not _is_abbreviation(text, end)]


def _is_abbreviation(text: str, end: re.Match) -> bool:
    if text[end.start()] != "." or text[end.start() + 1] in ".!?":
        return False
    token = text[max(text.rfind(" ", 0, end.start()), text.rfind("\n", 0, end.start())) + 1 : end.start()]
    token = token.lstrip("([\"'“‘`").lower()
    if token in BEFORE_NUMBERS and text[end.end()].isdigit():
        return True
    return token in ABBREVIATIONS or bool(ACRONYM.fullmatch(token))
