"""How a causal model goes through documents: each reads on to its next slot, and a sub-word is written there.

A document reads all that stands between two slots at once, and the documents of a batch need not be at the same place.
A BERT-class network takes just the sub-words that are read, packed, and each document attends to its own past. Any other
network takes the documents in step: as many sub-words of each as the one nearest to its slot needs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from transformers import Cache, DynamicLayer, PreTrainedModel

from ..hardware import MEMORY
from ..models.kernels.attention import as_filling, kept_in, read_by_products
from ..models.kernels.trimming import finish_layer
from ..models.sizes import hidden_states, output_layer
from .rows import Row

# sub-words that a document reads at a time at most, lest the padding of short stretches cost more than it saves
LONGEST = 4
Write = Callable[[list["Walk"], torch.Tensor], None]


@dataclass
class Walk:
    """A document as what is read of it, in order, and where a slot is written.

    `positions` says where each sub-word stands, None: one after the other. `writes` has for each slot, in order, how
    many sub-words are read before it is written; the next one to be read is then the one written, if any is left.
    `n_passes` is how many passes the document takes alone.
    """

    row: Row
    ids: list[int]
    positions: list[int] | None
    writes: list[int]
    n_passes: int
    n_read: int = 0
    n_written: int = 0

    @property
    def n_scored(self) -> int:
        """Return how often the output layer was asked."""
        return self.n_written

    @property
    def n_filled(self) -> int:
        """Return how many sub-words were written."""
        return self.n_written

    def most(self) -> int:
        """Return how many sub-words are read in all, at most."""
        return self.writes[-1]

    def n_ahead(self) -> int:
        """Return how many sub-words are read before the next slot; 0 when finished."""
        return self.writes[self.n_written] - self.n_read if self.n_written < len(self.writes) else 0

    def take(self, n: int) -> tuple[list[int], list[int]]:
        """Return the next n sub-words and their positions; they count as read up to the next slot, none when finished."""
        part = slice(self.n_read, self.n_read + n)
        self.n_read += min(n, self.n_ahead())
        return self.ids[part], self.positions[part] if self.positions else list(range(part.start, part.stop))

    def write(self, token: int) -> None:
        """Put a sub-word into the next slot, and where it is read."""
        self.row.ids[self.row.slots[self.n_written]] = token
        if self.n_read < len(self.ids):
            self.ids[self.n_read] = token
        self.n_written += 1


@torch.inference_mode()
def walk(model: PreTrainedModel, walks: list[Walk], write: Write, pad_id: int, batch_tokens: int) -> None:
    """Go through the documents in batches; `write` gets those at a slot and their logits (n, vocabulary), float32."""
    kind = _Packed if can_pack(model) else _InStep
    head = output_layer(model)
    with as_filling(model):
        for batch in _batches(walks, kind.size, batch_tokens):
            reader = kind(model, batch, pad_id)
            while ahead := _trim([one.n_ahead() for one in batch]):
                states = reader.read(
                    [one.take(n) for one, n in zip(batch, reader.share(ahead), strict=False)]
                )
                here = [i for i, n in enumerate(ahead) if n and not batch[i].n_ahead()]
                if here:
                    write([batch[i] for i in here], head(states[here]).float())
                MEMORY.look()


def _trim(ahead: list[int]) -> list[int]:
    """Leave out the documents at the end that are finished: the batch shrinks, and its cache with it."""
    while ahead and not ahead[-1]:
        ahead.pop()
    return ahead


def can_pack(model: PreTrainedModel) -> bool:
    """Tell whether sub-words can go through packed: a BERT decoder with the attention that torch computes."""
    config = model.config
    plain = config.model_type == "bert" and config.is_decoder and not config.add_cross_attention
    return plain and config._attn_implementation == "sdpa"


class _Packed:
    """A BERT decoder that takes any number of sub-words of each document; keys and values stand in room taken once."""

    def __init__(self, model: PreTrainedModel, batch: list[Walk], pad_id: int):
        self.base, config = model.base_model, model.config
        self.heads, self.device = config.num_attention_heads, model.device
        room = (
            len(batch),
            self.heads,
            max(one.most() for one in batch),
            config.hidden_size // self.heads,
        )
        kept = {"dtype": kept_in(model), "device": model.device}
        self.kept = [(torch.zeros(room, **kept), torch.zeros(room, **kept)) for _ in self.base.encoder.layer]
        self.done = torch.zeros(len(batch), dtype=torch.long, device=model.device)

    @staticmethod
    def size(one: Walk) -> int:
        """Return how long a document keeps its place in the batch: documents of like size go together."""
        return len(one.writes)

    def share(self, ahead: list[int]) -> list[int]:
        """Return how many sub-words of each document are read in the next step."""
        most = max(LONGEST, min(n for n in ahead if n))
        return [min(n, most) for n in ahead]

    def read(self, parts: list[tuple[list[int], list[int]]]) -> torch.Tensor:
        """Read some sub-words of each document; return the hidden states (documents, width) of the last of each."""
        n_read = torch.tensor([len(ids) for ids, _ in parts], device=self.device)
        rows = torch.arange(len(parts), device=self.device).repeat_interleave(n_read)
        columns = torch.arange(len(rows), device=self.device) - (n_read.cumsum(0) - n_read)[rows]
        done = self.done[: len(parts)]
        places = done[rows] + columns
        until = done[:, None] + torch.arange(int(n_read.max()), device=self.device)
        seen = torch.arange(int(places.max()) + 1, device=self.device) <= until[:, None, :, None]
        ids, positions = ([n for part in parts for n in part[which]] for which in (0, 1))
        at = [torch.tensor([numbers], device=self.device) for numbers in (ids, positions)]
        hidden = self.base.embeddings(input_ids=at[0], position_ids=at[1])[0]
        for layer, kept in zip(self.base.encoder.layer, self.kept, strict=True):
            read = self._attend(layer.attention.self, hidden, kept, (rows, columns, places), seen)
            hidden = finish_layer(layer, read, hidden)
        self.done[: len(parts)] += n_read
        return hidden[n_read.cumsum(0) - 1]

    def _attend(self, attention, hidden, kept, where, seen: torch.Tensor) -> torch.Tensor:
        """Return what each sub-word (n, width) reads from its document; `where` has its row, column and place."""
        rows, columns, places = where
        query, key, value = (
            project(hidden).unflatten(-1, (self.heads, -1))
            for project in (attention.query, attention.key, attention.value)
        )
        for room, states in zip(kept, (key, value), strict=True):
            room[rows, :, places] = states.to(room.dtype)
        asking = kept[0].new_zeros(seen.shape[0], seen.shape[2], *query.shape[1:])
        asking[rows, columns] = query.to(asking.dtype)
        keys, values = (room[: seen.shape[0], :, : seen.shape[3]] for room in kept)
        read = read_by_products(asking.transpose(1, 2), keys, values, seen, attention.scaling)
        return read.transpose(1, 2)[rows, columns].flatten(1).to(hidden.dtype)


class _InStep:
    """Any causal model: every document reads as many sub-words as the one nearest to its slot; nothing is padded."""

    def __init__(self, model: PreTrainedModel, batch: list[Walk], pad_id: int):
        self.model, self.pad_id = model, pad_id
        self.is_placed = any(one.positions for one in batch)
        self.cache = make_cache(max(one.most() for one in batch), kept_in(model))

    @staticmethod
    def size(one: Walk) -> int:
        """Return how long a document keeps its place in the batch: documents of like size go together."""
        return one.most()

    def share(self, ahead: list[int]) -> list[int]:
        """Return how many sub-words of each document are read in the next step."""
        return [min(n for n in ahead if n)] * len(ahead)

    def read(self, parts: list[tuple[list[int], list[int]]]) -> torch.Tensor:
        """Read as many sub-words of each document; return the hidden states (documents, width) of the last of each."""
        n = max(len(ids) for ids, _ in parts)
        ids, positions = (
            [part[k] + [pad] * (n - len(part[k])) for part in parts] for k, pad in ((0, self.pad_id), (1, 0))
        )
        inputs = {"input_ids": torch.tensor(ids, device=self.model.device)}
        if self.is_placed:
            inputs["position_ids"] = torch.tensor(positions, device=self.model.device)
        return hidden_states(self.model, inputs | {"past_key_values": self.cache, "use_cache": True})[:, -1]


class _RoomyLayer(DynamicLayer):
    """Keys and values of one layer in room taken once; the library's own layer copies all it has at each step."""

    def __init__(self, n_places: int, kept_in: torch.dtype | None):
        super().__init__()
        self.n_places, self.kept_in = n_places, kept_in

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args, **kwargs):
        """Write the new states (batch, heads, new places, width) behind the old; return views of all of them.

        A batch that has lost documents at its end writes and reads those that are left.
        """
        done = self.get_seq_length()
        if not done:
            self.lazy_initialization(key_states, value_states)
            self.room = [
                s.new_empty(*s.shape[:2], self.n_places, s.shape[3], dtype=self.kept_in)
                for s in (key_states, value_states)
            ]
        end = done + key_states.shape[2]
        for room, states in zip(self.room, (key_states, value_states), strict=True):
            room[: len(states), :, done:end] = states
        self.keys, self.values = (room[: len(key_states), :, :end] for room in self.room)
        return self.keys, self.values

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep those documents of the batch, and no other."""
        self.room = [room[indices] for room in self.room]
        self.keys, self.values = (room[:, :, : self.keys.shape[2]] for room in self.room)


def make_cache(n_places: int, kept_in: torch.dtype | None = None) -> Cache:
    """Return a key-value cache with room for `n_places` sub-words a document, so that cost grows linearly.

    It is kept in a type of its own, by default that of the first states.
    """
    return Cache(layer_class_to_replicate=partial(_RoomyLayer, n_places, kept_in))


def _batches(walks: list[Walk], size: Callable[[Walk], int], batch_tokens: int) -> Iterator[list[Walk]]:
    """Yield documents of like size together, those that take longest first, at most `batch_tokens` read in a batch."""
    batch: list[Walk] = []
    for one in sorted(walks, key=lambda one: (-size(one), -one.most())):
        longest = max(one.most(), *(other.most() for other in batch), 0)
        if batch and (len(batch) + 1) * longest > batch_tokens:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch
