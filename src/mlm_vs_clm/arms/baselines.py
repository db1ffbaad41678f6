"""Fills without a network: the floors that an arm must beat, and the upper reference that it cannot."""

from collections.abc import Callable, Iterable
from functools import cached_property, partial

import numpy as np

from blankfill.draws import keyed_rng, keyed_uniform
from blankfill.slots.orders import PLANS, Pace
from blankfill.slots.sampling import Sampling
from blankfill.text import BlankedText, FilledText, assemble_text, leave_unfilled, split_words

from .mentions import Mentions, replace_mentions
from .ngrams import SHORTLIST, UNSEEN, NGrams

EDGE = ""  # the neighbour of a text's first and last word
NEUTRAL = "blorvin"  # a made-up word, so that no test text has it
N_FREQUENT = 100


class WordCounts:
    """How often each word, and each pair of neighbours, occurs in texts; a text's edges count as a word.

    `words` has the V distinct words, sorted, EDGE first; `counts` (V,) how often each occurs.
    """

    def __init__(self, texts: Iterable[str]):
        sequence = [EDGE]
        for text in texts:
            sequence += [*split_words(text), EDGE]
        self.words = sorted({*sequence})
        self.number = {word: number for number, word in enumerate(self.words)}
        self._sequence = np.array([self.number[word] for word in sequence])
        self.counts = np.bincount(self._sequence, minlength=len(self.words))

    @cached_property
    def ngrams(self) -> NGrams:
        """Return the probabilities of words given their neighbours."""
        return NGrams(self._sequence, len(self.words))


def unfilled(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Leave the blanks out."""
    return leave_unfilled(text)


def constant(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Fill each blank with the most frequent of the counted words."""
    return assemble_text(text, [counts.words[1 + int(counts.counts[1:].argmax())]] * len(text.blanks))


def neutral(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Fill each blank with one made-up word, of which no label says anything."""
    return assemble_text(text, [NEUTRAL] * len(text.blanks))


def ngram(
    text: BlankedText,
    counts: WordCounts,
    sampling: Sampling,
    context: str,
    order: int = 2,
    per_pass: int = 1,
) -> FilledText:
    """Fill with the likeliest word by tables of at most `order` words in a row, or draw one at a temperature.

    Words are looked up in lower case, and so are the texts that are counted: exact match compares words so. Blanks are
    filled from left to right, by the `order` - 1 words on the left, which may be filled ones. context `both`: also by as
    many of the kept words that follow; the second of these, and so on, for the SHORTLIST words alone that are likeliest by
    the left side and the next word. `leaky`: as `both` for `per_pass` words at a time, spread over the text, while the
    originals still to be replaced are read as neighbours, as by the arm `mlm_leaky`. `true_left`: by the left side alone,
    always the originals, as by the arm `clm_true_left`.
    """
    ngrams, is_leaky, n = counts.ngrams, context == "leaky", len(text.blanks)
    plan = PLANS["spread"](n, Pace(per_pass), keyed_rng()) if is_leaky else [[blank] for blank in range(n)]
    numbers = [counts.number.get(text.text[slice(*span)].lower(), UNSEEN) for span in text.words]
    hidden = {*text.blanks} if context in ("left", "both") else set()
    fills: dict[int, int] = {}
    for blanks in plan:
        hidden |= {text.blanks[blank] for blank in blanks}
        chosen = {}
        for blank in blanks:
            at = text.blanks[blank]
            before = [0, *(UNSEEN if place in hidden else numbers[place] for place in range(at))]
            left = before[max(0, len(before) - order + 1) :]
            weights = ngrams.after(left, order)
            if context in ("both", "leaky"):
                right = _kept_after(at, numbers, hidden, order - 1)
                weights = _weigh_right(ngrams, weights, left, right, order)
            if not weights[1:].any():  # where all pairs of words repeat, nothing is left for those never seen
                weights = ngrams.frequency.copy()
            weights[0] = 0
            chosen[at] = _choose(weights, sampling, (text.id, blank))
        fills |= chosen
        for at in () if context == "true_left" else chosen:
            numbers[at] = chosen[at]
        hidden -= chosen.keys()
    return assemble_text(text, [counts.words[fills[at]] for at in text.blanks])


def _kept_after(at: int, numbers: list[int], hidden: set[int], n_words: int) -> list[int]:
    """Return the words after a place (numbers, or UNSEEN) up to the next blank, the edge of the text among them."""
    following = [*numbers, 0]
    context = []
    for place in range(at + 1, min(at + 1 + n_words, len(following))):
        if place in hidden:
            break
        context.append(following[place])
    return context


def _weigh_right(
    ngrams: NGrams, weights: np.ndarray, left: list[int], right: list[int], order: int
) -> np.ndarray:
    """Return weights (V,) times the probability of the words on the right, given each word and those before it."""
    if not right:
        return weights
    pairs = weights * ngrams.before(right[0])
    if order < 3:
        return pairs
    best = (
        np.argpartition(pairs, -SHORTLIST)[-SHORTLIST:] if len(pairs) > SHORTLIST else np.arange(len(pairs))
    )
    weighed = np.zeros_like(weights)
    weighed[best] = weights[best]
    histories = np.column_stack([np.tile(np.array(left, dtype=int), (len(best), 1)), best])
    for word in right:
        if word == UNSEEN:
            break
        weighed[best] *= ngrams.probability(histories, word, order)
        histories = np.column_stack([histories, np.full(len(best), word)])
    return weighed


def unigram(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Draw each fill by its frequency in the pretrain split."""
    return _draw(text, counts.words[1:], counts.counts[1:], sampling.seed, "unigram")


def uniform(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Draw each fill from the distinct words of the pretrain split with equal probability."""
    return _draw(text, counts.words[1:], np.ones(len(counts.words) - 1), sampling.seed, "uniform")


def frequent(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Draw each fill from the hundred commonest words of the pretrain split with equal probability."""
    commonest = 1 + np.argsort(-counts.counts[1:], kind="stable")[:N_FREQUENT]
    words = [counts.words[number] for number in commonest]
    return _draw(text, words, np.ones(len(words)), sampling.seed, "frequent")


def mention(text: BlankedText, counts: WordCounts, sampling: Sampling, mentions: Mentions) -> FilledText:
    """Replace each entity that has a blank by another mention of its type, and fill all other blanks with the originals."""
    return replace_mentions(text, mentions, sampling.seed)


def oracle(text: BlankedText, counts: WordCounts, sampling: Sampling) -> FilledText:
    """Fill in the originals, as a perfect arm would."""
    return assemble_text(text, text.originals())


# Functions of a text, word counts and sampling; bigram_leaky also of `per_pass`, those of ORDERED of `order`, mention of `mentions`.
BASELINES: dict[str, Callable[..., FilledText]] = {
    "unfilled": unfilled,
    "constant": constant,
    "bigram_left": partial(ngram, context="left"),
    "bigram_true_left": partial(ngram, context="true_left"),
    "bigram_both": partial(ngram, context="both"),
    "bigram_leaky": partial(ngram, context="leaky"),
    "ngram_left": partial(ngram, context="left"),
    "ngram_both": partial(ngram, context="both"),
    "unigram": unigram,
    "uniform": uniform,
    "neutral": neutral,
    "frequent": frequent,
    "mention": mention,
    "oracle": oracle,
}


def is_baseline(arm: str) -> bool:
    """Return whether an arm needs no network, whatever settings its name has, and whether it draws its fills or not."""
    return arm.partition(" ")[0].removesuffix("_sampled") in BASELINES


BIGRAMS = ("bigram_left", "bigram_true_left", "bigram_both", "bigram_leaky")
ORDERED = ("ngram_left", "ngram_both")  # those whose order is chosen on dev documents
COUNTING = ("constant", *BIGRAMS, *ORDERED)  # those that count the text which the arms were trained on
# Those that read no word around a blank.
CONTEXT_FREE = ("constant", "unigram", "uniform", "neutral", "frequent")
LABELLED = ("mention",)  # those that read the labels of entities, and the originals
BOUNDS = ("unfilled", "oracle")  # what a gain is measured against: 0 and 1
# The arms that a greedy arm, and one that draws, must beat, by the context that it sees.
FLOORS = {
    "left": ("bigram_left", "ngram_left", "constant"),
    "prefix": ("bigram_left", "ngram_left", "constant"),
    "both": ("bigram_both", "ngram_both", "constant"),
    "leaky": ("bigram_leaky", "constant"),
    "true_left": ("bigram_true_left", "constant"),
}
SAMPLED_FLOORS = {context: (f"{floors[0]}_sampled", "unigram") for context, floors in FLOORS.items()}


def _choose(weights: np.ndarray, sampling: Sampling, key: tuple) -> int:
    """Return the number of the greatest weight (V,), the first of equals; or draw one at the temperature."""
    if not sampling.temperature:
        return int(weights.argmax())
    total = ((weights / weights.max()) ** (1 / sampling.temperature)).cumsum()
    return int(np.searchsorted(total, keyed_uniform(sampling.seed, "bigram", *key) * total[-1], side="right"))


def _draw(text: BlankedText, words: list[str], weights: np.ndarray, seed: int, name: str) -> FilledText:
    cumulative = np.cumsum(weights)
    draws = [keyed_uniform(seed, name, text.id, blank) * cumulative[-1] for blank in range(len(text.blanks))]
    return assemble_text(text, [words[i] for i in np.searchsorted(cumulative, draws, side="right")])
