"""A study on disk: the tables, examples and settings from which its page and figures follow, without store or data."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from ..errors import StudyError
from ..evidence.claims import hash_rules, load_rules
from ..evidence.columns import TABLES
from ..evidence.derivation import Tables, derive_tables
from ..evidence.forms import ABOUT, check_form
from ..evidence.observations import (
    OPTIONAL,
    PACKED,
    PLAIN,
    Observations,
    describe_design,
    load_observations,
)
from ..evidence.tables import STUDY, main_cell, read_tables, tidy
from ..files import STUDY as STUDY_FILE
from ..files import read_lines, to_json_line, write_atomically, write_csv
from .wording import CLAIMS

EXAMPLES, PAGE = "examples.jsonl", "report.html"
DERIVED = ("findings",)  # tables that follow from the others
REPORT_FILES = frozenset(  # all that a report may hold
    [EXAMPLES, PAGE, STUDY_FILE, *(f"{name}.parquet" for name in PACKED)]
    + [f"{name}.csv" for name in (*TABLES, *PLAIN, *OPTIONAL)]
)


@dataclass(frozen=True)
class Background:
    """What is recorded of a study beside its tables.

    examples: how the arms filled some documents of public corpora. cards: the data card of each corpus. about: the question,
    the settings and what the study was made from.
    """

    examples: list[dict]
    cards: list[dict]
    about: dict[str, Any]


def save_study(tables: Tables, background: Background, folder: Path) -> None:
    """Write a study to a folder; the same study gives the same bytes.

    Raises StudyError for a table that lacks a column or repeats a cell.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        if name not in (*DERIVED, STUDY):
            save_table(name, tables.get(name, pd.DataFrame()), folder)
    write_atomically(folder / EXAMPLES, "".join(map(to_json_line, background.examples)))
    (study,) = tidy(STUDY, tables[STUDY]).to_dict("records")
    about = {STUDY: study} | background.about | {"corpora": background.cards}
    settings = yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=110)
    write_atomically(folder / STUDY_FILE, settings)


def save_table(name: str, table: pd.DataFrame, folder: Path) -> None:
    """Write one tidy table as CSV; a rare one without rows has no file."""
    rows = tidy(name, table)
    place = folder / f"{name}.csv"
    if len(rows) or not TABLES[name].is_rare:
        write_csv(rows, place)
    else:
        place.unlink(missing_ok=True)


def load_study(folder: Path) -> tuple[Tables, Background]:
    """Return the study of a folder; raises StudyError where a file is missing or is not what `save_study` wrote."""
    background = load_background(folder)
    try:
        return read_tables(folder), background
    except (OSError, ValueError, TypeError) as error:
        raise _refuse(folder, error) from None


def load_background(folder: Path) -> Background:
    """Return what a folder records of a study beside its tables; raises StudyError where a file is missing or not readable."""
    try:
        about = yaml.safe_load((folder / STUDY_FILE).read_text(encoding="utf-8"))
        check_form(folder / STUDY_FILE, about, ABOUT)
        cards = about.pop("corpora")
        return Background(list(read_lines(folder / EXAMPLES)), cards, about)
    except (OSError, ValueError, yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise _refuse(folder, error) from None


def _refuse(folder: Path, error: Exception) -> StudyError:
    return StudyError(
        f"{folder} holds no whole study ({type(error).__name__}): it needs {STUDY_FILE}, {EXAMPLES} and the tables; "
        "give a folder of results, or run `make reproduce`"
    )


def refresh_tables(folder: Path) -> None:
    """Write the tables of a study again, from its frames and by the rules of today.

    Raises StudyError where a frame is missing.
    """
    observed = load_observations(folder)
    rules = load_rules(CLAIMS, observed.design.main, observed.design.track)
    save_study(*derive_study(observed, load_background(folder), rules), folder)


def find_rules(tables: Tables) -> list[dict]:
    """Return the rules of today for the study of these tables."""
    return load_rules(CLAIMS, main_cell(tables), str(tables[STUDY].iloc[0]["track"]))


def derive_study(
    observed: Observations, background: Background, rules: list[dict]
) -> tuple[Tables, Background]:
    """Return the tables that follow from the frames of a study, and its background with the rules by which they do."""
    tables, used = derive_tables(observed, rules), hash_rules(rules)
    about = background.about | {
        STUDY: describe_design(observed.design, used),
        "rules": compare_rules(used, observed.design.scored_under),
    }
    return tables, replace(background, about=about)


def compare_rules(used: str, scored_under: list[str]) -> str:
    """Return a sentence with the hash of the rules that judge, and of those in force when the cells were scored."""
    if scored_under == [used]:
        return f"Rules {used}, the same as when the cells were scored."
    return f"Rules {used}; those when the cells were scored: {', '.join(scored_under)}. Rules judge scores and do not change them."
