"""ROUGE equals rouge_score."""

import random
from itertools import combinations

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import Tokenizer
from scored_texts import write_pairs

from mlm_vs_clm.metrics.rouge import make_rouge, measure_common_subsequence
from mlm_vs_clm.stats import point, ratio_of_sums


class Spaces(Tokenizer):
    def tokenize(self, text):
        return text.split()


@pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeL"])
def test_rouge_equals_rouge_score(kind):
    candidates, references = write_pairs()
    scorer = RougeScorer([kind], tokenizer=Spaces())
    theirs = [scorer.score(r, c)[kind].fmeasure for c, r in zip(candidates, references, strict=True)]
    rows = make_rouge(kind).statistics(candidates, references)
    assert rows[:, 0].tolist() == theirs
    assert point(rows, ratio_of_sums) == pytest.approx(np.mean(theirs))


def test_common_subsequence_by_hand_and_by_search():
    assert measure_common_subsequence("a b c b d a b".split(), "b d c a b a".split()) == 4
    rng = random.Random(1)
    for _ in range(30):
        first, second = (rng.choices("ab c".split(), k=rng.randint(0, 7)) for _ in range(2))
        inside = {kept for k in range(8) for kept in combinations(second, k)}
        longest = max(k for k in range(8) for kept in combinations(first, k) if kept in inside)
        assert measure_common_subsequence(first, second) == longest
