"""Labels carried from a document to what an arm made of it, and how much of the original came along."""

from dataclasses import replace

from .documents import Document, Entity, split_words
from .fill.blanks import FilledText, Span


def project(document: Document, filled: FilledText, words: list[Span]) -> Document:
    """Return the generated document under the original's labels.

    An entity covers in the new text what became of its words; one whose words all vanished vanishes with them.
    """
    moved = (_move(entity, filled, words) for entity in document.entities)
    return replace(document, text=filled.text, entities=tuple(entity for entity in moved if entity))


def _move(entity: Entity, filled: FilledText, words: list[Span]) -> Entity | None:
    inside = [i for i, (start, end) in enumerate(words) if start < entity.end and entity.start < end]
    spans = [filled.spans[i] for i in inside if filled.spans[i]]
    if not spans:
        return None
    return Entity(min(start for start, _ in spans), max(end for _, end in spans), entity.type)


def audit_copying(original: str, text: str) -> dict[str, float]:
    """Return the share of the original's words that the text keeps in order, and the longest run copied (words)."""
    from difflib import SequenceMatcher

    before, after = [w.lower() for w in split_words(original)], [w.lower() for w in split_words(text)]
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept, longest = sum(block.size for block in blocks), max(block.size for block in blocks)
    return {
        "share_kept": kept / len(before) if before else float("nan"),
        "longest_copied_run": float(longest),
    }
