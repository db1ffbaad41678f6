"""Genres of a plot: one logistic regression a genre over word vectors, scored by micro- and macro-F1.

The two scores reward different answers, so each is given its own decision rule, set on real dev documents: one
threshold for all genres (micro), one threshold a genre (macro). A seed leaves out a tenth of the training documents.
"""

import math

import numpy as np

from ..documents import Document, split_words
from ..errors import StudyError
from .outcome import UNTRAINED, Outcome, compute_f1, divide, draw_training_set, find_origin

PENALTY = 3.0
N_THRESHOLDS = 101
SMALLEST = np.finfo(float).tiny


def evaluate(
    train: list[Document], dev: list[Document], test: list[Document], background: list[Document], seed: int
) -> Outcome:
    """Train on `train`, set thresholds on `dev`, and return F1 on `test`; words are learned from `background`.

    The genres are those of the test documents. A genre that no training document has is never answered; when
    none has any, or `train` is empty, the answer is `majority`'s. Raises StudyError without dev documents.
    """
    from .word_vectors import learn_word_vectors

    if not dev:
        raise StudyError("task genres: no dev documents to set thresholds on; give the corpus a dev split")
    genres, chosen = list_genres(test), draw_training_set(train, seed)
    labels = mark_labels(chosen, genres)
    if not labels.any():
        return score(
            *answer_constant(labels, len(test)),
            test,
            {},
            (f"{UNTRAINED}: no label to train on, majority answers",),
        )
    vectors = learn_word_vectors(tuple(document.text for document in background))
    embed = lambda documents: vectors.embed([document.text for document in documents])  # noqa: E731
    chances = estimate_chances(embed(chosen), labels, [embed(dev), embed(test)])
    answers = decide(*chances, mark_labels(dev, genres))
    absent = [genre for genre, column in zip(genres, labels.T, strict=True) if not column.any()]
    n_empty = sum(not split_words(document.text) for document in chosen)
    skipped = {"training document without words (kept, teaches only frequencies)": n_empty} if n_empty else {}
    return score(*answers, test, skipped, tuple(f"no training document of {genre}" for genre in absent))


def majority(train: list[Document], test: list[Document]) -> Outcome:
    """Answer every document with the most frequent genres: as many as score best on `train`, for each F1."""
    labels = mark_labels(train, list_genres(test))
    return score(*answer_constant(labels, len(test)), test, {}, ())


def shuffle_labels(train: list[Document], rng: np.random.Generator) -> list[Document]:
    """Deal the documents' label sets out anew."""
    order = rng.permutation(len(train))
    return [document.with_labels(train[i].labels) for document, i in zip(train, order, strict=True)]


def list_genres(test: list[Document]) -> list[str]:
    """Return the labels that the test documents have, in alphabetical order."""
    return sorted({label for document in test for label in document.labels})


def mark_labels(documents: list[Document], genres: list[str]) -> np.ndarray:
    """Return which genres each document has, shape (n documents, n genres) of 0/1."""
    rows = [[genre in document.labels for genre in genres] for document in documents]
    return np.array(rows, dtype=int).reshape(len(documents), len(genres))


def estimate_chances(train: np.ndarray, labels: np.ndarray, others: list[np.ndarray]) -> list[np.ndarray]:
    """Return for each set of vectors the chance of each genre, shape (n documents, n genres)."""
    from sklearn.linear_model import LogisticRegression

    chances = [np.empty((len(vectors), labels.shape[1])) for vectors in others]
    for genre, column in enumerate(labels.T):
        if column.min() == column.max():
            for table in chances:
                table[:, genre] = column[0]
            continue
        model = LogisticRegression(C=PENALTY, max_iter=500).fit(train, column)
        for table, vectors in zip(chances, others, strict=True):
            table[:, genre] = model.predict_proba(vectors)[:, 1]
    return chances


def decide(dev: np.ndarray, test: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return test answers under one threshold, and under one a genre; each has the best F1 on `dev`."""
    one = pick_threshold(dev, labels)
    each = [pick_threshold(dev[:, [genre]], labels[:, [genre]]) for genre in range(labels.shape[1])]
    return (test >= one).astype(int), (test >= np.array(each)).astype(int)


def pick_threshold(chances: np.ndarray, labels: np.ndarray) -> float:
    """Return the quantile of the chances from which on to answer yes, by F1 (0.5 where dev has no such label).

    It is above 0, so that a genre without a chance is never answered.
    """
    if not labels.any():
        return 0.5
    candidates = np.maximum(np.quantile(chances, np.linspace(0, 1, N_THRESHOLDS)), SMALLEST)
    answers = chances[None] >= candidates[:, None, None]
    tp, n_answers = (answers & (labels > 0)).sum(axis=(1, 2)), answers.sum(axis=(1, 2))
    return float(candidates[int(np.argmax(2 * tp / (n_answers + labels.sum())))])


def answer_constant(labels: np.ndarray, n_test: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the best constant answers for micro- and for macro-F1, each shape (n test, n genres)."""
    order = np.argsort(-labels.sum(axis=0), kind="stable") if len(labels) else np.arange(0)
    sets = [np.isin(np.arange(labels.shape[1]), order[:n]).astype(int) for n in range(1, len(order) + 1)]
    best = []
    for compute in (compute_micro, compute_macro):
        scores = [compute(labels, np.tile(row, (len(labels), 1))) for row in sets]
        row = sets[int(np.argmax(scores))] if labels.any() else np.zeros(labels.shape[1], dtype=int)
        best.append(np.tile(row, (n_test, 1)))
    return best[0], best[1]


def compute_micro(gold: np.ndarray, answers: np.ndarray) -> float:
    """Return F1 over all decisions, from two 0/1 arrays (n documents, n genres)."""
    tp = (gold * answers).sum()
    return float(compute_f1(tp, answers.sum() - tp, gold.sum() - tp))


def compute_macro(gold: np.ndarray, answers: np.ndarray) -> float:
    """Return the mean F1 of the genres that occur in `gold` or in `answers`."""
    tp = (gold * answers).sum(axis=0)
    total = gold.sum(axis=0) + answers.sum(axis=0)
    seen = total > 0
    return float(np.mean(2 * tp[seen] / total[seen])) if seen.any() else math.nan


def score(one: np.ndarray, each: np.ndarray, test: list[Document], skipped: dict, notes: tuple) -> Outcome:
    """Return the Outcome of answers under one threshold and under one a genre."""
    genres = list_genres(test)
    columns = tuple(f"{kind} {genre}" for kind in ("gold", "micro", "macro") for genre in genres)
    table = np.hstack([mark_labels(test, genres), one, each])
    units = [
        {"id": document.id, "cluster": find_origin(document)} | dict(zip(columns, row.tolist(), strict=True))
        for document, row in zip(test, table, strict=True)
    ]
    return Outcome(units, columns, MEASURES, skipped, notes)


def measure_micro(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return micro-F1 (n resamples,) from (n documents, gold | one threshold | one a genre) and weights."""
    gold, one, _ = np.split(table, 3, axis=1)
    tp, total = weights @ (gold * one), weights @ (gold + one)
    return divide(2 * tp.sum(axis=1), total.sum(axis=1))


def measure_macro(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return macro-F1 (n resamples,) from (n documents, gold | one threshold | one a genre) and weights.

    It is the mean over the genres that occur, as a label or as an answer.
    """
    gold, _, each = np.split(table, 3, axis=1)
    scores = divide(2 * (weights @ (gold * each)), weights @ (gold + each))
    return divide(np.nansum(scores, axis=1), (~np.isnan(scores)).sum(axis=1))


MEASURES = {"micro_f1": measure_micro, "macro_f1": measure_macro}
