"""Fast attention for inference on CPU, for any model with transformers' attention interface.

torch's own kernel reads keys in bf16 one query at a time, so a step of one token per document spends most of its
time there, and its softmax of bf16 numbers is most of a whole pass's attention. docs/performance.md has the costs.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from .linear import prepacked_products

SPECIAL = ("position_bias", "softcap", "s_aux")  # what some networks add to the scores


@contextmanager
def attention_of(model: PreTrainedModel, name: str) -> Iterator[None]:
    """Use this attention within the `with` for a model on a CPU with torch's own; any other model keeps its own."""
    configs: dict[int, Any] = {
        id(module.config): module.config for module in model.modules() if hasattr(module, "config")
    }
    ours = [config for config in configs.values() if config._attn_implementation == "sdpa"]
    ours = ours if model.device.type == "cpu" else []
    for config in ours:
        config._attn_implementation = name
    try:
        yield
    finally:
        for config in ours:
            config._attn_implementation = "sdpa"


NAME = "filling"
SMALLEST, LARGEST = 1e-20, 1e37  # sums of powers that are exact enough in float32


def attend(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **settings,
) -> tuple[torch.Tensor, None]:
    """Return attention of queries (batch, heads, n, width) as (batch, n, heads, width); as torch's up to rounding.

    Keys and values may be in a wider type than the queries (see `make_cache`): the products are then in that type.
    """
    dtype, query = query.dtype, query.to(key.dtype)
    is_bool = attention_mask is None or attention_mask.dtype == torch.bool
    is_plain = is_bool and key.shape[1] == query.shape[1]
    is_plain = is_plain and all(settings.get(name) is None for name in SPECIAL)
    scaling = settings.get("scaling") or query.shape[3] ** -0.5
    if is_plain and query.shape[2] == 1:
        read = read_by_products(query, key, value, attention_mask, scaling).transpose(1, 2)
    elif is_plain and query.device.type == "cpu" and _reads_all(module, attention_mask, settings):
        read = read_by_document(query, key, value, attention_mask, scaling).transpose(1, 2)
    else:
        read, _ = sdpa_attention_forward(module, query, key, value, attention_mask, **settings)
    return read.to(dtype), None


def _reads_all(module: nn.Module, mask: torch.Tensor | None, settings: dict) -> bool:
    """Return whether every query attends to its whole document."""
    is_causal = settings.get("is_causal")
    is_causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    return is_padding(mask) and not (mask is None and is_causal)


def read_by_document(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None, scaling: float
) -> torch.Tensor:
    """Return attention of queries (batch, heads, n, width), one document at a time, summed in float32.

    One document's scores stay in the processor's cache, and padding of other documents does not change the result.
    `mask` (batch, 1, 1, keys; bool, or None) is false at padding, which is at the end.
    """
    read = torch.zeros_like(query.transpose(1, 2)).transpose(1, 2)
    ends = [key.shape[2]] * len(key) if mask is None else mask[:, 0, 0].sum(-1).tolist()
    for i, end in enumerate(ends):
        asking = end if query.shape[2] == key.shape[2] else query.shape[2]  # padding has no queries
        states = (query[i, :, :asking], key[i, :, :end], value[i, :, :end])
        read[i, :, :asking] = read_document(*states, scaling)
    return read


def read_document(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float
) -> torch.Tensor:
    """Return attention of the queries (heads, n, width) of one document, every query to every key."""
    if query.dtype == torch.bfloat16:
        return _read_one(query * (scaling / math.log(2)), key.contiguous(), value.contiguous())
    whole = nn.functional.scaled_dot_product_attention(query[None], key[None], value[None], scale=scaling)
    return whole[0]


def _read_one(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Return attention of queries (heads, n, width): plain powers of two, a softmax in heads where those overflow.

    A softmax first subtracts the largest score of each row, which only large scores need and which takes longer than
    everything else. A power of two costs less than one of e.
    """
    key = key.transpose(-1, -2)
    weights = (query @ key).exp2_()
    sums = weights.sum(-1, keepdim=True, dtype=torch.float32)
    least, most = torch.aminmax(sums)
    if not (SMALLEST < least and most < LARGEST):
        wild = ~((sums > SMALLEST) & (sums < LARGEST)).all(1).flatten()
        scores = (query[wild] @ key[wild]).float() * math.log(2)
        weights[wild] = scores.softmax(-1).to(weights.dtype)
        sums[wild] = 1
    return (weights @ value) / sums


def is_padding(mask: torch.Tensor | None) -> bool:
    """Return whether a mask excludes only padding at the end of documents, the same for every query."""
    if mask is None:
        return True
    if mask.dtype != torch.bool or mask.dim() != 4 or mask.shape[1] != 1 or mask.shape[2] != 1:
        return False
    return not (mask[..., 1:] & ~mask[..., :-1]).any()


def read_by_products(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None, scaling: float
) -> torch.Tensor:
    """Return the two products with a softmax between them; `mask` (bool) is false where attention is not allowed."""
    scores = (query * scaling) @ key.transpose(-1, -2)
    if mask is not None:
        scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)  # a query without any key stays finite
    return scores.softmax(-1) @ value


AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)


def kept_in(model: PreTrainedModel) -> torch.dtype:
    """Return the type of the key-value cache: float32 with this attention, which is fastest for single queries."""
    return torch.float32 if model.config._attn_implementation == NAME else model.dtype


@contextmanager
def as_filling(model: PreTrainedModel) -> Iterator[None]:
    """Use this attention and packed products within the `with` for a model on a CPU."""
    with attention_of(model, NAME), prepacked_products(model):
        yield
