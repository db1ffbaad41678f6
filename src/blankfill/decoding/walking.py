"""How a causal model walks through documents: each is read up to its next slot, where a token is written.

All tokens between two slots of a document are read at once, and the documents of a batch need not be at the same place;
which of the `readers` reads them depends on the network.
"""

from contextlib import nullcontext
from functools import partial

import torch
from transformers import PreTrainedModel

from ..errors import BlankfillError
from ..memory import MEMORY
from ..networks.attention import as_filling
from ..networks.probe import choose_way, compare_ways, probe_texts
from ..slots.rows import TokenRow
from .batches import batch_by_size
from .readers import LockstepReader, PackedReader, PlainReader, Reader, can_pack
from .walks import Walk, Write

STEP = 16  # a model that reads one token of each text at a time takes so many times more texts at once


@torch.inference_mode()
def walk(model: PreTrainedModel, walks: list[Walk], write: Write, batch_tokens: int) -> None:
    """Walk through the documents in batches; `write` gets those at a slot and their logits (n, vocabulary), float32.

    Raises BlankfillError for a network that reads what follows a token too, and what `choose_way` raises.
    """
    if not walks:
        return
    kind = (
        choose_prefix_reader(model)
        if any(document.prefix for document in walks)
        else choose_reader(model, any(document.positions for document in walks))
    )
    with as_filling(model) if kind.is_fast else nullcontext():
        for batch in batch_by_size(walks, kind.size, batch_tokens, Walk.most):
            _walk_batch(kind(model, batch), batch, write)


def _walk_batch(reader: Reader, batch: list[Walk], write: Write) -> None:
    while ahead := _trim([document.n_ahead() for document in batch]):
        states = reader.read(
            [document.take(n) for document, n in zip(batch, reader.share(ahead), strict=False)]
        )
        here = [i for i, n in enumerate(ahead) if n and not batch[i].n_ahead()]
        if here:
            write([batch[i] for i in here], reader.head(states[here]).float())
        MEMORY.release_if_grown()


def choose_reader(model: PreTrainedModel, is_placed: bool) -> type[Reader]:
    """Return the fastest reader that is right for a model, with positions of its own (`is_placed`) or consecutive ones."""
    kinds: list[type[Reader]] = [PackedReader, LockstepReader, PlainReader]
    readers = {kind.__name__: kind for kind in kinds[not can_pack(model) :]}
    ways = {name: partial(read_probe, kind, is_placed) for name, kind in readers.items()}
    kind = readers[choose_way(model, ways, is_placed) or PlainReader.__name__]
    if kind is PlainReader and compare_ways(model, SIDES) == "prefixes":
        raise BlankfillError(
            f"{type(model).__name__} reads what follows a token too, so it cannot continue a text: "
            "a causal model is needed"
        )
    return kind


def choose_prefix_reader(model: PreTrainedModel) -> type[Reader]:
    """Return the reader of prefixes; BlankfillError for a network that cannot be told which tokens see each other."""
    if can_pack(model):
        return PackedReader
    raise BlankfillError(
        f"context=prefix needs a BERT decoder with torch's attention (attn_implementation='sdpa'), and this is a "
        f"{type(model).__name__}: choose context=left"
    )


def read_probe(kind: type[Reader], is_placed: bool, model: PreTrainedModel) -> torch.Tensor:
    """Return the logits at the slots of two short texts, by one reader."""
    logits_of: dict[tuple[str, int], torch.Tensor] = {}
    batch = [probe_walk(ids, is_placed) for ids in probe_texts(model)]
    originals = {document.row.id: [*document.row.ids] for document in batch}

    def write(here: list[Walk], logits: torch.Tensor) -> None:
        for document, row in zip(here, logits, strict=True):
            logits_of[document.row.id, document.n_written] = row
            document.write(originals[document.row.id][document.row.slots[document.n_written]])

    with as_filling(model) if kind.is_fast else nullcontext():
        _walk_batch(kind(model, batch), batch, write)
    return torch.stack([logits_of[key] for key in sorted(logits_of)])


def probe_walk(ids: list[int], is_placed: bool) -> Walk:
    """Return a short text of a probe as a document with slots, with positions that repeat one (`is_placed`) or without."""
    slots = [n for n in range(1, len(ids)) if n % 3 != 1] + [len(ids)]
    positions = [max(0, place - (place > 3)) for place in range(len(ids))] if is_placed else None
    return Walk(TokenRow(str(len(ids)), [*ids, 0], slots), [*ids], positions, slots)


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
