"""How far a set of texts is from the set of its originals: MMD and a classifier two-sample test on states of an encoder."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from .bertscore import N_PAIRS, Encoder
from .metric import PRE_SPLIT, Metric, mean_statistics

N_FOLDS = 5


def make_mmd(encoder: Encoder) -> Metric:
    """Return the unbiased squared maximum mean discrepancy: 0 for one distribution, and noise may take it below."""
    return _of_states(encoder, split_discrepancy, "MMD squared|unbiased|rbf:median distance of the originals")


def make_c2st(encoder: Encoder) -> Metric:
    """Return the accuracy of a classifier two-sample test, 0-1: 0.5 where texts and originals cannot be told apart."""
    model = f"logistic regression|folds:{N_FOLDS}, a text with its original"
    return _of_states(encoder, count_recognised, f"C2ST accuracy|{model}|scale:0-1")


def _of_states(
    encoder: Encoder, measure: Callable[[np.ndarray, np.ndarray], np.ndarray], name: str
) -> Metric:
    """Return a metric from a function of the states (n, d) of texts and of originals; NaN rows for texts without a token."""

    def compute(candidates: list[str], references: list[str]) -> np.ndarray:
        states = [pool_states(encoder, tuple(texts)) for texts in (candidates, references)]
        defined = ~np.isnan(states).any(axis=(0, 2))
        rows = np.full((len(candidates), 2), np.nan)
        rows[defined] = measure(*(side[defined] for side in states))
        return rows

    return Metric(compute, lambda: f"{name}|mean state|{PRE_SPLIT}|{encoder.signature}", encoder.explain)


@lru_cache(maxsize=4)
def pool_states(encoder: Encoder, texts: tuple[str, ...]) -> np.ndarray:
    """Return the mean vector (n, d) of the tokens of each text, its end tokens aside; NaN for a text without one or unknown."""
    states: dict[str, np.ndarray] = {}
    for start in range(0, len(texts), N_PAIRS):
        for text, (vectors, weights) in encoder.embed(set(texts[start : start + N_PAIRS])).items():
            total = (vectors * weights[:, None]).sum(dim=0).numpy().astype(float)
            states[text] = total / (float(weights.sum()) or np.nan)
    return np.array([states[text] for text in texts])


def split_discrepancy(generated: np.ndarray, originals: np.ndarray) -> np.ndarray:
    """Return rows (pseudo-value, 1) of n pairs of states (n, d): their mean is the squared MMD, their spread its error.

    The statistic leaves out every pair of a text with its own original, so that it is unbiased for paired sets (Gretton
    et al. 2012, lemma 6). The mean of a U-statistic's own terms would vary half as much as it does: hence the
    jackknife's. NaN for fewer than three pairs, and for originals whose median distance is 0.
    """
    from scipy.spatial.distance import cdist, pdist

    n = len(originals)
    width = float(np.median(pdist(originals))) if n > 2 else 0.0
    if not width:
        return np.full((n, 2), np.nan)
    first, second, across = (
        np.exp(-cdist(*pair, "sqeuclidean") / (2 * width**2))
        for pair in ((generated, generated), (originals, originals), (generated, originals))
    )
    terms = first + second - across - across.T
    np.fill_diagonal(terms, 0)
    by_document = terms.sum(axis=1) / (n - 1)
    return mean_statistics((2 * (n - 1) * by_document - by_document.sum()) / (n - 2))


def count_recognised(generated: np.ndarray, originals: np.ndarray) -> np.ndarray:
    """Return (n, 2): of a text and its original (states (n, d)), how many a classifier that saw neither tells apart; 2.

    An interval over documents holds for these classifiers. NaN for fewer documents than folds.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    n = len(originals)
    if n < N_FOLDS:
        return np.full((n, 2), np.nan)
    labels, documents = np.repeat([0, 1], n), np.tile(np.arange(n), 2)
    folds = GroupKFold(N_FOLDS, shuffle=True, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    states = np.concatenate([originals, generated])
    predicted = cross_val_predict(model, states, labels, groups=documents, cv=folds)
    return np.stack([(predicted == labels).reshape(2, n).sum(axis=0), np.full(n, 2)], axis=1).astype(float)
