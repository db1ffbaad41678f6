"""What a model is trained to predict: from the tokens of one document to an input and its targets."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import numpy as np

from blankfill.networks.layouts import RUNWAY, lay_out_answers, lay_out_masks

from ..errors import StudyError
from ..masking import check_ratio
from .neighbours import Neighbours, go_on
from .spans import Stretch, draw_poisson_spans, draw_spans, find_runs, replace_spans, shuffle_sentences

IGNORE = -100
ALIKE = 1e-9  # by which shares may miss 1, as they are rounded


@dataclass(frozen=True)
class TokenizedDocument:
    """A document `[CLS] ... [SEP]`: token ids, and the word that each token belongs to (-1: none).

    `sentences` are the places at which sentences after the first begin, `n_characters` how much text the tokens hold. Of a
    pair (`pair_sentences`), `second` is where the second segment begins, and `is_next` whether it follows the first.
    """

    ids: np.ndarray
    word_of: np.ndarray
    sentences: tuple[int, ...] = ()
    n_characters: int = 0
    second: int = 0
    is_next: bool = True


@dataclass(frozen=True)
class Noise:
    """How inputs are corrupted in training: masked share, by token, whole word or span, and BERT's 80/10/10 split.

    The masked share of each document is drawn from ratio - spread to ratio + spread. `left_share` of the documents are
    cut off as an arm that sees the left side alone reads them. Spans have `mean_span` tokens on average;
    `permute_sentences` is for `denoise` (Objective.settings), `masked_share` the share of the batches of `hybrid` that
    are masked, and `schedule` their order (a key of SCHEDULES). `prefix_share` of a document is the prefix of `prefix_lm`,
    drawn from prefix_share - spread to prefix_share + spread. `noise_ratio` of the words that `clm_noised` reads are drawn.
    """

    ratio: float
    unit: str
    mask_share: float
    random_share: float
    spread: float = 0.0
    left_share: float = 0.0
    mean_span: float = 3.0
    permute_sentences: bool = False
    masked_share: float = 0.5
    schedule: str = "batches"
    prefix_share: float = 0.5
    noise_ratio: float = 0.5


@dataclass(frozen=True)
class TargetTokens:
    """The ids that stand for masked text: the mask, what a decoder starts from, the sentinels of a T5-style tokenizer.

    `start` is None for a model without a decoder of its own, `sentinels` are empty for any other tokenizer, `mask` is
    -1 where there is none. `neighbours` are counted on the text that the training reads, where an objective needs them.
    """

    mask: int
    n_vocabulary: int
    start: int | None = None
    sentinels: tuple[int, ...] = ()
    neighbours: Neighbours | None = None


Example = dict[str, np.ndarray]
Rng = np.random.Generator


def masked(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask a share of the text and predict it from both sides; labels elsewhere are -100.

    A `left_share` of the documents end RUNWAY tokens behind a token drawn at random, and those are masked too: what an
    arm reads that fills this token from the left side alone.
    """
    runway = 0
    if noise.left_share and rng.random() < noise.left_share:
        document, runway = _cut_off(document, rng)
    chosen = _choose_masked(document, noise, rng)
    chosen[len(chosen) - runway :] = True
    fate = rng.random(len(chosen))
    ids = document.ids.copy()
    ids[chosen & (fate < noise.mask_share)] = tokens.mask
    swapped = chosen & (fate >= noise.mask_share) & (fate < noise.mask_share + noise.random_share)
    ids[swapped] = rng.integers(0, tokens.n_vocabulary, size=int(swapped.sum()))
    return {"input_ids": ids, "labels": np.where(chosen, document.ids, IGNORE)}


def _cut_off(document: TokenizedDocument, rng: Rng) -> tuple[TokenizedDocument, int]:
    """Return the text up to RUNWAY tokens behind a token drawn at random, and how many tokens that are from there."""
    places = np.flatnonzero(document.word_of >= 0)
    if not len(places):
        return document, 0
    cut = int(rng.choice(places))
    end = min(cut + 1 + RUNWAY, len(document.ids))
    return TokenizedDocument(document.ids[:end], document.word_of[:end]), end - cut


def masked_pair(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask as `masked` does, and say whether the second segment follows the first; -100 where there is no pair."""
    places = np.arange(len(document.ids))
    return masked(document, noise, tokens, rng) | {
        "token_type_ids": ((places >= document.second) & bool(document.second)).astype(int),
        "is_next": np.array([int(document.is_next) if document.second else IGNORE]),
    }


def pair_sentences(document: TokenizedDocument, other: TokenizedDocument, rng: Rng) -> TokenizedDocument:
    """Return `[CLS] sentences [SEP] sentences [SEP]`, no longer than the document; half of the pairs end as `other` does.

    Either end begins with a sentence and lacks its last token. A document of one sentence, or an `other` of one, makes no
    pair.
    """
    is_next = bool(rng.random() < 0.5)
    source = document if is_next else other
    if not document.sentences or not source.sentences:
        return document
    cut = int(rng.choice(document.sentences))
    start = cut if is_next else int(rng.choice(source.sentences))
    return join_segments(document, cut, source, start, is_next)


def join_segments(
    document: TokenizedDocument, cut: int, source: TokenizedDocument, start: int, is_next: bool
) -> TokenizedDocument:
    """Return `[CLS] document up to cut [SEP] source from start [SEP]`, no longer than the document."""
    end = min(_inside(source)[1] - 1, start + _inside(document)[1] - 1 - cut)
    apart = document.word_of.max() + 1  # words of another segment are other words
    words = source.word_of[start:end] + (0 if is_next else apart)
    return TokenizedDocument(
        np.concatenate([document.ids[:cut], document.ids[-1:], source.ids[start:end], document.ids[-1:]]),
        np.concatenate([document.word_of[:cut], [-1], words, [-1]]),
        second=cut + 1,
        is_next=is_next,
    )


def causal(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Predict every token from those before it: position i is labelled with token i + 1."""
    return {"input_ids": document.ids, "labels": np.append(document.ids[1:], IGNORE)}


def causal_with_errors(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Predict every token of the text from those before it, of which `noise_ratio` of the words are wrong ones.

    A token of these words is drawn by how often it follows the token that is read before it, as an arm that fills from the
    left reads its own fills. Drawn, not the likeliest: with a left-side table the likeliest words repeat themselves far
    more than the fills of `clm` (repeated 4-grams of the filled text .029, `clm` .004, drawn .000; distinct bigrams .76,
    .92, .98), and a network learns which words are always the same.
    """
    if tokens.neighbours is None:
        raise ValueError("objective clm_noised needs the table of neighbours that `prepare` counts")
    chosen = _choose_masked(document, replace(noise, ratio=noise.noise_ratio, unit="word", spread=0.0), rng)
    ids, goes_on = document.ids.copy(), go_on(document.word_of)
    for place in np.flatnonzero(chosen):
        ids[place] = tokens.neighbours.draw(ids[place - 1], goes_on[place], rng)
    return causal(document, noise, tokens, rng) | {"input_ids": ids}


def diffused(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask a number of tokens drawn from one to all n, and predict them from both sides, each with weight n / number.

    Over the draws, the weighted sum of their losses is at least the negative log-likelihood of the text; the weights of a
    document add up to n.
    """
    places = np.flatnonzero(document.word_of >= 0)
    n_masked = int(rng.integers(len(places))) + 1 if len(places) else 0
    chosen = np.zeros(len(document.ids), dtype=bool)
    chosen[rng.choice(places, size=n_masked, replace=False)] = True
    return {
        "input_ids": np.where(chosen, tokens.mask, document.ids),
        "labels": np.where(chosen, document.ids, IGNORE),
        "weights": np.where(chosen, len(places) / max(n_masked, 1), 0.0),
    }


def prefix_to_rest(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Read a prefix from both sides, and predict each token after it from those before: `prefix` tokens see each other."""
    first, last = _inside(document)
    prefix = first + round(_draw(noise.prefix_share, noise.spread, rng) * (last - first))
    example = causal(document, noise, tokens, rng)
    places = np.arange(len(document.ids))
    return example | {
        "labels": np.where(places < prefix - 1, IGNORE, example["labels"]),
        "prefix": np.array(prefix),
    }


def filled_in_the_middle(
    document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng
) -> Example:
    """Move a span to the end: text before, mask, text after, separator, span, separator; PLAIN_SHARE stays as it is.

    The mask says where the span was, and the token that ends a text opens and ends it. Every token is predicted from those
    before it. The last two tokens of the text make room, so that no example is longer than its document.
    """
    first, last = _inside(document)
    if rng.random() < PLAIN_SHARE or last - first < 3:
        return causal(document, noise, tokens, rng)
    start, end = np.sort(rng.integers(first, last - 1, size=2))
    ids, closing = document.ids[: last - 2], document.ids[-1:]
    pieces = (ids[:start], [tokens.mask], ids[end:], closing, ids[start:end], closing)
    moved = np.concatenate(pieces).astype(int)
    return {"input_ids": moved, "labels": np.append(moved[1:], IGNORE)}


PLAIN_SHARE = 0.5


def kept_to_text(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Read the kept words alone, without masks, and generate the whole text."""
    chosen = _choose_masked(document, noise, rng)
    return {"input_ids": document.ids[~chosen]} | _generate(document.ids, tokens)


def kept_then_text(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Read the kept words, closed as a text is, and then predict the whole text, token by token."""
    visible, first = document.ids[~_choose_masked(document, noise, rng)], _inside(document)[0]
    ids = np.concatenate([visible, document.ids[first:]])
    labels = np.append(ids[1:], IGNORE)
    labels[: len(visible) - 1] = IGNORE
    return {"input_ids": ids, "labels": labels}


def masked_words(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask as `kept_to_text` does, with a mask or sentinel for each run: the input that the arm will see."""
    return _answer_spans(document, find_runs(_choose_masked(document, noise, rng)), tokens)


def masked_spans(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask random spans with a sentinel for each, as T5 was trained."""
    first, last = _inside(document)
    most = len(tokens.sentinels) - 1 if tokens.sentinels else None
    spans = draw_spans(last - first, noise.ratio, noise.mean_span, most, rng)
    return _answer_spans(document, [(first + start, length) for start, length in spans], tokens)


def denoised(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Mask spans of Poisson lengths with one mask each, as BART was trained, and generate the whole text.

    With `permute_sentences` the model reads the sentences in a random order.
    """
    first, last = _inside(document)
    text = document.ids[first:last]
    if noise.permute_sentences:
        text = shuffle_sentences(text, [place - first for place in document.sentences], rng)
    spans = draw_poisson_spans(len(text), noise.ratio, noise.mean_span, rng)
    read = replace_spans(text, spans, [tokens.mask] * len(spans))
    ids = np.concatenate([document.ids[:first], read, document.ids[last:]])
    return {"input_ids": ids} | _generate(document.ids, tokens)


def _answer_spans(document: TokenizedDocument, spans: list[Stretch], tokens: TargetTokens) -> Example:
    """Put sentinels for spans; the target is the answers, each after its sentinel, or, with masks alone, the text.

    The last answer is closed by one more sentinel, as in T5. Spans without a sentinel are not masked.
    """
    if not tokens.sentinels:
        read = replace_spans(document.ids, spans, [tokens.mask] * len(spans))
        return {"input_ids": read} | _generate(document.ids, tokens)
    spans = spans[: len(tokens.sentinels) - 1]
    used = list(tokens.sentinels[: len(spans)])
    read = replace_spans(document.ids, spans, used)
    answers = [
        piece
        for sentinel, (start, length) in zip(used, spans, strict=True)
        for piece in ([sentinel], document.ids[start : start + length])
    ]
    target = np.concatenate([*answers, [tokens.sentinels[len(spans)]], document.ids[-1:]])
    return {"input_ids": read} | _generate(target, tokens)


def _generate(target: np.ndarray, tokens: TargetTokens) -> Example:
    """Return what a decoder reads and predicts to generate `target`; a leading start token is not predicted."""
    target = target[1:] if len(target) and target[0] == tokens.start else target
    return {
        "decoder_input_ids": np.concatenate([[tokens.start], target]).astype(int),
        "labels": np.append(target, IGNORE),
    }


def _inside(document: TokenizedDocument) -> tuple[int, int]:
    """Return where the text begins and ends between the special tokens."""
    places = np.flatnonzero(document.word_of >= 0)
    return (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)


def infill(document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng) -> Example:
    """Read the text with its masks, then predict each masked token at a mask in its place, and read it there.

    Attention is causal over all of it: a mask behind the text is seen by what follows, as any token is, and the text
    sees no answer (see `lay_out_answers`).
    """
    chosen = _choose_masked(document, noise, rng)
    sources, is_mask = lay_out_answers(np.flatnonzero(chosen).tolist())
    text, answers = np.where(chosen, tokens.mask, document.ids), document.ids[sources]
    return {
        "input_ids": np.concatenate([text, np.where(is_mask, tokens.mask, answers)]),
        "position_ids": np.concatenate([np.arange(len(text)), sources]),
        "labels": np.concatenate([np.full(len(text), IGNORE), np.where(is_mask, answers, IGNORE)]),
    }


def masked_from_the_left(
    document: TokenizedDocument, noise: Noise, tokens: TargetTokens, rng: Rng
) -> Example:
    """Read the text from left to right and predict each masked token at a mask in its place, from the left side alone.

    The mask hides no token from what follows: the token itself comes next (see `lay_out_masks`).
    """
    sources, is_mask = lay_out_masks(_choose_masked(document, noise, rng))
    ids = document.ids[sources]
    return {
        "input_ids": np.where(is_mask, tokens.mask, ids),
        "position_ids": sources,
        "labels": np.where(is_mask, ids, IGNORE),
    }


@dataclass(frozen=True)
class Objective:
    """How examples are made, the kind of model that learns from them, what it needs, and settings of its own.

    `bounds_text` is true where the summed loss is minus the log-likelihood of the text, or bounds it from above;
    `reads_pairs` where documents come as `pair_sentences` makes them.
    """

    kind: str
    make_example: Callable[[TokenizedDocument, Noise, TargetTokens, Rng], Example]
    needs_mask: bool = True
    settings: tuple[str, ...] = ()
    bounds_text: bool = False
    reads_pairs: bool = False


OF_MASKED = ("spread", "left_share", "mean_span")
OBJECTIVES = {
    "mlm": Objective("masked", masked, settings=OF_MASKED),
    "mlm_nsp": Objective("masked", masked_pair, settings=("spread",), reads_pairs=True),
    "mlm_left": Objective("causal", masked_from_the_left),
    "clm": Objective("causal", causal, needs_mask=False, bounds_text=True),
    "clm_noised": Objective("causal", causal_with_errors, needs_mask=False, settings=("noise_ratio",)),
    "hybrid": Objective(
        "masked", masked, settings=(*OF_MASKED, "masked_share", "schedule")
    ),  # see `SCHEDULES`
    "masked_diffusion": Objective("masked", diffused, bounds_text=True),
    "prefix_lm": Objective("causal", prefix_to_rest, needs_mask=False, settings=("spread", "prefix_share")),
    "fim": Objective("causal", filled_in_the_middle),
    "seq2seq": Objective("seq2seq", kept_to_text, needs_mask=False),
    "infill": Objective("causal", infill),
    "kept": Objective("causal", kept_then_text, needs_mask=False),
    "sentinel": Objective("seq2seq", masked_words),
    "span_corruption": Objective("seq2seq", masked_spans, settings=("mean_span",)),
    "denoise": Objective("seq2seq", denoised, settings=("mean_span", "permute_sentences")),
}
OWN = (*OF_MASKED, "permute_sentences", "masked_share", "schedule", "prefix_share", "noise_ratio")
UNITS = ("token", "word", "span")


def _is_masked_in_batches(n_before: int, n_batches: int, share: float) -> bool:
    before, after = (math.floor(n * share) for n in (n_before, n_before + 1))
    return after > before


def _is_masked_in_phases(n_before: int, n_batches: int, share: float) -> bool:
    end = n_batches * (1 - share) / 2
    return end <= n_before < n_batches - end


def _is_masked_last(n_before: int, n_batches: int, share: float) -> bool:
    return n_before >= n_batches * (1 - share)


# Which batches of `hybrid` are masked: spread evenly; all in the middle, as AntLM had them between two causal phases; all after
# the causal ones (arXiv 2507.00994).
SCHEDULES: dict[str, Callable[[int, int, float], bool]] = {
    "batches": _is_masked_in_batches,
    "phases": _is_masked_in_phases,
    "causal_first": _is_masked_last,
}


def split_batches(name: str, noise: Noise) -> dict[str, float]:
    """Return the objectives that the batches of a training have, and the share of each: of `hybrid`, mlm and clm."""
    if name != "hybrid":
        return {name: 1.0}
    shares = {"mlm": noise.masked_share, "clm": 1 - noise.masked_share}
    return {objective: share for objective, share in shares.items() if share}


def objective_of_batch(number: int, n_batches: int, name: str, noise: Noise) -> str:
    """Return the objective of a batch, of `hybrid` by its schedule."""
    if name != "hybrid":
        return name
    return "mlm" if SCHEDULES[noise.schedule](number, n_batches, noise.masked_share) else "clm"


def check_objective(name: str, ratio: float, unit: str, **settings) -> None:
    """Raise StudyError for an objective that does not exist, or a setting that it does not have."""
    if name not in OBJECTIVES:
        raise StudyError(f"objective.name={name} is unknown: choose one of {', '.join(OBJECTIVES)}")
    check_ratio("objective.ratio", ratio)
    _check_unit(name, unit, settings)
    for key in OWN:
        if key in settings and key not in OBJECTIVES[name].settings:
            raise StudyError(f"objective.{key} is not used by objective {name}; remove it")
    if (schedule := settings.get("schedule", Noise.schedule)) not in SCHEDULES:
        raise StudyError(f"objective.schedule={schedule} is unknown: choose one of {', '.join(SCHEDULES)}")
    _check_shares(name, ratio, settings)
    if not settings.get("mean_span", 1) >= 1:
        raise StudyError(f"objective.mean_span={settings['mean_span']} is too short: give 1 or more tokens")


def _check_unit(name: str, unit: str, settings: dict) -> None:
    if unit not in UNITS:
        raise StudyError(f"objective.unit={unit} is unknown: choose one of {', '.join(UNITS)}")
    if unit == "span" and not _takes_spans(name):
        raise StudyError(f"objective.unit=span is not used by objective {name}: choose mlm or hybrid")
    if _takes_spans(name) and unit != "span" and "mean_span" in settings:
        raise StudyError(
            f"objective.mean_span needs objective.unit=span, got {unit}: set it, or remove mean_span"
        )


def _check_shares(name: str, ratio: float, settings: dict) -> None:
    for key in ("left_share", "masked_share", "prefix_share", "noise_ratio"):
        if not 0 <= (share := settings.get(key, 0)) <= 1:
            raise StudyError(f"objective.{key}={share}: give a share from 0 to 1")
    if settings.get("prefix_share") == 1:
        raise StudyError("objective.prefix_share=1 leaves nothing of the text to predict: give less than 1")
    shares = settings.get("mask_share", 0) + settings.get("random_share", 0)
    if not shares <= 1 + ALIKE:
        raise StudyError(
            f"objective.mask_share and objective.random_share are {shares:g} together: give at most 1, as the rest of the "
            "masked tokens stays as it is"
        )
    drawn = "prefix_share" if name == "prefix_lm" else "ratio"
    middle = settings.get("prefix_share", Noise.prefix_share) if name == "prefix_lm" else ratio
    if not 0 <= (spread := settings.get("spread", 0)) <= min(middle, 1 - middle):
        raise StudyError(
            f"objective.spread={spread}: {drawn} - spread to {drawn} + spread must lie between 0 and 1"
        )


def _takes_spans(name: str) -> bool:
    """Return whether an objective masks by `unit`, and so has spans of a `mean_span` for `span` alone."""
    return {*OF_MASKED} <= {*OBJECTIVES[name].settings}


def check_target_tokens(name: str, tokens: TargetTokens) -> None:
    """Raise StudyError for a tokenizer without the mask or sentinels that an objective needs."""
    takes_sentinels = OBJECTIVES[name].make_example in (masked_words, masked_spans)
    if OBJECTIVES[name].needs_mask and tokens.mask < 0 and not (takes_sentinels and tokens.sentinels):
        raise StudyError(
            f"objective {name} needs a tokenizer with a mask token, and this model's has none: choose "
            f"{', '.join(alternative for alternative, objective in OBJECTIVES.items() if not objective.needs_mask)}, or another model"
        )


def describe_noise(name: str, noise: Noise) -> dict:
    """Return the noise as it is recorded: settings that an objective does not have are left out."""
    unused = set(OWN) - set(OBJECTIVES[name].settings)
    unused |= {"mean_span"} if _takes_spans(name) and noise.unit != "span" else set()
    return {key: value for key, value in asdict(noise).items() if key not in unused}


def _draw(share: float, spread: float, rng: Rng) -> float:
    return rng.uniform(share - spread, share + spread) if spread else share


def _choose_masked(document: TokenizedDocument, noise: Noise, rng: Rng) -> np.ndarray:
    """Return which tokens are masked (bool); the special tokens around the text never are."""
    candidates = np.flatnonzero(document.word_of >= 0)
    ratio = _draw(noise.ratio, noise.spread, rng)
    if noise.unit == "word":
        words = np.unique(document.word_of[candidates])
        chosen = rng.choice(words, size=round(ratio * len(words)), replace=False)
        return np.isin(document.word_of, chosen) & (document.word_of >= 0)
    is_masked = np.zeros(len(document.ids), dtype=bool)
    if noise.unit == "span":
        for start, length in draw_spans(len(candidates), ratio, noise.mean_span, None, rng):
            is_masked[candidates[start : start + length]] = True
        return is_masked
    is_masked[rng.choice(candidates, size=round(ratio * len(candidates)), replace=False)] = True
    return is_masked
