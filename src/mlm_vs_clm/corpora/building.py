"""A corpus made of files: read, cut, freed of repeats, split and described."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ..documents import Document
from ..errors import StudyError
from .card import describe
from .readers import READERS, RULES, WITH_COLUMNS
from .readers.base import GivenProblem, Reading, Report, refuse
from .readers.given_problems import RULE as PROBLEMS_RULE
from .readers.given_problems import list_complete
from .readers.official import RULE as OFFICIAL_RULE
from .readers.official import divide, feeds_of
from .sources import Source
from .splits import RULE as SPLITS_RULE
from .splits import Sizes, drop_repeats, drop_shared_authors, split
from .storage import Corpus
from .windows import RULE as WINDOWS_RULE
from .windows import cut


@dataclass(frozen=True)
class Gathered:
    """The windows of each official part, what was left out, and what the files tell besides; `source` says
    which splits the parts feed."""

    source: Source
    parts: dict[str, list[Document]]
    dropped: list[dict[str, str]]
    problems: list[GivenProblem]
    counted: Counter
    rules: dict[str, str]


def build(
    source: Source,
    files: dict[str, Path],
    sizes: Sizes,
    *,
    max_words: int,
    min_words: int,
    seed: int,
    skip_mistakes: bool = False,
) -> Corpus:
    """Read a source's files (official part -> path), cut windows of `min_words` to `max_words` words, split.

    The same files, settings and seed give the same corpus. Raises StudyError for a mistake in a file, unless they
    are to be skipped (and counted), and when the files hold fewer documents than asked for.
    """
    mistakes: list[StudyError] = []
    report = mistakes.append if skip_mistakes else refuse
    gathered = gather(source, files, max_words, min_words, report)
    places = (str(mistake).partition(": ")[0] for mistake in mistakes)
    gathered.dropped.extend({"id": place, "reason": "mistake in the input"} for place in places)
    return arrange(gathered, files, sizes, seed)


def arrange(gathered: Gathered, files: dict[str, Path], sizes: Sizes, seed: int) -> Corpus:
    """Return the four splits of what was gathered, and their card; StudyError where a split cannot be filled."""
    source = gathered.source
    splits, not_drawn = split(source, gathered.parts, sizes, seed, gathered.problems)
    dropped = gathered.dropped + not_drawn
    problems = list_complete(gathered.problems, splits)
    counted = +gathered.counted
    if gathered.problems:
        counted["problems given"] = len(gathered.problems)
        counted |= {
            f"problems whole in {name}": n for name, n in Counter(p["split"] for p in problems).items()
        }
    names = [path.name for path in files.values()]
    card = describe(source, splits, dropped, gathered.rules, names, counted)
    return Corpus(splits, dropped, card, problems)


def gather(
    source: Source, files: dict[str, Path], max_words: int, min_words: int, report: Report = refuse
) -> Gathered:
    """Return each official part's windows, no text twice in all parts together, and what was dropped."""
    if not 1 <= min_words <= max_words:
        raise StudyError(
            f"{source.name}: windows of {min_words} to {max_words} words cannot be cut: change them"
        )
    if set(files) != set(source.feeds):
        raise StudyError(f"{source.name}: give one file for each of its parts {sorted(source.feeds)}")
    rules = {"reading": RULES[source.reader], "windows": f"{WINDOWS_RULE}; {min_words} to {max_words} words"}
    reader = reader_of(source)
    read = {part: reader(path, report) for part, path in files.items()}
    problems = [problem for reading in read.values() for problem in reading.problems]
    counted = sum((reading.counted for reading in read.values()), Counter())
    rules |= {"splits": SPLITS_RULE} | ({"problems": PROBLEMS_RULE} if problems else {})
    if "" in read:
        read = divide(read[""])
        feeds = feeds_of(read)
        rules |= {"official splits": OFFICIAL_RULE} if feeds else {}
        source = replace(source, feeds=feeds or source.feeds)
    steps = cut_once(read, source.group_by == "author", max_words, min_words)
    dropped = [row for step in steps for reading in step.values() for row in reading.dropped]
    parts = {part: reading.documents for part, reading in steps[-1].items()}
    return Gathered(source, parts, dropped, problems, counted, rules)


def reader_of(source: Source):
    """Return the function that reads a source, which takes a path and what to do at a mistake."""
    if source.reader not in READERS:
        raise StudyError(f"corpus.reader={source.reader} is unknown: choose one of {', '.join(READERS)}")
    if not source.columns:
        return READERS[source.reader]
    if source.reader not in WITH_COLUMNS:
        raise StudyError(
            f"corpus.columns serves {', '.join(WITH_COLUMNS)}, not {source.reader}: leave it out"
        )
    return partial(READERS[source.reader], columns=source.columns)


def cut_once(
    read: dict[str, Reading], by_author: bool, max_words: int, min_words: int
) -> list[dict[str, Reading]]:
    """Return the readings after each step: as read, each text once, (each author in one part), cut, each window once."""
    steps = [read, drop_repeats(_documents(read), "document")]
    if by_author and len(read) > 1:
        steps.append(drop_shared_authors(_documents(steps[-1])))
    steps.append({part: _cut_all(d, max_words, min_words) for part, d in _documents(steps[-1]).items()})
    steps.append(drop_repeats(_documents(steps[-1]), "window"))
    return steps


def _documents(readings: dict[str, Reading]) -> dict[str, list[Document]]:
    return {part: reading.documents for part, reading in readings.items()}


def _cut_all(documents: list[Document], max_words: int, min_words: int) -> Reading:
    reading = Reading()
    for document in documents:
        windows = cut(document, max_words, min_words)
        reading.documents += windows.documents
        reading.dropped += windows.dropped
    return reading
