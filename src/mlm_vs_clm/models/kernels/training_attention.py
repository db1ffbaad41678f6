"""Attention that a CPU learns fastest, for any model with transformers' attention interface, and how a model takes it up.

torch's own backward pass takes five times as long in bf16 as its forward pass; the eager way keeps every layer's
weights in memory. docs/performance.md has what each costs.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn
from transformers import AttentionInterface, AttentionMaskInterface, PreTrainedModel
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

SPECIAL = ("position_bias", "softcap", "s_aux")  # what some networks add to the scores


class Recomputed(torch.autograd.Function):
    """Scaled dot-product attention of (batch, heads, n, width); its gradients are computed in float32.

    `mask` (bool, broadcastable to the scores, or None) is false where nothing may be read.
    """

    @staticmethod
    def forward(ctx, query, key, value, mask, is_causal: bool, scaling: float):
        read = nn.functional.scaled_dot_product_attention(
            query, key, value, mask, is_causal=is_causal, scale=scaling
        )
        ctx.save_for_backward(query, key, value, mask, read)
        ctx.is_causal, ctx.scaling = is_causal, scaling
        return read

    @staticmethod
    def backward(ctx, slope):
        with torch.autocast(slope.device.type, enabled=False):
            return Recomputed.differentiate(ctx, slope.float())

    @staticmethod
    def differentiate(ctx, slope):
        query, key, value, mask, read = ctx.saved_tensors
        dtype, scaled = query.dtype, query.float() * ctx.scaling
        key, value = key.float(), value.float()
        weights = scaled @ key.transpose(-1, -2)
        if ctx.is_causal:
            mask = torch.ones(weights.shape[-2:], dtype=torch.bool, device=weights.device).tril()
        if mask is not None:
            weights.masked_fill_(~mask, torch.finfo(weights.dtype).min)
        weights = weights.softmax(-1)
        of_value = weights.transpose(-1, -2) @ slope
        of_scores = slope @ value.transpose(-1, -2)
        of_scores.sub_((slope * read.float()).sum(-1, keepdim=True)).mul_(weights)
        of_query, of_key = (of_scores @ key).mul_(ctx.scaling), of_scores.transpose(-1, -2) @ scaled
        return of_query.to(dtype), of_key.to(dtype), of_value.to(dtype), None, None, None


def attend(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    **settings,
) -> tuple[torch.Tensor, None]:
    """Return what each query (batch, heads, n, width) reads, as (batch, n, heads, width); as torch's, up to rounding."""
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    causal = bool(causal) and attention_mask is None and query.shape[2] > 1
    is_bool = attention_mask is None or attention_mask.dtype == torch.bool
    is_special = dropout or (causal and query.shape[2] != key.shape[2])
    is_special = is_special or any(settings.get(name) is not None for name in SPECIAL)
    if is_special or not is_bool:
        settings |= {"dropout": dropout, "scaling": scaling, "is_causal": is_causal}
        return sdpa_attention_forward(module, query, key, value, attention_mask, **settings)
    copies = query.shape[1] // key.shape[1]
    key, value = repeat_kv(key, copies), repeat_kv(value, copies)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    read = Recomputed.apply(query, key, value, attention_mask, causal, scale)
    return read.transpose(1, 2).contiguous(), None


NAME = "recomputed"
AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)


@contextmanager
def attention_of(model: PreTrainedModel, name: str) -> Iterator[None]:
    """Let a model on a CPU attend by this name for a while; one that asks for another attention than torch's keeps it."""
    configs = {id(part.config): part.config for part in model.modules() if hasattr(part, "config")}
    ours = [config for config in configs.values() if config._attn_implementation == "sdpa"]
    ours = ours if model.device.type == "cpu" else []
    for config in ours:
        config._attn_implementation = name
    try:
        yield
    finally:
        for config in ours:
            config._attn_implementation = "sdpa"
