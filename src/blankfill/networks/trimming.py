"""The last layer of a BERT-class network at the slots alone: the only states that filling and training need.

The other positions of the last layer are only keys and values: their queries, their attention and their feed-forward
block are left out. Where a document has few slots, keys and values are left out too: a query is moved into the space
of the layer's input, q (W h) = (q W) h, and the mean of values is computed from the mean of inputs. Equal to the whole
network up to rounding; docs/performance.md has the gain.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from types import NoneType
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.activations import GELUActivation
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from .attention import NAME as FAST
from .attention import attend
from .families import Layer, parts_of
from .linear import Prepacked, multiply_add, multiply_gelu, packs_late
from .sizes import hidden_states

STRETCH = 2048  # tokens through a CPU at a time: more do not stay in its cache


def can_trim(model: PreTrainedModel) -> bool:
    """Return whether the last layer can be trimmed: of a BERT or RoBERTa encoder with torch's attention and plain layers."""
    is_plain = model.config._attn_implementation in ("sdpa", FAST)
    return is_plain and has_plain_layers(model) and not model.config.is_decoder


def has_plain_layers(model: PreTrainedModel) -> bool:
    """Return whether layers can be read part by part: those of a BERT-class network without hooks, adapters and patches.

    Asked at every call, as both can be put into a network, and taken out, at any time.
    """
    parts = parts_of(model)
    if not parts or any(map(is_changed, (model.base_model, *parts.encoder.modules()))):
        return False
    return all(type(product) is nn.Linear for layer in parts.layers for product in _products(layer))


def is_changed(module: nn.Module) -> bool:
    """Return whether a module computes something else than its class: by a hook, or a `forward` of its own."""
    is_patched = not isinstance(vars(module).get("forward"), NoneType | Prepacked)
    return bool(is_patched or module._forward_hooks or module._forward_pre_hooks)


def _products(layer: Layer) -> tuple[nn.Module, ...]:
    attention, blocks = layer.attention, (layer.attention_output, layer.intermediate, layer.output)
    return (attention.query, attention.key, attention.value, *(block.dense for block in blocks))


def states_where(model: PreTrainedModel, inputs: dict[str, Any], wanted: torch.Tensor) -> torch.Tensor:
    """Return the last hidden states (n, width) at the places where `wanted` (batch, length) is true, also for training.

    Of `hidden_states(model, inputs)`; a last layer of BERT's parts reads no other place, but as keys and values.
    """
    parts = parts_of(model)
    if not parts or model.config.chunk_size_feed_forward or not wanted.any():
        return hidden_states(model, inputs)[wanted]
    last = parts.layers[-1]
    last.block.forward = partial(_attend_where, last, wanted)
    try:
        return hidden_states(model, inputs)[0]
    finally:
        del last.block.forward


def _attend_where(
    layer: Layer, wanted: torch.Tensor, hidden: torch.Tensor, mask: torch.Tensor | None = None, **settings
) -> tuple[torch.Tensor, None]:
    """Return the output (1, n, width) of a layer's attention at the wanted places, whose queries alone it makes.

    A causal network without a mask, one with a cache, and attention without an interface make all queries.
    """
    asked, attention = wanted, layer.attention
    attend_to = ALL_ATTENTION_FUNCTIONS.get(attention.config._attn_implementation)
    is_causal = mask is None and (attention.config.is_decoder or attention.is_causal)
    if attend_to is None or is_causal or settings.get("past_key_values") is not None:
        asking, read = hidden, attention(hidden, mask, **settings)[0]
    else:
        counts = wanted.sum(1)
        most = int(counts.max())
        # A row's own first, then others to fill it.
        places = (~wanted).byte().argsort(dim=1, stable=True)[:, :most]
        asked = torch.arange(most, device=hidden.device) < counts[:, None]
        asking = hidden.gather(1, places[:, :, None].expand(-1, -1, hidden.shape[-1]))
        if mask is not None and mask.shape[2] > 1:
            mask = mask.expand(len(hidden), -1, -1, -1)
            mask = mask.gather(2, places[:, None, :, None].expand(-1, mask.shape[1], -1, mask.shape[3]))
        chances = {"dropout": attention.dropout.p if attention.training else 0.0}
        read = _attend_by(attend_to, attention, asking, hidden, mask, **chances)
    return layer.attention_output(read[asked][None], asking[asked][None]), None


def are_few(model: PreTrainedModel, n_slots: int) -> bool:
    """Return whether moving the queries of so many slots costs less than keys and values of a whole document."""
    return 2 * n_slots * model.config.num_attention_heads <= model.config.hidden_size


def states_at(
    model: PreTrainedModel, ids: torch.Tensor, seen: torch.Tensor | None, slots: list[list[int]]
) -> torch.Tensor:
    """Return the last hidden states (n, width) at the `slots` (places) of each row of ids (batch, length).

    `seen` (batch, length) is false at padding, or None where there is none.
    """
    on_cpu, forward = ids.device.type == "cpu", _trimmed if can_trim(model) else _whole
    threads = torch.get_num_threads() if on_cpu and forward is _trimmed else 1
    size = min(max(1, STRETCH // ids.shape[1]), -(-len(ids) // threads)) if on_cpu else len(ids)

    def read(start: int) -> torch.Tensor:
        rows = slice(start, start + size)
        return forward(model, ids[rows], None if seen is None else seen[rows], slots[rows])

    starts = range(0, len(ids), size)
    side_by_side = threads > 1 and len(starts) > 1 and not packs_late()
    return torch.cat(_read_side_by_side(read, starts, threads) if side_by_side else [read(s) for s in starts])


def _read_side_by_side(read: Callable, starts: Iterable[int], threads: int) -> list[torch.Tensor]:
    """Return the result of `read` for each stretch, in threads that compute alone.

    Threads that share every product wait for each other at each, and only one works between products.
    """
    torch.set_num_threads(1)  # what new threads start with
    try:
        return list(_pool(threads).map(torch.inference_mode()(read), starts))
    finally:
        torch.set_num_threads(threads)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="filling")


def _whole(
    model: PreTrainedModel, ids: torch.Tensor, seen: torch.Tensor | None, slots: list[list[int]]
) -> torch.Tensor:
    inputs = {"input_ids": ids} | ({} if seen is None else {"attention_mask": seen.long()})
    rows = [row for row, places in enumerate(slots) for _ in places]
    return hidden_states(model, inputs)[rows, [place for places in slots for place in places]]


def _trimmed(
    model: PreTrainedModel, ids: torch.Tensor, seen: torch.Tensor | None, slots: list[list[int]]
) -> torch.Tensor:
    parts: Any = parts_of(model)
    most, layers = max(map(len, slots)), parts.layers
    mask = None if seen is None else seen[:, None, None, :]
    hidden = parts.embeddings(input_ids=ids)
    for layer in layers[:-1]:
        hidden = finish_layer(layer, _attend(layer.attention, hidden, hidden, mask), hidden)
    padded = [places + [0] * (most - len(places)) for places in slots]
    index = torch.tensor(padded, dtype=torch.long, device=ids.device)
    asking = hidden.gather(1, index[:, :, None].expand(-1, -1, hidden.shape[-1]))
    ask = _attend_in_input if are_few(model, most) else _attend
    answer = ask(layers[-1].attention, asking, hidden, mask)
    states = finish_layer(layers[-1], answer, asking)
    counts = torch.tensor([len(places) for places in slots], device=ids.device)
    return states[torch.arange(most, device=ids.device) < counts[:, None]]


def finish_layer(layer: Layer, read: torch.Tensor, asking: torch.Tensor) -> torch.Tensor:
    """Return the output of a layer from its input `asking` and its attention `read` (..., width), without dropout."""
    mixed, widened, output = layer.attention_output, layer.intermediate, layer.output
    middle = mixed.LayerNorm(multiply_add(mixed.dense, read, asking))
    if isinstance(widened.intermediate_act_fn, GELUActivation):
        wide = multiply_gelu(widened.dense, middle)
    else:
        wide = widened(middle)
    return output.LayerNorm(multiply_add(output.dense, wide, middle))


def _attend(attention, asking: torch.Tensor, hidden: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    return _attend_by(attend, attention, asking, hidden, mask)


def _attend_by(
    attend_to: Callable,
    attention,
    asking: torch.Tensor,
    hidden: torch.Tensor,
    mask: torch.Tensor | None,
    **settings,
) -> torch.Tensor:
    """Return the attention of the positions `asking` (batch, n, width) to all of hidden (batch, length, width)."""

    def heads(states: torch.Tensor) -> torch.Tensor:
        return states.unflatten(-1, (-1, attention.attention_head_size)).transpose(1, 2)

    inputs = (heads(attention.query(asking)), heads(attention.key(hidden)), heads(attention.value(hidden)))
    settings |= {"scaling": attention.scaling, "is_causal": False}
    return attend_to(attention, *inputs, mask, **settings)[0].flatten(2)


def _attend_in_input(
    attention, asking: torch.Tensor, hidden: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    """Return the same without keys and values; the bias of the keys shifts all scores equally and cancels."""
    shape = (attention.num_attention_heads, attention.attention_head_size, -1)
    queries = attention.query(asking).unflatten(-1, shape[:2])
    turned = torch.einsum("bqhd,hdw->bqhw", queries, attention.key.weight.view(shape)).flatten(1, 2)
    scores = turned @ hidden.transpose(1, 2) * attention.scaling
    if mask is not None:
        scores = scores.masked_fill(~mask[:, 0], float("-inf"))
    weights = scores.softmax(-1, dtype=torch.float32)  # torch's softmax of bf16 numbers is slow
    mixed = (weights.to(hidden.dtype) @ hidden).unflatten(1, (-1, shape[0]))
    read = torch.einsum("bqhw,hdw->bqhd", mixed, attention.value.weight.view(shape)).flatten(2)
    return read + attention.value.bias


def trim_sizes(model: PreTrainedModel, sizes: dict[str, int], n_slots: int) -> dict[str, int]:
    """Return parameter counts in which the parts of the last layer used at the slots alone count as output layer."""
    parts = parts_of(model)
    if not parts or not can_trim(model):
        return sizes
    spared = sum(parameter.numel() for parameter in parts.stack[-1].parameters())
    if not are_few(model, n_slots):
        everywhere = (parts.layers[-1].attention.key, parts.layers[-1].attention.value)
        spared -= sum(parameter.numel() for module in everywhere for parameter in module.parameters())
    return sizes | {"body": sizes["body"] - spared, "head": sizes["head"] + spared}
