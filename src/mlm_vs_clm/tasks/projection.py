"""Labels projected from a document to its generated version, and how much of the original that version copies."""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise

from blankfill.text import CharSpan, FilledText, find_words, fold_case, split_words

from ..documents import Document, Entity

ENTITIES = "ner"  # the task whose labels are spans of the text
# Whether an entity keeps its label where none of its words was kept, since a fill need not name such an entity.
POLICIES = PROJECTED, DROPPED = ("projected", "dropped")


def project(
    document: Document, filled: FilledText, words: list[CharSpan], unlabelled: Collection[int] = ()
) -> tuple[Document, Counter]:
    """Return the generated document under the original's labels, and counts of the entities lost, by reason.

    In the new text an entity covers what its words became. It is lost if its words were all left out, if other words were
    inserted between them, or if all of them are among the words (numbers) that are to be `unlabelled`.
    """
    new_entities: list[Entity] = []
    lost: Counter[str] = Counter()
    for entity in document.entities:
        inside = [i for i, (start, end) in enumerate(words) if start < entity.end and entity.start < end]
        spans = [span for i in inside if (span := filled.spans[i])]
        if inside and {*inside} <= {*unlabelled}:
            lost["entity hidden"] += 1
        elif not spans:
            lost["entity left out of the new text"] += 1
        elif is_torn(filled.text, spans):
            lost["entity torn apart by other words"] += 1
        else:
            start, end = min(start for start, _ in spans), max(end for _, end in spans)
            new_entities.append(Entity(start, end, entity.type))
    return replace(document, text=filled.text, entities=tuple(new_entities)), lost


def is_torn(text: str, spans: list[CharSpan]) -> bool:
    """Return whether the text has words between these spans that belong to none."""
    gaps = [text[end:start] for (_, end), (start, _) in pairwise(sorted(spans))]
    return any(find_words(gap) for gap in gaps)


def audit_copying(original: str, text: str) -> dict[str, float]:
    """Return the share of the original's words that the text keeps in order, and the longest run copied (words)."""
    from difflib import SequenceMatcher

    before, after = (split_words(fold_case(side)) for side in (original, text))
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    n_copied, longest = sum(block.size for block in blocks), max(block.size for block in blocks)
    share = n_copied / len(before) if before else float("nan")
    return {"share_kept": share, "longest_copied_run": float(longest)}
