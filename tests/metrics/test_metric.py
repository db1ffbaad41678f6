"""What holds for every score of overlap, and the form in which texts are compared."""

import numpy as np
import pytest

from mlm_vs_clm.metrics import METRICS, PROXIES, normalise
from mlm_vs_clm.metrics.bleu import make_bleu
from mlm_vs_clm.metrics.metric import PRE_SPLIT
from mlm_vs_clm.metrics.rouge import make_rouge
from mlm_vs_clm.stats import point

OVERLAP = {"bleu": make_bleu(), **{kind: make_rouge(kind) for kind in ("rouge1", "rouge2", "rougeL")}}


def test_normalise_joins_lower_case_words():
    assert normalise("Blood-pressure  (mm Hg)\n") == "blood - pressure ( mm hg )"
    assert normalise("") == normalise(" \n") == ""


@pytest.mark.parametrize("text", ["İstanbul", "ΟΔΟΣ", "don't_stop", "a\u0301 b", "½ ﬁ"])
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)


def test_the_metrics_in_order():
    assert list(METRICS) == [
        "bleu",
        "rouge1",
        "rouge2",
        "rougeL",
        "meteor",
        "bertscore",
        "mmd",
        "c2st",
        *PROXIES[1:],
    ]


@pytest.mark.parametrize("name", OVERLAP)
def test_no_text_scores_zero_and_no_reference_is_undefined(name):
    metric = OVERLAP[name]
    rows = metric.statistics(["", "a b", "", "a b c d e"], ["a b", "", "", "a b c d e"])
    assert np.isnan(rows[1:3]).all() and not np.isnan(rows[[0, 3]]).any()
    scores = metric.aggregate(rows)
    assert scores[0] == 0 and np.isnan(scores[1:3]).all()
    assert scores[3] in (1, pytest.approx(100))


@pytest.mark.parametrize("name", OVERLAP)
def test_no_documents_have_no_score(name):
    metric = OVERLAP[name]
    assert np.isnan(point(metric.statistics([], []), metric.aggregate))


def test_a_missing_candidate_is_an_error():
    with pytest.raises(ValueError):
        make_bleu().statistics(["a"], ["a", "b"])


def test_signatures_have_version_and_scale():
    bleu, rouge = make_bleu().signature(), make_rouge("rougeL").signature()
    assert bleu.startswith(f"BLEU|{PRE_SPLIT}|nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:")
    assert (
        bleu.endswith("scale:0-100")
        and "rouge_score:0." in rouge
        and PRE_SPLIT in rouge
        and "stem:no" in rouge
    )
