"""The public functions `fill` and `score`, for one call with one model."""

from collections.abc import Iterable
from typing import Any

import torch

from .config import FillConfig
from .filled import Filled
from .filler import Filler
from .likelihood import Likelihood
from .loading import Model, Tokenizer
from .text import CharSpan


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
    """Fill the blanks of texts with a model, in one call.

    >>> filled = fill(["Take ___ tablets a ___."], "___", "google-bert/bert-base-uncased")
    >>> filled.texts, filled.fills

    `Filler` has the same arguments, explains them, and keeps the model for the next call. `FillConfig` explains the
    settings. Which of them there are depends on the kind of model:

    - masked: context "both" (the default) | "left" | "leaky"; length, max_length; order and its pace (per_pass, passes,
      threshold, entropy_bound, sweeps, schedule); right_words
    - causal: context "left" (the default) | "true_left"; length, max_length
    - causal and trained for it: context "both" (infilling) | "prefix" | "masked_left" | "kept" | "fim"; of the last two
      max_new_tokens (256, and 32)
    - causal with look-ahead: context "both" with candidates (8) or lookahead (16)
    - encoder-decoder: source "sentinel" (the default) | "kept"; max_new_tokens (256)
    - masked with a causal `second` of the same tokenizer, size of vocabulary and number of positions: weight (0.5);
      length "known" | "one"

    Encoder-decoders, look-ahead, "kept" and "fim" are greedy; all others draw with temperature, top_k and top_p. Draws,
    and the order "random", are keyed by (seed, id, slot), and the id is the place in the list unless `ids` are given. So
    in float32 the batch never changes a fill, and with `ids` the order of the texts does not either.

    Characters outside the blanks are kept, except where the whole text is generated (context or source "kept", or an
    encoder-decoder's tokenizer without `<extra_id_0>`).

    Raises BlankfillError, which names a document by id and never shows its text, for a model or settings that cannot
    fill, and for a document that cannot be filled. on_error="skip" lists such documents in `skipped` instead.
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
    config: FillConfig | None = None,
    ids: Iterable[str] | None = None,
    method: str = "exact",
    **settings: Any,
) -> Likelihood | list[Likelihood]:
    """Return how likely what stands in the blanks of each text is, or the whole text (blanks None), under a model.

    The likelihood, in nats, is that of the order in which `fill` fills. One text given as a string has one `Likelihood`,
    several have a list. `Filler.score` explains ids, methods and errors.

    The settings are those of `fill`, without length. A masked model has every context and every order that fills a slot
    once; "leaky" shows the originals still to come. A causal model has context "left", and "masked_left" and "both" if
    it was trained so. Two models have any `weight`.
    """
    filler = Filler(
        model, tokenizer, device=device, dtype=dtype, batch_tokens=batch_tokens, config=config, second=second
    )
    return filler.score(texts, blanks, ids=ids, method=method, **settings)
