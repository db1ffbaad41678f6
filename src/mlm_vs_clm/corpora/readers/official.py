"""The official splits of a corpus, and which of the study's four they become."""

import re
from dataclasses import replace
from pathlib import PurePosixPath

from ...errors import StudyError
from .base import ReaderResult

SPLIT_ALIASES = {
    "train": "train",
    "training": "train",
    "trn": "train",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "dev": "dev",
    "development": "dev",
    "devel": "dev",
    "test": "test",
    "testing": "test",
}
# Repeats stay in the first of these that holds them, so that the official test loses nothing to training.
ORDER = ("test", "dev", "train", "")
RULE = (
    "official splits hold: test is drawn from test, dev from val or dev (from train where there is none), generate "
    "and pretrain from train; a text, and an author where the corpus is split by author, that stands in two of them "
    "stays in test, else in dev"
)


def part_of_value(value: object, where: str) -> str:
    """Return train, dev or test for the value of a split column, "" for None; StudyError for any other value."""
    if value is None:
        return ""
    official = SPLIT_ALIASES.get(value.strip().lower()) if isinstance(value, str) else None
    if official is None:
        raise StudyError(f"{where}: its split is none of train, val, dev and test: correct the row")
    return official


def part_of_path(name: str) -> str:
    """Return train, dev or test if a folder's or file's name says so ("training_20180910", "pan14-test"), else ""."""
    for step in PurePosixPath(name).parts:
        splits = [
            SPLIT_ALIASES[word] for word in re.split(r"[\W_\d]+", step.lower()) if word in SPLIT_ALIASES
        ]
        if splits:
            return splits[0]
    return ""


def split_by_part(result: ReaderResult) -> dict[str, ReaderResult]:
    """Return the documents by official split, or all under "" where there are fewer than two splits.

    A document outside of all splits is a mistake, and left out.
    """
    if len(set(result.parts.values())) < 2:
        return {"": result}
    by_official = {official: ReaderResult() for official in ORDER if official in result.parts.values()}
    for document in result.documents:
        if document.id in result.parts:
            by_official[result.parts[document.id]].documents.append(document)
        else:
            mistake = f"document {document.id}: in no official split, as others are: move it"
            result.on_mistake(StudyError(mistake))
    next(iter(by_official.values())).dropped += result.dropped
    return by_official


def separate_ids(results: dict[str, ReaderResult]) -> None:
    """Give a document whose id a file of another official split has too the split before its id."""
    named = ReaderResult()
    for official, result in results.items():
        result.documents = [
            replace(document, id=named.add(document, official)) for document in result.documents
        ]


def feeds_of(by_official: dict[str, ReaderResult]) -> dict[str, tuple[str, ...]] | None:
    """Return which splits are drawn from each official part; None where there is only one part.

    Raises StudyError for official splits without train or test.
    """
    if "" in by_official:
        return None
    if not {"train", "test"} <= by_official.keys():
        raise StudyError(
            f"the official splits are {', '.join(by_official)}: train and test are both needed; name them so, or take the "
            "names away for splits by the study's own rule"
        )
    of_train = ("generate", "pretrain") if "dev" in by_official else ("generate", "dev", "pretrain")
    feeds = {"test": ("test",), "dev": ("dev",), "train": of_train}
    return {official: feeds[official] for official in by_official}
