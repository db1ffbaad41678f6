"""What each arm is: its family, what it sees and one line, from `cast.yaml`; the only place that reads them."""

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import yaml

from ..errors import StudyError
from .baselines import BASELINES, SAMPLED, base_of

FILE = "cast.yaml"
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
    lines = yaml.safe_load(files("mlm_vs_clm.arms").joinpath(FILE).read_text(encoding="utf-8"))
    roles = {arm: _make_role(arm, about) for arm, about in lines.items()}
    drawn = {arm: name for name, arm in SAMPLED.items() if name in roles}
    return roles | {
        arm: replace(roles[name], line=f"As {name}, but the word is drawn.") for arm, name in drawn.items()
    }


def _make_role(arm: str, about: dict[str, str]) -> Role:
    """Return the role of an arm; what the entry of a baseline says of it, its line does not say again."""
    baseline = BASELINES.get(arm)
    if baseline is None:
        return Role(**about)
    if baseline.is_reference:
        return Role(CONTROL, **about)
    sees = {"none": "nothing"}.get(baseline.context, baseline.context.replace("_", " "))
    return Role(TABLE, sees, **about)


def find_role(arm: str) -> Role:
    """Return the role of an arm or of one of its variants; raises StudyError for an arm without one."""
    role = load_roles().get(base_of(arm))
    if role is None:
        raise StudyError(f"arm {arm} has no role: give it a line in mlm_vs_clm/arms/{FILE}")
    return role


def is_floor(arm: str) -> bool:
    """Return whether an arm is a word table that sees no more than the networks do."""
    role = find_role(arm)
    return role.family == TABLE and role.sees not in ("leaky", "true left")


def is_network(arm: str) -> bool:
    """Return whether an arm fills with a network."""
    return find_role(arm).family in (MASKED, CAUSAL)
