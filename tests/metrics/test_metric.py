"""What holds for every score of overlap, and the form in which texts are compared."""

import unicodedata

import numpy as np
import pytest

from blankfill.text import WORDS
from mlm_vs_clm.metrics import (
    EXACT_MATCH,
    FILL_METRICS,
    LENGTH_ERROR,
    LIKELIHOOD,
    MEASURES,
    Resources,
    make_metrics,
    normalise,
    note_unknown,
)
from mlm_vs_clm.metrics.bleu import make_bleu, score_counts
from mlm_vs_clm.metrics.meteor import make_meteor
from mlm_vs_clm.metrics.metric import PRE_SPLIT
from mlm_vs_clm.metrics.proxies import make_nonwords
from mlm_vs_clm.metrics.rouge import make_rouge
from mlm_vs_clm.stats import point

OVERLAP = {"bleu": make_bleu(), **{kind: make_rouge(kind) for kind in ("rouge1", "rouge2", "rougeL")}}


def test_normalise_joins_lower_case_words():
    assert normalise("Blood-pressure  (mm Hg)\n") == "blood - pressure ( mm hg )"
    assert normalise("") == normalise(" \n") == ""


@pytest.mark.parametrize("text", ["İstanbul", "ΟΔΟΣ", "don't_stop", "a\u0301 b", "½ ﬁ"])
def test_normalising_twice_changes_nothing(text):
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize("name", OVERLAP)
def test_no_text_scores_zero_and_no_reference_or_document_is_undefined(name):
    metric = OVERLAP[name]
    rows = metric.statistics(["", "a b", "", "a b c d e"], ["a b", "", "", "a b c d e"])
    assert np.isnan(rows[1:3]).all() and not np.isnan(rows[[0, 3]]).any()
    scores = MEASURES[name].aggregate(rows)
    assert scores[0] == 0 and np.isnan(scores[1:3]).all()
    assert scores[3] in (1, pytest.approx(100))
    assert np.isnan(point(metric.statistics([], []), MEASURES[name].aggregate))


def test_a_missing_candidate_is_an_error():
    with pytest.raises(ValueError):
        make_bleu().statistics(["a"], ["a", "b"])


def test_signatures_have_version_and_scale():
    bleu, rouge = make_bleu().signature(), make_rouge("rougeL").signature()
    assert bleu.startswith(f"BLEU|{PRE_SPLIT}|nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:")
    assert bleu.endswith("scale:0-100")
    assert all(part in rouge for part in ("rouge_score:0.", PRE_SPLIT, "stem:no"))


SCRIPTS = {
    "hindi": "मैं आज शाम को अपने दोस्त के साथ बाज़ार जाऊँगा",
    "russian": "Он пришёл домой, а она спала.",
    "chinese": "中文文本测试",
    "thai": "วันนี้อากาศดีมาก",
    "arabic": "ذَهَبَ الرجل إلى البيت في المساء؟",
    "vietnamese": "Hôm nay trời đẹp, chúng tôi đi dạo",
    "korean": "그는 집에 갔다. 오늘 날씨가 좋다",
    "emoji": "👍🏽 ❤️ 👨‍👩‍👧 🇺🇸🇬🇧 ok",
}


@pytest.mark.parametrize("forms", [("NFC", "NFC"), ("NFC", "NFD"), ("NFD", "NFC")])
@pytest.mark.parametrize("text", SCRIPTS.values(), ids=list(SCRIPTS))
@pytest.mark.parametrize("name", OVERLAP)
def test_a_text_of_any_script_scores_all_with_itself_composed_or_not(name, text, forms):
    texts = [[normalise(unicodedata.normalize(form, text))] for form in forms]
    score = MEASURES[name].aggregate(OVERLAP[name].statistics(*texts))[0]
    assert score == pytest.approx(100 if name == "bleu" else 1)


def test_accents_match_in_both_forms():
    fills, words = [["cafe\u0301", "İ"]], [["café", "i\u0307"]]
    assert EXACT_MATCH.statistics(fills, words).tolist() == [[2, 2]]
    assert LENGTH_ERROR.statistics(fills[:1], words).tolist() == [[1, 2]]


def test_bleu_of_hindi_counts_whole_words():
    reference = normalise(SCRIPTS["hindi"])
    candidate = reference.replace("दोस्त", "भाई")
    bleu = make_bleu()
    assert score_counts(bleu.statistics([candidate], [reference]))[0] == pytest.approx(65.8, abs=0.05)


def test_every_signature_says_which_words_it_used(wordnet, encoder_folder):
    resources = Resources(wordnet, encoder_folder, "tiny", 2, "fp32")
    metrics = [*make_metrics(resources).values(), *FILL_METRICS.values()]
    metrics += [LENGTH_ERROR, LIKELIHOOD, make_nonwords([], wordnet)]
    assert all(WORDS in metric.signature() for metric in metrics)


def test_a_text_unknown_to_the_encoder_has_no_score_and_the_reason_says_why(wordnet, encoder_folder):
    metrics = make_metrics(Resources(wordnet, encoder_folder, "tiny", 2, "fp32"))
    texts = [normalise(text) for text in SCRIPTS.values()]
    for name in ("bertscore", "mmd", "c2st"):
        assert np.isnan(metrics[name].statistics(texts, texts)).all()
        assert "94% of the tokens are unknown to the encoder tiny" in metrics[name].explain(texts, texts)
        assert metrics[name].explain(["a cat", ""], ["a cat", ""]) == ""
    assert metrics["bleu"].explain(texts, texts) == ""
    told = note_unknown(encoder_folder, "tiny", texts)
    assert told.startswith("93.8% of the tokens") and "missing" in told
    assert note_unknown(encoder_folder, "tiny", ["a cat"]).startswith("0.0%")


def test_meteor_of_any_script_with_itself_is_high(wordnet):
    meteor = make_meteor(wordnet)
    texts = [normalise(text) for text in SCRIPTS.values()]
    assert (meteor.statistics(texts, texts)[:, 0] > 0.99).all()
