"""Fills without a network: the floors that an arm must beat, and the upper reference that it cannot."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

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
Context = Literal["none", "left", "true_left", "both", "leaky"]


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


@dataclass(frozen=True)
class Baseline:
    """A way to fill without a network: `fill`, a function of a text, word counts and sampling, and what the study knows of it.

    `context`: what it sees at a blank, as a network of that context does. `counts`: the text that the arms were trained on, in
    lower case, the pretrain split as it is, or none. `draws`: there is an arm `<name>_sampled`, at a temperature. With
    `chooses_order` it is also given the `order` that is best on dev documents, with `needs_labels` the `mentions`, and where it
    is leaky `per_pass`. `is_reference`: it reads the originals of its blanks, or leaves them out. `is_required`: no arm of its
    context is judged without it; other tables of the context are floors where a study has them.
    """

    fill: Callable[..., FilledText]
    context: Context = "none"
    counts: Literal["trained_on", "split", "none"] = "trained_on"
    draws: bool = False
    chooses_order: bool = False
    needs_labels: bool = False
    is_reference: bool = False
    is_required: bool = False

    def __call__(self, text: BlankedText, counts: WordCounts, sampling: Sampling, **also: Any) -> FilledText:
        """Return the filled text."""
        return self.fill(text, counts, sampling, **also)

    @property
    def order(self) -> str:
        """Return the order in which it fills: none where that makes no difference."""
        return {"none": "none", "leaky": "spread"}.get(self.context, "left_to_right")


def word_table(context: Context, order: int = 0, draws: bool = False, is_required: bool = False) -> Baseline:
    """Return a table of `order` words in a row; 0: as many as are best on dev documents."""
    fill = partial(ngram, context=context, order=order) if order else partial(ngram, context=context)
    return Baseline(fill, context, draws=draws, chooses_order=not order, is_required=is_required)


BASELINES = {
    "unfilled": Baseline(unfilled, counts="none", is_reference=True),
    "constant": Baseline(constant),
    "bigram_left": word_table("left", 2, draws=True, is_required=True),
    "bigram_true_left": word_table("true_left", 2, draws=True, is_required=True),
    "bigram_both": word_table("both", 2, draws=True, is_required=True),
    "bigram_leaky": word_table("leaky", 2, draws=True, is_required=True),
    "ngram_left": word_table("left"),
    "ngram_both": word_table("both"),
    "unigram": Baseline(unigram, counts="split"),
    "uniform": Baseline(uniform, counts="split"),
    "neutral": Baseline(neutral, counts="none"),
    "frequent": Baseline(frequent, counts="split"),
    "mention": Baseline(mention, counts="none", needs_labels=True, is_reference=True),
    "oracle": Baseline(oracle, counts="none", is_reference=True),
}
SAMPLED = {name: f"{name}_sampled" for name, baseline in BASELINES.items() if baseline.draws}
ARMS = BASELINES | {arm: BASELINES[name] for name, arm in SAMPLED.items()}
COUNTING = tuple(name for name, baseline in BASELINES.items() if baseline.counts == "trained_on")
BOUNDS = ("unfilled", "oracle")  # what a gain is measured against: 0 and 1
TABLES = {
    context: tuple(name for name, baseline in BASELINES.items() if baseline.context == context)
    for context in ("left", "both", "leaky", "true_left")
}
TABLES["prefix"] = TABLES["left"]
LATER_TABLES = tuple(arm for arm in ARMS if ARMS[arm].context != "none" and not ARMS[arm].is_required)
REQUIRED = {baseline.context: name for name, baseline in BASELINES.items() if baseline.is_required}
MATCHED_TABLES = (REQUIRED["both"], REQUIRED["left"])  # with the contexts of `mlm` and of `clm`
# The arms that a greedy arm, and one that draws, must beat, by the context that it sees.
FLOORS = {context: (*tables, "constant") for context, tables in TABLES.items()}
SAMPLED_FLOORS = {
    context: (*(SAMPLED[name] for name in tables if name in SAMPLED), "unigram")
    for context, tables in TABLES.items()
}


def base_of(arm: str) -> str:
    """Return the arm that an arm is a variant of, itself where it is none."""
    return arm.partition(" ")[0]


def find_baseline(arm: str) -> Baseline | None:
    """Return the baseline that an arm or one of its variants is, whether it draws its fills or not; None for a network."""
    return ARMS.get(base_of(arm))


def is_baseline(arm: str) -> bool:
    """Return whether an arm needs no network."""
    return find_baseline(arm) is not None


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
