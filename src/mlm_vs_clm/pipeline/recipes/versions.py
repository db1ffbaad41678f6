"""The versions of the stages, which are in the id of every result."""

from ..artifacts import Recipe

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
    "correlate": 11,
    "report": 57,
}
# Raised when the meaning of one objective, and of the writer of that name, changes: results of all others keep their ids.
LAYOUTS = {"infill": 2}


# Measures that every score has and whose names are in no id; one that is added is in the id, so that scores are made again.
UNNAMED = ("distinct1", "distinct2", "distinct3", "repetition", "longest_repeat")


def make_recipe(
    stage: str, settings: dict, inputs: dict[str, Recipe] | None = None, unread: tuple[str, ...] = ()
) -> Recipe:
    """Return the recipe of a stage at its present version."""
    return Recipe(stage, VERSIONS[stage], settings, inputs or {}, unread)


def layout_of(name: str) -> dict:
    """Return the layout of an objective, or of the writer of that name, as a setting; nothing where it never changed."""
    return {"layout": LAYOUTS[name]} if name in LAYOUTS else {}
