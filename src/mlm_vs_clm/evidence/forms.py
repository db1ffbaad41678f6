"""What kind of value each key of `study.yaml` and of `claims.yaml` has: a user may edit them, and a page would end in a traceback."""

from pathlib import Path
from typing import Any

from blankfill.ranges import Range, check_number

from ..errors import StudyError

# A mapping with these keys, where "?" ends one that may be absent or null; a list of such values; a kind of value; a range of
# numbers; or a pair of a kind and of what a mapping in its place has.
Form = Any
ADVICE = (
    "correct it, or take the file of the repository (of a study of yours: run the command again that made it)"
)
NAMED: Form = dict.fromkeys(("scale", "track", "main_strategy", "starts_from"), str) | {
    "main_ratio": float,
    "rules?": str,
}
DESIGN: Form = NAMED | {  # the key `study`
    "resamples": Range(20, 10_000, whole=True),
    "bound": Range(0, 1),
    "variants": [{"arm": str, "base": str, "setting": str}],
    "scored_under": [str],
}
PANEL: Form = {
    **dict.fromkeys(("name", "kind", "x", "y", "line", "facet", "table", "title", "caption"), str),
    "where": dict,
}
CARD: Form = {"name": str} | {
    **dict.fromkeys(("origin?", "licence?", "differs_from_the_paper?"), str),
    **dict.fromkeys(("rules?", "splits?", "entities?", "labels?", "dropped?", "counted?"), dict),
    "files?": [str],
}
ABOUT: Form = {
    **dict.fromkeys(("scale", "command", "initialisation", "budget"), str),
    **dict.fromkeys(("title?", "question?", "rules?"), str),
    "study": NAMED,
    "models": [str],
    "versions": dict,
    "panels?": [PANEL],
    "corpora": [CARD],
}
CELL: Form = {"strategy": str, "ratio": float}
MEASURED: Form = [{"scope": str, "metric": str}]
JUDGED: Form = {  # of a claim, or of a condition in its place
    **dict.fromkeys(("gate?", "kind?", "absent?", "task?"), str),
    **dict.fromkeys(("at_least?", "room?", "range?"), float),
    "cells?": (str, CELL),
    "measures?": MEASURED,
}
CONDITION: Form = JUDGED | {
    **dict.fromkeys(("arm?", "comparison?", "part?", "statistic?", "words?"), str),
    **dict.fromkeys(("arms?", "as_stated?", "firsts?", "seconds?", "negatives?"), [str]),
    "name?": str,
    "first?": {"arm": str},
    "second?": {"arm": str},
    "second_cells?": CELL,
    "examples?": int,
    "margin?": float,
    "optional?": bool,
}
RULES: Form = [  # `claims.read_rules` says which of their keys are absent, with the name of the claim
    JUDGED
    | {
        **dict.fromkeys(("id?", "statement?", "source?", "extent?", "from?", "to?", "in_short?"), str),
        "margin?": (float, dict),
        "noise?": dict,
        "as_stated?": [str],
        "conditions?": [CONDITION],
        "strategies?": [str],
    }
]
WORDS = {
    str: "words",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "keys with values",
}


def check_form(path: Path, value: Any, form: Form, key: str = "") -> None:
    """Raise StudyError, with the file and the key, for a value of another kind than its form, and for a key that is absent."""
    place = f"{path}: {key}" if key else f"{path}:"
    if isinstance(form, tuple):
        form = form[isinstance(value, dict)]
    if isinstance(form, Range):
        check_number(place, value, form)
    elif isinstance(form, type):
        kinds = (int, float) if form is float else form
        if not isinstance(value, kinds) or isinstance(value, bool) > (form is bool):
            raise StudyError(f"{place} is not {WORDS[form]}: {ADVICE}")
    elif isinstance(form, list):
        if not isinstance(value, list):
            raise StudyError(f"{place} is not a list: {ADVICE}")
        for number, element in enumerate(value):
            check_form(path, element, form[0], f"{key}[{number}]")
    else:
        _check_keys(path, value, form, key)


def _check_keys(path: Path, value: Any, form: dict[str, Any], key: str) -> None:
    if not isinstance(value, dict):
        raise StudyError(f"{path}:{f' {key}' * bool(key)} is not {WORDS[dict]}: {ADVICE}")
    for name, inner in form.items():
        plain = name.removesuffix("?")
        full = f"{key}.{plain}" if key else plain
        if value.get(plain) is not None:
            check_form(path, value[plain], inner, full)
        elif plain == name:
            raise StudyError(f"{path} has no {full}: {ADVICE}")
