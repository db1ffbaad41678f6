"""Where a network keeps the keys and values of what it read: in buffers of full size from the start."""

from functools import partial
from typing import Any

import torch
from transformers import Cache, DynamicLayer


class PreallocatedLayer(DynamicLayer):
    """Keys and values of one layer in a preallocated buffer; the library's own layer copies them at each step."""

    def __init__(self, n_positions: int, dtype: torch.dtype | None):
        super().__init__()
        self.n_positions, self.buffer_dtype = n_positions, dtype

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args, **kwargs):
        """Append the new states (batch, heads, new positions, width); return views of all of them.

        A batch that has lost documents at its end writes and reads the remaining ones.
        """
        done = self.get_seq_length()
        if not done:
            self.lazy_initialization(key_states, value_states)
            self.buffers = [
                states.new_empty(
                    *states.shape[:2], self.n_positions, states.shape[3], dtype=self.buffer_dtype
                )
                for states in (key_states, value_states)
            ]
        end = done + key_states.shape[2]
        for buffer, states in zip(self.buffers, (key_states, value_states), strict=True):
            buffer[: len(states), :, done:end] = states
        return self._show(len(key_states), end)

    def move(
        self, rows: torch.Tensor, sources: torch.Tensor, targets: torch.Tensor, n_documents: int, end: int
    ) -> None:
        """Move positions of documents to others, and keep the first `end` of `n_documents`."""
        for buffer in self.buffers:
            buffer[rows, :, targets] = buffer[rows, :, sources]
        self._show(n_documents, end)

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep those documents of the batch, and no other."""
        end = self.get_seq_length()
        self.buffers = [buffer[indices] for buffer in self.buffers]
        self._show(len(indices), end)

    def _show(self, n_documents: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        keys, values = (buffer[:n_documents, :, :end] for buffer in self.buffers)
        self.keys, self.values = keys, values
        return keys, values


def make_cache(n_positions: int, dtype: torch.dtype | None = None) -> Cache:
    """Return a key-value cache for `n_positions` tokens per document, so that cost grows linearly.

    `dtype` is the type it is kept in, by default that of the first states.
    """
    layer: Any = partial(PreallocatedLayer, n_positions, dtype)
    return Cache(layer_class_to_replicate=layer)
