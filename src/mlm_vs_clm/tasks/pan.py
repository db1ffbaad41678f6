"""The five measures of PAN's authorship verification tasks (2020-2023), from labels and scores.

Every function takes `same` (n,) of 0/1 and `scores` (n,) in [0, 1]: above 0.5 means the same author, below it
another one, and exactly 0.5 is no answer. NaN where a measure is not defined.
"""

import math

import numpy as np
from scipy.stats import rankdata

NO_ANSWER = 0.5


def compute_auc(same: np.ndarray, scores: np.ndarray) -> float:
    """Return the chance that a same-author problem scores above a different-author one (ties count half)."""
    n_same = int(same.sum())
    n_different = len(same) - n_same
    if not n_same or not n_different:
        return math.nan
    rank_sum = rankdata(scores)[same == 1].sum()
    return float((rank_sum - n_same * (n_same + 1) / 2) / (n_same * n_different))


def compute_c_at_1(same: np.ndarray, scores: np.ndarray) -> float:
    """Return c@1 (Penas and Rodrigo 2011): (n_c + n_u * n_c / n) / n.

    n_c problems are answered correctly and n_u are left without answer, which is worth the accuracy n_c / n.
    """
    n = len(same)
    if not n:
        return math.nan
    unanswered = scores == NO_ANSWER
    n_correct = int((((scores > NO_ANSWER) == (same == 1)) & ~unanswered).sum())
    return (n_correct + int(unanswered.sum()) * n_correct / n) / n


def count_answers(same: np.ndarray, scores: np.ndarray) -> tuple[int, int, int]:
    """Return (tp, fp, fn) among the answered problems."""
    yes, no = scores > NO_ANSWER, scores < NO_ANSWER
    return int((yes & (same == 1)).sum()), int((yes & (same == 0)).sum()), int((no & (same == 1)).sum())


def compute_f05u(same: np.ndarray, scores: np.ndarray) -> float:
    """Return F0.5u (Bevendorff et al. 2019): 1.25 tp / (1.25 tp + 0.25 (fn + n_u) + fp)."""
    tp, fp, fn = count_answers(same, scores)
    n_unanswered = int((scores == NO_ANSWER).sum())
    total = 1.25 * tp + 0.25 * (fn + n_unanswered) + fp
    return 1.25 * tp / total if total else math.nan


def compute_f1(same: np.ndarray, scores: np.ndarray) -> float:
    """Return F1 over the answered problems: 0 where no same-author problem is found, as in PAN's evaluator."""
    if not len(same) or not same.any():
        return math.nan
    tp, fp, fn = count_answers(same, scores)
    return 2 * tp / (2 * tp + fp + fn) if tp else 0.0


def compute_brier(same: np.ndarray, scores: np.ndarray) -> float:
    """Return the complement of the Brier score, 1 - mean((score - same)^2): higher is better."""
    return float(1 - np.mean((scores - same) ** 2)) if len(same) else math.nan


PAN = {
    "auc": compute_auc,
    "c_at_1": compute_c_at_1,
    "f05u": compute_f05u,
    "f1": compute_f1,
    "brier": compute_brier,
}


def compute_overall(same: np.ndarray, scores: np.ndarray) -> float:
    """Return the mean of the five measures, by which PAN ranks; NaN where one of them is not defined."""
    return float(np.mean([measure(same, scores) for measure in PAN.values()]))
