"""What a cell's texts are worth as training data: a task model trained on them and tested on real text."""

import json
from pathlib import Path

import numpy as np

from .artifacts import write_whole
from .corpora import load_split
from .documents import Document
from .draws import keyed_rng
from .errors import StudyError
from .projection import audit_copying, project
from .stats import bootstrap, percentile_interval, ratio_of_sums
from .storage import load_blanked, load_filled, write_lines, write_table
from .tasks import TASKS, Outcome
from .tasks.outcome import group_rows

COLUMNS = ["metric", "value", "low", "high", "n", "reason"]


def measure_utility(settings: dict, inputs: dict[str, Path], folder: Path) -> None:
    """Write `scores.csv`, `units.jsonl` (a row a test unit and task seed) and `notes.json`."""
    if settings["task"] not in TASKS:
        raise StudyError(f"corpus.task={settings['task']} is unknown: choose one of {', '.join(TASKS)}")
    splits = {split: load_split(inputs["corpus"], split) for split in ("pretrain", "generate", "dev", "test")}
    train, copied = splits["generate"], []
    if settings["trained_on"] == "generated":
        train, copied = _generated(train, inputs)
    outcomes = _evaluate(settings, train, splits)
    write_table(folder / "scores.csv", [*_score(outcomes, settings["resamples"]), *copied], COLUMNS)
    write_lines(
        folder / "units.jsonl", ({"task_seed": i} | row for i, o in enumerate(outcomes) for row in o.units)
    )
    notes = [{"task_seed": i, "skipped": o.skipped, "notes": o.notes} for i, o in enumerate(outcomes)]
    write_whole(folder / "notes.json", json.dumps(notes, indent=1))


def _evaluate(settings: dict, train: list[Document], splits: dict[str, list[Document]]) -> list[Outcome]:
    """Return the outcome of each task seed; the floor has one, as it learns nothing that a seed could change."""
    task = TASKS[settings["task"]]
    if settings["trained_on"] == "majority":
        return [task.majority(train, splits["test"])]
    outcomes = []
    for seed in range(settings["seeds"]):
        shown = (
            task.shuffle_labels(train, keyed_rng("shuffle", seed))
            if settings["trained_on"] == "shuffled"
            else train
        )
        outcomes.append(task.evaluate(shown, splits["dev"], splits["test"], splits["pretrain"], seed))
    return outcomes


def _generated(documents: list[Document], inputs: dict[str, Path]) -> tuple[list[Document], list[dict]]:
    """Return the generated documents under the originals' labels, and the audit of what was copied."""
    blanked = load_blanked(inputs["corruption"], {d.id: d.text for d in documents})
    filled = load_filled(inputs["generation"])
    made = [project(d, f, b.words) for d, f, b in zip(documents, filled, blanked, strict=True)]
    audits = [audit_copying(d.text, f.text) for d, f in zip(documents, filled, strict=True)]
    return made, [_mean(name, np.array([audit[name] for audit in audits])) for name in audits[0]]


def _mean(name: str, values: np.ndarray) -> dict:
    rows = np.stack([values, np.where(np.isnan(values), np.nan, 1.0)], axis=1)
    low, high = bootstrap(rows, ratio_of_sums)
    n = int((~np.isnan(values)).sum())
    return {"metric": name, "value": np.nanmean(values), "low": low, "high": high, "n": n, "reason": ""}


def _score(outcomes: list[Outcome], resamples: int) -> list[dict]:
    """Return each measure's mean over task seeds; its interval resamples the test units that all seeds share."""
    first = outcomes[0]
    groups = group_rows([unit["cluster"] for unit in first.units])
    rng = keyed_rng("test units")
    draws = [
        np.concatenate([groups[i] for i in rng.integers(len(groups), size=len(groups))])
        for _ in range(resamples)
    ]
    answers = [outcome.statistics for outcome in outcomes]
    rows = []
    for name, measure in first.measures.items():
        value = float(np.mean([measure(answer) for answer in answers]))
        spread = [np.mean([measure(answer[drawn]) for answer in answers]) for drawn in draws]
        low, high = percentile_interval(np.array(spread))
        reason = "not defined on these answers" if np.isnan(value) else ""
        rows.append(
            {"metric": name, "value": value, "low": low, "high": high, "n": first.n, "reason": reason}
        )
    return rows
