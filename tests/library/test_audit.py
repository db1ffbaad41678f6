"""The audit catches a copier and an over-trained model, lets honest ones pass, and shows no word of any text."""

import json
import re
from os.path import commonprefix

import numpy as np
import pytest
from over_training import train
from refusals import SECRET

from blankfill import BlankfillError, Filler, audit
from blankfill.auditing.intervals import area_under_curve, contrast_means, contrast_shares
from blankfill.auditing.membership import measure_losses
from blankfill.auditing.nearest import describe_nearest
from blankfill.auditing.phrases import measure_phrases
from blankfill.auditing.runs import match, words_of
from blankfill.draws import keyed_rng

SYLLABLES = ["ba", "de", "fi", "go", "ku", "lor", "men", "nat", "pel", "qui", "rus", "sol"]
LEXICON = [a + b + c for a in SYLLABLES for b in SYLLABLES for c in ("", "x")]


def write(name, n_texts, n_words=40):
    """Return texts of one source: words by Zipf's law, each text its own draw."""
    weights = 1 / np.arange(1, len(LEXICON) + 1)
    rngs = [keyed_rng("source", name, i) for i in range(n_texts)]
    return [" ".join(rng.choice(LEXICON, n_words, p=weights / weights.sum())) + "." for rng in rngs]


TRAIN, HOLDOUT, HONEST = write("train", 60), write("holdout", 40), write("honest", 50)
COPIER = [
    " ".join([*own.split()[:20], *copied.split()[5:25]]) for own, copied in zip(HONEST, TRAIN, strict=False)
]


@pytest.fixture(scope="module")
def honest():
    return audit(TRAIN, HOLDOUT, HONEST)


@pytest.fixture(scope="module")
def copier():
    return audit(TRAIN, HOLDOUT, COPIER)


def contrasts(report):
    copies = report.copies
    return [*copies.copied.values(), copies.copied_run, *copies.returned.values(), copies.returned_run]


def test_a_copier_is_caught(copier):
    assert all(contrast.exceeds_control for contrast in contrasts(copier))
    assert copier.copies.longest[0].words >= 20 > 2 * copier.copies.longest_control
    for run in copier.copies.longest:
        assert run.generated == run.train
    assert copier.closest["generated"][0.5] < copier.closest["holdout"][0.5]


def test_texts_without_a_word_hide_no_leak(copier):
    blank = audit([*TRAIN, *["", "..."] * 300], HOLDOUT, [*COPIER, ""]).copies
    assert (blank.returned_run.n, blank.copied_run.n) == (len(TRAIN), len(COPIER))
    assert blank.returned_run == copier.copies.returned_run
    assert blank.copied_run == copier.copies.copied_run


def test_an_honest_generator_is_not(honest):
    assert not any(contrast.exceeds_control for contrast in contrasts(honest))
    assert max(run.words for run in honest.copies.longest) < 10


def test_intervals_of_honest_generators_miss_as_often_as_they_should():
    """Of draws of all three kinds of texts, one in 40 should exceed its control by chance."""
    misses = 0
    for i in range(20):
        report = audit(write((i, 1), 30, 20), write((i, 2), 30, 20), write((i, 3), 30, 20), seed=i)
        misses += report.copies.returned[3].exceeds_control
    assert misses <= 3


def test_the_longest_copied_run_is_named_by_numbers_and_a_hash():
    generated = ["zz yy " + " ".join(TRAIN[7].split()[3:15]), "aa bb cc"]
    report = audit(TRAIN, HOLDOUT, generated)
    (first, *_) = report.copies.longest
    assert (first.generated, first.train, first.words) == (0, 7, 12)
    assert first.digest == audit(TRAIN, HOLDOUT[:9], generated).copies.longest[0].digest
    assert first.digest != audit(TRAIN[:-1], HOLDOUT, generated).copies.longest[0].digest


def test_no_word_of_a_text_is_shown(start, tokenizer):
    lists = (TRAIN[0].split()[:3], HOLDOUT[0].split()[:3])
    nine = (TRAIN[:9], HOLDOUT[:9], COPIER[:9])
    report = audit(*nine, names=lists, canaries=lists, model=start, tokenizer=tokenizer)
    shown = str(report) + repr(report) + json.dumps(report.to_dict(), allow_nan=False)
    assert not {*re.findall(r"[a-z]+", shown)} & {*LEXICON}
    titles = [line.split(":")[0] for line in str(report).splitlines()]
    assert titles[-4:-2] == ["canaries that come back", "canaries by the loss"]


def brute(text, others):
    rests = [other[j:] for other in others for j in range(len(other))]
    places = range(len(text))
    return [max((len(commonprefix([text[i:], rest])) for rest in rests), default=0) for i in places]


@pytest.mark.parametrize("seed", range(20))
def test_runs_equal_a_plain_search(seed):
    rng = keyed_rng(seed, "runs")
    texts, others = ([tuple(rng.choice([*"abc"], rng.integers(0, 12))) for _ in range(n)] for n in (4, 3))
    for text, matches in zip(texts, match(texts, others), strict=True):
        assert matches.lengths.tolist() == brute(text, others)
        for i, (length, other) in enumerate(zip(matches.lengths, matches.texts, strict=True)):
            places = range(len(others[other])) if length else []
            runs = [others[other][j : j + length] for j in places]
            assert text[i : i + length] in runs if length else other == -1


def test_words_of_a_run_have_no_case_and_no_punctuation():
    assert words_of("Two, tablets (MG)!") == ("two", "tablets", "mg")
    (matches,) = match([words_of("a b c d")], [words_of("x a b. C y"), words_of("c d")])
    assert matches.lengths.tolist() == [3, 2, 2, 1] and matches.texts[0] == 0
    assert matches.share(2) == 1.0 and matches.share(3) == 0.5 and np.isnan(matches.share(5))


def test_names_that_come_back():
    generated = [words_of("Anna Lee met Bo"), words_of("Cy left")]
    ours = ["Anna Lee", "BO", "Cy", "Di", "Bo"]
    returned = measure_phrases(map(words_of, ours), map(words_of, ["Cy", "Ed", "Lee Met", "Fay"]), generated)
    assert returned.n_shared == 1
    share = returned.share
    assert (share.value, share.n, share.control, share.n_control) == (2 / 3, 3, 1 / 3, 3)
    assert measure_phrases([words_of("Cy")], [words_of("Cy")], generated) is None
    names = [f"{a}{b}z" for a in SYLLABLES for b in SYLLABLES]  # no words of the source
    leak = audit(TRAIN, HOLDOUT, [*HONEST, " ".join(names[:20])], names=(names[:40], names[40:80]))
    assert leak.names.share.exceeds_control and leak.names.share.value >= 0.5
    kept = audit(TRAIN, HOLDOUT, HONEST, names=(names[:40], names[40:80]))
    assert not kept.names.share.exceeds_control


def test_canaries_that_come_back():
    planted, control = ([f"code {side} {a}" for a in SYLLABLES] for side in ("red", "blue"))
    report = audit(TRAIN, HOLDOUT, [*HONEST, *planted[:6]], canaries=(planted, control))
    assert report.canaries.returned.share.exceeds_control and report.canaries.loss is None
    clean = audit(TRAIN, HOLDOUT, HONEST, canaries=(planted, control))
    assert not clean.canaries.returned.share.exceeds_control


@pytest.fixture(scope="module")
def short():
    """Texts of the tiny tokenizer's words, to train on and to hold out."""
    words = "captain boat bay doctor fever tablets people state roads schools storm crew deck wheel pain towns".split()
    rng = keyed_rng("short")
    return [[" ".join(rng.choice(words, 10)) for _ in range(16)] for _ in range(2)]


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_an_over_trained_model_is_caught_and_an_honest_one_is_not(
    start, causal_model, tokenizer, short, kind
):
    model = start if kind == "masked" else causal_model
    known, new = short
    settings = {"train": known, "holdout": new, "generated": new, "tokenizer": tokenizer}
    over_trained = audit(**settings, model=train(model, tokenizer, known, 150, kind == "masked")).membership
    assert over_trained.exceeds_control and over_trained.value > 0.9
    assert (over_trained.n, over_trained.n_control) == (16, 16)
    honest = audit(**settings, model=model).membership
    assert not honest.exceeds_control and honest.low < 0.5 < honest.high


def test_a_loss_depends_on_its_text_alone_and_a_text_may_be_long(start, causal_model, tokenizer, texts):
    for model in (start, causal_model):
        losses = measure_losses(texts, Filler(model, tokenizer), seed=0)
        again = measure_losses([*texts[::-1], ""], Filler(model, tokenizer), seed=0)
        np.testing.assert_allclose(losses, again[::-1], rtol=1e-4)
        assert len(measure_losses([" ".join(texts * 3)], Filler(model, tokenizer), seed=0)) == 1


def test_the_auc_is_the_share_of_pairs():
    losses, control = [1.0, 2.0, 2.0, 5.0], [2.0, 3.0, 6.0]
    pairs = [(a < b) + (a == b) / 2 for a in losses for b in control]
    auc = area_under_curve(losses, control, 0)
    assert auc.value == pytest.approx(np.mean(pairs)) and auc.low <= auc.value <= auc.high
    assert area_under_curve([1.0], control, 0) is None


def test_the_interval_of_two_shares_is_that_of_newcombe():
    """Example (a) of Newcombe (1998), method 10."""
    contrast = contrast_shares(56, 70, 48, 80)
    assert (contrast.low, contrast.high) == (pytest.approx(0.0524, abs=1e-4), pytest.approx(0.3339, abs=1e-4))
    assert not contrast_shares(0, 5, 0, 5).exceeds_control and contrast_shares(9, 10, 0, 10).exceeds_control


def test_the_interval_of_two_means():
    rng = keyed_rng("means")
    contrast = contrast_means(rng.normal(1, 1, 200), [*rng.normal(0, 1, 100), float("nan")], 0)
    assert (contrast.n, contrast.n_control) == (200, 100)
    error = np.sqrt(1 / 200 + 1 / 100)
    assert contrast.high - contrast.low == pytest.approx(2 * 1.96 * error, rel=0.2)
    assert contrast_means([1.0, float("nan")], [1.0, 2.0], 0) is None


def test_the_distance_to_the_closest_training_text():
    train = [words_of("a b c d"), words_of("e f")]
    nearest = describe_nearest([words_of("a b x y"), ()], train)
    assert nearest == dict.fromkeys((0.0, 0.05, 0.5, 0.95), 1 - 2 / 6)
    assert describe_nearest([words_of("f e")], train)[0.5] == 0 and describe_nearest([()], train) == {}


def test_the_closest_of_many_texts_is_found_by_rare_words(monkeypatch):
    """Where not all can be looked at, a near copy is still found, and no text is compared with more than a few."""
    train, texts = [words_of(text) for text in TRAIN], [words_of(text) for text in [*COPIER, *HOLDOUT]]

    def distance(text, other):
        return 1 - len({*text} & {*other}) / len({*text} | {*other})

    exact = [min(distance(text, other) for other in train) for text in texts]
    shares = {share: np.quantile(exact, share) for share in (0.0, 0.05, 0.5, 0.95)}
    assert describe_nearest(texts, train) == pytest.approx(shares)
    monkeypatch.setattr("blankfill.auditing.nearest.OCCURRENCES", 100)
    monkeypatch.setattr("blankfill.auditing.nearest.CLOSEST", 5)
    found = [describe_nearest([text], train)[0.5] for text in texts]
    assert all(one >= least for one, least in zip(found, exact, strict=True))
    assert found[: len(COPIER)] == pytest.approx(exact[: len(COPIER)], abs=0.02)


@pytest.mark.parametrize(
    "given, says",
    [
        ({"train": []}, "train: 0 texts are too few: give 2 or more"),
        ({"generated": "text"}, "generated: a list of strings is needed"),
        ({"holdout": [*HOLDOUT, 3]}, "holdout: number 40 is a int"),
        (
            {"holdout": [*HOLDOUT, TRAIN[0].upper()]},
            "holdout: 1 of 41 texts are training texts too .*number 40",
        ),
        ({"names": ["a", "b"]}, "names: a list of strings is needed"),
        ({"names": [["a"], []]}, "control of names: 0 texts are too few: give 1"),
        ({"canaries": [["a"]]}, "canaries: give two lists"),
        ({"tokenizer": 1}, "tokenizer: without a model"),
        ({"device": "cpu"}, "device: without a model"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_mistakes_are_told_in_one_line(given, says):
    texts = {"train": [*TRAIN, SECRET], "holdout": HOLDOUT, "generated": HONEST}
    with pytest.raises(BlankfillError, match=says) as error:
        audit(**texts | given)
    assert SECRET not in str(error.value)


def test_an_encoder_decoder_has_no_loss_to_ask_for(seq2seq_model, tokenizer):
    with pytest.raises(BlankfillError, match="needs a masked or causal model"):
        audit(TRAIN, HOLDOUT, HONEST, model=seq2seq_model, tokenizer=tokenizer)


def test_texts_without_a_word_are_refused():
    with pytest.raises(BlankfillError, match="generated: none of the 2 texts has a word"):
        audit(TRAIN, HOLDOUT, ["", "..."])


@pytest.mark.parametrize("kind", ["train", "holdout", "canaries"])
def test_a_text_that_the_model_cannot_read_is_named_by_its_list_and_number(kind, start, tokenizer):
    half = ["", "...", "half a sign \ud800"]
    given = {"train": TRAIN[:3], "holdout": HOLDOUT[:3], "generated": HONEST, "canaries": (["a"], ["b"])}
    given |= {kind: (["a"], half)} if kind == "canaries" else {kind: half}
    with pytest.raises(BlankfillError, match=f"^(control of )?{kind}: number 2: half of a character"):
        audit(**given, model=start, tokenizer=tokenizer)
