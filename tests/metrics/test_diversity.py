"""Distinct-n and repetition, worked by hand."""

import random
import tracemalloc

import numpy as np
import pytest

from mlm_vs_clm.metrics import ALONE, MEASURES, measure_distinct
from mlm_vs_clm.metrics.diversity import make_distinct, make_repetition, measure_longest_repeat
from mlm_vs_clm.stats import point


def test_distinct_of_a_set_and_of_its_documents():
    texts = ["a b a b", "a b", "c"]
    assert measure_distinct(texts, 1) == 3 / 7
    assert measure_distinct(texts, 2) == 2 / 4
    rows = make_distinct(2).statistics(texts)
    assert rows[:2, 0].tolist() == [2 / 3, 1] and np.isnan(rows[2]).all()
    assert np.isnan(measure_distinct([""], 1))


def test_repetition_counts_four_grams_seen_before():
    texts = ["a b c d a b c d", "a b c d e", "a b c"]
    rows = make_repetition().statistics(texts)
    assert rows[:2].tolist() == [[1, 5], [0, 2]] and np.isnan(rows[2]).all()
    assert point(rows, MEASURES["repetition"].aggregate) == 1 / 7


@pytest.mark.parametrize(
    "text, length", [("a b c x a b c y", 3), ("a a a", 2), ("a b c", 0), ("a", 0), ("b a b a b", 3)]
)
def test_longest_repeated_run(text, length):
    assert measure_longest_repeat(text) == length


def test_the_longest_run_is_that_of_all_pairs_of_places():
    draw = random.Random(0)
    for letters in (1, 2, 3, 8) * 20:
        words = [draw.choice("abcdefgh"[:letters]) for _ in range(draw.randrange(40))]
        runs = (words[start:end] for end in range(len(words) + 1) for start in range(end))
        starts = [" ".join(run) for run in runs]
        expected = max((run.count(" ") + 1 for run in starts if starts.count(run) > 1), default=0)
        assert measure_longest_repeat(" ".join(words)) == expected


def test_a_text_of_one_word_takes_no_memory_of_its_square():
    text = "a " * 4000
    tracemalloc.start()
    try:
        assert measure_longest_repeat(text) == 3999
        assert tracemalloc.get_traced_memory()[1] < 8_000_000  # all endings of the text would take 64
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ALONE)
def test_every_measure_leaves_nothing_undefined(name):
    rows = MEASURES[name].make(None).statistics(["", "a b c d e f"])
    assert np.isnan(rows[0]).all() and not np.isnan(rows[1]).any()
