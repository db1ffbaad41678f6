"""ROUGE-1, ROUGE-2 and ROUGE-L (rouge_score), F1 per document and its mean."""

from collections.abc import Callable
from functools import lru_cache, partial
from importlib.metadata import version

import numpy as np

from .metric import PRE_SPLIT, Metric, mean_statistics

PairScore = Callable[[str, str], float]  # of a candidate and its reference


def make_rouge(kind: str) -> Metric:
    """Return ROUGE F1, 0-1, of a kind `rouge1`, `rouge2` or `rougeL`: words as given, no stemming.

    The score is the plain mean over documents: the library's own aggregator reports an unseeded median.
    """
    return Metric(partial(score_documents, KINDS[kind]), partial(_signature, kind))


def _signature(kind: str) -> str:
    return f"{kind}|{PRE_SPLIT}|f1|mean|stem:no|tok:space|rouge_score:{version('rouge_score')}|scale:0-1"


def score_documents(score: PairScore, candidates: list[str], references: list[str]) -> np.ndarray:
    """Return rows (score, 1); 0 for an empty candidate, NaN for an empty reference."""
    pairs = zip(candidates, references, strict=True)
    return mean_statistics(score(*pair) if pair[1] else np.nan for pair in pairs)


class _Words:
    """The tokenizer that rouge_score is given: the text is normalised already."""

    def tokenize(self, text: str) -> list[str]:
        return text.split()


@lru_cache
def _scorer(kind: str):
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer([kind], tokenizer=_Words())


def match_ngrams(kind: str, candidate: str, reference: str) -> float:
    """Return the F1 of shared n-grams of one pair."""
    return _scorer(kind).score(reference, candidate)[kind].fmeasure


def match_in_order(candidate: str, reference: str) -> float:
    """Return the F1 of the longest common subsequence of one pair (rouge_score's value, 30 times faster)."""
    from rouge_score.scoring import fmeasure

    generated, original = candidate.split(), reference.split()
    if not generated or not original:
        return 0.0
    length = measure_common_subsequence(generated, original)
    return fmeasure(length / len(generated), length / len(original))


def measure_common_subsequence(first: list[str], second: list[str]) -> int:
    """Return the length of the longest common subsequence, one whole table row per big-integer addition.

    Each bit of `row` is a word of `first`; a bit that has fallen to 0 is a word of the subsequence (Hyyrö 2004).
    """
    positions: dict[str, int] = {}
    for index, word in enumerate(first):
        positions[word] = positions.get(word, 0) | 1 << index
    full = (1 << len(first)) - 1
    row = full
    for word in second:
        hits = row & positions.get(word, 0)
        row = ((row + hits) | (row - hits)) & full
    return len(first) - row.bit_count()


KINDS: dict[str, PairScore] = {
    "rouge1": partial(match_ngrams, "rouge1"),
    "rouge2": partial(match_ngrams, "rouge2"),
    "rougeL": match_in_order,
}
