"""The claims of the paper as data: the conditions under which each is asked, and what is compared everywhere."""

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import yaml

from ..errors import StudyError
from ..stats import ALPHA, FEWEST_UNITS
from .cells import Comparison
from .forms import ADVICE, RULES, check_form

EDITION = 3  # of the rules; the first edition's verdicts are in results/first-edition
VERSION = 2  # raised when the code comes to decide the same rules otherwise
KEYS = ("id", "statement", "source", "kind", "margin", "as_stated", "gate", "conditions")
GATES = ("both", "first", "main", "room", "task", "none")
MAIN = "main"  # in the rules: the main cell of the study
IN_SHORT = "in_short"  # of a claim: its words in README, which judge nothing and are in no hash
MATCHED = "matched"  # the track of the paper's claims


def load_rules(path: Path, main: tuple[str, float], track: str = MATCHED) -> list[dict]:
    """Return the claims of `conf/claims.yaml` for a study with this track and main cell (strategy, ratio).

    A claim with the key `track` is asked in the studies of these tracks alone, and a study that has such claims is asked no
    others: of those it has the pairs of arms and the margins, with `asked` False. Raises StudyError as `read_rules` does.
    """
    rules = [{key: value for key, value in rule.items() if key != IN_SHORT} for rule in read_rules(path)]
    of_track, common = [rule for rule in rules if track in list_tracks(rule)], {"asked": False}
    rules = [rule | (common if of_track else {}) for rule in rules if not list_tracks(rule)] + of_track
    cell = dict(zip(("strategy", "ratio"), main, strict=True))
    return [rule | {"main": cell} | ({"cells": cell} if rule.get("cells") == MAIN else {}) for rule in rules]


def read_rules(path: Path) -> list[dict]:
    """Return the claims of a file as they stand there.

    Raises StudyError for a claim that lacks a key, a condition without a name, a gate or kind of either that is unknown, and a
    value of another kind than `forms.RULES` has.
    """
    rules = _parse(Path(path), Path(path).read_text(encoding="utf-8"))
    for rule in rules:
        claim = f"{path}: claim {rule.get('id', '?')}"
        _check(claim, KEYS, rule)
        for condition in rule["conditions"]:
            _check(f"{claim}: a condition", ("name",), condition)
    return rules


def _check(place: str, keys: Sequence[str], rule: dict) -> None:
    """Raise StudyError where a claim or a condition lacks one of its keys, or has an unknown kind or gate."""
    from .answers import KINDS

    if absent := [key for key in keys if rule.get(key) is None]:
        raise StudyError(f"{place} has no {absent[0]}: add it")
    for key, choices in (("kind", KINDS), ("gate", GATES)):
        if key in rule and rule[key] not in choices:
            raise StudyError(f"{place}: {key} {rule[key]} is unknown: choose {', '.join(choices)}")


@lru_cache(maxsize=4)
def _parse(path: Path, text: str) -> list[dict]:
    """Return the claims of a file's text, which nobody changes: a report asks for them hundreds of times."""
    try:
        rules = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise StudyError(f"{path}, line {line}: {error.problem}: {ADVICE}") from None
    check_form(path, rules, RULES)
    return rules


def list_tracks(rule: dict) -> list[str]:
    """Return the tracks whose studies alone are asked a claim; none for a claim of the paper."""
    tracks = rule.get("track", [])
    return [tracks] if isinstance(tracks, str) else list(tracks)


def list_asked(rules: Sequence[dict]) -> list[dict]:
    """Return the claims that a study is asked, of those that `load_rules` returns for it."""
    return [rule for rule in rules if rule.get("asked", True)]


def list_comparisons(rules: list[dict]) -> tuple[Comparison, ...]:
    """Return the pairs of arms that claim C1 compares, which every other finding compares too."""
    return tuple(
        Comparison(condition["name"], condition["first"]["arm"], condition["second"]["arm"])
        for rule in rules
        if rule["id"] == "C1"
        for condition in rule["conditions"]
    )


def index_conditions(rules: Sequence[dict]) -> dict[tuple[str, str], dict]:
    """Return what the rules say of each condition by (claim, condition), in their order; `as_stated` is the claim's where it has none."""
    return {
        (rule["id"], condition["name"]): {"as_stated": rule["as_stated"]} | condition
        for rule in rules
        for condition in rule["conditions"]
    }


def find_noise(rules: Sequence[dict]) -> dict[str, float]:
    """Return the standard deviation of a difference between trainings by metric, as claim C1 has it."""
    return next((rule.get("noise", {}) for rule in rules if rule["id"] == "C1"), {})


def hash_rules(rules: list[dict]) -> str:
    """Return 12 hex digits that change with any rule, with the thresholds of the code and with VERSION."""
    fixed = {"alpha": ALPHA, "fewest_units": FEWEST_UNITS, "version": [EDITION, VERSION]}
    content = json.dumps({"rules": rules} | fixed, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()[:12]
