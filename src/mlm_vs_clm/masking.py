"""Which words of a document are masked: one decision, shared by every arm."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from blankfill.draws import pick_runs, pick_singly
from blankfill.ranges import Range, check_number
from blankfill.text import OF_RUN, PUNCTUATION, CharSpan, find_words

from .documents import LEAST_STOPWORDS, Document, Entity, check_offsets, classify_word, measure_stopwords
from .errors import StudyError

Eligible = Callable[[Document, list[CharSpan]], list[int]]
Pick = Callable[[int, int, np.random.Generator], list[int]]
RATIO = Range(0, 1, above=True)  # of the words that a strategy counts
# The parts of speech of Universal Dependencies, as spaCy's taggers name them, and those that marks have.
TAGS = tuple("ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split())
TAGS_OF_MARKS = ("PUNCT", "SYM")


def every_word(document: Document, words: list[CharSpan]) -> list[int]:
    """Any word may be masked."""
    return list(range(len(words)))


def stopwords(document: Document, words: list[CharSpan]) -> list[int]:
    """English function words."""
    return _of_class("stopword", document, words)


def punctuation(document: Document, words: list[CharSpan]) -> list[int]:
    """Punctuation, except between two letters or digits (3.5, patient's, e-mail), where it belongs to its word."""
    marks = _of_class("punctuation", document, words)
    return [i for i in marks if not _is_between_letters(document.text, *words[i])]


def entities(document: Document, words: list[CharSpan]) -> list[int]:
    """Words that touch a labelled span of the document."""
    return [i for i, word in enumerate(words) if any(_overlap(word, entity) for entity in document.entities)]


def part_of_speech(document: Document, words: list[CharSpan]) -> list[int]:
    """Words that begin in a span of the document, which has a part of speech as its type (see `tag_words`).

    A mark inside a longer token (3.5, IL-2) is masked only where the token is itself a mark.
    """
    tags = {place: span.type for span in document.entities for place in range(span.start, span.end)}
    tagged = [(i, tags.get(word[0]), document.text[slice(*word)]) for i, word in enumerate(words)]
    return [i for i, tag, word in tagged if tag and (tag in TAGS_OF_MARKS or not PUNCTUATION.fullmatch(word))]


def non_entities(document: Document, words: list[CharSpan]) -> list[int]:
    """Words that touch no labelled span of the document."""
    touched = {*entities(document, words)}
    return [i for i in range(len(words)) if i not in touched]


def content_words(document: Document, words: list[CharSpan]) -> list[int]:
    """All words but English stopwords and punctuation."""
    return _of_class("content", document, words)


def pick_last(n_eligible: int, n_masked: int, rng: np.random.Generator) -> list[int]:
    """Return the last places, whatever is drawn: the text before them is to be continued."""
    return list(range(n_eligible - n_masked, n_eligible))


@dataclass(frozen=True)
class Strategy:
    """Which words may be masked (`eligible`), and which of them are, as many as the ratio asks for (`pick`).

    `reads` says which spans of a document its functions are shown: entities, parts of speech ("tags"), or none. `is_english`:
    it knows English words alone. `counted` are the words of which the ratio is a share, where they are not those eligible.
    """

    eligible: Eligible
    pick: Pick = pick_singly
    reads: Literal["", "entities", "tags"] = ""
    is_english: bool = False
    counted: Eligible | None = None

    def as_control(self) -> "Strategy":
        """Return the control of a class: random words, as many as the class has."""
        return replace(self, eligible=every_word, counted=self.eligible)


STRATEGIES = {
    "random": Strategy(every_word),
    "stopwords": Strategy(stopwords, is_english=True),
    "punctuation": Strategy(punctuation),
    "entities": Strategy(entities, reads="entities"),
    "non_entities": Strategy(non_entities, reads="entities"),
    "content_words": Strategy(content_words, is_english=True),
    "part_of_speech": Strategy(part_of_speech, reads="tags", is_english=True),
    "spans": Strategy(every_word, pick_runs),
    "continuation": Strategy(every_word, pick_last),
}
STRATEGIES |= {
    f"random_as_{name}": STRATEGIES[name].as_control()
    for name in ("punctuation", "stopwords", "entities", "part_of_speech")
}


@dataclass(frozen=True)
class Corruption:
    """The words of a document (character offsets), which are blanks (word indices), of how many the ratio is a share."""

    id: str
    words: list[CharSpan]
    blanks: list[int]
    n_eligible: int


def mask_words(document: Document, strategy: str, ratio: float, rng: np.random.Generator) -> Corruption:
    """Choose the blanks of a document: `ratio` of the words that the strategy may mask (or counts), rounded to a count.

    Raises StudyError for a ratio outside RATIO, an unknown strategy, or an entity outside the text.
    """
    check_masking(strategy, ratio)
    for entity in document.entities:
        check_offsets(entity, document.text, f"document {document.id}")
    words, how = find_words(document.text), STRATEGIES[strategy]
    shown = document if how.reads else replace(document, entities=())
    eligible = how.eligible(shown, words)
    counted = how.counted(shown, words) if how.counted else eligible
    n_masked = int(np.floor(ratio * len(counted) + 0.5))
    chosen = how.pick(len(eligible), n_masked, rng)
    return Corruption(document.id, words, sorted(eligible[i] for i in chosen), len(counted))


def reads_entities(strategy: str) -> bool:
    """Return whether a strategy masks, spares or counts the words of entities."""
    return STRATEGIES[strategy].reads == "entities"


def reads_tags(strategy: str) -> bool:
    """Return whether a strategy masks or counts words by their part of speech."""
    return STRATEGIES[strategy].reads == "tags"


def keep_spans(document: Document, types: Sequence[str]) -> Document:
    """Return a document with those of its spans that have one of the types; with all where none is given."""
    if not types:
        return document
    return replace(document, entities=tuple(span for span in document.entities if span.type in types))


def name_masking(strategy: str, tags: Sequence[str] = (), types: Sequence[str] = ()) -> str:
    """Return the name of a masking in tables: "random", "part_of_speech NOUN", "part_of_speech ADP+DET", "entities Disease"."""
    return " ".join(filter(None, [strategy, "+".join(sorted({*tags, *types}))]))


def list_overrides(name: str) -> Iterator[str]:
    """Yield the settings, as on the command line, that choose the masking of this name."""
    strategy, _, kinds = name.partition(" ")
    yield f"masking={strategy}"
    if kinds:
        yield f"masking.{'tags' if reads_tags(strategy) else 'types'}=[{kinds.replace('+', ',')}]"


def note_language(strategy: str, documents: list[Document]) -> str:
    """Return a line on a strategy that knows English words only where the texts are not English, or ""."""
    if not STRATEGIES[strategy].is_english:
        return ""
    share = measure_stopwords(document.text for document in documents)
    if not share < LEAST_STOPWORDS:
        return ""
    return (
        f"masking.strategy={strategy} knows English words only, and {share:.1%} of the words are English stopwords: the texts "
        "seem not to be English; choose another strategy, such as random"
    )


def check_masking(strategy: str, ratio: float) -> None:
    """Raise StudyError for settings that no document could satisfy."""
    if strategy not in STRATEGIES:
        raise StudyError(f"masking.strategy={strategy} is unknown: choose one of {', '.join(STRATEGIES)}")
    check_number("masking.ratio", ratio, RATIO)


def check_kinds(strategy: str, tags: Sequence[str], types: Sequence[str]) -> None:
    """Raise StudyError for parts of speech or types of entities that a strategy does not read, lacks, or that do not exist."""
    for key, kinds, reads in (("tags", tags, reads_tags), ("types", types, reads_entities)):
        if kinds and not reads(strategy):
            readers = " and ".join(filter(reads, STRATEGIES))
            raise StudyError(
                f"masking.{key} has no effect on masking.strategy={strategy}: remove it, or choose {readers}"
            )
    if reads_tags(strategy) and not tags:
        raise StudyError(f"masking.strategy={strategy} needs masking.tags, such as masking.tags=[NOUN]")
    if unknown := [tag for tag in tags if tag not in TAGS]:
        raise StudyError(f"masking.tags: {unknown[0]} is unknown: choose among {', '.join(TAGS)}")


def tag_entities(documents: list[Document], tagger_path: str) -> list[Document]:
    """Return the documents with a tagger's entities in place of their spans, for corpora without gold ones."""
    tagged = _tag(documents, tagger_path, ["parser", "lemmatizer", "attribute_ruler"])
    return [
        replace(document, entities=tuple(Entity(e.start_char, e.end_char, e.label_) for e in doc.ents))
        for document, doc in tagged
    ]


def tag_words(documents: list[Document], tagger_path: str) -> list[Document]:
    """Return the documents with a tagger's tokens in place of their spans; their types are parts of speech, one of TAGS."""
    tagged = _tag(documents, tagger_path, ["parser", "lemmatizer", "ner"])
    return [
        replace(
            document, entities=tuple(Entity(t.idx, t.idx + len(t), t.pos_) for t in doc if not t.is_space)
        )
        for document, doc in tagged
    ]


def _tag(documents: list[Document], tagger_path: str, without: list[str]) -> Iterator[tuple]:
    """Yield each document with what a spaCy pipeline, without some of its parts, makes of its text."""
    import spacy

    tagger = spacy.load(tagger_path, exclude=without)
    return zip(documents, tagger.pipe(document.text for document in documents), strict=True)


def _of_class(name: str, document: Document, words: list[CharSpan]) -> list[int]:
    return [i for i, (start, end) in enumerate(words) if classify_word(document.text[start:end]) == name]


def _is_between_letters(text: str, start: int, end: int) -> bool:
    return bool(OF_RUN.fullmatch(text[max(start - 1, 0) : start]) and OF_RUN.fullmatch(text[end : end + 1]))


def _overlap(word: CharSpan, entity: Entity) -> bool:
    return word[0] < entity.end and entity.start < word[1]
