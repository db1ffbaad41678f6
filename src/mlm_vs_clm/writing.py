"""How each arm of the study writes: from its settings and a stored model to filled texts."""

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from .corpora import load_split
from .documents import split_words
from .errors import StudyError
from .fill.baselines import BASELINES, WordCounts
from .fill.blanks import BlankedText, FilledText
from .fill.ledger import Ledger
from .fill.recasing import Recaser, writes_capitals

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
Written = tuple[list[FilledText], Ledger]


def write_with_model(
    arm: dict, blanked: list[BlankedText], folder: Path, corpus: Path, device: str
) -> Written:
    """Fill with the model stored in `folder`; a model without capitals gets them by the stated rule."""
    from .models import load_tokenizer

    kind, write = MODEL_WRITERS[arm["writer"]]
    tokenizer = load_tokenizer(folder)
    model = _model(folder, kind, arm["precision"], device)
    filled, ledger = write(arm, model, tokenizer, blanked)
    if not writes_capitals(tokenizer):
        recase = _recaser(corpus)
        filled = [_recase(recase, text, made, arm) for text, made in zip(blanked, filled, strict=True)]
    return filled, ledger


def write_baseline(arm: dict, blanked: list[BlankedText], corpus: Path) -> Written:
    """Fill without a model."""
    counts = _counts(corpus) if arm["writer"] in ("unigram", "uniform") else WordCounts([], np.zeros(0))
    filled = [BASELINES[arm["writer"]](text, counts, arm["seed"]) for text in blanked]
    return filled, Ledger(documents=len(blanked), blanks=sum(len(text.blanks) for text in blanked))


def _masked(arm: dict, model, tokenizer, blanked: list[BlankedText]) -> Written:
    from .fill.masked import fill_masked

    return fill_masked(
        model,
        tokenizer,
        blanked,
        context=arm["context"],
        order=arm["order"],
        per_pass=arm["per_pass"],
        sampling=_sampling(arm),
        seed=arm["seed"],
    )


def _causal(arm: dict, model, tokenizer, blanked: list[BlankedText]) -> Written:
    from .fill.causal import fill_causal

    return fill_causal(model, tokenizer, blanked, sampling=_sampling(arm), seed=arm["seed"])


def _seq2seq(arm: dict, model, tokenizer, blanked: list[BlankedText]) -> Written:
    from .fill.seq2seq import fill_seq2seq

    return fill_seq2seq(model, tokenizer, blanked, max_new_tokens=arm["max_new_tokens"])


MODEL_WRITERS: dict[str, tuple[str, Callable[..., Written]]] = {
    "masked": ("masked", _masked),
    "causal": ("causal", _causal),
    "seq2seq": ("seq2seq", _seq2seq),
}


def check_arm(writer: str, context: str, order: str) -> None:
    """Raise StudyError for an arm that nothing could write."""
    from .fill.masked import PLANNERS
    from .fill.orders import ORDERS

    known = {"writer": (writer, [*MODEL_WRITERS, *BASELINES])}
    if writer == "masked":
        known |= {"context": (context, list(PLANNERS)), "order": (order, list(ORDERS))}
    for name, (value, choices) in known.items():
        if value not in choices:
            raise StudyError(f"arm.{name}={value} is unknown: choose one of {', '.join(choices)}")


def _sampling(arm: dict):
    from .fill.sampling import Sampling

    return Sampling(arm["temperature"], arm["top_k"], arm["top_p"], arm["seed"])


def _recase(recase: Recaser, blanked: BlankedText, filled: FilledText, arm: dict) -> FilledText:
    if arm["length"] != "free":
        return recase.fill(blanked, filled)
    text = recase.text(filled.text)
    fills = [text[slice(*filled.spans[w])] if filled.spans[w] else "" for w in blanked.blanks]
    return FilledText(filled.id, text, fills, filled.spans)


@lru_cache(maxsize=3)
def _model(folder: Path, kind: str, precision: str, device: str):
    from .models import load_model

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
