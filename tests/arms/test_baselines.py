"""The floors by hand, on a corpus of four lines."""

import numpy as np
import pytest

from blankfill import Sampling
from blankfill.text import BlankedText, find_words
from mlm_vs_clm.arms.baselines import BASELINES, EDGE, FLOORS, NEUTRAL, SAMPLED_FLOORS, WordCounts
from mlm_vs_clm.arms.mentions import gather_mentions, replace_mentions
from mlm_vs_clm.arms.ngrams import UNSEEN, NGrams
from mlm_vs_clm.documents import Document, Entity
from mlm_vs_clm.errors import StudyError
from mlm_vs_clm.files import ROOT
from mlm_vs_clm.tasks.projection import project

LINES = [
    "take one dose",
    "take one pill",
    "take two pills",
    "one dose only",
    "one dose only",
    "two pills only",
]


@pytest.fixture(scope="module")
def counts():
    return WordCounts(LINES)


def fills(baseline, text, blanks, counts, temperature=0.0, id="d"):
    blanked = BlankedText(id, text, find_words(text), blanks)
    return BASELINES[baseline](blanked, counts, Sampling(temperature)).fills


def test_bounds_draws_and_the_constant(counts):
    text = BlankedText("d", "Take one a day.", find_words("Take one a day."), [1, 4])
    unfilled = BASELINES["unfilled"](text, counts, Sampling())
    assert (unfilled.text, unfilled.spans[1]) == ("Take  a day", None)
    assert BASELINES["oracle"](text, counts, Sampling()).text == text.text
    assert BASELINES["constant"](text, counts, Sampling()).fills == ["one", "one"]
    drawn = [fills(name, text.text, [0, 1, 2, 3], counts) for name in ("unigram", "uniform")]
    assert EDGE not in sum(drawn, []) and {*sum(drawn, [])} <= {*counts.words}
    assert fills("unigram", "a b", [0, 1], WordCounts(["x"])) == ["x", "x"]


def test_words_that_say_nothing(counts):
    assert {*fills("neutral", "take one pill", [0, 2], counts)} == {NEUTRAL} and NEUTRAL not in counts.number
    many = WordCounts([" ".join(f"w{n}" for n in range(150) for _ in range(1 + (n < 100)))])
    drawn = fills("frequent", " ".join("x" * 400), range(400), many)
    assert {*drawn} <= {f"w{n}" for n in range(100)} and len({*drawn}) > 60


KNOWN = [
    Document(
        "k", "Aspirin and zinc oxide help.", entities=(Entity(0, 7, "Chemical"), Entity(12, 22, "Chemical"))
    )
]
WRITTEN = Document(
    "d", "Aspirin cured high fever.", entities=(Entity(0, 7, "Chemical"), Entity(14, 24, "Disease"))
)


def replace_in(blanks):
    text = BlankedText("d", WRITTEN.text, find_words(WRITTEN.text), blanks)
    return BASELINES["mention"](text, WordCounts([]), Sampling(), mentions=gather_mentions([WRITTEN], KNOWN))


def test_an_entity_with_a_blank_becomes_another_mention_of_its_type_and_the_rest_is_real():
    made = replace_in([0, 1, 3])
    assert made.text == "zinc oxide cured high fever." and made.fills == ["zinc oxide", "cured", "fever"]
    labelled, lost = project(WRITTEN, made, find_words(WRITTEN.text))
    assert [made.text[e.start : e.end] for e in labelled.entities] == [
        "zinc oxide",
        "high fever",
    ] and not lost
    assert replace_in([1]).text == WRITTEN.text


def test_all_words_of_an_entity_go_though_one_alone_is_hidden():
    known = [Document("k", "a rash", entities=(Entity(0, 6, "Disease"),))]
    text = BlankedText("d", WRITTEN.text, find_words(WRITTEN.text), [3])
    made = replace_mentions(text, gather_mentions([WRITTEN], known), 0)
    assert made.text == "Aspirin cured a rash." and made.fills == ["a rash"] and made.spans[3] is None


def test_mentions_need_labelled_entities():
    with pytest.raises(StudyError, match="arm mention needs labelled entities"):
        gather_mentions([Document("d", "none")], KNOWN)


def test_probabilities_of_neighbours_sum_to_one_and_agree_with_each_other(counts):
    ngrams, numbers = counts.ngrams, range(len(counts.words))
    after = np.array([ngrams.after([number]) for number in numbers])
    np.testing.assert_allclose(after.sum(1), 1)
    np.testing.assert_allclose(after.T, [ngrams.before(number) for number in numbers])
    np.testing.assert_allclose(ngrams.after([UNSEEN]).sum(), 1)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_after_a_history_sum_to_one_and_are_those_of_single_words(counts, order):
    for words in (["take", "one"], ["", "take", "two"], ["unseen", "take"], ["pills", "pills"]):
        history = [counts.number.get(word, UNSEEN) for word in words]
        after = counts.ngrams.after(history, order)
        assert after.sum() == pytest.approx(1)
        histories = np.array([history, [UNSEEN] * len(history)])
        singles = [counts.ngrams.probability(histories, word, order) for word in range(len(counts.words))]
        np.testing.assert_allclose(after, np.array(singles)[:, 0])
        np.testing.assert_allclose(counts.ngrams.frequency, np.array(singles)[:, 1])


def test_rows_of_three_words_by_hand():
    """`a b` is followed by c twice and by d once, each row but `a b c` seen once: the discount is 6 / 8."""
    ngrams = NGrams(np.array([0, 1, 2, 3, 1, 2, 3, 1, 2, 4]), 5)
    level = ngrams.level(3)
    seen = {(1, 2, 3): 2, (0, 1, 2): 1, (2, 3, 1): 2, (3, 1, 2): 2, (1, 2, 4): 1}
    assert len(level.last) == len(seen)
    discount = 2 / (2 + 2 * 3)
    (pair,) = ngrams.probability(np.array([[2]]), 3, 2)
    (triple,) = ngrams.probability(np.array([[1, 2]]), 3, 3)
    assert triple == pytest.approx((2 - discount) / 3 + discount * 2 / 3 * pair)


def test_more_words_decide_where_two_do_not():
    counts = WordCounts(
        ["go up now", "go up now", "sit up late", "sit up late", "look up then", "look up then then"]
    )
    for context, text in (("left", "sit up x"), ("both", "sit up x")):
        hidden = BlankedText("d", text, find_words(text), [2])
        assert BASELINES[f"ngram_{context}"](hidden, counts, Sampling(), order=3).fills == ["late"]


def test_absolute_discounting_by_hand(counts):
    pairs = [pair for line in LINES for pair in zip(["", *line.split()], [*line.split(), ""], strict=True)]
    seen = [pairs.count(pair) for pair in set(pairs)]
    discount = seen.count(1) / (seen.count(1) + 2 * seen.count(2))
    take, one = counts.number["take"], counts.number["one"]
    frequency = counts.counts[one] / counts.counts.sum()
    expected = (2 - discount) / 3 + discount * 2 / 3 * frequency
    assert counts.ngrams.after([take])[one] == pytest.approx(expected)


def test_bigrams_read_a_filled_neighbour_and_the_right_one_where_it_is_kept(counts):
    assert fills("bigram_left", "x y z", [0, 1, 2], counts) == ["take", "one", "dose"]
    assert fills("bigram_left", "take x pills", [1], counts) == ["one"]
    assert fills("bigram_both", "take x pills", [1], counts) == ["two"]
    assert fills("bigram_both", "take x y", [1, 2], counts) == ["one", "dose"]
    assert fills("bigram_left", "two x", [1], counts) == ["pills"]
    assert fills("bigram_both", "unseen x pills", [1], counts) == ["two"]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_where_all_pairs_repeat_a_word_that_follows_nothing_is_drawn_by_frequency(temperature):
    counts = WordCounts(["a b", "a b", "c d", "c d", "c d"])
    (drawn,) = fills("bigram_both", "a x d", [1], counts, temperature)
    assert drawn in ("a", "b", "c", "d") and (temperature or drawn == "c")


def test_with_the_true_left_side_the_original_is_the_neighbour(counts):
    """After the original `two`, `pills`; bigram_left reads its own `one`, and goes on with `dose`."""
    assert fills("bigram_true_left", "take two x", [1, 2], counts) == ["one", "pills"]
    assert fills("bigram_left", "take two x", [1, 2], counts) == ["one", "dose"]
    assert fills("bigram_true_left", "take x pills", [1], counts) == ["one"]


def test_the_leaky_bigram_reads_the_originals_that_are_still_to_be_replaced(counts):
    text = BlankedText("d", "take two pills", find_words("take two pills"), [0, 1, 2])
    at_once, one_by_one = (
        BASELINES["bigram_leaky"](text, counts, Sampling(), per_pass=n).fills for n in (3, 1)
    )
    assert one_by_one == ["take", "two", "pills"]
    both, left = (BASELINES[name](text, counts, Sampling()).fills for name in ("bigram_both", "bigram_left"))
    assert both == left == ["take", "one", "dose"]
    assert at_once[1] == counts.words[1 + int(counts.ngrams.frequency[1:].argmax())]


def test_sampled_bigrams_follow_their_probabilities(counts):
    for baseline in ("bigram_left", "bigram_both"):
        drawn = [fills(baseline, "take x", [1], counts, 1.0, id=str(n))[0] for n in range(2000)]
        weights = counts.ngrams.after([counts.number["take"]])
        weights[0] = 0
        if baseline == "bigram_both":
            weights = weights * counts.ngrams.before(0)
        shares = [drawn.count(word) / len(drawn) for word in counts.words]
        np.testing.assert_allclose(shares, weights / weights.sum(), atol=0.04)
        assert fills(baseline, "take x", [1], counts, 1.0) == fills(baseline, "take x", [1], counts, 1.0)


def test_every_context_of_an_arm_has_floors():
    assert set(FLOORS) == set(SAMPLED_FLOORS) == {"left", "prefix", "true_left", "both", "leaky"}
    assert set(sum(FLOORS.values(), ())) <= set(BASELINES)
    for arms in (*FLOORS.values(), *SAMPLED_FLOORS.values()):
        assert all((ROOT / "conf" / "arm" / f"{arm}.yaml").is_file() for arm in arms)


def test_neighbours_are_looked_up_in_lower_case(counts):
    assert fills("bigram_left", "TAKE x dose", [1], counts) == fills(
        "bigram_left", "take x dose", [1], counts
    )
    assert fills("bigram_left", "Take x dose", [1], counts) == ["one"]
