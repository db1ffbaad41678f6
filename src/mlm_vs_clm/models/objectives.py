"""What a model is trained to predict: from the sub-words of one document to an input and its targets."""

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from ..errors import StudyError
from .spans import Span, draw_poisson_spans, draw_spans, find_runs, replace_spans, shuffle_sentences

IGNORE = -100


@dataclass(frozen=True)
class Subwords:
    """A tokenized document `[CLS] ... [SEP]`: ids, and the word that each sub-word belongs to (-1: none).

    `sentences` are the places at which sentences after the first begin.
    """

    ids: np.ndarray
    word_of: np.ndarray
    sentences: tuple[int, ...] = ()


@dataclass(frozen=True)
class Noise:
    """How inputs are corrupted in training: share hidden, by sub-word or whole word, and BERT's 80/10/10 split.

    Spans have `mean_span` sub-words on average; `permute_sentences` is for `denoise` (Objective.settings).
    """

    ratio: float
    unit: str
    mask_share: float
    random_share: float
    mean_span: float = 3.0
    permute_sentences: bool = False


@dataclass(frozen=True)
class Marks:
    """The ids that stand for something else: a hidden sub-word, the start of what is written, the answers in turn.

    `start` is what a decoder begins with, None for a model of one side; `answers` are `<extra_id_0>` and so on of
    a T5-style tokenizer, none for any other.
    """

    mask: int | None
    n_vocabulary: int
    start: int | None = None
    answers: tuple[int, ...] = ()


Example = dict[str, np.ndarray]


def masked(document: Subwords, noise: Noise, marks: Marks, rng: np.random.Generator) -> Example:
    """Hide a share of the text and predict it from both sides; labels elsewhere are -100."""
    hidden = _hide(document, noise, rng)
    fate = rng.random(len(hidden))
    ids = document.ids.copy()
    ids[hidden & (fate < noise.mask_share)] = marks.mask
    swapped = hidden & (fate >= noise.mask_share) & (fate < noise.mask_share + noise.random_share)
    ids[swapped] = rng.integers(0, marks.n_vocabulary, size=int(swapped.sum()))
    return {"input_ids": ids, "labels": np.where(hidden, document.ids, IGNORE)}


def causal(document: Subwords, noise: Noise, marks: Marks, rng: np.random.Generator) -> Example:
    """Predict every sub-word from those before it: position i is labelled with sub-word i + 1."""
    labels = np.append(document.ids[1:], IGNORE)
    return {"input_ids": document.ids, "labels": labels}


def kept_to_text(document: Subwords, noise: Noise, marks: Marks, rng: np.random.Generator) -> Example:
    """Read the kept words alone, without a mark where words are missing, and write the whole text."""
    hidden = _hide(document, noise, rng)
    return {"input_ids": document.ids[~hidden]} | _write(document.ids, marks)


def marked_words(document: Subwords, noise: Noise, marks: Marks, rng: np.random.Generator) -> Example:
    """Hide what `kept_to_text` hides, with a mark in place of each run of it: the input that the arm will meet."""
    return _answer_spans(document, find_runs(_hide(document, noise, rng)), marks)


def marked_spans(document: Subwords, noise: Noise, marks: Marks, rng: np.random.Generator) -> Example:
    """Hide random spans with a mark in place of each, as T5 was trained."""
    first, last = _inside(document)
    most = len(marks.answers) - 1 if marks.answers else None
    spans = draw_spans(last - first, noise.ratio, noise.mean_span, most, rng)
    return _answer_spans(document, [(first + start, length) for start, length in spans], marks)


def denoised(document: Subwords, noise: Noise, marks: Marks, rng: np.random.Generator) -> Example:
    """Hide spans of Poisson lengths with one mask in place of each, as BART was trained, and write the whole text.

    With `permute_sentences` what is read has its sentences in a random order.
    """
    first, last = _inside(document)
    text = document.ids[first:last]
    if noise.permute_sentences:
        text = shuffle_sentences(text, [place - first for place in document.sentences], rng)
    spans = draw_poisson_spans(len(text), noise.ratio, noise.mean_span, rng)
    read = replace_spans(text, spans, [marks.mask] * len(spans))
    around = document.ids[:first], document.ids[last:]
    return {"input_ids": np.concatenate([around[0], read, around[1]])} | _write(document.ids, marks)


def _answer_spans(document: Subwords, spans: list[Span], marks: Marks) -> Example:
    """Put marks for spans; what is written is the answers, each behind its mark, or, with masks alone, the text.

    The last answer is closed by one more mark, as T5 does. Spans that there is no mark for stay as they are.
    """
    if not marks.answers:
        read = replace_spans(document.ids, spans, [marks.mask] * len(spans))
        return {"input_ids": read} | _write(document.ids, marks)
    spans = spans[: len(marks.answers) - 1]
    used = list(marks.answers[: len(spans)])
    read = replace_spans(document.ids, spans, used)
    answers = [
        part
        for mark, (start, length) in zip(used, spans, strict=True)
        for part in ([mark], document.ids[start : start + length])
    ]
    written = np.concatenate([*answers, [marks.answers[len(spans)]], document.ids[-1:]])
    return {"input_ids": read} | _write(written, marks)


def _write(target: np.ndarray, marks: Marks) -> Example:
    """Return what a decoder reads and predicts to write `target`; one that opens with the start is not asked for it."""
    target = target[1:] if len(target) and target[0] == marks.start else target
    return {
        "decoder_input_ids": np.concatenate([[marks.start], target]).astype(int),
        "labels": np.append(target, IGNORE),
    }


def _inside(document: Subwords) -> tuple[int, int]:
    """Return where the text begins and ends between the marks around it."""
    places = np.flatnonzero(document.word_of >= 0)
    return (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)


def infill(document: Subwords, noise: Noise, marks: Marks, rng: np.random.Generator) -> Example:
    """Read the text with a mark for each hidden sub-word, then predict the answers from left to right.

    An answer is what is hidden of one word; `lay_out_answers` says what is read and at which position.
    """
    hidden = _hide(document, noise, rng)
    places = np.flatnonzero(hidden)
    opens = (np.diff(places, prepend=-1) != 1) | (document.word_of[places] != document.word_of[places - 1])
    sources, positions = lay_out_answers(places.tolist(), opens.tolist())
    is_mark = sources == OPENING
    text, answers = np.where(hidden, marks.mask, document.ids), document.ids[sources]
    predicted = np.append(~is_mark[1:], False)[: len(sources)]
    return {
        "input_ids": np.concatenate([text, np.where(is_mark, document.ids[-1], answers)]),
        "position_ids": np.concatenate([np.arange(len(text)), positions]),
        "labels": np.concatenate(
            [np.full(len(text), IGNORE), np.where(predicted, np.roll(answers, -1), IGNORE)]
        ),
    }


OPENING = -1


def lay_out_answers(places: list[int], opens: list[bool]) -> tuple[np.ndarray, np.ndarray]:
    """Return what an infilling model reads after the text: the place each sub-word comes from, and its position.

    `places` are hidden sub-words in order, `opens` tells which begin an answer. Each answer is opened by the mark
    that ends a text (its source is OPENING). Every sub-word keeps its place in the text as its position and the
    opening mark takes the one before, so that what stands at position i predicts i + 1, as in a causal model.
    """
    sources, positions = [], []
    for place, is_first in zip(places, opens, strict=True):
        if is_first:
            sources.append(OPENING)
            positions.append(place - 1)
        sources.append(place)
        positions.append(place)
    return np.array(sources, dtype=int), np.array(positions, dtype=int)


@dataclass(frozen=True)
class Objective:
    """How examples are made, the kind of model that learns from them, what it needs, and settings of its own."""

    kind: str
    make_example: Callable[[Subwords, Noise, Marks, np.random.Generator], Example]
    reads_marks: bool = True
    settings: tuple[str, ...] = ()


OBJECTIVES = {
    "mlm": Objective("masked", masked),
    "clm": Objective("causal", causal, reads_marks=False),
    "seq2seq": Objective("seq2seq", kept_to_text, reads_marks=False),
    "infill": Objective("causal", infill),
    "sentinel": Objective("seq2seq", marked_words),
    "span_corruption": Objective("seq2seq", marked_spans, settings=("mean_span",)),
    "denoise": Objective("seq2seq", denoised, settings=("mean_span", "permute_sentences")),
}
OWN = ("mean_span", "permute_sentences")


def check_objective(name: str, ratio: float, unit: str, **settings) -> None:
    """Raise StudyError for an objective that does not exist, or a setting that it cannot take."""
    if name not in OBJECTIVES:
        raise StudyError(f"objective.name={name} is unknown: choose one of {', '.join(OBJECTIVES)}")
    if not 0 <= ratio <= 1:
        raise StudyError(f"objective.ratio={ratio} is no share: give a number from 0 to 1")
    if unit not in ("token", "word"):
        raise StudyError(f"objective.unit={unit} is unknown: choose token or word")
    for key in OWN:
        if key in settings and key not in OBJECTIVES[name].settings:
            raise StudyError(f"objective.{key} means nothing to objective {name}: leave it out")
    if settings.get("mean_span", 1) < 1:
        raise StudyError(
            f"objective.mean_span={settings['mean_span']} is too short: give 1 or more sub-words"
        )


def check_marks(name: str, marks: Marks) -> None:
    """Raise StudyError for a tokenizer without the marks that an objective puts for what is hidden."""
    takes_answers = OBJECTIVES[name].make_example in (marked_words, marked_spans)
    if OBJECTIVES[name].reads_marks and marks.mask is None and not (takes_answers and marks.answers):
        raise StudyError(
            f"objective {name} needs a tokenizer with a mask token, and this model's has none: choose "
            f"{', '.join(other for other, each in OBJECTIVES.items() if not each.reads_marks)}, or another model"
        )


def describe_noise(name: str, noise: Noise) -> dict:
    """Return the noise as it is recorded: settings that an objective does not have are left out."""
    unused = set(OWN) - set(OBJECTIVES[name].settings)
    return {key: value for key, value in asdict(noise).items() if key not in unused}


def _hide(document: Subwords, noise: Noise, rng: np.random.Generator) -> np.ndarray:
    """Return which sub-words are hidden (bool, one each); the marks around the text never are."""
    candidates = np.flatnonzero(document.word_of >= 0)
    if noise.unit == "word":
        words = np.unique(document.word_of[candidates])
        chosen = rng.choice(words, size=round(noise.ratio * len(words)), replace=False)
        return np.isin(document.word_of, chosen) & (document.word_of >= 0)
    hidden = np.zeros(len(document.ids), dtype=bool)
    hidden[rng.choice(candidates, size=round(noise.ratio * len(candidates)), replace=False)] = True
    return hidden
