"""What each arm is: its family, what it sees and one line, from `templates/cast.yaml`; the only place that reads them."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml

FILE = "templates/cast.yaml"
PAIR = ("mlm", "clm")  # the arms that are told first
MASKED, CAUSAL, TABLE, CONTROL = FAMILIES = ("masked", "causal", "table", "control")


@dataclass(frozen=True)
class Role:
    """What an arm is: its family, what it sees (a key of `cast.SIGHT`), and one line."""

    family: str
    sees: str
    line: str


@cache
def load_roles() -> dict[str, Role]:
    """Return the role of every known arm."""
    text = files("mlm_vs_clm.report").joinpath(FILE).read_text(encoding="utf-8")
    return {arm: Role(**role) for arm, role in yaml.safe_load(text).items()}


def base_of(arm: str) -> str:
    """Return the arm that an arm is a variant of, itself where it is none."""
    return arm.partition(" ")[0]


def find_role(arm: str) -> Role:
    """Return the role of an arm or of one of its variants; an unknown arm is a control."""
    return load_roles().get(base_of(arm), Role(CONTROL, "both", "An arm that this study added."))


def is_floor(arm: str) -> bool:
    """Return whether an arm is a word table that sees no more than the networks do."""
    role = find_role(arm)
    return role.family == TABLE and role.sees not in ("leaky", "true left")


def is_network(arm: str) -> bool:
    """Return whether an arm fills with a network."""
    return find_role(arm).family in (MASKED, CAUSAL)
