"""The formats that can be read, and how a path tells which of them it is."""

import re
from pathlib import Path

from ...errors import StudyError
from . import bio, bioc, brat, folder, jsonl, movies, pan, pan_pairs, speeches, tables
from . import hub as saved
from .files import Files

READERS = {
    "bioc": bioc.read,
    "movies": movies.read,
    "speeches": speeches.read,
    "jsonl": jsonl.read,
    "csv": tables.read,
    "mpst": tables.read_mpst,
    "folder": folder.read,
    "brat": brat.read,
    "bio": bio.read,
    "pan": pan.read,
    "pan_pairs": pan_pairs.read,
    "datasets": saved.read,
}
RULES = {
    "bioc": bioc.RULE,
    "movies": movies.RULE,
    "speeches": speeches.RULE,
    "jsonl": jsonl.RULE,
    "csv": tables.RULE,
    "mpst": tables.MPST_RULE,
    "folder": folder.RULE,
    "brat": brat.RULE,
    "bio": bio.RULE,
    "pan": pan.RULE,
    "pan_pairs": pan_pairs.RULE,
    "datasets": saved.RULE,
}
MARKED = ("bioc", "brat", "bio", "jsonl")
WITH_COLUMNS = ("csv", "folder", "jsonl", "datasets")

# The first whose pattern is found in a name below the path (a folder's, a zip's, or the file's own).
SIGNS = {
    "datasets": r"(^|/)(dataset_dict|state)\.json$",
    "pan": r"(^|/)unknown\.txt$",
    "pan_pairs": r"pairs[^/]*\.jsonl$|truth[^/]*\.jsonl$",
    "brat": r"\.ann$",
    "mpst": rf"(^|/){re.escape(tables.MPST_FILE)}$",
    "bio": r"\.(conll|bio|iob2?)$",
    "folder": r"\.txt$",
    "jsonl": r"\.jsonl(\.gz)?$",
    "csv": r"\.[ct]sv$",
    "bioc": r"\.xml(\.gz)?$",
}
SINGLE = ("jsonl", "bioc")
ALSO_SINGLE = ("mpst", "bio", "csv")


def infer(path: str) -> str:
    """Return the reader that a path asks for; StudyError for a path that is missing or could be several things."""
    if saved.HUB.fullmatch(path) and not Path(path).exists():
        return "datasets"
    files = Files(Path(path))
    is_single = Path(path).is_file() and files.zip is None
    possible = [*SINGLE, *ALSO_SINGLE] if is_single else [reader for reader in SIGNS if reader not in SINGLE]
    for reader in possible:
        if any(re.search(SIGNS[reader], name, re.IGNORECASE) for name in files.names):
            return reader
    choices = ", ".join(name for name in READERS if name not in ("movies", "speeches"))
    raise StudyError(f"{path} does not tell its format: say corpus.reader=<one of {choices}>")
