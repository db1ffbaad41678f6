"""One decision about which words are hidden, for every strategy and ratio."""

from functools import partial

import pytest
import spacy
from refusals import assert_refused

from blankfill.draws import keyed_rng
from blankfill.ranges import range_of
from blankfill.text import find_words, split_words
from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.masking import (
    RATIO,
    STRATEGIES,
    TAGS,
    Strategy,
    check_kinds,
    check_masking,
    entities,
    keep_spans,
    list_overrides,
    mask_words,
    name_masking,
    pick_runs,
    reads_entities,
    tag_words,
)
from mlm_vs_clm.pipeline.config import MaskingConfig

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
@pytest.mark.parametrize("ratio", [0.01, 0.15, 0.5, 1.0])
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


@pytest.mark.parametrize("ratio", [-0.1, 0.0, 1.5, float("nan")])
def test_ratio_outside_its_range_is_refused(ratio):
    assert_refused("masking.ratio=.* must be between 0 and 1, 0 left out", hide, "random", ratio)
    assert range_of(MaskingConfig, "ratio") is RATIO


def test_unknown_strategy_names_the_known_ones():
    assert_refused("random, stopwords, punctuation, entities", hide, "nouns", 0.5)


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


@pytest.mark.parametrize("strategy", [name for name, how in STRATEGIES.items() if how.counted])
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


@pytest.mark.parametrize("eligible", [entities, partial(entities), lambda *shown: entities(*shown)])
def test_a_strategy_and_its_control_need_one_entry_whatever_function_it_has(monkeypatch, eligible):
    added = Strategy(eligible, reads="entities")
    monkeypatch.setitem(STRATEGIES, "labelled", added)
    monkeypatch.setitem(STRATEGIES, "random_as_labelled", added.as_control())
    assert hidden("labelled") == ["Aspirin", "fever"]
    control = hide("random_as_labelled", 1.0)
    assert control.n_eligible == len(control.blanks) == 2
    for name in ("labelled", "random_as_labelled"):
        check_masking(name, 0.5)
        check_kinds(name, [], ["Disease"])
        assert reads_entities(name) and [*list_overrides(f"{name} Disease")] == [
            f"masking={name}",
            "masking.types=[Disease]",
        ]
        assert_refused("masking.tags has no effect", check_kinds, name, ["NOUN"], [])
    # One that reads spans without saying so is shown none, even where a corpus has gold ones.
    monkeypatch.setitem(STRATEGIES, "labelled", Strategy(eligible))
    assert hidden("labelled") == [] and not reads_entities("labelled")
    assert_refused("masking.types has no effect", check_kinds, "labelled", [], ["Disease"])


def test_every_strategy_has_a_yaml():
    assert {path.stem for path in (ROOT / "conf/masking").glob("*.yaml")} == {*STRATEGIES}


def test_a_continuation_hides_the_last_words_whatever_is_drawn():
    assert hidden("continuation", 0.25) == ["e", "-", "mail", "helped", "."]
    assert hide("continuation", 0.5) == hide("continuation", 0.5, seed=1)


def test_parts_of_speech_are_those_of_the_token_in_which_a_word_begins():
    text = "The IL-2 dose: 3.5 mg of it"
    spans = [
        (0, 3, "DET"),
        (4, 8, "NOUN"),
        (9, 13, "NOUN"),
        (13, 14, "PUNCT"),
        (15, 18, "NUM"),
        (19, 21, "NOUN"),
    ]
    document = Document("d", text, entities=tuple(Entity(*span) for span in spans))

    def masked(*tags):
        blanks = hide("part_of_speech", 1.0, keep_spans(document, tags)).blanks
        return [text[slice(*find_words(text)[i])] for i in blanks]

    assert masked("NOUN") == ["IL", "2", "dose", "mg"] and masked("DET", "NUM") == ["The", "3", "5"]
    assert masked("PUNCT") == [":"] and masked("VERB") == []
    assert masked() == ["The", "IL", "2", "dose", ":", "3", "5", "mg"]


def test_entities_of_some_types_are_kept_and_all_without_a_choice():
    assert hide("entities", 1.0, keep_spans(DOCUMENT, ["Disease"])).n_eligible == 1
    assert keep_spans(DOCUMENT, []) is DOCUMENT


@pytest.mark.parametrize(
    ("strategy", "tags", "types", "told"),
    [
        ("random", ["NOUN"], [], "masking.tags has no effect on masking.strategy=random"),
        (
            "entities",
            ["NOUN"],
            [],
            "masking.tags has no effect .* choose part_of_speech and random_as_part_of",
        ),
        ("part_of_speech", ["NOUN"], ["Disease"], "masking.types has no effect"),
        ("random_as_part_of_speech", [], [], "needs masking.tags"),
        ("part_of_speech", ["NOUN", "noun"], [], "masking.tags: noun is unknown: choose among ADJ"),
    ],
)
def test_tags_and_types_that_a_strategy_does_not_read_are_refused(strategy, tags, types, told):
    assert_refused(told, check_kinds, strategy, tags, types)


@pytest.mark.parametrize(
    ("strategy", "kinds", "name", "settings"),
    [
        ("random", {}, "random", ["masking=random"]),
        ("part_of_speech", {"tags": ["DET", "ADP"]}, "part_of_speech ADP+DET", ["masking=part_of_speech", "masking.tags=[ADP,DET]"]),
        ("random_as_entities", {"types": ["Disease"]}, "random_as_entities Disease", ["masking=random_as_entities", "masking.types=[Disease]"]),
    ],
)  # fmt: skip
def test_the_name_of_a_masking_gives_its_settings_back(strategy, kinds, name, settings):
    assert name_masking(strategy, **kinds) == name and [*list_overrides(name)] == settings


def test_a_tagger_gives_each_token_its_part_of_speech(tmp_path):
    tagger = spacy.blank("en")
    ruler = tagger.add_pipe("attribute_ruler")
    ruler.add([[{"LOWER": "fever"}]], {"POS": "NOUN"})
    ruler.add([[{"LOWER": "the"}]], {"POS": "DET"})
    tagger.to_disk(tmp_path / "tagger")
    documents = [
        Document("a", "The fever\n\nof the cat", entities=(Entity(0, 3, "Disease"),)),
        Document("b", "Fever"),
    ]
    first, second = tag_words(documents, str(tmp_path / "tagger"))
    assert [(span.start, span.end, span.type) for span in keep_spans(first, TAGS).entities] == [
        (0, 3, "DET"), (4, 9, "NOUN"), (14, 17, "DET")
    ]  # fmt: skip
    assert second.entities == (Entity(0, 5, "NOUN"),) and first.text == documents[0].text
