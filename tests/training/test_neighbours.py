"""Words that a model might have written itself: drawn by the token to the left, as often as they follow it."""

import numpy as np
import pytest

from mlm_vs_clm.training.noise import IGNORE, Neighbours, Noise, TargetTokens, TokenizedDocument, go_on
from mlm_vs_clm.training.objectives import OBJECTIVES

IDS, WORDS = np.array([1, 5, 6, 5, 7, 5, 6, 2]), np.array([-1, 0, 1, 2, 2, 3, 4, -1])


def test_neighbours_by_hand():
    """After 5: 6 begins a word twice, 7 goes on with one; 2 is no word, so anything but 2 stands after 6."""
    table, rng = Neighbours([TokenizedDocument(IDS, WORDS)]), np.random.default_rng(0)
    assert go_on(WORDS).tolist() == [False, False, False, False, True, False, False, False]
    assert {table.draw(5, False, rng) for _ in range(20)} == {6}
    assert {table.draw(5, True, rng) for _ in range(20)} == {table.draw(6, True, rng)} == {7}
    assert {table.draw(7, False, rng) for _ in range(20)} == {5}
    drawn = [table.draw(99, False, rng) for _ in range(3000)]
    assert set(drawn) == {5, 6} and np.mean(np.array(drawn) == 5) == pytest.approx(3 / 5, abs=0.03)


def test_half_of_the_words_are_drawn_and_all_originals_are_predicted(documents):
    tokens = TargetTokens(9, 400, neighbours=Neighbours(documents))
    noise, shares = Noise(0.15, "token", 0.8, 0.1), []
    for number, one in enumerate(documents):
        made, again = (
            OBJECTIVES["clm_noised"].make_example(one, noise, tokens, np.random.default_rng(number))
            for _ in range(2)
        )
        changed = made["input_ids"] != one.ids
        assert (made["input_ids"] == again["input_ids"]).all()
        assert made["labels"].tolist() == [*one.ids[1:], IGNORE]
        assert not changed[one.word_of < 0].any()
        shares.append(len(set(one.word_of[changed])) / len(set(one.word_of[one.word_of >= 0])))
    assert 0.2 < np.mean(shares) <= 0.5


@pytest.mark.parametrize(("ratio", "most"), [(0.0, 0), (1.0, 400)])
def test_the_ends_of_the_noise_ratio(ratio, most, documents):
    tokens = TargetTokens(9, 400, neighbours=Neighbours(documents))
    noise = Noise(0.5, "token", 0.8, 0.1, noise_ratio=ratio)
    made = OBJECTIVES["clm_noised"].make_example(documents[0], noise, tokens, np.random.default_rng(0))
    changed = int((made["input_ids"] != documents[0].ids).sum())
    assert changed <= most and bool(changed) == bool(most)
