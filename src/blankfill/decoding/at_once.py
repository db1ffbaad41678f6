"""How a causal model reads texts whose slots hold their originals: each in one pass, since nothing waits for a choice."""

from collections.abc import Callable, Mapping
from functools import partial

import torch
from transformers import PreTrainedModel

from ..memory import MEMORY
from ..networks.attention import as_filling
from ..networks.probe import choose_way, probe_texts
from ..networks.reading import stack
from ..networks.sizes import HEAD_ROWS, hidden_states, output_layer
from ..slots.rows import TokenRow
from .batches import batch_by_size
from .readers import PlainReader
from .walking import STEP, choose_reader, probe_walk, read_probe, walk
from .walks import Walk

Look = Callable[
    [list[TokenRow], list[int], torch.Tensor], None
]  # takes rows, a slot of each, and their logits


@torch.inference_mode()
def read_at_once(
    model: PreTrainedModel,
    walks: list[Walk],
    originals: Mapping[str, list[int]],
    look: Look,
    batch_tokens: int,
) -> None:
    """Read documents whose slots hold `originals` (by id); `look` gets logits (n, vocabulary) in float32.

    The same as `walk` with each original written in turn, in batches of 1 / STEP as many tokens. A network for which
    one pass is not right walks, and so do prefixes. Raises what `choose_reader` raises.
    """
    if not walks:
        return
    if any(document.prefix for document in walks) or not _is_right_at_once(model, walks):
        walk(model, walks, partial(_follow, originals, look), batch_tokens)
        return
    with as_filling(model):
        for batch in batch_by_size(walks, Walk.most, max(1, batch_tokens // STEP)):
            _read_batch(model, batch, originals, look)
            MEMORY.release_if_grown()


def _is_right_at_once(model: PreTrainedModel, walks: list[Walk]) -> bool:
    """Return whether one pass over two short texts has the logits of the plain walk; raises what `choose_reader` raises."""
    is_placed = any(document.positions for document in walks)
    choose_reader(model, is_placed)
    ways = {
        "at once": partial(_read_probe, is_placed),
        "walking": partial(read_probe, PlainReader, is_placed),
    }
    return choose_way(model, ways, is_placed) == "at once"


def _follow(originals: Mapping[str, list[int]], look: Look, here: list[Walk], logits: torch.Tensor) -> None:
    look([document.row for document in here], [document.n_written for document in here], logits)
    for document in here:
        document.write(originals[document.row.id][document.n_written])


def _read_batch(
    model: PreTrainedModel, batch: list[Walk], originals: Mapping[str, list[int]], look: Look
) -> None:
    """Read some documents in one pass; a causal network does not see the padding behind a text."""
    texts = [_write_originals(document, originals[document.row.id]) for document in batch]
    ids, _ = stack(texts, 0, model.device)
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if any(document.positions for document in batch):
        places = [
            [*(document.positions or range(len(text)))][: len(text)]
            for document, text in zip(batch, texts, strict=True)
        ]
        inputs["position_ids"] = stack(places, 0, model.device)[0]
    states, head = hidden_states(model, inputs), output_layer(model)
    slots = [(i, slot) for i, document in enumerate(batch) for slot in range(len(document.writes))]
    for start in range(0, len(slots), HEAD_ROWS):
        chunk = slots[start : start + HEAD_ROWS]
        rows, before = [i for i, _ in chunk], [batch[i].writes[slot] - 1 for i, slot in chunk]
        look([batch[i].row for i in rows], [slot for _, slot in chunk], head(states[rows, before]).float())


def _write_originals(document: Walk, tokens: list[int]) -> list[int]:
    """Return what is read of a document up to its last slot, with the original of each slot where it is read."""
    ids = [*document.ids]
    for place, token in zip(document.writes[:-1], tokens, strict=False):
        ids[place] = token
    return ids[: document.most()]


def _read_probe(is_placed: bool, model: PreTrainedModel) -> torch.Tensor:
    """Return the logits at the slots of two short texts, in order."""
    batch = [probe_walk(ids, is_placed) for ids in probe_texts(model)]
    originals = {
        document.row.id: [document.row.ids[place] for place in document.row.slots] for document in batch
    }
    logits: dict[tuple[str, int], torch.Tensor] = {}

    def look(rows: list[TokenRow], slots: list[int], of_slots: torch.Tensor) -> None:
        keys = [(row.id, slot) for row, slot in zip(rows, slots, strict=True)]
        logits.update(zip(keys, of_slots, strict=True))

    with as_filling(model):
        _read_batch(model, batch, originals, look)
    return torch.stack([logits[key] for key in sorted(logits)])
