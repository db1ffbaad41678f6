"""Every overlap score equals its library, on words, on nothing, and under any resample."""

import random
from itertools import combinations

import numpy as np
import pytest
import sacrebleu
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import Tokenizer

from mlm_vs_clm.metrics import METRICS
from mlm_vs_clm.metrics.bleu import make_bleu
from mlm_vs_clm.metrics.normalise import normalise
from mlm_vs_clm.metrics.rouge import make_rouge, measure_common_subsequence
from mlm_vs_clm.stats import draw_weights, point

WORDS = "the a dose of aspirin reduced fever in , . ( mice".split()


class Spaces(Tokenizer):
    def tokenize(self, text):
        return text.split()


def write_pairs(n=60, seed=0, longest=25):
    rng = random.Random(seed)
    texts = [" ".join(rng.choices(WORDS, k=rng.randint(1, longest))) for _ in range(2 * n)]
    return texts[:n], texts[n:]


def test_normalise_joins_lower_case_words():
    assert normalise("Blood-pressure  (mm Hg)\n") == "blood - pressure ( mm hg )"
    assert normalise("") == normalise(" \n") == ""


@pytest.mark.parametrize("text", ["İstanbul", "ΟΔΟΣ", "don't_stop", "a\u0301 b", "½ ﬁ"])
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize("longest", [2, 3, 25])
def test_bleu_equals_sacrebleu(longest):
    candidates, references = write_pairs(longest=longest)
    ours = point(make_bleu().statistics(candidates, references), make_bleu().aggregate)
    assert ours == pytest.approx(sacrebleu.corpus_bleu(candidates, [references], lowercase=True).score)


def test_bleu_of_every_resample_equals_sacrebleu():
    candidates, references = write_pairs(8, longest=8)
    weights = draw_weights(8, 20, 0)
    ours = make_bleu().aggregate(weights @ make_bleu().statistics(candidates, references))
    for row, score in zip(weights.astype(int), ours, strict=True):
        drawn = np.repeat(np.arange(8), row)
        theirs = sacrebleu.corpus_bleu([candidates[i] for i in drawn], [[references[i] for i in drawn]])
        assert score == pytest.approx(theirs.score, abs=1e-8)


def test_bleu_of_single_documents_equals_sacrebleu():
    candidates, references = write_pairs(40, longest=6)
    rows = make_bleu().aggregate(make_bleu().statistics(candidates, references))
    theirs = [sacrebleu.corpus_bleu([c], [[r]]).score for c, r in zip(candidates, references, strict=True)]
    assert rows == pytest.approx(theirs, abs=1e-8)


@pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeL"])
def test_rouge_equals_rouge_score(kind):
    candidates, references = write_pairs()
    scorer = RougeScorer([kind], tokenizer=Spaces())
    theirs = [scorer.score(r, c)[kind].fmeasure for c, r in zip(candidates, references, strict=True)]
    rows = make_rouge(kind).statistics(candidates, references)
    assert rows[:, 0].tolist() == theirs
    assert point(rows, make_rouge(kind).aggregate) == pytest.approx(np.mean(theirs))


def test_common_subsequence_by_hand_and_by_search():
    assert measure_common_subsequence("a b c b d a b".split(), "b d c a b a".split()) == 4
    rng = random.Random(1)
    for _ in range(30):
        first, second = (rng.choices("ab c".split(), k=rng.randint(0, 7)) for _ in range(2))
        inside = {kept for k in range(8) for kept in combinations(second, k)}
        longest = max(k for k in range(8) for kept in combinations(first, k) if kept in inside)
        assert measure_common_subsequence(first, second) == longest


@pytest.mark.parametrize(
    "make",
    [make_bleu, lambda: make_rouge("rouge1"), lambda: make_rouge("rouge2"), lambda: make_rouge("rougeL")],
)
def test_nothing_written_is_zero_and_nothing_to_write_is_undefined(make):
    metric = make()
    rows = metric.statistics(["", "a b", "", "a b c d e"], ["a b", "", "", "a b c d e"])
    assert np.isnan(rows[1:3]).all() and not np.isnan(rows[[0, 3]]).any()
    scores = metric.aggregate(rows)
    assert scores[0] == 0 and np.isnan(scores[1:3]).all()
    assert scores[3] in (1, pytest.approx(100))


@pytest.mark.parametrize("make", [make_bleu, lambda: make_rouge("rouge1"), lambda: make_rouge("rougeL")])
def test_no_documents_have_no_score(make):
    metric = make()
    assert np.isnan(point(metric.statistics([], []), metric.aggregate))


def test_a_missing_candidate_is_an_error():
    with pytest.raises(ValueError):
        make_bleu().statistics(["a"], ["a", "b"])


def test_signatures_say_version_and_scale():
    assert make_bleu().signature().startswith("BLEU|nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:")
    assert make_bleu().signature().endswith("scale:0-100")
    assert (
        "rouge_score:0." in make_rouge("rougeL").signature() and "stem:no" in make_rouge("rougeL").signature()
    )
    assert list(METRICS) == ["bleu", "rouge1", "rouge2", "rougeL", "meteor", "bertscore"]
