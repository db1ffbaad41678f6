"""Authorship verification: a logistic regression over similarities, scored by PAN's five measures.

A seed leaves out a tenth of the training documents and draws other training problems. The test problems are always
the same. Test problems of one author are resampled together, since they share its documents.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ..documents import Document
from .outcome import NO_ROOM, UNTRAINED, Mean, Measure, Outcome, draw_training_set
from .pan import NO_ANSWER, PAN
from .problems import Problem, draw_problems, place_problems

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from .similarity import Space


PENALTY = 0.1
N_FOLDS = 5
MIN_GAIN = 0.01
TEST_SEED = 2013
COLUMNS = ("same", "score")


def evaluate(
    train: list[Document],
    dev: list[Document],
    test: list[Document],
    background: list[Document],
    seed: int,
    given: list[dict] | None = None,
) -> Outcome:
    """Learn from problems among `train` and return PAN's measures on problems among `test`, drawn or `given`.

    Every problem is left without answer (0.5), with a note, where the problems have fewer than five authors, or where
    the model is no better than chance on held-out training authors. `dev` is not needed. Raises StudyError for too
    little background.
    """
    from .similarity import learn_spaces, measure_similarities

    test_problems, skipped = choose_test_problems(test, given)
    if not test_problems:
        return make_outcome(test_problems, test, NO_ANSWER, skipped, ("no test problem",))
    chosen = draw_training_set(train, seed)
    problems, left_out = draw_problems(chosen, np.random.default_rng(seed))
    skipped |= {f"training {reason}": count for reason, count in left_out.items()}
    if len({problem.author for problem in problems}) < N_FOLDS:
        note = f"{UNTRAINED}: too few training authors, no answer"
        return make_outcome(test_problems, test, NO_ANSWER, skipped, (note,))
    spaces = learn_spaces(tuple(document.text for document in background))
    texts = tuple(document.text for document in train)
    similarities = measure_similarities(spaces, texts, move_problems(problems, chosen, train))
    model, is_informed = train_verifier(similarities, problems)
    if not is_informed:
        note = f"{UNTRAINED}: nothing learned from the training problems, no answer"
        return make_outcome(test_problems, test, NO_ANSWER, skipped, (note,))
    answers = model.predict_proba(measure_test(spaces, tuple(test), tuple(test_problems)))[:, 1]
    return make_outcome(test_problems, test, answers, skipped, ())


def majority(train: list[Document], test: list[Document], given: list[dict] | None = None) -> Outcome:
    """Answer "the same author" to every problem: both answers are equally frequent in training, by design."""
    test_problems, skipped = choose_test_problems(test, given)
    return make_outcome(test_problems, test, 1.0, skipped, ())


def shuffle_labels(train: list[Document], rng: np.random.Generator) -> list[Document]:
    """Return the documents with their authors permuted: "the same author" then means nothing."""
    order = rng.permutation(len(train))
    return [replace(document, author=train[i].author) for document, i in zip(train, order, strict=True)]


def choose_test_problems(test: list[Document], given: list[dict] | None) -> tuple[list[Problem], dict]:
    """Return the given problems, else some that depend on the test documents alone, and what was skipped."""
    if given:
        return place_problems(given, test), {}
    problems, skipped = draw_once(tuple(test))
    return problems, {f"test {reason}": count for reason, count in skipped.items()}


@lru_cache(maxsize=2)
def draw_once(test: tuple[Document, ...]) -> tuple[list[Problem], dict[str, int]]:
    """Draw the test problems once per process, as they are the same for every training set."""
    return draw_problems(list(test), np.random.default_rng(TEST_SEED))


@lru_cache(maxsize=2)
def measure_test(spaces: tuple["Space", ...], test: tuple[Document, ...], problems: tuple) -> np.ndarray:
    """Return the similarities of the test problems, computed once per process."""
    from .similarity import measure_similarities

    return measure_similarities(spaces, tuple(document.text for document in test), list(problems))


def move_problems(problems: list[Problem], chosen: list[Document], train: list[Document]) -> list[Problem]:
    """Return problems among the chosen documents as problems among all of `train`."""
    rows = {id(document): row for row, document in enumerate(train)}
    of = [rows[id(document)] for document in chosen]
    return [replace(p, known=tuple(of[i] for i in p.known), unknown=of[p.unknown]) for p in problems]


def train_verifier(similarities: np.ndarray, problems: list[Problem]) -> tuple["Pipeline", bool]:
    """Return the fitted model, and whether it gains over a constant probability of 0.5 on held-out authors.

    The gain is in nats per problem; ln 2 is the maximum. Without this check, similarities that are all correlated
    would turn noise into confident answers: trained on shuffled authors, the model ranks the test problems well or
    badly at random (AUC 0.25 to 0.77). Real training gains about 0.1.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    labels = np.array([problem.same for problem in problems], dtype=int)
    model = make_pipeline(StandardScaler(), LogisticRegression(C=PENALTY, max_iter=500))
    authors = [problem.author for problem in problems]
    folds = GroupKFold(N_FOLDS)
    held_out = cross_val_predict(
        model, similarities, labels, groups=authors, cv=folds, method="predict_proba"
    )
    gains = np.log(2) + np.log(np.clip(held_out[np.arange(len(labels)), labels], 1e-9, 1))
    return model.fit(similarities, labels), bool(gains.mean() > MIN_GAIN)


def make_outcome(
    problems: list[Problem], test: list[Document], answers: np.ndarray | float, skipped: dict, notes: tuple
) -> Outcome:
    """Return the Outcome of one score per problem (or one for all)."""
    scores = np.broadcast_to(answers, len(problems))
    units = [
        {
            "id": problem.id or f"{number:04d}-{test[problem.unknown].id}",
            "cluster": problem.author,
            "same": int(problem.same),
            "score": float(answer),
        }
        for number, (problem, answer) in enumerate(zip(problems, scores, strict=True))
    ]
    no_room = explain_room(problems)
    return Outcome(units, COLUMNS, MEASURES, skipped, notes, no_room)


def explain_room(problems: list[Problem]) -> str:
    """Return why these test problems measure nothing; "" where they do."""
    if not problems:
        return f"{NO_ROOM}: it has no problem, which takes the documents of two authors"
    is_alike = len({problem.same for problem in problems}) == 1
    return f"{NO_ROOM}: all {len(problems)} problems have the same answer" if is_alike else ""


def measure_scores(measure: Callable, table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return one of PAN's measures (n resamples,) from an array (n problems, same score) and weights."""
    return measure(table[:, 0], table[:, 1], weights)


MEASURES: dict[str, Measure] = {name: partial(measure_scores, measure) for name, measure in PAN.items()}
MEASURES["overall"] = Mean({**MEASURES})  # PAN's ranking criterion
