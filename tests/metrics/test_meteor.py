"""METEOR equals nltk's, on a WordNet of two words."""

from pathlib import Path

import numpy as np
import pytest
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.translate.meteor_score import meteor_score
from refusals import assert_refused
from scored_texts import write_pairs

from mlm_vs_clm.metrics.meteor import make_meteor
from mlm_vs_clm.stats import point, ratio_of_sums

TEXTBOOK = (
    "it is a guide to action which ensures that the military always obeys the commands of the party",
    "it is a guide to action that ensures that the military will forever heed party commands",
)
REAL_WORDNET = Path(__file__).parents[2] / "data" / "nltk" / "corpora" / "wordnet"


@pytest.mark.parametrize("is_whole", [False, True])
def test_meteor_of_the_textbook_example(wordnet, is_whole):
    if is_whole and not REAL_WORDNET.exists():
        pytest.skip("the data is not fetched")
    rows = make_meteor(REAL_WORDNET if is_whole else wordnet).statistics(*([text] for text in TEXTBOOK))
    assert rows[0, 0] == pytest.approx(0.6944, abs=5e-5)


def test_meteor_knows_synonyms_and_stems(wordnet):
    """One matched word in one chunk: F 1, penalty 0.5."""
    rows = make_meteor(wordnet).statistics(["physician", "cats", "aspirin"], ["doctor", "cat", "fever"])
    assert rows[:, 0].tolist() == [0.5, 0.5, 0.0]


@pytest.mark.filterwarnings("ignore:The multilingual functions")
def test_meteor_equals_nltk(wordnet, monkeypatch):
    monkeypatch.setattr("nltk.data.path", [str(wordnet.parents[1])])
    candidates, references = write_pairs(40)
    reader = WordNetCorpusReader(str(wordnet.resolve()), None)
    pairs = zip(candidates, references, strict=True)
    theirs = [meteor_score([r.split()], c.split(), wordnet=reader) for c, r in pairs]
    rows = make_meteor(wordnet).statistics(candidates, references)
    assert rows[:, 0].tolist() == theirs
    assert point(rows, ratio_of_sums) == pytest.approx(np.mean(theirs))


def test_meteor_without_text(wordnet):
    rows = make_meteor(wordnet).statistics(["", "cat", ""], ["cat", "", ""])
    assert rows[0].tolist() == [0, 1] and np.isnan(rows[1:]).all()


def test_a_missing_wordnet_is_one_clear_line(tmp_path):
    for use in (lambda m: m.statistics(["a"], ["a"]), lambda m: m.signature()):
        assert_refused("make data", use, make_meteor(tmp_path / "corpora" / "wordnet"))
