"""How each arm of the study writes: from its settings and a stored model to filled texts."""

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from ..blanks import BlankedText, FilledText, put_together, set_apart
from ..corpora import load_split
from ..documents import split_words
from ..errors import StudyError
from ..fill.api import fill_what_fits
from ..fill.baselines import BASELINES, WordCounts
from ..fill.ledger import Ledger
from ..fill.recasing import Recaser, writes_capitals

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
Written = tuple[list[FilledText], Ledger]
WrittenOrSkipped = tuple[list[FilledText], Ledger, dict[str, str]]


def write_with_model(
    arm: dict, blanked: list[BlankedText], folder: Path, corpus: Path, device: str
) -> WrittenOrSkipped:
    """Fill with the model stored in `folder`; a model without capitals gets them by the stated rule.

    A document that cannot be filled comes back unfilled, with its reason by id; the others go on.
    """
    from ..models.checkpoints import load_tokenizer

    kind, write = MODEL_WRITERS[arm["writer"]]
    tokenizer = load_tokenizer(folder)
    model = _model(folder, kind, arm["precision"], device)
    written, ledger, skipped = fill_what_fits(lambda texts: write(arm, model, tokenizer, texts), blanked)
    made = {text.id: text for text in written}
    filled = [made.get(text.id) or put_together(text, [""] * len(text.blanks)) for text in blanked]
    is_anew = _writes_anew(arm, tokenizer)
    if not writes_capitals(tokenizer):
        recase = _recaser(corpus)
        filled = [_recase(recase, text, made, is_anew) for text, made in zip(blanked, filled, strict=True)]
    if not is_anew:
        filled = [set_apart(text, made) for text, made in zip(blanked, filled, strict=True)]
    return filled, ledger, skipped


def write_baseline(arm: dict, blanked: list[BlankedText], corpus: Path) -> WrittenOrSkipped:
    """Fill without a model."""
    counts = _counts(corpus) if arm["writer"] in ("unigram", "uniform") else WordCounts([], np.zeros(0))
    filled = [set_apart(text, BASELINES[arm["writer"]](text, counts, arm["seed"])) for text in blanked]
    return filled, Ledger(documents=len(blanked), blanks=sum(len(text.blanks) for text in blanked)), {}


def _masked(arm: dict, model, tokenizer, blanked: list[BlankedText]) -> Written:
    from ..fill.masked import fill_masked

    return fill_masked(
        model,
        tokenizer,
        blanked,
        context=arm["context"],
        order=arm["order"],
        per_pass=arm["per_pass"],
        length=arm["length"],
        sampling=_sampling(arm),
        seed=arm["seed"],
        **_later_axes(arm, "passes", "threshold", "entropy_bound", "sweeps", "schedule", "max_length"),
    )


def _causal(arm: dict, model, tokenizer, blanked: list[BlankedText]) -> Written:
    from ..fill.causal import fill_causal

    axes = _later_axes(arm, "length", "max_length")
    return fill_causal(model, tokenizer, blanked, sampling=_sampling(arm), seed=arm["seed"], **axes)


def _infill(arm: dict, model, tokenizer, blanked: list[BlankedText]) -> Written:
    from ..fill.infill import fill_infill

    axes = _later_axes(arm, "length", "max_length")
    return fill_infill(model, tokenizer, blanked, sampling=_sampling(arm), seed=arm["seed"], **axes)


def _seq2seq(arm: dict, model, tokenizer, blanked: list[BlankedText]) -> Written:
    from ..fill.seq2seq import fill_seq2seq

    axes = _later_axes(arm, "source")
    return fill_seq2seq(model, tokenizer, blanked, max_new_tokens=arm["max_new_tokens"], **axes)


def _later_axes(arm: dict, *names: str) -> dict:
    """Return the axes that the arm sets; one that it leaves alone is not in its settings (config.LATER_AXES)."""
    return {name: arm[name] for name in names if name in arm}


MODEL_WRITERS: dict[str, tuple[str, Callable[..., Written]]] = {
    "masked": ("masked", _masked),
    "causal": ("causal", _causal),
    "infill": ("causal", _infill),
    "seq2seq": ("seq2seq", _seq2seq),
}


FIXED = {  # what a writer is, on the axes that it does not let one choose
    "causal": {"context": "left", "order": "left_to_right"},
    "infill": {"context": "both", "order": "left_to_right"},
    "seq2seq": {"order": "left_to_right"},
}


def check_arm(writer: str, context: str, order: str, length: str = "known", **axes) -> None:
    """Raise StudyError for an arm that nothing could write; `axes` are its other settings, of which some count."""
    if writer not in (*MODEL_WRITERS, *BASELINES):
        known = ", ".join([*MODEL_WRITERS, *BASELINES])
        raise StudyError(f"arm.writer={writer} is unknown: choose one of {known}")
    chosen = {"context": context, "length": length, "order": order}
    for axis, value in FIXED.get(writer, {}).items():
        if chosen[axis] != value:
            raise StudyError(f"arm.{axis}={chosen[axis]} is nothing that writer {writer} does: it is {value}")
    if (training := axes.get("training", "domain")) not in ("domain", "general"):
        raise StudyError(f"arm.training={training} is unknown: choose domain or general")
    if writer in MODEL_WRITERS:
        _check_sampling(axes)
    if writer == "seq2seq" and axes.get("temperature"):
        raise StudyError(
            "arm.temperature: an encoder-decoder is decoded greedily: leave it at 0, and top_k and top_p"
        )
    if order == "mask_predict" and axes.get("schedule", "equal") != "equal":
        raise StudyError(
            f"arm.schedule={axes['schedule']} is nothing that order mask_predict does: leave it at equal"
        )
    if writer == "masked":
        _check_masked(context, order, length, axes)
    if writer in ("causal", "infill"):
        _check_causal(length, axes)


def _check_sampling(axes: dict) -> None:
    from ..fill.sampling import Sampling

    Sampling(**_later_axes(axes, "temperature", "top_k", "top_p"))


def _check_causal(length: str, axes: dict) -> None:
    from ..fill.causal import check_length

    check_length(length, axes.get("max_length", 4))


def _check_masked(context: str, order: str, length: str, axes: dict) -> None:
    from ..fill.masked import check_masked
    from ..fill.orders import Pace

    pace = Pace(
        axes.get("per_pass", 1),
        **_later_axes(axes, "passes", "threshold", "entropy_bound", "sweeps", "schedule"),
    )
    check_masked(context, order, length, axes.get("max_length", 4), pace, axes.get("temperature", 0.0))


def _sampling(arm: dict):
    from ..fill.sampling import Sampling

    return Sampling(arm["temperature"], arm["top_k"], arm["top_p"], arm["seed"])


def _recase(recase: Recaser, blanked: BlankedText, filled: FilledText, is_anew: bool) -> FilledText:
    """Recase the fills alone; an arm that wrote the whole text anew kept no capitals at all."""
    if not is_anew:
        return recase.fill(blanked, filled)
    text = recase.text(filled.text)
    fills = [text[slice(*filled.spans[w])] if filled.spans[w] else "" for w in blanked.blanks]
    return FilledText(filled.id, text, fills, filled.spans)


def _writes_anew(arm: dict, tokenizer) -> bool:
    """Tell whether an arm writes the whole text and not the blanks alone, as one with a mark for each answer does."""
    from ..models.checkpoints import answer_marks

    answers = arm.get("source") == "sentinel" and answer_marks(tokenizer)
    return arm["writer"] == "seq2seq" and not answers


@lru_cache(maxsize=3)
def _model(folder: Path, kind: str, precision: str, device: str):
    from ..models.checkpoints import load_model

    return load_model(folder, kind, DTYPES[precision]).to(device)


@lru_cache(maxsize=3)
def _recaser(corpus: Path) -> Recaser:
    return Recaser([document.text for document in load_split(corpus, "pretrain")])


@lru_cache(maxsize=3)
def _counts(corpus: Path) -> WordCounts:
    counts = Counter(
        word for document in load_split(corpus, "pretrain") for word in split_words(document.text)
    )
    words = sorted(counts)
    return WordCounts(words, np.array([counts[word] for word in words]))
