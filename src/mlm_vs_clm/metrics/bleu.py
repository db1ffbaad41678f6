"""BLEU of a corpus (sacrebleu), from n-gram counts summed over documents."""

from functools import lru_cache

import numpy as np

from .metric import PRE_SPLIT, Metric


def make_bleu() -> Metric:
    """Return BLEU, 0-100: 13a tokens, lower case, exponential smoothing, no effective order."""
    return Metric(count_ngrams, lambda: f"BLEU|{PRE_SPLIT}|{_scorer().get_signature()}|scale:0-100")


@lru_cache(maxsize=1)
def _scorer():
    from sacrebleu.metrics import BLEU

    return BLEU(lowercase=True, force=True)


def count_ngrams(candidates: list[str], references: list[str]) -> np.ndarray:
    """Return (n, 10): both lengths in tokens, then matched and generated n-grams of orders 1 to 4.

    An empty candidate is a row of zero counts (its BLEU is 0); an empty reference is a NaN row.
    """
    rows = [_count_pair(*pair) for pair in zip(candidates, references, strict=True)]
    return np.array(rows, dtype=float).reshape(-1, 10)


def _count_pair(candidate: str, reference: str) -> list[float]:
    if not reference:
        return [np.nan] * 10
    score = _scorer().corpus_score([candidate], [[reference]])
    return [score.sys_len, score.ref_len, *score.counts, *score.totals]


def score_counts(sums: np.ndarray) -> np.ndarray:
    """Return BLEU (...) of summed counts (..., 10), as sacrebleu computes it; NaN without a reference."""
    sums = np.asarray(sums, dtype=float)
    generated, original = sums[..., 0], sums[..., 1]
    matched, total = sums[..., 2:6], sums[..., 6:10]
    zero = (total == 0).any(axis=-1) | (matched == 0).all(axis=-1)
    smoothed = np.where(matched == 0, 0.5 ** np.cumsum(matched == 0, axis=-1), matched)
    precision = smoothed / np.where(total == 0, 1, total)
    brevity = np.minimum(0, 1 - original / np.where(generated == 0, 1, generated))
    score = 100 * np.exp(brevity + np.log(precision).mean(axis=-1))
    return np.where((original == 0) | np.isnan(original), np.nan, np.where(zero, 0.0, score))
