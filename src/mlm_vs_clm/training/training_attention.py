"""Fast attention for training on CPU, for any model with transformers' attention interface.

torch's own backward pass takes five times as long in bf16 as its forward pass. In bf16 the weights of short texts are
kept for the gradients; of long texts, and in float32, they are computed again. docs/performance.md has the costs.
"""

import torch
from torch import nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import repeat_kv, sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from blankfill.networks.attention import SPECIAL, read_by_products

KEPT_BYTES = 32 * 2**20  # weights of a layer that are kept: 12 heads over four texts of 590 tokens


class Recomputed(torch.autograd.Function):
    """Scaled dot-product attention of (batch, heads, n, width); its weights are computed again, in float32, for the gradients.

    The other products of the gradients are in the type of queries, keys and values, which is one. `mask` (bool,
    broadcastable to the scores, or None) is false where attention is not allowed.
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
    def backward(ctx, grad_output):
        with torch.autocast(grad_output.device.type, enabled=False):
            return Recomputed.differentiate(ctx, grad_output)

    @staticmethod
    def differentiate(ctx, grad_output):
        query, key, value, mask, read = ctx.saved_tensors
        dtype, scaled = query.dtype, query.float() * ctx.scaling
        weights = scaled @ key.float().transpose(-1, -2)
        if ctx.is_causal:
            mask = torch.ones(weights.shape[-2:], dtype=torch.bool, device=weights.device).tril()
        if mask is not None:
            weights.masked_fill_(~mask, torch.finfo(weights.dtype).min)
        weights = weights.softmax(-1)
        grad_value = weights.to(dtype).transpose(-1, -2) @ grad_output
        grad_scores = (grad_output @ value.transpose(-1, -2)).float()
        grad_scores.sub_((grad_output.float() * read.float()).sum(-1, keepdim=True)).mul_(weights)
        grad_scores = grad_scores.to(dtype)
        grad_query = (grad_scores @ key).mul_(ctx.scaling)
        grad_key = grad_scores.transpose(-1, -2) @ scaled.to(dtype)
        return grad_query, grad_key, grad_value, None, None, None


def precision_of(states: torch.Tensor) -> torch.dtype:
    """Return the type of a product with `states`: autocast's where it is on, which keeps turned queries in float32."""
    kind = states.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else states.dtype


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
    """Return attention of queries (batch, heads, n, width) as (batch, n, heads, width); as torch's up to rounding."""
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    causal = bool(causal) and attention_mask is None and query.shape[2] > 1
    is_bool = attention_mask is None or attention_mask.dtype == torch.bool
    is_special = dropout or (causal and query.shape[2] != key.shape[2])
    is_special = is_special or any(settings.get(name) is not None for name in SPECIAL)
    if is_special or not is_bool:
        settings |= {"dropout": dropout, "scaling": scaling, "is_causal": is_causal}
        return sdpa_attention_forward(module, query, key, value, attention_mask, **settings)
    dtype, copies = precision_of(query), query.shape[1] // key.shape[1]
    query, key, value = (states.to(dtype) for states in (query, key, value))
    key, value = repeat_kv(key, copies), repeat_kv(value, copies)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    read = (read_keeping_weights if is_kept(query, key) else Recomputed.apply)(
        query, key, value, attention_mask, causal, scale
    )
    return read.transpose(1, 2).contiguous(), None


def is_kept(query: torch.Tensor, key: torch.Tensor) -> bool:
    """Return whether a layer's weights are kept for the gradients: in bf16, where they take at most `KEPT_BYTES`."""
    n_weights = query.shape[:3].numel() * key.shape[2]
    return query.dtype == torch.bfloat16 and n_weights * query.element_size() <= KEPT_BYTES


def read_keeping_weights(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    is_causal: bool,
    scaling: float,
) -> torch.Tensor:
    """Return what `Recomputed` returns, up to rounding; torch keeps the weights and differentiates the products."""
    if is_causal:
        mask = torch.ones(query.shape[2], key.shape[2], dtype=torch.bool, device=query.device).tril()
    with torch.autocast(query.device.type, enabled=False):
        return read_by_products(query, key, value, mask, scaling)


NAME = "learning"
AttentionInterface.register(NAME, attend)
AttentionMaskInterface.register(NAME, sdpa_mask)
