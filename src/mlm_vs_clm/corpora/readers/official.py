"""The official splits of a corpus, and which of the study's four they become."""

import re
from dataclasses import replace
from pathlib import PurePosixPath

from ...errors import StudyError
from .base import ReaderResult

NAMES = {
    "train": "train training trn",
    "dev": "val valid validation dev development devel testa",  # testa and testb as the shared tasks of CoNLL
    "test": "test testing testb",
}
SPLIT_ALIASES = {alias: split for split, aliases in NAMES.items() for alias in aliases.split()}
HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")  # "TrainSet"
ONE_SPLIT = "named after one official split, and others after none (the names are not used)"
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
    official = find_split(value.strip()) if isinstance(value, str) else ""
    if not official:
        raise StudyError(f"{where}: its split is none of train, val, dev and test: correct the row")
    return official


def find_split(word: str) -> str:
    """Return train, dev or test for a name of a split, also with "set" behind it; "" for any other word."""
    return SPLIT_ALIASES.get(word.lower(), "") or SPLIT_ALIASES.get(word.lower().removesuffix("set"), "")


def part_of_path(name: str) -> str:
    """Return train, dev or test if a folder's or file's name says so ("training_20180910", "CDR_TestSet"), else ""."""
    for step in PurePosixPath(name).parts:
        words = re.split(r"[\W_\d]+", step) + re.split(r"[\W_\d]+", HUMP.sub(" ", step))
        if splits := [split for split in map(find_split, words) if split]:
            return splits[0]
    return ""


def split_by_part(result: ReaderResult) -> dict[str, ReaderResult]:
    """Return the documents by official split, or all under "" where there are fewer than two splits.

    A document outside of all splits is a mistake, and left out; where only one split has a name, such are counted.
    """
    if len(set(result.parts.values())) < 2:
        n_named = len(result.parts)
        result.counted[ONE_SPLIT] += n_named * (n_named < len(result.documents))
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
