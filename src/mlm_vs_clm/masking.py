"""Which words of a document are masked: one decision, shared by every arm."""

from collections.abc import Callable

import numpy as np

from blankfill.draws import pick_runs, pick_singly
from blankfill.text import OF_RUN, CharSpan, Corruption, find_words

from .documents import LEAST_STOPWORDS, Document, Entity, check_offsets, classify_word, measure_stopwords
from .errors import StudyError

Eligible = Callable[[Document, list[CharSpan]], list[int]]
Pick = Callable[[int, int, np.random.Generator], list[int]]


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


def non_entities(document: Document, words: list[CharSpan]) -> list[int]:
    """Words that touch no labelled span of the document."""
    touched = {*entities(document, words)}
    return [i for i in range(len(words)) if i not in touched]


def content_words(document: Document, words: list[CharSpan]) -> list[int]:
    """All words but English stopwords and punctuation."""
    return _of_class("content", document, words)


STRATEGIES: dict[str, Eligible] = {
    "random": every_word,
    "stopwords": stopwords,
    "punctuation": punctuation,
    "entities": entities,
    "non_entities": non_entities,
    "content_words": content_words,
    "spans": every_word,
    "random_as_punctuation": every_word,
    "random_as_stopwords": every_word,
    "random_as_entities": every_word,
}
# The class of which the ratio is a share, where that is not what may be masked: random words, as many as the class has.
COUNTED: dict[str, Eligible] = {
    "random_as_punctuation": punctuation,
    "random_as_stopwords": stopwords,
    "random_as_entities": entities,
}


PICKS: dict[str, Pick] = {**dict.fromkeys(STRATEGIES, pick_singly), "spans": pick_runs}


def mask_words(document: Document, strategy: str, ratio: float, rng: np.random.Generator) -> Corruption:
    """Choose the blanks of a document: `ratio` of the words that the strategy may mask (or counts), rounded to a count.

    Raises StudyError for a ratio outside [0, 1], an unknown strategy, or an entity outside the text.
    """
    check_masking(strategy, ratio)
    for entity in document.entities:
        check_offsets(entity, document.text, f"document {document.id}")
    words = find_words(document.text)
    eligible = STRATEGIES[strategy](document, words)
    counted = COUNTED[strategy](document, words) if strategy in COUNTED else eligible
    n_masked = int(np.floor(ratio * len(counted) + 0.5))
    chosen = PICKS[strategy](len(eligible), n_masked, rng)
    return Corruption(document.id, words, sorted(eligible[i] for i in chosen), len(counted))


def reads_entities(strategy: str) -> bool:
    """Return whether a strategy masks, spares or counts the words of entities."""
    return bool({entities, non_entities} & {STRATEGIES[strategy], COUNTED.get(strategy)})


def note_language(strategy: str, documents: list[Document]) -> str:
    """Return a line on a strategy that reads the list of English stopwords where the texts are not English, or ""."""
    if not {stopwords, content_words} & {STRATEGIES[strategy], COUNTED.get(strategy)}:
        return ""
    share = measure_stopwords(document.text for document in documents)
    if not share < LEAST_STOPWORDS:
        return ""
    return (
        f"masking.strategy={strategy} knows English stopwords only, and {share:.1%} of the words are such: the texts "
        "seem not to be English; choose another strategy, such as random"
    )


def check_masking(strategy: str, ratio: float) -> None:
    """Raise StudyError for settings that no document could satisfy."""
    if strategy not in STRATEGIES:
        raise StudyError(f"masking.strategy={strategy} is unknown: choose one of {', '.join(STRATEGIES)}")
    check_ratio("masking.ratio", ratio)


def check_ratio(name: str, ratio: float) -> None:
    """Raise StudyError for a ratio outside [0, 1]."""
    if not 0 <= ratio <= 1:
        raise StudyError(f"{name}={ratio} must be between 0 and 1")


def tag_entities(documents: list[Document], tagger_path: str) -> list[Document]:
    """Return the documents with a tagger's spans in place of their own, for corpora without gold ones."""
    from dataclasses import replace

    import spacy

    tagger = spacy.load(tagger_path, exclude=["parser", "lemmatizer", "attribute_ruler"])
    tagged = tagger.pipe(document.text for document in documents)
    return [
        replace(document, entities=tuple(Entity(e.start_char, e.end_char, e.label_) for e in doc.ents))
        for document, doc in zip(documents, tagged, strict=True)
    ]


def _of_class(name: str, document: Document, words: list[CharSpan]) -> list[int]:
    return [i for i, (start, end) in enumerate(words) if classify_word(document.text[start:end]) == name]


def _is_between_letters(text: str, start: int, end: int) -> bool:
    return bool(OF_RUN.fullmatch(text[max(start - 1, 0) : start]) and OF_RUN.fullmatch(text[end : end + 1]))


def _overlap(word: CharSpan, entity: Entity) -> bool:
    return word[0] < entity.end and entity.start < word[1]
