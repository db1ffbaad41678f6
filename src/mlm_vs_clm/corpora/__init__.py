"""Corpora: read, cut into windows, freed of repeats, split and described."""

from pathlib import Path

from mlm_vs_clm.corpora import bioc, jsonl, movies, speeches
from mlm_vs_clm.corpora.card import card_markdown, describe
from mlm_vs_clm.corpora.reading import Reading
from mlm_vs_clm.corpora.sources import SOURCES, Source
from mlm_vs_clm.corpora.splits import RULE as SPLITS_RULE
from mlm_vs_clm.corpora.splits import Sizes, drop_repeats, split
from mlm_vs_clm.corpora.storage import Corpus, load_split, save
from mlm_vs_clm.corpora.windows import RULE as WINDOWS_RULE
from mlm_vs_clm.corpora.windows import cut
from mlm_vs_clm.documents import Document
from mlm_vs_clm.errors import StudyError

__all__ = ["READERS", "SOURCES", "Corpus", "Sizes", "Source", "build", "card_markdown", "load_split", "save"]

READERS = {"bioc": bioc.read, "movies": movies.read, "speeches": speeches.read, "jsonl": jsonl.read}
RULES = {"bioc": bioc.RULE, "movies": movies.RULE, "speeches": speeches.RULE, "jsonl": jsonl.RULE}


def build(
    source: Source, files: dict[str, Path], sizes: Sizes, *, max_words: int, min_words: int, seed: int
) -> Corpus:
    """Read a source's files (official part -> path), cut windows of `min_words` to `max_words` words, split.

    The same files, settings and seed give the same corpus. Raises StudyError for a damaged file and when the
    files hold fewer documents than asked for.
    """
    parts, dropped = _read_windows(source, files, max_words, min_words)
    splits, not_drawn = split(source, parts, sizes, seed)
    dropped += not_drawn
    rules = {
        "reading": RULES[source.reader],
        "windows": f"{WINDOWS_RULE}; {min_words} to {max_words} words",
        "splits": SPLITS_RULE,
    }
    names = [path.name for path in files.values()]
    return Corpus(splits, dropped, describe(source, splits, dropped, rules, names))


def _read_windows(
    source: Source, files: dict[str, Path], max_words: int, min_words: int
) -> tuple[dict[str, list[Document]], list[dict[str, str]]]:
    """Return each official part's windows, no text twice in all parts together, and what was dropped."""
    if not 1 <= min_words <= max_words:
        raise StudyError(
            f"{source.name}: windows of {min_words} to {max_words} words cannot be cut: change them"
        )
    if set(files) != set(source.feeds):
        raise StudyError(f"{source.name}: give one file for each of its parts {sorted(source.feeds)}")
    read = {part: READERS[source.reader](path) for part, path in files.items()}
    once = drop_repeats({part: reading.documents for part, reading in read.items()}, "document")
    cuts = {part: _cut_all(reading.documents, max_words, min_words) for part, reading in once.items()}
    kept = drop_repeats({part: reading.documents for part, reading in cuts.items()}, "window")
    steps = (read, once, cuts, kept)
    dropped = [row for step in steps for reading in step.values() for row in reading.dropped]
    return {part: reading.documents for part, reading in kept.items()}, dropped


def _cut_all(documents: list[Document], max_words: int, min_words: int) -> Reading:
    reading = Reading()
    for document in documents:
        windows = cut(document, max_words, min_words)
        reading.documents += windows.documents
        reading.dropped += windows.dropped
    return reading
