"""The five measures of PAN's authorship verification tasks (2020-2023), from labels and scores.

Every function takes `same` (n,) of 0/1 and `scores` (n,) in [0, 1]: above 0.5 means the same author, below it
another one, and exactly 0.5 is no answer. `weights` (n resamples, n) contain how often each problem counts. They return
(n resamples,), NaN where a measure is not defined.
"""

import numpy as np

from .outcome import divide

NO_ANSWER = 0.5


def compute_auc(labels: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the probability that a same-author problem scores above a different-author one (ties count half)."""
    is_same = labels == 1
    same, other = np.flatnonzero(is_same), weights.T[~is_same]
    same = same[np.argsort(scores[same])]
    below = np.zeros((len(same) + 1, len(weights)))  # a row per problem: it is read in one piece
    np.cumsum(weights.T[same], axis=0, out=below[1:])
    ends = (np.searchsorted(scores[same], scores[~is_same], side=side) for side in ("left", "right"))
    lost = sum(np.einsum("pr,pr->r", below[end], other) for end in ends) / 2
    n_pairs = below[-1] * other.sum(axis=0)
    return divide(n_pairs - lost, n_pairs)


def compute_c_at_1(labels: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return c@1 (Penas and Rodrigo 2011): (n_c + n_u * n_c / n) / n.

    n_c problems are answered correctly and n_u are left without answer, each of which counts as the accuracy n_c / n.
    """
    unanswered = scores == NO_ANSWER
    n = weights.sum(axis=1)
    n_correct = weights @ (((scores > NO_ANSWER) == (labels == 1)) & ~unanswered)
    return divide(n_correct + (weights @ unanswered) * divide(n_correct, n), n)


def count_answers(labels: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return (tp, fp, fn) among the answered problems, each (n resamples,)."""
    yes, no = scores > NO_ANSWER, scores < NO_ANSWER
    return weights @ (yes & (labels == 1)), weights @ (yes & (labels == 0)), weights @ (no & (labels == 1))


def compute_f05u(labels: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return F0.5u (Bevendorff et al. 2019): 1.25 tp / (1.25 tp + 0.25 (fn + n_u) + fp)."""
    tp, fp, fn = count_answers(labels, scores, weights)
    n_unanswered = weights @ (scores == NO_ANSWER)
    return divide(1.25 * tp, 1.25 * tp + 0.25 * (fn + n_unanswered) + fp)


def compute_f1_answered(labels: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return F1 over the answered problems: 0 where no same-author problem is found, as in PAN's evaluator."""
    tp, fp, fn = count_answers(labels, scores, weights)
    f1 = np.where(tp > 0, divide(2 * tp, 2 * tp + fp + fn), 0.0)
    return np.where(weights @ (labels == 1) > 0, f1, np.nan)


def compute_brier(labels: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the complement of the Brier score, 1 - mean((score - label)^2): higher is better."""
    return 1 - divide(weights @ (scores - labels) ** 2, weights.sum(axis=1))


PAN = {
    "auc": compute_auc,
    "c_at_1": compute_c_at_1,
    "f05u": compute_f05u,
    "f1": compute_f1_answered,
    "brier": compute_brier,
}
