"""The first layer where something is new: what it makes of each sub-word by itself is kept from pass to pass.

Before a sub-word reads others, its state, query, key and value hang on the sub-word and its place alone, and a pass
changes a few. The same bits as the whole layer where a product's rows do not depend on each other, as oneDNN's do not.
docs/performance.md has what it gains.
"""

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedConfig

from ..sizes import COUNT_FROM_PADDING
from .attention import read_document

MOST_KEPT = 256 << 20  # bytes of all documents together


class Kept:
    """What the first layer of a BERT-class encoder makes of each sub-word of one text of at most `most` sub-words."""

    def __init__(self, base: nn.Module, most: int):
        self.ids = np.full(most, -1)
        attention, states = base.encoder.layer[0].attention.self, base.embeddings.word_embeddings.weight
        heads = (attention.num_attention_heads, most, attention.attention_head_size)
        self.hidden = states.new_empty(most, states.shape[1])
        self.asked = states.new_empty(3, *heads)  # queries, keys, values

    def changed(self, ids: np.ndarray) -> np.ndarray:
        """Return the places in which a text's ids differ from what was read last."""
        return np.flatnonzero(self.ids[: len(ids)] != ids)

    def put(self, places: np.ndarray, ids: np.ndarray, hidden: torch.Tensor, asked: torch.Tensor) -> None:
        """Take up the states (n, width) and the queries, keys and values (3, heads, n, head width) of some places."""
        where = slice(0, len(ids)) if len(places) == len(ids) else torch.from_numpy(places)
        self.ids[places] = ids[places]
        self.hidden[where] = hidden
        self.asked[:, :, where] = asked

    def read(self, n: int, scaling: float) -> torch.Tensor:
        """Return what each of the first n sub-words reads, as (n, heads, head width)."""
        return read_document(*self.asked[:, :, :n], scaling).transpose(0, 1)


def room_of(base: nn.Module, n: int) -> int:
    """Return how many bytes are kept of a text of n sub-words."""
    return 4 * n * base.embeddings.word_embeddings.weight[0].nbytes


def keep_for(base: nn.Module, lengths: list[int]) -> list[Kept | None]:
    """Return something to keep each text in while there is room for it, None for the others."""
    ends = np.cumsum([room_of(base, n) for n in lengths])
    return [Kept(base, n) if end <= MOST_KEPT else None for n, end in zip(lengths, ends, strict=True)]


def positions_of(config: PreTrainedConfig, ids: np.ndarray) -> np.ndarray:
    """Return the positions at which a network sees a text's sub-words; some count from the padding mark."""
    if config.model_type not in COUNT_FROM_PADDING:
        return np.arange(len(ids))
    words = ids != config.pad_token_id
    return np.cumsum(words) * words + config.pad_token_id


def read_first(
    base: nn.Module, ids: torch.Tensor, lengths: list[int], kept: list[Kept]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the first layer's input and what it reads by attention, both (batch, length, width), of padded ids."""
    attention = base.encoder.layer[0].attention.self
    rows = [row[:n] for row, n in zip(ids.numpy(), lengths, strict=True)]
    changed = [one.changed(row) for one, row in zip(kept, rows, strict=True)]
    new = np.concatenate([row[places] for row, places in zip(rows, changed, strict=True)])
    stand = [positions_of(base.config, row)[places] for row, places in zip(rows, changed, strict=True)]
    at = [torch.from_numpy(part)[None] for part in (new, np.concatenate(stand))]
    states = base.embeddings(input_ids=at[0], position_ids=at[1])[0]
    asked = torch.stack([project(states) for project in (attention.query, attention.key, attention.value)])
    asked = asked.unflatten(-1, (attention.num_attention_heads, -1)).transpose(1, 2)
    sizes = [len(places) for places in changed]
    parts = zip(kept, changed, rows, states.split(sizes), asked.split(sizes, 2), strict=True)
    for one, places, row, *made in parts:
        one.put(places, row, *made)
    hidden = states.new_zeros(*ids.shape, states.shape[1])
    read = torch.zeros_like(hidden).unflatten(-1, (attention.num_attention_heads, -1))
    for i, (one, n) in enumerate(zip(kept, lengths, strict=True)):
        hidden[i, :n] = one.hidden[:n]
        read[i, :n] = one.read(n, attention.scaling)
    return hidden, read.flatten(2)
