"""Clusters of words: from equal contexts, and the same on every processor."""

from itertools import product

import numpy as np
import pytest

from mlm_vs_clm.tasks import word_vectors
from mlm_vs_clm.tasks.word_clusters import learn_word_clusters

WORDS = ["".join(letters) for letters in product("bcdfghjkqx", "aeiou", "lmnprstvwz")]


def test_words_in_equal_contexts_share_a_cluster_and_little_text_has_none():
    texts = [f"dose of {name} was given daily" for name in ("aspirin", "morphine")] * 40
    texts += [f"{a} {b} {c}" for a, b, c in zip(WORDS, WORDS[7:], WORDS[19:], strict=False)]
    clusters = learn_word_clusters(tuple(texts))
    assert clusters.of("Aspirin") == clusters.of("morphine") and len(clusters.of("aspirin")) == 2
    assert clusters.of("never") == ()
    for few in ((), ("a few words",), tuple(WORDS) * 2):
        assert not learn_word_clusters(few).names


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
@pytest.mark.parametrize("seed", range(3))
def test_the_last_bits_of_another_processor_move_no_word(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    # Words in one frame are equal up to the last bits.
    frames = [rng.choice(WORDS[:60], 4) for _ in range(30)]
    texts = tuple(f"{a} {b} {word} {c} {d}" for word, (a, b, c, d) in zip(WORDS, frames * 17, strict=False))
    here, shorten = learn_word_clusters(texts).names, word_vectors.shorten
    learn_word_clusters.cache_clear()

    def shorten_elsewhere(matrix):
        made = shorten(matrix)
        return made + 1e-12 * rng.standard_normal(made.shape)

    monkeypatch.setattr(word_vectors, "shorten", shorten_elsewhere)
    assert learn_word_clusters(texts).names == here
    learn_word_clusters.cache_clear()
