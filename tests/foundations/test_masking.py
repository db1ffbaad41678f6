"""One decision about which words are hidden, for every strategy and ratio."""

import pytest

from blankfill.draws import keyed_rng
from blankfill.text import find_words, split_words
from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.masking import COUNTED, STRATEGIES, mask_words, pick_runs, reads_entities

TEXT = "Aspirin (3.5 mg) reduced the patient's fever, and e-mail helped."
DOCUMENT = Document("d", TEXT, entities=(Entity(0, 7, "Chemical"), Entity(38, 43, "Disease")))


def hide(strategy, ratio, document=DOCUMENT, seed=0):
    return mask_words(document, strategy, ratio, keyed_rng(seed, document.id))


def hidden(strategy, ratio=1.0):
    corruption = hide(strategy, ratio)
    return [TEXT[slice(*corruption.words[i])] for i in corruption.blanks]


def test_words_are_runs_of_letters_and_single_marks():
    assert split_words("B-12's α_β, naïve…") == ["B", "-", "12", "'", "s", "α", "_", "β", ",", "naïve", "…"]


def test_class_strategies_by_hand():
    assert hidden("punctuation") == ["(", ")", ",", "."]
    assert hidden("stopwords") == ["the", "and"]
    assert hidden("entities") == ["Aspirin", "fever"]
    rest = hidden("non_entities")
    assert sorted(rest + ["Aspirin", "fever"]) == sorted(split_words(TEXT)) and "Aspirin" not in rest
    assert reads_entities("non_entities")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("ratio", [0.0, 0.15, 0.5, 1.0])
def test_blanks_are_the_asked_share_of_the_class(strategy, ratio):
    corruption = hide(strategy, ratio)
    assert len(corruption.blanks) == int(ratio * corruption.n_eligible + 0.5)
    assert corruption.blanks == sorted(set(corruption.blanks))
    assert corruption.words == find_words(TEXT)


def test_same_key_same_blanks():
    assert hide("random", 0.5) == hide("random", 0.5)
    assert hide("random", 0.5) != hide("random", 0.5, seed=1)


@pytest.mark.parametrize("text", ["", "abc"])
@pytest.mark.parametrize("strategy", ["punctuation", "entities", "stopwords"])
def test_class_without_members_is_legal(strategy, text):
    corruption = hide(strategy, 1.0, Document("empty", text))
    assert corruption.blanks == [] and corruption.n_eligible == 0


@pytest.mark.parametrize("ratio", [-0.1, 1.5, float("nan")])
def test_ratio_outside_0_to_1_is_refused(ratio):
    with pytest.raises(StudyError, match="masking.ratio=.* must be between 0 and 1"):
        hide("random", ratio)


def test_unknown_strategy_names_the_known_ones():
    with pytest.raises(StudyError, match="random, stopwords, punctuation, entities"):
        hide("nouns", 0.5)


@pytest.mark.parametrize("span", [(60, 99), (5, 5), (-1, 3)])
def test_entity_outside_the_text_names_the_document_and_not_its_words(span):
    document = Document("d7", TEXT, entities=(Entity(*span, "Chemical"),))
    with pytest.raises(StudyError, match="document d7: entity offsets") as error:
        hide("random", 0.5, document)
    assert "Aspirin" not in str(error.value)


def test_content_words_are_what_stopwords_and_marks_leave():
    assert hidden("content_words") == "Aspirin 3 5 mg reduced patient s fever e mail helped".split()


def test_spans_are_runs_of_three_words_on_average():
    document = Document("long", "word " * 3000)
    blanks = hide("spans", 0.3, document).blanks
    n_runs = sum(after != before + 1 for before, after in zip([-2, *blanks], blanks, strict=False))
    assert len(blanks) == 900 and 2.7 < len(blanks) / n_runs < 3.3


@pytest.mark.parametrize(("n_eligible", "n_hidden"), [(1, 1), (10, 9), (10, 10), (7, 0), (5, 3)])
def test_runs_hold_as_many_places_as_asked_for_and_none_twice(n_eligible, n_hidden):
    for seed in range(30):
        places = pick_runs(n_eligible, n_hidden, keyed_rng(seed, "runs"))
        assert len(set(places)) == len(places) == n_hidden and set(places) <= set(range(n_eligible))


@pytest.mark.parametrize("strategy", COUNTED)
@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_a_control_masks_random_words_at_the_share_of_its_class_in_every_document(strategy, ratio):
    the_class = strategy.removeprefix("random_as_")
    for text in (TEXT, TEXT[:20], "no such words"):
        document = Document("d", text, entities=(Entity(0, 7, "Chemical"),))
        control, counted = (hide(name, ratio, document) for name in (strategy, the_class))
        assert len(control.blanks) == len(counted.blanks) and control.n_eligible == counted.n_eligible
    drawn = {tuple(hide(strategy, 1.0, seed=seed).blanks) for seed in range(20)}
    assert len(drawn) > 10
    assert reads_entities(strategy) == reads_entities(the_class) == (the_class == "entities")
