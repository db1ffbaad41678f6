"""How a network reads the next tokens of the documents of a batch: packed, in lockstep, or each from its start.

A BERT-class network gets only the tokens to read, packed, and each document attends to its own past. Any other network
reads the documents in lockstep: as many tokens of each as the one nearest to its slot needs. Both remember what was read
in a key-value cache. A network that does not (`probe`) reads each document from its start at every slot.
"""

from collections.abc import Callable
from typing import Any

import torch
from transformers import PreTrainedModel

from ..networks.attention import kept_in, read_by_products
from ..networks.families import parts_of
from ..networks.sizes import first_position, hidden_states, output_layer
from ..networks.trimming import finish_layer, has_plain_layers
from .caches import make_cache
from .walks import Part, Walk

LONGEST = 4  # tokens of a document read at a time at most, or padding would cost more than it saves


def can_pack(model: PreTrainedModel) -> bool:
    """Return whether tokens can be read packed: by a decoder with positions from 0, torch's attention and plain layers."""
    config = model.config
    if config._attn_implementation != "sdpa" or not has_plain_layers(model):
        return False
    return config.is_decoder and not config.add_cross_attention and not first_position(model)


class Reader:
    """Reads tokens of the documents of a batch; `is_fast`: with our attention and products, else with the network's own."""

    is_fast = True

    def __init__(self, model: PreTrainedModel, batch: list[Walk]):
        self.model = model
        self.head: Callable[[torch.Tensor], torch.Tensor] = output_layer(model)

    @staticmethod
    def size(document: Walk) -> int:
        """Return how long a document stays in the batch: documents of similar size go together."""
        return document.most()

    def share(self, ahead: list[int]) -> list[int]:
        """Return how many tokens of each document are read in the next step."""
        return ahead

    def read(self, stretches: list[Part]) -> torch.Tensor:
        """Read some tokens of each document; return the states (documents, width) of the last of each for `head`."""
        raise NotImplementedError


class PackedReader(Reader):
    """A BERT decoder that reads any number of tokens of each document; keys and values are in preallocated buffers."""

    def __init__(self, model: PreTrainedModel, batch: list[Walk]):
        super().__init__(model, batch)
        parts: Any = parts_of(model)
        self.embeddings, self.layers, config = parts.embeddings, parts.layers, model.config
        self.heads, self.device = config.num_attention_heads, model.device
        shape = (
            len(batch),
            self.heads,
            max(document.most() for document in batch),
            config.hidden_size // self.heads,
        )

        def buffer() -> torch.Tensor:
            return torch.zeros(shape, dtype=kept_in(model), device=model.device)

        self.kept = [(buffer(), buffer()) for _ in self.layers]
        self.prefixes = torch.tensor([document.prefix for document in batch], device=model.device)
        self.walks = batch
        self.done = torch.zeros(len(batch), dtype=torch.long, device=model.device)

    @staticmethod
    def size(document: Walk) -> int:
        """Return how often a document is written: how long it stays in the batch."""
        return len(document.writes)

    def share(self, ahead: list[int]) -> list[int]:
        most = max(LONGEST, min(n for n in ahead if n))
        pairs = zip(ahead, self.walks, strict=False)
        return [n if document.n_read < document.prefix else min(n, most) for n, document in pairs]

    def read(self, stretches: list[Part]) -> torch.Tensor:
        """Read some tokens of each document; return the hidden states (documents, width) of the last of each."""
        n_read = torch.tensor([len(ids) for ids, _ in stretches], device=self.device)
        rows = torch.arange(len(stretches), device=self.device).repeat_interleave(n_read)
        columns = torch.arange(len(rows), device=self.device) - (n_read.cumsum(0) - n_read)[rows]
        done = self.done[: len(stretches)]
        places = done[rows] + columns
        until = done[:, None] + torch.arange(int(n_read.max()), device=self.device)
        until = until.maximum(self.prefixes[: len(stretches), None] - 1)
        seen = torch.arange(int(places.max()) + 1, device=self.device) <= until[:, None, :, None]
        ids, positions = ([n for stretch in stretches for n in stretch[which]] for which in (0, 1))
        at = [torch.tensor([numbers], device=self.device) for numbers in (ids, positions)]
        hidden = self.embeddings(input_ids=at[0], position_ids=at[1])[0]
        last = n_read.cumsum(0) - 1
        for layer, buffers in zip(self.layers, self.kept, strict=True):
            read = self._attend(layer.attention, hidden, buffers, (rows, columns, places), seen)
            if layer is self.layers[-1]:
                read, hidden = read[last], hidden[last]
            hidden = finish_layer(layer, read, hidden)
        self.done[: len(stretches)] += n_read
        return hidden

    def _attend(self, attention, hidden, buffers, where, seen: torch.Tensor) -> torch.Tensor:
        """Return what each token (n, width) reads from its document; `where` has its row, column and place."""
        rows, columns, places = where
        query, key, value = (
            project(hidden).unflatten(-1, (self.heads, -1))
            for project in (attention.query, attention.key, attention.value)
        )
        for buffer, states in zip(buffers, (key, value), strict=True):
            buffer[rows, :, places] = states.to(buffer.dtype)
        asking = buffers[0].new_zeros(seen.shape[0], seen.shape[2], *query.shape[1:])
        asking[rows, columns] = query.to(asking.dtype)
        keys, values = (buffer[: seen.shape[0], :, : seen.shape[3]] for buffer in buffers)
        read = read_by_products(asking.transpose(1, 2), keys, values, seen, attention.scaling)
        return read.transpose(1, 2)[rows, columns].flatten(1).to(hidden.dtype)


class LockstepReader(Reader):
    """Any causal model with a key-value cache: it reads as many tokens of each document as the one nearest to its slot needs.

    There is no padding; for a document that is finished token 0 is read, which no other document sees.
    """

    def __init__(self, model: PreTrainedModel, batch: list[Walk]):
        super().__init__(model, batch)
        self.is_placed = any(document.positions for document in batch)
        self.cache = make_cache(max(document.most() for document in batch), kept_in(model))

    def share(self, ahead: list[int]) -> list[int]:
        return [min(n for n in ahead if n)] * len(ahead)

    def read(self, stretches: list[Part]) -> torch.Tensor:
        """Read as many tokens of each document; return the hidden states (documents, width) of the last of each."""
        n = max(len(ids) for ids, _ in stretches)
        ids, positions = ([stretch[k] + [0] * (n - len(stretch[k])) for stretch in stretches] for k in (0, 1))
        inputs = {"input_ids": torch.tensor(ids, device=self.model.device)}
        if self.is_placed:
            inputs["position_ids"] = torch.tensor(positions, device=self.model.device)
        return hidden_states(self.model, inputs | {"past_key_values": self.cache, "use_cache": True})[:, -1]


class PlainReader(Reader):
    """Any causal model: it reads each document alone, from the start at each slot, with no cache."""

    is_fast = False

    def __init__(self, model: PreTrainedModel, batch: list[Walk]):
        super().__init__(model, batch)
        self.head = torch.nn.Identity()
        self.is_placed = any(document.positions for document in batch)
        self.seen: list[Part] = [([], []) for _ in batch]

    def read(self, stretches: list[Part]) -> torch.Tensor:
        """Read some tokens of each document; return the logits (documents, vocabulary) after the last of each."""
        answers = [self._read(*pair) for pair in zip(self.seen, stretches, strict=False)]
        blank = next(torch.zeros_like(logits) for logits in answers if logits is not None)
        return torch.stack([blank if logits is None else logits for logits in answers])

    def _read(self, seen: Part, stretch: Part) -> torch.Tensor | None:
        if not stretch[0]:
            return None
        for numbers, new_numbers in zip(seen, stretch, strict=True):
            numbers += new_numbers
        inputs = {"input_ids": torch.tensor(seen[:1], device=self.model.device)}
        if self.is_placed:  # the mask says that these are not several texts, packed
            positions = torch.tensor(seen[1:], device=self.model.device) + first_position(self.model)
            inputs |= {"position_ids": positions, "attention_mask": torch.ones_like(positions)}
        return self.model(**inputs).logits[0, -1]
