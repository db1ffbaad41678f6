"""PAN's files of answers and truth, JSON Lines of {"id", "value"} and {"id", "same"}: write, read and score them.

python -m mlm_vs_clm score-pan --truth truth.jsonl --answers answers.jsonl
"""

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from blankfill.commands.lines import refuse_twice

from ..errors import StudyError
from ..files import write_lines
from .pan import NO_ANSWER, PAN

VALID: dict[str, tuple[Callable[[object], bool], str]] = {
    "same": (lambda value: isinstance(value, bool), "true or false"),
    "value": (
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1,
        "a number from 0 to 1 (0.5: no answer)",
    ),
}
NAMES = {"auc": "AUC", "c_at_1": "c@1", "f05u": "F0.5u", "f1": "F1", "brier": "Brier"}


def write_answers(folder: Path, units: list[dict]) -> None:
    """Write `answers.jsonl` and, to score it by, `truth.jsonl` of test problems ("id", "same", "score")."""
    answers = ({"id": unit["id"], "value": unit["score"]} for unit in units)
    truth = ({"id": unit["id"], "same": bool(unit["same"])} for unit in units)
    write_lines(folder / "answers.jsonl", answers)
    write_lines(folder / "truth.jsonl", truth)


def score_files(truth: Path, answers: Path) -> dict[str, float | int]:
    """Return PAN's measures, their mean, and the numbers of problems and of those left without answer.

    Raises StudyError for a line that is not as PAN gives it, a repeated id or key, and an id of one file alone.
    """
    true_values, answer_values = read_values(truth, "same"), read_values(answers, "value")
    refuse_absent(true_values, truth, answer_values, answers, "has no answer")
    refuse_absent(answer_values, answers, true_values, truth, "is not a known problem")
    labels = np.array([value for value, _ in true_values.values()], dtype=int)
    scores = np.array([answer_values[id][0] for id in true_values], dtype=float)
    once = np.ones((1, len(labels)))
    measures = {NAMES[name]: float(measure(labels, scores, once)[0]) for name, measure in PAN.items()}
    measures["overall"] = float(np.mean([*measures.values()]))
    return measures | {"problems": len(labels), "unanswered": int((scores == NO_ANSWER).sum())}


def read_values(path: Path, key: str) -> dict[str, tuple[float, int]]:
    """Return (value, line number) of each id; StudyError names file and line."""
    is_valid, meaning = VALID[key]
    values: dict[str, tuple[float, int]] = {}
    for number, row in read_rows(path):
        if not isinstance(row, dict) or not isinstance(row.get("id"), str) or key not in row:
            raise StudyError(f'{path}:{number}: not of the shape {{"id": "...", "{key}": ...}}: correct it')
        id, value = row["id"], row[key]
        if id in values:
            raise StudyError(f"{path}:{number}: id {id} is also in line {values[id][1]}: remove one of them")
        if not is_valid(value):
            raise StudyError(f"{path}:{number}: {key} of {id} is {value!r}, not {meaning}: correct it")
        values[id] = value, number
    if not values:
        raise StudyError(f"{path} is empty: give one {key} per line, as PAN does")
    return values


def read_rows(path: Path) -> Iterator[tuple[int, object]]:
    """Yield (line number, value) of the lines of a file that are not blank."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} cannot be read ({type(error).__name__}): give a JSON Lines file") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            twice = partial(refuse_twice, place=f"{path}:{number}")
            yield number, json.loads(line, object_pairs_hook=twice)
        except (ValueError, RecursionError) as error:  # the latter of brackets in brackets
            raise StudyError(f"{path}:{number}: not JSON: correct the line") from error


def refuse_absent(rows: dict, path: Path, other_rows: dict, other_path: Path, problem: str) -> None:
    """Raise StudyError for the first id that the other file lacks."""
    absent = [(number, id) for id, (_, number) in rows.items() if id not in other_rows]
    if absent:
        number, id = absent[0]
        count = f"{len(absent)} such ids"
        raise StudyError(f"{path}:{number}: {id} {problem} in {other_path} ({count}): give both in full")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `python -m mlm_vs_clm score-pan`."""
    parser.add_argument("--truth", type=Path, required=True, help='lines of {"id", "same"}')
    parser.add_argument("--answers", type=Path, required=True, help='lines of {"id", "value"}')


def run(chosen: argparse.Namespace) -> None:
    """Print the scores as one JSON object, to three decimals."""
    scores = score_files(chosen.truth, chosen.answers)
    print(json.dumps({name: None if np.isnan(value) else round(value, 3) for name, value in scores.items()}))
