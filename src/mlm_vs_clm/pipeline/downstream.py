"""What a cell's texts are worth as training data: a task model trained on them and tested on real text."""

import json
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

from blankfill.draws import keyed_rng

from ..corpora import load_problems
from ..documents import Document
from ..errors import StudyError
from ..evidence.scores import TASK_COLUMNS as COLUMNS
from ..evidence.scores import score_task
from ..examples import Learner, draw_examples, spread
from ..files import write_atomically, write_lines, write_table
from ..stats import bootstrap, ratio_of_sums
from ..tasks import TASKS, Outcome
from ..tasks.finetuned import FINETUNED, answer_majority, list_labelled
from ..tasks.outcome import UNTRAINED, draw_training_set
from ..tasks.pan_files import write_answers
from ..tasks.projection import DROPPED, PROJECTED, audit_copying, project
from .artifacts import read_record
from .cells import load_blanked_texts, load_documents, load_filled
from .recipes import OF_TEST


def measure_utility(settings: dict, inputs: dict[str, Path], folder: Path, device: str = "cpu") -> None:
    """Write `scores.csv`, `units.jsonl` (one row per test unit and task seed), `notes.json`.

    Of authorship problems the answers of the first task seed are written too, as PAN asks for them.
    """
    if settings["task"] not in TASKS:
        raise StudyError(f"corpus.task={settings['task']} is unknown: choose one of {', '.join(TASKS)}")
    splits = {
        split: list(load_documents(inputs["corpus"], split))
        for split in ("pretrain", "generate", "dev", "test")
    }
    train, copied, lost = (
        _generated(inputs, settings.get("label_policy", PROJECTED))
        if settings["trained_on"] == "generated"
        else (splits["generate"], [], Counter())
    )
    if "finetuning" in settings:
        outcomes = _finetune(settings, inputs, train, splits, device)
    else:
        outcomes = _evaluate(settings, train, splits, _given(settings["task"], inputs["corpus"]))
    if outcomes[0].no_room:
        _say_once(f"{settings['task']}: {outcomes[0].no_room}")
    write_table(folder / "scores.csv", [*_score(outcomes, settings["resamples"]), *copied], COLUMNS)
    write_lines(
        folder / "units.jsonl", ({"task_seed": i} | row for i, o in enumerate(outcomes) for row in o.units)
    )
    if "score" in outcomes[0].columns:
        write_answers(folder, outcomes[0].units)
    notes = [{"task_seed": i, "skipped": o.skipped | lost, "notes": o.notes} for i, o in enumerate(outcomes)]
    write_atomically(folder / "notes.json", json.dumps(notes, indent=1))


@cache
def _say_once(line: str) -> None:
    """Print a line, once per process: the test documents are the same for all arms."""
    print(line)


def _given(task: str, corpus: Path) -> dict[str, list[dict]]:
    """Return the test problems of a corpus that gives its own, as an argument of their task."""
    rows = load_problems(corpus, "test") if task == "verification" else []
    return {"given": rows} if rows else {}


def _evaluate(
    settings: dict, train: list[Document], splits: dict[str, list[Document]], problems: dict[str, list[dict]]
) -> list[Outcome]:
    """Return the outcome of each task seed; `majority` has one, as it learns nothing that depends on a seed."""
    task = TASKS[settings["task"]]
    if settings["trained_on"] == "majority":
        return [task.majority(train, splits["test"], **problems)]
    outcomes = []
    for seed in range(settings["seeds"]):
        examples = (
            task.shuffle_labels(train, keyed_rng("shuffle", seed))
            if settings["trained_on"] == "shuffled"
            else train
        )
        outcomes.append(
            task.evaluate(examples, splits["dev"], splits["test"], splits["pretrain"], seed, **problems)
        )
    return outcomes


def _finetune(
    settings: dict,
    inputs: dict[str, Path],
    train: list[Document],
    splits: dict[str, list[Document]],
    device: str,
) -> list[Outcome]:
    """Return the outcome of each task seed of a network that is fine-tuned, on `train` or on real documents that are drawn."""
    how, task = dict(settings["finetuning"]), TASKS[settings["task"]]
    words, n, most = (how.pop(name, 0) for name in OF_TEST)
    sets = list_labelled(settings["task"], splits) if n else splits | {"train": train}
    sets = sets | {"test": spread(sets["test"], most)}
    if settings["trained_on"] == "majority":
        examples = draw_examples(sets["train"], n, 0) if n else sets["train"]
        return [answer_majority(settings["task"], examples, sets["test"], words)]
    if _given(settings["task"], inputs["corpus"]):
        raise StudyError(
            "task_model=finetuned does not read given problems: leave it at linear for this corpus"
        )
    learner = _load_learner(inputs, how, device)
    outcomes = []
    for seed in range(settings["seeds"]):
        examples = draw_examples(sets["train"], n, seed) if n else draw_training_set(sets["train"], seed)
        if settings["trained_on"] == "shuffled":
            examples = task.shuffle_labels(examples, keyed_rng("shuffle", seed))
        outcomes.append(FINETUNED[settings["task"]](sets | {"train": examples}, seed, learner, words))
    return outcomes


def _load_learner(inputs: dict[str, Path], how: dict, device: str) -> Learner:
    """Return the network of an artifact as a learner: a start, or the model that a training kept for the corpus."""
    from ..training.budgets import choose_budget
    from ..training.finetuning import Finetuner
    from ..training.objectives import OBJECTIVES
    from ..training.settings import Finetuning

    record, corpus = read_record(inputs["network"]), read_record(inputs["corpus"])["settings"]["name"]
    folder, _ = choose_budget(inputs["network"], corpus)
    is_trained = record["stage"] == "pretrain"
    objective = record["settings"]["objective"]["name"] if is_trained else ""
    kind = OBJECTIVES[objective].kind if is_trained else record["settings"].get("kind", "masked")
    return Finetuner(folder, kind, Finetuning(**how), device)


def _generated(inputs: dict[str, Path], policy: str) -> tuple[list[Document], list[dict], Counter]:
    """Return the generated documents under the originals' labels, the audit of what was copied, and what was lost."""
    documents, blanked = load_blanked_texts(inputs)
    filled = load_filled(inputs["generation"])
    projected = [
        project(d, f, b.words, b.blanks if policy == DROPPED else ())
        for d, f, b in zip(documents, filled, blanked, strict=True)
    ]
    audits = [audit_copying(d.text, f.text) for d, f in zip(documents, filled, strict=True)]
    lost = sum((counts for _, counts in projected), Counter())
    return (
        [document for document, _ in projected],
        [_mean(name, np.array([audit[name] for audit in audits])) for name in audits[0]],
        lost,
    )


def _mean(name: str, values: np.ndarray) -> dict:
    rows = np.stack([values, np.where(np.isnan(values), np.nan, 1.0)], axis=1)
    low, high = bootstrap(rows, ratio_of_sums)
    n = int((~np.isnan(values)).sum())
    return {"metric": name, "value": np.nanmean(values), "low": low, "high": high, "n": n, "reason": ""}


def describe_untrained(outcomes: list[Outcome]) -> str:
    """Return in how many task seeds no model could be trained, and why.

    Where it is all of them, the answers are defaults and no measurement, which UNTRAINED opens. Where it is some, that
    is what the text is worth in those seeds: they count with their default answers.
    """
    notes = [note for outcome in outcomes for note in outcome.notes if note.startswith(UNTRAINED)]
    reasons = "; ".join(dict.fromkeys(note.removeprefix(f"{UNTRAINED}: ") for note in notes))
    seeds = f"{len(notes)} of {len(outcomes)} task seeds"
    if len(notes) == len(outcomes):
        return f"{UNTRAINED} in {seeds}: {reasons}"
    return f"{seeds} count with default answers, as {UNTRAINED}: {reasons}" if notes else ""


def _score(outcomes: list[Outcome], resamples: int) -> list[dict]:
    """Return the row of each measure over the task seeds."""
    first = outcomes[0]
    reason = first.no_room or describe_untrained(outcomes)
    answers, clusters = (
        [outcome.statistics for outcome in outcomes],
        [unit["cluster"] for unit in first.units],
    )
    return score_task(first.measures, answers, clusters, reason, resamples)
