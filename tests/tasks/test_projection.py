"""Labels projected to generated texts."""

from aspirin import DOCUMENT, WORDS, fill

from blankfill.decoding.alignment import align
from blankfill.text import BlankedText, FilledText, find_words
from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.tasks.projection import project


def test_spans_follow_longer_and_shorter_fills():
    made, lost = project(DOCUMENT, fill(["Acetyl acid", "a", "rash"]), WORDS)
    held = [made.text[e.start : e.end] for e in made.entities]
    assert held == ["Acetyl acid", "a rash", "a rash\nin"] and not lost


def test_an_entity_left_out_and_one_left_out_in_part():
    made, lost = project(DOCUMENT, fill(["", "", "rash"]), WORDS)
    assert [made.text[e.start : e.end] for e in made.entities] == ["rash", "rash\nin"]
    assert lost == {"entity left out of the new text": 1}


def test_an_entity_whose_words_were_all_hidden_loses_its_label_where_that_is_asked():
    whole, lost = project(DOCUMENT, fill(["Acid", "a", "rash"]), WORDS, range(len(WORDS)))
    assert whole.entities == () and lost == {"entity hidden": len(DOCUMENT.entities)}
    kept, lost = project(DOCUMENT, fill(["Acid", "a", "rash"]), WORDS, [0])
    assert len(kept.entities) == len(DOCUMENT.entities) - 1 and lost == {"entity hidden": 1}


def test_an_entity_with_other_words_inserted_is_lost():
    document = Document("x", "renal failure came", entities=(Entity(0, 13, "Disease"),))
    words = find_words(document.text)
    filled = align(BlankedText("x", document.text, words, [2]), "renal graft failure was seen")
    made, lost = project(document, filled, words)
    assert made.entities == () and lost == {"entity torn apart by other words": 1}


def test_words_without_a_place_lose_their_entity():
    filled = FilledText("d/1", "", ["", "", ""], [None] * len(WORDS))
    made, lost = project(DOCUMENT, filled, WORDS)
    assert made.entities == () and lost == {"entity left out of the new text": 3}
