"""Genres of a plot: one logistic regression per genre over word vectors, scored by micro- and macro-F1.

The two scores reward different answers, so each has its own decision rule, set on real dev documents: one threshold
for all genres (micro), one threshold per genre (macro). A seed leaves out a tenth of the training documents.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from blankfill.text import split_words

from ..documents import Document
from ..errors import StudyError
from .outcome import NO_ROOM, UNTRAINED, Measure, Outcome, divide, draw_training_set, find_cluster

PENALTY = 3.0
N_THRESHOLDS = 101
Answers = tuple[np.ndarray, np.ndarray]  # under one threshold, and under one per genre
Estimate = Callable[[np.ndarray], list[np.ndarray]]
SMALLEST = np.finfo(float).tiny


def evaluate(
    train: list[Document], dev: list[Document], test: list[Document], background: list[Document], seed: int
) -> Outcome:
    """Train on `train`, set thresholds on `dev`, and return F1 on `test`; words are learned from `background`.

    The genres are those of the test documents. A genre that no training document has is never answered. Where none
    has any, or `train` is empty, the answers are those of `majority`. Raises StudyError without dev documents.
    """
    chosen = draw_training_set(train, seed)

    def estimate(labels: np.ndarray) -> list[np.ndarray]:
        from .word_vectors import learn_word_vectors

        vectors = learn_word_vectors(tuple(document.text for document in background))
        learned, *asked = (vectors.embed([document.text for document in of]) for of in (chosen, dev, test))
        return estimate_probabilities(learned, labels, asked)

    n_empty = sum(not split_words(document.text) for document in chosen)
    skipped = {"training document without words (kept, teaches only frequencies)": n_empty} if n_empty else {}
    return judge(chosen, dev, test, estimate, skipped)


def judge(
    train: list[Document], dev: list[Document], test: list[Document], estimate: Estimate, skipped: dict
) -> Outcome:
    """Return F1 on `test` of any model of the labels of `train`, with thresholds set on `dev`; see `evaluate`.

    `estimate` takes the labels (n documents, n genres) and returns the model's probabilities on dev and test documents.
    """
    if not dev:
        raise StudyError("task genres: no dev documents to set thresholds on; give the corpus a dev split")
    genres = list_genres(test)
    labels = mark_labels(train, genres)
    if not labels.any():
        note = f"{UNTRAINED}: no label to train on, majority answers"
        return make_outcome(answer_constant(labels, len(test)), test, {}, (note,))
    of_dev, of_test = estimate(labels)
    answers = decide(of_dev, of_test, mark_labels(dev, genres))
    absent = [genre for genre, column in zip(genres, labels.T, strict=True) if not column.any()]
    return make_outcome(answers, test, skipped, tuple(f"no training document of {genre}" for genre in absent))


def majority(train: list[Document], test: list[Document]) -> Outcome:
    """Answer every document with the most frequent genres: as many as score best on `train`, for each F1."""
    labels = mark_labels(train, list_genres(test))
    return make_outcome(answer_constant(labels, len(test)), test, {}, ())


def shuffle_labels(train: list[Document], rng: np.random.Generator) -> list[Document]:
    """Return the documents with their label sets permuted."""
    order = rng.permutation(len(train))
    return [replace(document, labels=train[i].labels) for document, i in zip(train, order, strict=True)]


def list_genres(test: list[Document]) -> list[str]:
    """Return the labels that the test documents have, in alphabetical order."""
    return sorted({label for document in test for label in document.labels})


def mark_labels(documents: list[Document], genres: list[str]) -> np.ndarray:
    """Return which genres each document has, shape (n documents, n genres) of 0/1."""
    rows = [[genre in document.labels for genre in genres] for document in documents]
    return np.array(rows, dtype=int).reshape(len(documents), len(genres))


def estimate_probabilities(train: np.ndarray, labels: np.ndarray, sets: list[np.ndarray]) -> list[np.ndarray]:
    """Return for each set of vectors the probability of each genre, shape (n documents, n genres)."""
    from sklearn.linear_model import LogisticRegression

    probabilities = [np.empty((len(vectors), labels.shape[1])) for vectors in sets]
    for genre, column in enumerate(labels.T):
        if column.min() == column.max():
            for table in probabilities:
                table[:, genre] = column[0]
            continue
        model = LogisticRegression(C=PENALTY, max_iter=500).fit(train, column)
        for table, vectors in zip(probabilities, sets, strict=True):
            table[:, genre] = model.predict_proba(vectors)[:, 1]
    return probabilities


def decide(dev: np.ndarray, test: np.ndarray, labels: np.ndarray) -> Answers:
    """Return test answers under one threshold, and under one per genre; each has the best F1 on `dev`."""
    threshold = choose_threshold(dev, labels)
    thresholds = [choose_threshold(dev[:, [genre]], labels[:, [genre]]) for genre in range(labels.shape[1])]
    return (test >= threshold).astype(int), (test >= np.array(thresholds)).astype(int)


def choose_threshold(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """Return the quantile of the probabilities from which to answer yes, by F1 (0.5 where dev has no such label).

    It is above 0, so that a genre of probability 0 is never answered.
    """
    if not labels.any():
        return 0.5
    candidates = np.maximum(np.quantile(probabilities, np.linspace(0, 1, N_THRESHOLDS)), SMALLEST)
    answers = probabilities[None] >= candidates[:, None, None]
    tp, n_answers = (answers & (labels > 0)).sum(axis=(1, 2)), answers.sum(axis=(1, 2))
    return float(candidates[int(np.argmax(2 * tp / (n_answers + labels.sum())))])


def answer_constant(labels: np.ndarray, n_test: int) -> Answers:
    """Return the best constant answers for micro- and for macro-F1, each shape (n test, n genres)."""
    order = np.argsort(-labels.sum(axis=0), kind="stable") if len(labels) else np.arange(0)
    sets = [np.isin(np.arange(labels.shape[1]), order[:n]).astype(int) for n in range(1, len(order) + 1)]
    once, best = np.ones((1, len(labels))), []
    for measure in MEASURES.values():
        answers = (np.tile(row, (len(labels), 1)) for row in sets)
        scores = [measure(np.hstack([labels, answer, answer]), once)[0] for answer in answers]
        row = sets[int(np.argmax(scores))] if labels.any() else np.zeros(labels.shape[1], dtype=int)
        best.append(np.tile(row, (n_test, 1)))
    return best[0], best[1]


def make_outcome(answers: Answers, test: list[Document], skipped: dict, notes: tuple) -> Outcome:
    """Return the Outcome of answers under one threshold and under one per genre, each (n test, n genres)."""
    genres = list_genres(test)
    columns = tuple(f"{kind} {genre}" for kind in ("gold", "micro", "macro") for genre in genres)
    table = np.hstack([mark_labels(test, genres), *answers])
    units = [
        {"id": document.id, "cluster": find_cluster(document)} | dict(zip(columns, row.tolist(), strict=True))
        for document, row in zip(test, table, strict=True)
    ]
    is_alike = len({frozenset(document.labels) for document in test}) == 1
    alike = "have the same labels" if genres else "are without a label"
    no_room = f"{NO_ROOM}: all {len(test)} documents {alike}" if is_alike else ""
    return Outcome(units, columns, MEASURES, skipped, notes, no_room)


def measure_micro(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return micro-F1 (n resamples,) from (n documents, gold | one threshold | one per genre) and weights."""
    gold, answers, _ = np.split(table, 3, axis=1)
    return divide(2 * (weights @ (gold * answers).sum(axis=1)), weights @ (gold + answers).sum(axis=1))


def measure_macro(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return macro-F1 (n resamples,) from (n documents, gold | one threshold | one per genre) and weights.

    It is the mean over the genres that occur, as a label or as an answer.
    """
    gold, _, answers = np.split(table, 3, axis=1)
    scores = divide(2 * (weights @ (gold * answers)), weights @ (gold + answers))
    return divide(np.nansum(scores, axis=1), (~np.isnan(scores)).sum(axis=1))


MEASURES: dict[str, Measure] = {"micro_f1": measure_micro, "macro_f1": measure_macro}
