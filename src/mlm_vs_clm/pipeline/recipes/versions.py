"""The versions of the stages, which are in the id of every result."""

import hashlib
from functools import cache
from pathlib import Path

from ..artifacts import Recipe

PACKAGE = Path(__file__).parents[2]
# Raised when the meaning of a stage's code changes: its stored results are then made again.
VERSIONS = {
    "corpus": 1,
    "start": 1,
    "budget": 2,
    "pretrain": 4,
    "corrupt": 1,
    "generate": 7,
    "score": 5,
    "downstream": 9,
    "disclosure": 1,
}
# The version of these is a hash of the code of the study: they take seconds, and any of it may change a sentence.
TOLD = ("correlate", "report")
# Raised when the meaning of one objective, and of the writer of that name, changes: results of all others keep their ids.
LAYOUTS = {"infill": 2}
# Measures that every score has and whose names are in no id; one that is added is in the id, so that scores are made again.
UNNAMED = ("distinct1", "distinct2", "distinct3", "repetition", "longest_repeat")


def make_recipe(
    stage: str, settings: dict, inputs: dict[str, Recipe] | None = None, unread: tuple[str, ...] = ()
) -> Recipe:
    """Return the recipe of a stage at its present version."""
    version = hash_code() if stage in TOLD else VERSIONS[stage]
    return Recipe(stage, version, settings, inputs or {}, unread)


@cache
def hash_code() -> int:
    """Return a number that changes with the code of the study."""
    digest = hashlib.sha256()
    for file in sorted(PACKAGE.rglob("*")):
        # `shipped` has the settings, stage scripts and docs of a wheel.
        if not {"__pycache__", "shipped"} & {*file.relative_to(PACKAGE).parts} and file.is_file():
            content = file.read_bytes()
            digest.update(f"{file.relative_to(PACKAGE).as_posix()} {len(content)}\n".encode() + content)
    return int.from_bytes(digest.digest()[:6], "big")


def layout_of(name: str) -> dict:
    """Return the layout of an objective, or of the writer of that name, as a setting; nothing where it never changed."""
    return {"layout": LAYOUTS[name]} if name in LAYOUTS else {}
