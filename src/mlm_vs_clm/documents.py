"""A document: a text with its labels, its words and sentences, and its hash."""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

import regex

from blankfill.text import PUNCTUATION, SPELT, split_words

from .errors import StudyError

# A full stop may end an abbreviation, a number or a sentence; a danda or an ideographic stop ends a sentence.
# German closes with \u201C or \u00AB, which open elsewhere, and opens with \u00BB; French puts spaces inside.
_CLOSE = r"(?:[\"'\p{Pe}\p{Pf}\u201C\u00AB]|[ \u00A0\u202F]\u00BB)*"
_OPEN = r"(?:[\"'`\p{Ps}\p{Pi}\u201A\u201E\u00BB¿¡]|\u00AB[ \u00A0\u202F])*"
_STOP = r"(?:[\p{STerm}--[.!?\u2024\uFE52\uFF0E]]|\uFF0E(?!\p{Nd}))"
# A capital, digit or letter that has no case.
_OPENING = r"[\p{Lu}\p{Lt}\p{Nd}\p{Georgian}[\p{Lo}--\p{Latin}]]"
SENTENCE_END = regex.compile(
    # Each way starts where its run of marks or spaces does, and gives nothing back: else a long run takes quadratic time.
    rf"(?<![.!?])[.!?]++{_CLOSE}\s++(?={_OPEN}{_OPENING})"
    rf"|(?<![.!?])[.!?]*+{_STOP}[.!?]*+(?:{_STOP})*+{_CLOSE}+\s*+(?:(?=\S)|(*SKIP)(*FAIL))"
    r"|(?<!\s)\s*\n\s*\n\s*",
    regex.V1,
)
# Initials and the like; a small letter beyond a to z is a word (Russian "I", Vietnamese and Italian words).
ACRONYM = regex.compile(r"(?:\p{L}\p{M}*\.)+\p{L}\p{M}*|\p{Lu}\p{M}*|[\p{L}--[\p{Ll}--[a-z]]]", regex.V1)
ABBREVIATIONS = frozenset(
    "mr mrs ms dr st jr sr prof rev hon gov gen sen rep lt col capt sgt maj adm cmdr supt messrs pres "
    "vs al etc cf ca approx dept inc ltd co corp mt ft ave blvd spp".split()
)
# Soft hyphen, directions, spaces of no width.
UNSEEN = regex.compile(r"[\u00AD\u200B\u200E\u200F\u2060\uFEFF]")
WORD_CLASSES = ("content", "stopword", "punctuation")
LEAST_STOPWORDS = 0.15  # of the words of English texts: 0.35 to 0.49 in the study's corpora
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


def keep_beginning(document: Document, end: int) -> Document:
    """Return a document up to a character, with the entities that lie within it."""
    inside = tuple(entity for entity in document.entities if entity.end <= end)
    return replace(document, text=document.text[:end], entities=inside)


def check_offsets(entity: Entity, text: str, where: str) -> None:
    """Raise StudyError unless an entity's offsets lie inside its text; `where` names the document."""
    if not 0 <= entity.start < entity.end <= len(text):
        offsets = f"entity offsets {entity.start}-{entity.end}"
        raise StudyError(f"{where}: {offsets} fall outside the text of {len(text)} characters: correct it")


def measure_stopwords(texts: Iterable[str]) -> float:
    """Return the share (0-1) of English stopwords among the words of texts, punctuation aside; NaN if there is none."""
    classes = Counter(classify_word(word) for text in texts for word in split_words(text))
    n_words = classes["stopword"] + classes["content"]
    return classes["stopword"] / n_words if n_words else float("nan")


def classify_word(word: str) -> str:
    """Return the class of a word, one of WORD_CLASSES; the stopwords are scikit-learn's 318 English function words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    if PUNCTUATION.fullmatch(word):
        return "punctuation"
    return "stopword" if word.lower() in ENGLISH_STOP_WORDS else "content"


def hash_text(text: str) -> str:
    """Return a sha256 of the letters, digits and marks of a text, whatever case, punctuation, spaces and composition.

    Unseen characters do not count but for joiners, which change the shape of letters. A text of symbols is its symbols.
    """
    folded = unicodedata.normalize("NFKC", UNSEEN.sub("", text)).casefold()
    words = split_words(unicodedata.normalize("NFKC", folded))
    spelt = [word for word in words if SPELT.match(word)]
    return hashlib.sha256(" ".join(spelt or words).encode()).hexdigest()


def find_sentence_starts(text: str) -> list[int]:
    """Return the character offsets at which sentences after the first begin.

    A sentence ends at . ! or ? before white space and a capital, a digit or a letter of a script without case; at the
    stops of other scripts (。 ！ ？ । ؟ ። and so on), with or without space; or at a blank line. It does not end after
    an English title or abbreviation, an initial or acronym ("John F. Kennedy", "U.S. Army"), nor in "No. 5".
    """
    return [end.end() for end in SENTENCE_END.finditer(text) if not _is_abbreviation(text, end)]


def _is_abbreviation(text: str, end: regex.Match) -> bool:
    if text[end.start()] != "." or text[end.start() + 1] in ".!?":
        return False
    token = text[max(text.rfind(" ", 0, end.start()), text.rfind("\n", 0, end.start())) + 1 : end.start()]
    token = token.lstrip("([\"'“‘`")
    if token.lower() in BEFORE_NUMBERS and text[end.end()].isdigit():
        return True
    return token.lower() in ABBREVIATIONS or bool(ACRONYM.fullmatch(token))
