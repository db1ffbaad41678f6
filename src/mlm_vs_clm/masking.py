"""Which words of a document are hidden: one decision, shared by every arm."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .documents import Document, Entity, find_words
from .errors import StudyError

Eligible = Callable[[Document, list[tuple[int, int]]], list[int]]


@dataclass(frozen=True)
class Corruption:
    """The words of a document (character offsets) and which of them are blanks (word indices)."""

    id: str
    words: list[tuple[int, int]]
    blanks: list[int]
    n_eligible: int

    @property
    def share(self) -> float:
        """Return the share of all words that is hidden in fact."""
        return len(self.blanks) / len(self.words) if self.words else 0.0


def every_word(document: Document, words: list[tuple[int, int]]) -> list[int]:
    """Any word may be hidden."""
    return list(range(len(words)))


def stopwords(document: Document, words: list[tuple[int, int]]) -> list[int]:
    """Words of scikit-learn's English list, which has 318 function words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return [
        i for i, (start, end) in enumerate(words) if document.text[start:end].lower() in ENGLISH_STOP_WORDS
    ]


def punctuation(document: Document, words: list[tuple[int, int]]) -> list[int]:
    """Marks, but for one between two letters or digits (3.5, patient's, e-mail), which belongs to its word."""
    return [i for i, word in enumerate(words) if _is_free_mark(document.text, *word)]


def entities(document: Document, words: list[tuple[int, int]]) -> list[int]:
    """Words that touch a labelled span of the document."""
    return [i for i, word in enumerate(words) if any(_overlap(word, entity) for entity in document.entities)]


STRATEGIES: dict[str, Eligible] = {
    "random": every_word,
    "stopwords": stopwords,
    "punctuation": punctuation,
    "entities": entities,
}


def hide_words(document: Document, strategy: str, ratio: float, rng: np.random.Generator) -> Corruption:
    """Choose the blanks of a document: `ratio` of the words that the strategy may hide, rounded to a count.

    Raises StudyError for a ratio outside [0, 1], an unknown strategy, or an entity outside the text.
    """
    check_masking(strategy, ratio)
    check_entities(document)
    words = find_words(document.text)
    eligible = STRATEGIES[strategy](document, words)
    n_hidden = int(np.floor(ratio * len(eligible) + 0.5))
    chosen = rng.choice(len(eligible), size=n_hidden, replace=False) if n_hidden else []
    return Corruption(document.id, words, sorted(eligible[i] for i in chosen), len(eligible))


def check_masking(strategy: str, ratio: float) -> None:
    """Raise StudyError for settings that no document could satisfy."""
    if strategy not in STRATEGIES:
        raise StudyError(f"masking.strategy={strategy} is unknown: choose one of {', '.join(STRATEGIES)}")
    if not 0 <= ratio <= 1:
        raise StudyError(f"masking.ratio={ratio} is not a share: choose a number from 0 to 1")


def check_entities(document: Document) -> None:
    """Raise StudyError for a span that is empty or runs outside the text."""
    for entity in document.entities:
        if not 0 <= entity.start < entity.end <= len(document.text):
            raise StudyError(
                f"document {document.id}: entity offsets {entity.start}-{entity.end} are not inside its "
                f"{len(document.text)} characters; correct the corpus"
            )


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


def _is_free_mark(text: str, start: int, end: int) -> bool:
    if end - start != 1 or text[start].isalnum():
        return False
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() and after.isalnum())


def _overlap(word: tuple[int, int], entity: Entity) -> bool:
    return word[0] < entity.end and entity.start < word[1]
