"""The public functions `fill` and `score`, for one call with one model."""

import os
from collections.abc import Iterable
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .config import FillConfig
from .filled import Filled
from .filler import Filler
from .likelihood import Likelihood
from .text import CharSpan

Model = PreTrainedModel | str | os.PathLike
Tokenizer = PreTrainedTokenizerBase | str | os.PathLike


def fill(
    texts: str | Iterable[str],
    blanks: Iterable[list[CharSpan]] | str,
    model: Model,
    tokenizer: Tokenizer | None = None,
    *,
    second: Model | None = None,
    device: str | torch.device = "auto",
    dtype: str | torch.dtype = "auto",
    batch_tokens: int = 2048,
    config: FillConfig | None = None,
    ids: Iterable[str] | None = None,
    counts: Iterable[list[int]] | None = None,
    on_error: str = "raise",
    progress: bool = False,
    **settings: Any,
) -> Filled:
    """Fill the blanks of texts; the class of the model decides how.

    >>> filled = fill(["Take ___ tablets a ___."], "___", "google-bert/bert-base-uncased")
    >>> filled.texts, filled.fills

    The arguments are those of `Filler` and of a call to it; `Filler` keeps the model for the next call. A model that is
    an object needs its tokenizer. It may be in training mode: it is used in evaluation mode and given back as it was.

    settings (see `FillConfig`) of a masked model: context "both" | "left" | "leaky"; length "known" (as many tokens as
    the original) | "one" | "free"; order (one of ORDERS) and its pace per_pass, passes, threshold, entropy_bound,
    sweeps, schedule; max_length; right_words (0 or more: so many words behind each blank are seen). Of a causal model:
    context "left" (the default), "true_left", or "both" (for a model that was trained to infill; with `candidates` and
    `lookahead`, for any), "prefix", "masked_left", "kept" and "fim" for models trained so; length, max_length. Of an
    encoder-decoder: source "sentinel" (the default) | "kept", max_new_tokens (256). Of a
    masked model with a causal `second` of the same tokenizer: weight (0.5), length "known" | "one". Of all but
    encoder-decoders, look-ahead, "kept" and "fim", which are greedy: temperature (0 is greedy), top_k, top_p. Draws, and the
    order random, are keyed by (seed, id, slot), and the id is the place in the list unless `ids` are given: so the batch
    never changes a fill, and with `ids` the order of the texts does not either.

    Every character outside the blanks is kept, except where the whole text is generated (context or source "kept", or
    an encoder-decoder's tokenizer without `<extra_id_0>`).

    Raises BlankfillError, which names a document by id and never shows its text, for a model or settings that cannot
    fill, and for a document that cannot be filled. on_error="skip" leaves such documents unfilled and lists them in
    `skipped`.
    """
    filler = Filler(
        model, tokenizer, device=device, dtype=dtype, batch_tokens=batch_tokens, config=config, second=second
    )
    arguments: dict[str, Any] = {"ids": ids, "counts": counts, "on_error": on_error, "progress": progress}
    return filler(texts, blanks, **arguments, **settings)


def score(
    texts: str | Iterable[str],
    blanks: Iterable[list[CharSpan]] | None,
    model: Model,
    tokenizer: Tokenizer | None = None,
    *,
    second: Model | None = None,
    device: str | torch.device = "auto",
    dtype: str | torch.dtype = "auto",
    batch_tokens: int = 2048,
    ids: Iterable[str] | None = None,
    method: str = "exact",
    **settings: Any,
) -> Likelihood | list[Likelihood]:
    """Return how likely what stands in the blanks of each text is, in the order in which `fill` fills, or of whole texts (None).

    One text given as a string has one `Likelihood`, several have a list. See `Filler.score` for methods and errors; the
    settings are those of `fill`, with the model's own number of tokens. A masked model has every context, where "leaky"
    still shows the originals to come, and every order that fills a slot once. A causal model has context "left",
    "masked_left" and "both" as far as it was trained so. Two models have any `weight`.
    """
    filler = Filler(model, tokenizer, device=device, dtype=dtype, batch_tokens=batch_tokens, second=second)
    return filler.score(texts, blanks, ids=ids, method=method, **settings)
