"""What is wrong with a setting of the command line, in one line with the way out; Hydra advises `+key` for a misspelt key."""

import os
import re
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any, get_type_hints

from hydra.errors import HydraException, OverrideParseException

from ..errors import StudyError
from ..files import ROOT
from .config import Config

OPEN = ("model.training", "model.shape")  # settings whose names a file need not have
OPEN_SETTING = re.compile(rf"^\+{{0,2}}(?=(?:{'|'.join(map(re.escape, OPEN))})\.\w+=)")
# A shell expands ~ at the start of a word alone.
HOME = re.compile(r"^((?:store|results|data_dir|corpus\.path)=[\"']?)~(?=[/\"']|$)")
UNKNOWN = re.compile(r"Could not override '([^']+)'\.\s*To append")
AMBIGUOUS = re.compile(r"Ambiguous value for argument '(.+?)'\s*1\.", re.DOTALL)


def allow_open(word: str) -> str:
    """Return a word of the command line with two pluses before a setting that the model's file may have or not.

    A study composes several models, some of whose files have it: Hydra would ask for a plus and then refuse it.
    """
    return OPEN_SETTING.sub("++", word)


def expand_home(word: str) -> str:
    """Return a word of the command line with the home folder for the ~ that a path begins with."""
    return HOME.sub(lambda match: match[1] + os.path.expanduser("~"), word)


def refuse_repeated(words: list[str]) -> None:
    """Raise StudyError for a setting that is typed twice: Hydra would take the last of them in silence."""
    typed: dict[str, str] = {}
    for word in words:
        key, has_value, _ = word.partition("=")
        if not has_value or word.startswith("-"):
            continue
        key = key.lstrip("+")
        if key in typed:
            raise StudyError(
                f"{key} is set twice, {typed[key].lstrip('+')} and {word.lstrip('+')}: leave one of them out"
            )
        typed[key] = word


def explain_override(error: BaseException) -> str:
    """Return what is wrong with a setting, and what to type instead; nothing for any other error."""
    text = str(error)
    if isinstance(error, OverrideParseException):
        return explain_unreadable(error.override)
    if match := AMBIGUOUS.search(text):
        return f"{explain_unreadable(match[1].replace(chr(92), ''))}; for a sweep over several values add -m"
    if isinstance(error, HydraException) and (match := UNKNOWN.search(text)):
        return explain_unknown(match[1])
    return ""


def explain_unreadable(override: str) -> str:
    """Return how to type a setting whose value has signs with a meaning of their own."""
    key, has_value, value = override.partition("=")
    if not has_value:
        return f"{override} is no setting: give key=value"
    quoted = value.strip("\"'").replace('"', '\\"')
    return f"{override} cannot be read: quote the value, '{key}=\"{quoted}\"'"


def explain_unknown(key: str) -> str:
    """Return that a key is no setting, and the setting that comes nearest."""
    if key in OPEN:
        return f"{key} is set one value at a time: give {key}.<name>=<value>"
    groups = [folder.name for folder in (ROOT / "conf").iterdir() if folder.is_dir()]
    near = get_close_matches(key, [*list_keys(Config), *sorted(groups)], 1)
    return f"{key} is no setting: " + (f"did you mean {near[0]}?" if near else "see --help for all settings")


def list_keys(schema: Any, prefix: str = "") -> list[str]:
    """Return the full keys of all settings of a dataclass."""
    kinds, keys = get_type_hints(schema), []
    for field in fields(schema):
        name, kind = f"{prefix}{field.name}", kinds[field.name]
        keys += [name, *(list_keys(kind, f"{name}.") if is_dataclass(kind) else [])]
    return keys
