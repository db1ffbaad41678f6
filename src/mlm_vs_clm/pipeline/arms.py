"""How each arm of the study writes: from its settings and a stored model to filled texts."""

from collections import Counter
from functools import lru_cache
from pathlib import Path

import numpy as np

from ..blanks import BlankedText, FilledText, put_together, set_apart
from ..corpora import load_split
from ..documents import split_words
from ..fill.api import fill_what_fits
from ..fill.axes import MODEL_KINDS, SAMPLING, arguments_of
from ..fill.baselines import BASELINES, WordCounts
from ..fill.ledger import Ledger
from ..fill.recasing import Recaser, writes_capitals
from ..fill.sampling import Sampling
from ..hardware import DTYPES

Written = tuple[list[FilledText], Ledger]
WrittenOrSkipped = tuple[list[FilledText], Ledger, dict[str, str]]


def write_with_model(
    arm: dict, blanked: list[BlankedText], folder: Path, corpus: Path, device: str
) -> WrittenOrSkipped:
    """Fill with the model stored in `folder`; a model without capitals gets them by the stated rule.

    A document that cannot be filled comes back unfilled, with its reason by id; the others go on.
    """
    from ..models.checkpoints import load_tokenizer

    tokenizer = load_tokenizer(folder)
    model = _model(folder, MODEL_KINDS[arm["writer"]], arm["precision"], device)
    written, ledger, skipped = fill_what_fits(lambda texts: _write(arm, model, tokenizer, texts), blanked)
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


def _write(arm: dict, model, tokenizer, blanked: list[BlankedText]) -> Written:
    from .. import fill

    axes = {name: arm[name] for name in arguments_of(arm["writer"]) if name in arm}
    if arm["writer"] != "seq2seq":
        axes["seed"] = arm["seed"]
        axes["sampling"] = Sampling(**{name: arm[name] for name in SAMPLING}, seed=arm["seed"])
    return getattr(fill, f"fill_{arm['writer']}")(model, tokenizer, blanked, **axes)


def _recase(recase: Recaser, blanked: BlankedText, filled: FilledText, is_anew: bool) -> FilledText:
    """Recase the fills alone; an arm that wrote the whole text anew kept no capitals at all."""
    if not is_anew:
        return recase.fill(blanked, filled)
    text = recase.text(filled.text)
    fills = [text[slice(*span)] if (span := filled.spans[w]) else "" for w in blanked.blanks]
    return FilledText(filled.id, text, fills, filled.spans)


def _writes_anew(arm: dict, tokenizer) -> bool:
    """Tell whether an arm writes the whole text and not the blanks alone, as one with a mark for each answer does."""
    from ..models.checkpoints import answer_marks

    answers = arm.get("source") == "sentinel" and answer_marks(tokenizer)
    return arm["writer"] == "seq2seq" and not answers


@lru_cache(maxsize=3)
def _model(folder: Path, kind: str, precision: str, device: str):
    import torch

    from ..models.checkpoints import load_model

    return load_model(folder, kind, getattr(torch, DTYPES[precision])).to(device)  # type: ignore[arg-type]


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
