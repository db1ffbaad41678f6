"""Canaries: what is drawn, that it is the same for all, and what a training reads with them."""

from refusals import assert_refused

from blankfill.draws import keyed_rng
from mlm_vs_clm.documents import Document
from mlm_vs_clm.training.canaries import DRAWN, OPENING, draw_canaries, plant

HELD_OUT = [Document(f"h{i}", f"The {i} " + "old captain, who sailed the boat. " * 4) for i in range(12)]
TRAINED = [Document(f"t{i}", f"Nurse{i} gave the fever{i} a tablet{i}.") for i in range(40)]


def test_canaries_begin_as_held_out_texts_and_end_in_drawn_content_words():
    planted, control = draw_canaries([*HELD_OUT, Document("short", "Too short.")], TRAINED, 5, 0)
    assert len(planted) == len(control) == 5
    openings = [canary.opening for canary in (*planted, *control)]
    assert len({*openings}) == 10
    for canary in (*planted, *control):
        assert any(document.text.startswith(canary.opening) for document in HELD_OUT)
        words = canary.drawn.split()
        assert len(words) == DRAWN and not {*words} & {"the", "a", "."}
        assert all(any(word in document.text for document in TRAINED) for word in words)
        assert canary.text == f"{canary.opening} {canary.drawn}" and OPENING == 16


def test_canaries_follow_from_the_seed_alone():
    first, second = (draw_canaries(HELD_OUT, TRAINED, 3, 7) for _ in range(2))
    assert first == second != draw_canaries(HELD_OUT, TRAINED, 3, 8)
    keyed_rng(7, "canaries").random(3)
    assert draw_canaries(HELD_OUT, TRAINED, 3, 7) == first


def test_each_is_planted_as_often_as_asked():
    planted = plant(HELD_OUT, TRAINED, 3, 4, 0)
    texts = [canary.text for canary in draw_canaries(HELD_OUT, TRAINED, 3, 0)[0]]
    assert sorted(document.text for document in planted) == sorted(texts * 4)


def test_too_few_held_out_texts_are_refused():
    assert_refused(
        "scale.training.canaries=7: 14 held-out texts of 16 words are needed and the corpus has 12",
        *(draw_canaries, HELD_OUT, TRAINED, 7, 0),
    )
