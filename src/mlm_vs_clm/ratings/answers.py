"""The raters' files, read and checked: from a folder of JSON files to the tables that the claims need."""

import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import StudyError
from ..files import explain_os_error, write_csv
from .analysis import (
    Metrics,
    compare_arms,
    correlate_metrics,
    measure_agreement,
    measure_rounds,
    rate_arms,
)
from .questions import POINTS

FIRST = 1  # round of a rater
AGAIN = "second_round"  # the table of a second
ROW = "rater round item corpus arm document artifact place question rating seconds".split()


def find_key(keys: Path, folder: Path) -> Path:
    """Return the key of the sheet that the first readable file answers, or `keys` itself where it is a file."""
    if keys.is_file():
        return keys
    answered = sorted(folder.glob("[!.]*.json"))
    if not answered:
        raise StudyError(f"no ratings (*.json) in {folder}: put the files there that the raters downloaded")
    for path in answered:
        with contextlib.suppress(StudyError):
            answers = read_json(path)
            sheet = answers.get("sheet") if isinstance(answers, dict) else None
            if (key := keys / f"key-{sheet}.json").is_file():
                return key
    raise StudyError(f"no key in {keys} belongs to the ratings in {folder}: name key-<sheet>.json by --key")


def read_key(path: Path) -> dict:
    """Return the key of a sheet; StudyError if the file does not hold one."""
    key = read_json(path)
    if not isinstance(key, dict) or not {"sheet", "questions", "items"} <= key.keys():
        raise StudyError(f"{path} is not a rating key: name the key-<sheet>.json of `make rating-sheet`")
    return key


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; StudyError, with the line, where it is absent or does not parse."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise StudyError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise StudyError(f"{path} is not UTF-8 text: ask the rater to save it again") from None
    except json.JSONDecodeError as error:
        raise StudyError(f"{path}, line {error.lineno}: not JSON ({error.msg}): ask for it again") from None
    except (ValueError, RecursionError):  # of a number of too many digits, and of brackets in brackets
        raise StudyError(f"{path}: no JSON that can be read: ask for it again") from None


def read_folder(folder: Path, key: dict) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Return one row a rater, round, item and question, the problems to fix, and notes on what is missing.

    A rating that was not given is a NaN. Raises StudyError where the folder holds no JSON file.
    """
    paths = sorted(Path(folder).glob("[!.]*.json"))
    if not paths:
        raise StudyError(f"no ratings in {folder}: put the raters' JSON files there or set RATINGS=<folder>")
    rows, problems, notes = [], [], []
    owners: dict[tuple[str, int], str] = {}
    for path in paths:
        try:
            answers = read_json(path)
        except StudyError as error:
            problems.append(str(error))
            continue
        faults = check_answers(answers, key, owners)
        problems += [f"{path.name}{problem}" for problem in faults]
        if not faults:
            owners[answers["rater"], read_round(answers)] = path.name
            rows += list_ratings(answers, key)
            notes += [f"{path.name}: {note}" for note in describe_missing(answers, key)]
    if not problems and all(number != FIRST for _, number in owners):
        problems.append(
            f"{folder} has no first round: put the raters' first files beside those of the second"
        )
    return pd.DataFrame(rows, columns=ROW), problems, notes


def check_answers(answers: object, key: dict, owners: dict[tuple[str, int], str]) -> list[str]:
    """Return the problems of one file, each as what follows the file's name; `owners` are the raters and rounds so far."""
    if not isinstance(answers, dict) or not {"sheet", "rater", "ratings"} <= answers.keys():
        return [": not a ratings file: expected sheet, rater and ratings"]
    if answers["sheet"] != key["sheet"]:
        return [f": it answers sheet {answers['sheet']}, the key is for sheet {key['sheet']}"]
    if not isinstance(answers["rater"], str) or not answers["rater"]:
        return [": its rater is empty: write the code of the rater into it"]
    if isinstance(read_round(answers), bool) or read_round(answers) not in (FIRST, 2):
        return [f": its round is {answers['round']!r}, not 1 or 2"]
    if owner := owners.get((answers["rater"], read_round(answers))):
        return [f": rater {answers['rater']} is in {owner} already: keep one of the two"]
    if not isinstance(answers["ratings"], list):
        return [": its ratings are not a list"]
    seen: set[str] = set()
    return [problem for row in answers["ratings"] for problem in check_row(row, key, seen)]


def read_round(answers: dict) -> int:
    """Return the round of a file; a file without one is of the first."""
    return answers.get("round", FIRST)


def check_row(row: object, key: dict, seen: set[str]) -> list[str]:
    """Return the problems of one rated item; adds it to the items seen."""
    if not isinstance(row, dict) or not isinstance(row.get("item"), str):
        return [": an entry of ratings has no item"]
    item = row["item"]
    if item not in key["items"]:
        return [f", item {item}: unknown, not on sheet {key['sheet']}"]
    if item in seen:
        return [f", item {item}: rated twice"]
    seen.add(item)
    seconds = row.get("seconds", 0)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | None) or (seconds or 0) < 0:
        return [f", item {item}: seconds is {seconds!r}, not a number of seconds"]
    ratings = {question: row.get(question) for question in key["questions"]}
    return [
        f", item {item}: {question} is {value!r}, not a whole number from {POINTS[0]} to {POINTS[-1]}"
        for question, value in ratings.items()
        if value is not None and (isinstance(value, bool) or value not in POINTS)
    ]


def list_ratings(answers: dict, key: dict) -> list[dict]:
    """Return a row for every item and question of the sheet, rated or not."""
    ratings = {row["item"]: row for row in answers["ratings"]}
    return [
        {"rater": answers["rater"], "round": read_round(answers), "item": item, "question": question}
        | {name: about[name] for name in ("corpus", "arm", "document", "artifact", "place")}
        | {"rating": ratings.get(item, {}).get(question), "seconds": ratings.get(item, {}).get("seconds")}
        for item, about in key["items"].items()
        for question in key["questions"]
    ]


def describe_missing(answers: dict, key: dict) -> list[str]:
    """Return a line where a rater left items out."""
    ratings = {row["item"]: row for row in answers["ratings"]}
    left = [i for i in key["items"] if any(ratings.get(i, {}).get(q) is None for q in key["questions"])]
    if not left:
        return []
    examples = ", ".join(left[:5]) + (", ..." if len(left) > 5 else "")
    return [f"{len(left)} of {len(key['items'])} items not rated ({examples}); they count as missing"]


def analyse(rows: pd.DataFrame, read_metrics: Callable[[str], Metrics]) -> dict[str, pd.DataFrame]:
    """Return the tables by name: `ratings` of the first round as they were given, which the claims read, and their analysis.

    A second round is in `second_round`, and is compared with the first alone.

    `read_metrics` returns the metrics of a score artifact, as `analysis.correlate_metrics` has it.
    """
    rows = rows.assign(rating=pd.to_numeric(rows["rating"]))
    every = rows.sort_values(["question", "item", "rater"], ignore_index=True)
    rows = rows[rows["round"] == FIRST].drop(columns="round")
    again = every[every["round"] != FIRST]
    return {
        "ratings": rows.sort_values(["question", "item", "rater"], ignore_index=True),
        "means": rate_arms(rows),
        "agreement": pd.concat([measure_agreement(rows), measure_rounds(every)], ignore_index=True),
        "comparisons": compare_arms(rows),
        "metrics": correlate_metrics(rows, read_metrics),
    } | ({AGAIN: again} if len(again) else {})


def write_tables(out: Path, tables: dict[str, pd.DataFrame]) -> None:
    """Write one CSV file per table, without a second round of an earlier sheet; StudyError where the folder cannot be written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{AGAIN}.csv").unlink(missing_ok=True)
        for name, table in tables.items():
            write_csv(table, out / f"{name}.csv")
    except OSError as error:
        raise StudyError(explain_os_error(error, out)) from error
