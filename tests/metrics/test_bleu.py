"""BLEU equals sacrebleu, under any resample."""

import numpy as np
import pytest
import sacrebleu
from scored_texts import write_pairs

from mlm_vs_clm.metrics.bleu import make_bleu, score_counts
from mlm_vs_clm.stats import draw_weights, point


@pytest.mark.parametrize("longest", [2, 3, 25])
def test_bleu_equals_sacrebleu(longest):
    candidates, references = write_pairs(longest=longest)
    ours = point(make_bleu().statistics(candidates, references), score_counts)
    assert ours == pytest.approx(sacrebleu.corpus_bleu(candidates, [references], lowercase=True).score)


def test_bleu_of_every_resample_equals_sacrebleu():
    candidates, references = write_pairs(8, longest=8)
    weights = draw_weights(8, 20, 0)
    ours = score_counts(weights @ make_bleu().statistics(candidates, references))
    for row, score in zip(weights.astype(int), ours, strict=True):
        drawn = np.repeat(np.arange(8), row)
        theirs = sacrebleu.corpus_bleu([candidates[i] for i in drawn], [[references[i] for i in drawn]])
        assert score == pytest.approx(theirs.score, abs=1e-8)


def test_bleu_of_single_documents_equals_sacrebleu():
    candidates, references = write_pairs(40, longest=6)
    rows = score_counts(make_bleu().statistics(candidates, references))
    theirs = [sacrebleu.corpus_bleu([c], [[r]]).score for c, r in zip(candidates, references, strict=True)]
    assert rows == pytest.approx(theirs, abs=1e-8)
