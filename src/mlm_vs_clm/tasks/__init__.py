"""What the written texts are good for: tasks trained on them and tested on real ones."""

from collections.abc import Callable
from dataclasses import dataclass

from . import genres, ner, verification
from .outcome import Outcome

__all__ = ["TASKS", "Outcome", "Task"]


@dataclass(frozen=True)
class Task:
    """One task: its evaluation, its floor, and its control with the labels shuffled.

    evaluate(train, dev, test, background, seed) trains on `train` and returns the Outcome on `test`; verification
    takes `given` test problems too, where a corpus has its own;
    majority(train, test) returns the Outcome of the best answer that ignores the test texts' content;
    shuffle_labels(train, rng) returns the same texts under labels that no longer belong to them.
    """

    evaluate: Callable
    majority: Callable
    shuffle_labels: Callable


TASKS = {
    "ner": Task(ner.evaluate, ner.majority, ner.shuffle_labels),
    "genres": Task(genres.evaluate, genres.majority, genres.shuffle_labels),
    "verification": Task(verification.evaluate, verification.majority, verification.shuffle_labels),
}
