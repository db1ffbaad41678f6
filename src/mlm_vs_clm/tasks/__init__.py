"""Downstream tasks: models trained on generated texts and tested on real ones."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType

from . import choices, genres, ner, verification
from .outcome import Measure, Outcome

__all__ = ["TASKS", "Outcome"]


@dataclass(frozen=True)
class Task:
    """One task: its main metric, its measures, its evaluation, its lower reference and its control.

    main_metric names the measure that stands for the task in figures, correlations and claims;
    measures maps names to functions of unit rows and weights (see Outcome);
    evaluate(train, dev, test, background, seed) trains on `train` and returns the Outcome on `test`; verification
    also takes `given` test problems, where a corpus has its own;
    majority(train, test) returns the Outcome of the best answer that ignores the content of the test texts;
    shuffle_labels(train, rng) returns the same texts under labels that no longer belong to them.
    """

    main_metric: str
    measures: Mapping[str, Measure]
    evaluate: Callable[..., Outcome]
    majority: Callable[..., Outcome]
    shuffle_labels: Callable


def _make_task(main_metric: str, module: ModuleType) -> Task:
    return Task(main_metric, module.MEASURES, module.evaluate, module.majority, module.shuffle_labels)


TASKS = {
    "ner": _make_task("f1", ner),
    "genres": _make_task("micro_f1", genres),
    "verification": _make_task("auc", verification),
    "next_sentence": Task(
        "accuracy", choices.MEASURES, choices.refuse_linear, choices.majority_pairs, choices.shuffle_sentences
    ),
    "authors": Task(
        *("accuracy", choices.MEASURES, choices.refuse_linear, choices.majority_authors),
        verification.shuffle_labels,
    ),
}
