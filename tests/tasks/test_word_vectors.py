"""Word vectors: neighbours by hand, and texts embedded."""

import numpy as np
import pytest

from mlm_vs_clm.tasks.word_vectors import count_neighbours, learn_word_vectors


def test_neighbours_by_hand():
    counts = count_neighbours([np.array([0, 1, 0])], 2, 8, 4000).toarray()
    assert counts.tolist() == [[2, 2], [2, 0]]
    by_side = count_neighbours([np.array([0, 1, 0])], 2, 2, 1, by_side=True).toarray()
    assert by_side.tolist() == [[0, 0, 1, 1], [1, 1, 0, 0]]


def test_embedding_of_unknown_words_is_zero_and_known_is_of_length_one():
    rng = np.random.default_rng(0)
    background = tuple(" and ".join(rng.choice(["ghost", "blood", "kiss", "bride"], 9)) for _ in range(9))
    empty, known = learn_word_vectors(background).embed(["zzz", "ghost blood"])
    assert not empty.any() and np.linalg.norm(known) == pytest.approx(1)
