"""Corpora that the user gives a path to: what names them, and a check that changes nothing."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

from ..errors import StudyError
from .building import Gathered, arrange, gather, reader_of
from .card import card_markdown, describe
from .readers import infer
from .readers.files import fingerprint
from .readers.hub import HUB
from .sources import LICENSED, SOURCES, Source
from .splits import Sizes

NEEDS = {"ner": "entities", "genres": "labels", "verification": "authors"}


def name_own(name: str, path: str | None, reader: str | None, columns: dict[str, str], task: str) -> dict:
    """Return the settings that name a user's corpus: path, content (sha256), reader, columns and what is kept together.

    Raises StudyError for a path that is missing, outside of what can be read, or given to another corpus.
    """
    if name in SOURCES:
        raise StudyError(f"corpus={name} comes from a package: add corpus=own to read corpus.path={path}")
    if not path:
        raise StudyError(f"corpus {name} has no source: give corpus.path=<a file or folder of documents>")
    is_hub = bool(HUB.fullmatch(path)) and not Path(path).exists()
    if not is_hub and not Path(path).exists():
        raise StudyError(f"corpus.path={path} is missing: {_where_from(name)}")
    reader = reader or infer(path)
    if reader == "datasets" and not is_hub and not Path(path).is_dir():
        raise StudyError(f"corpus.path={path} is no folder made with save_to_disk: correct it")
    group_by = "author" if task == "verification" else "source"
    settings = {"path": path, "sha256": "" if is_hub else fingerprint(Path(path)), "reader": reader}
    settings |= {"group_by": group_by} | ({"columns": columns} if columns else {})
    reader_of(own_source(name, settings))
    return settings


def own_source(name: str, settings: dict) -> Source:
    """Return the source that `name_own` names."""
    source = LICENSED.get(name, Source(name, settings["reader"]))
    columns = settings.get("columns", {})
    return replace(source, reader=settings["reader"], group_by=settings["group_by"], columns=columns)


def check_own(
    source: Source, path: Path, sizes: Sizes, *, max_words: int, min_words: int, seed: int, task: str
) -> tuple[str, list[str]]:
    """Return a corpus's data card as Markdown ("" if it cannot be read) and every mistake found, none with its text."""
    mistakes: list[StudyError] = []
    files = {"": path}
    try:
        gathered = gather(source, files, max_words, min_words, mistakes.append)
    except StudyError as mistake:
        return "", [str(told) for told in (*mistakes, mistake)]
    mistakes += _missing_for(task, gathered)
    try:
        card = arrange(gathered, files, sizes, seed).card
    except StudyError as mistake:
        mistakes.append(mistake)
        parts = {part or "all": windows for part, windows in gathered.parts.items()}
        counted = +gathered.counted
        card = describe(source, parts, gathered.dropped, gathered.rules, [path.name], counted)
    return card_markdown(card), [str(mistake) for mistake in mistakes]


def _missing_for(task: str, gathered: Gathered) -> list[StudyError]:
    """Return a mistake if no document has what the task learns from."""
    windows = [window for part in gathered.parts.values() for window in part]
    has = {
        "entities": any(window.entities for window in windows),
        "labels": any(window.labels for window in windows),
        "authors": any(n > 1 for author, n in Counter(w.author for w in windows).items() if author),
    }
    needed = NEEDS.get(task)
    if needed is None or has[needed]:
        return []
    told = "no author has two documents" if needed == "authors" else f"no document has {needed}"
    return [StudyError(f"corpus.task={task}: {told}: choose another task or give {needed}")]


def _where_from(name: str) -> str:
    if name not in LICENSED:
        return "correct the path"
    return f"ask {LICENSED[name].giver}, and put it there or give corpus.path=<where it lies>"
