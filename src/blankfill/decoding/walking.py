"""How a causal model walks through documents: each is read up to its next slot, where a token is written.

All tokens between two slots of a document are read at once, and the documents of a batch need not be at the same place.
A BERT-class network gets only the tokens to read, packed, and each document attends to its own past. Any other network
reads the documents in lockstep: as many tokens of each as the one nearest to its slot needs. Both remember what was read
in a key-value cache. A network that does not (`probe`) reads each document from its start at every slot.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import torch
from transformers import Cache, DynamicLayer, PreTrainedModel

from ..errors import BlankfillError
from ..memory import MEMORY
from ..networks.attention import as_filling, kept_in, read_by_products
from ..networks.probe import choose_way, probe_texts
from ..networks.sizes import first_position, hidden_states, output_layer
from ..networks.trimming import finish_layer
from ..slots.rows import TokenRow

STEP = 16  # a model that reads one token of each text at a time takes so many times more texts at once
LONGEST = 4  # tokens of a document read at a time at most, or padding would cost more than it saves
Write = Callable[[list[Any], torch.Tensor], None]  # takes the walks that are at a slot, and their logits
T = TypeVar("T")
Part = tuple[list[int], list[int]]  # tokens and their positions


@dataclass
class Walk:
    """What is read of a document, in order, and where a slot is written.

    `positions` has the position of each token, None: consecutive. `writes` has for each slot, in order, how many
    tokens are read before it is written; the written token is then the next to be read, if any is left.
    `n_passes` is how many passes the document takes alone. The first `prefix` tokens see each other, at most those that are
    read before the first slot.
    """

    row: TokenRow
    ids: list[int]
    positions: list[int] | None
    writes: list[int]
    n_passes: int
    n_read: int = 0
    n_written: int = 0
    prefix: int = 0

    @property
    def n_scored(self) -> int:
        """Return how often the output layer was used."""
        return self.n_written

    @property
    def pass_number(self) -> int:
        """Return the pass (from 0) that writes next."""
        return self.n_written

    @property
    def n_filled(self) -> int:
        """Return how many tokens were written."""
        return self.n_written

    def most(self) -> int:
        """Return how many tokens are read at most."""
        return self.writes[-1]

    def n_ahead(self) -> int:
        """Return how many tokens are read before the next slot; 0 when finished."""
        return self.writes[self.n_written] - self.n_read if self.n_written < len(self.writes) else 0

    def take(self, n: int) -> Part:
        """Return the next n tokens and their positions; those up to the next slot count as read."""
        stretch = slice(self.n_read, self.n_read + n)
        self.n_read += min(n, self.n_ahead())
        return self.ids[stretch], self.positions[stretch] if self.positions else list(
            range(stretch.start, stretch.stop)
        )

    def write(self, token: int) -> None:
        """Put a token into the next slot, and where it is read."""
        self.row.write(self.n_written, token, self.pass_number)
        if self.n_read < len(self.ids):
            self.ids[self.n_read] = token
        self.n_written += 1


@torch.inference_mode()
def walk(model: PreTrainedModel, walks: list[Walk], write: Write, pad_id: int, batch_tokens: int) -> None:
    """Walk through the documents in batches; `write` gets those at a slot and their logits (n, vocabulary), float32.

    Raises BlankfillError for a network that reads what follows a token too, and what `choose_way` raises.
    """
    if not walks:
        return
    kind = (
        choose_prefix_reader(model)
        if any(document.prefix for document in walks)
        else choose_reader(model, pad_id, any(document.positions for document in walks))
    )
    with as_filling(model) if kind.is_fast else nullcontext():
        for batch in batch_by_size(walks, kind.size, batch_tokens, Walk.most):
            _walk_batch(kind(model, batch, pad_id), batch, write)


def _walk_batch(reader: "Reader", batch: list[Walk], write: Write) -> None:
    while ahead := _trim([document.n_ahead() for document in batch]):
        states = reader.read(
            [document.take(n) for document, n in zip(batch, reader.share(ahead), strict=False)]
        )
        here = [i for i, n in enumerate(ahead) if n and not batch[i].n_ahead()]
        if here:
            write([batch[i] for i in here], reader.head(states[here]).float())
        MEMORY.release_if_grown()


def choose_reader(model: PreTrainedModel, pad_id: int, is_placed: bool) -> type["Reader"]:
    """Return the fastest reader that is right for a model, with positions of its own (`is_placed`) or consecutive ones."""
    kinds: list[type[Reader]] = [PackedReader, LockstepReader, PlainReader]
    readers = {kind.__name__: kind for kind in kinds[not can_pack(model) :]}
    ways = {name: partial(read_probe, kind, pad_id, is_placed) for name, kind in readers.items()}
    kind = readers[choose_way(model, ways, pad_id, is_placed) or PlainReader.__name__]
    if kind is PlainReader and choose_way(model, SIDES) == "prefixes":
        raise BlankfillError(
            f"{type(model).__name__} reads what follows a token too, so it cannot continue a text: "
            "a causal model is needed"
        )
    return kind


def choose_prefix_reader(model: PreTrainedModel) -> type["Reader"]:
    """Return the reader of prefixes; BlankfillError for a network that cannot be told which tokens see each other."""
    if can_pack(model):
        return PackedReader
    raise BlankfillError(
        f"context=prefix needs a BERT decoder with torch's attention (attn_implementation='sdpa'), and this is a "
        f"{type(model).__name__}: choose context=left"
    )


def read_probe(kind: type["Reader"], pad_id: int, is_placed: bool, model: PreTrainedModel) -> torch.Tensor:
    """Return the logits at the slots of two short texts, by one reader."""
    logits_of: dict[tuple[str, int], torch.Tensor] = {}
    batch = [probe_walk(ids, is_placed) for ids in probe_texts(model, pad_id)]
    originals = {document.row.id: [*document.row.ids] for document in batch}

    def write(here: list[Walk], logits: torch.Tensor) -> None:
        for document, row in zip(here, logits, strict=True):
            logits_of[document.row.id, document.n_written] = row
            document.write(originals[document.row.id][document.row.slots[document.n_written]])

    with as_filling(model) if kind.is_fast else nullcontext():
        _walk_batch(kind(model, batch, pad_id), batch, write)
    return torch.stack([logits_of[key] for key in sorted(logits_of)])


def probe_walk(ids: list[int], is_placed: bool) -> Walk:
    """Return a short text of a probe as a document with slots, with positions that repeat one (`is_placed`) or without."""
    slots = [n for n in range(1, len(ids)) if n % 3 != 1] + [len(ids)]
    positions = [max(0, place - (place > 3)) for place in range(len(ids))] if is_placed else None
    return Walk(TokenRow(str(len(ids)), [*ids, 0], slots), [*ids], positions, slots, len(slots))


def _read_with_following(model: PreTrainedModel) -> torch.Tensor:
    ids = torch.tensor(probe_texts(model)[:1], device=model.device)
    return model(input_ids=ids).logits[0, :-1].float()


def _read_prefixes(model: PreTrainedModel) -> torch.Tensor:
    ids = torch.tensor(probe_texts(model)[:1], device=model.device)
    ends = [model(input_ids=ids[:, :n]).logits[0, -1] for n in range(1, ids.shape[1])]
    return torch.stack(ends).float()


# Equal for a network that reads what stands before a token alone.
SIDES = {"whole": _read_with_following, "prefixes": _read_prefixes}


def _trim(ahead: list[int]) -> list[int]:
    """Drop finished documents at the end: the batch shrinks, and its cache with it."""
    while ahead and not ahead[-1]:
        ahead.pop()
    return ahead


def can_pack(model: PreTrainedModel) -> bool:
    """Return whether tokens can be read packed: by a BERT decoder with torch's attention."""
    config = model.config
    plain = config.model_type == "bert" and config.is_decoder and not config.add_cross_attention
    return plain and config._attn_implementation == "sdpa"


class Reader:
    """Reads tokens of the documents of a batch; `is_fast`: with our attention and products, else with the network's own."""

    is_fast = True

    def __init__(self, model: PreTrainedModel, batch: list[Walk], pad_id: int):
        self.model, self.pad_id = model, pad_id
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

    def __init__(self, model: PreTrainedModel, batch: list[Walk], pad_id: int):
        super().__init__(model, batch, pad_id)
        base: Any = model.base_model
        self.embeddings, self.layers, config = base.embeddings, base.encoder.layer, model.config
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
        """Return how many tokens of each document are read in the next step."""
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
        for layer, buffers in zip(self.layers, self.kept, strict=True):
            read = self._attend(layer.attention.self, hidden, buffers, (rows, columns, places), seen)
            hidden = finish_layer(layer, read, hidden)
        self.done[: len(stretches)] += n_read
        return hidden[n_read.cumsum(0) - 1]

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
    """Any causal model with a key-value cache: it reads as many tokens of each document as the one nearest to its slot needs; no padding."""

    def __init__(self, model: PreTrainedModel, batch: list[Walk], pad_id: int):
        super().__init__(model, batch, pad_id)
        self.is_placed = any(document.positions for document in batch)
        self.cache = make_cache(max(document.most() for document in batch), kept_in(model))

    def share(self, ahead: list[int]) -> list[int]:
        """Return how many tokens of each document are read in the next step."""
        return [min(n for n in ahead if n)] * len(ahead)

    def read(self, stretches: list[Part]) -> torch.Tensor:
        """Read as many tokens of each document; return the hidden states (documents, width) of the last of each."""
        n = max(len(ids) for ids, _ in stretches)
        ids, positions = (
            [stretch[k] + [pad] * (n - len(stretch[k])) for stretch in stretches]
            for k, pad in ((0, self.pad_id), (1, 0))
        )
        inputs = {"input_ids": torch.tensor(ids, device=self.model.device)}
        if self.is_placed:
            inputs["position_ids"] = torch.tensor(positions, device=self.model.device)
        return hidden_states(self.model, inputs | {"past_key_values": self.cache, "use_cache": True})[:, -1]


class PlainReader(Reader):
    """Any causal model: it reads each document alone, from the start at each slot, with no cache."""

    is_fast = False

    def __init__(self, model: PreTrainedModel, batch: list[Walk], pad_id: int):
        super().__init__(model, batch, pad_id)
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


def batch_by_size(
    documents: Iterable[T],
    size: Callable[[T], int],
    batch_tokens: int,
    most: Callable[[T], int] | None = None,
) -> Iterator[list[T]]:
    """Yield documents of similar size together, the longest first, at most `batch_tokens` tokens per batch.

    `most` is how many tokens a document takes at most, by default its size: a batch takes as many for each.
    """
    most = most or size
    batch: list[T] = []
    for document in sorted(documents, key=lambda document: (-size(document), -most(document))):
        longest = max(map(most, (document, *batch)))
        if batch and (len(batch) + 1) * longest > batch_tokens:
            yield batch
            batch = []
        batch.append(document)
    if batch:
        yield batch
