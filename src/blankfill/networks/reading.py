"""How a masked model reads a batch of texts: padded, in batches of one length, or each text alone."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import torch
from transformers import PreTrainedModel

from .attention import as_filling
from .probe import choose_way, probe_texts
from .sizes import HEAD_ROWS, output_layer, vocabulary_size
from .trimming import states_at

Texts = list[list[int]]  # the tokens of each text
Read = Callable[[PreTrainedModel, Texts, Texts, int], torch.Tensor]


def read_padded(model: PreTrainedModel, texts: Texts, places: Texts, pad_id: int) -> torch.Tensor:
    """Return float32 logits (n, vocabulary) at the n `places` of the texts, in order, from one padded batch."""
    states = states_at(model, *stack(texts, pad_id, model.device), places)
    head = output_layer(model)
    logits = torch.empty(len(states), vocabulary_size(model), device=states.device)
    for target, chunk in zip(logits.split(HEAD_ROWS), states.split(HEAD_ROWS), strict=True):
        target.copy_(head(chunk))
    return logits


def read_by_length(model: PreTrainedModel, texts: Texts, places: Texts, pad_id: int) -> torch.Tensor:
    """Return the same, from one batch for each length of text, without padding."""
    logits_of: dict[int, torch.Tensor] = {}
    for length in {*map(len, texts)}:
        rows = [row for row, text in enumerate(texts) if len(text) == length]
        of_length, slots = ([of[row] for row in rows] for of in (texts, places))
        logits = read_padded(model, of_length, slots, pad_id)
        logits_of |= zip(rows, logits.split([len(places[row]) for row in rows]), strict=True)
    return torch.cat([logits_of[row] for row in range(len(texts))])


def read_alone(model: PreTrainedModel, texts: Texts, places: Texts, pad_id: int) -> torch.Tensor:
    """Return the same, from a plain pass over each text."""
    whole = [model(input_ids=torch.tensor([text], device=model.device)).logits[0] for text in texts]
    return torch.cat([logits[at] for logits, at in zip(whole, places, strict=True)]).float()


# From the fastest on; the last is right by definition.
READS: dict[str, Read] = {"padded": read_padded, "by length": read_by_length, "alone": read_alone}


class Reading:
    """The fastest way to read masked texts that is right for a model; raises what `choose_way` raises."""

    def __init__(self, model: PreTrainedModel, mask_id: int, pad_id: int):
        self.model, self.pad_id = model, pad_id
        ways = {name: partial(_read_probe, name, mask_id, pad_id) for name in READS}
        self.name = choose_way(model, ways, mask_id, pad_id) or "alone"

    def __call__(self, texts: Texts, places: Texts) -> torch.Tensor:
        """Return float32 logits (n, vocabulary) at the n `places` of the texts, in order."""
        return READS[self.name](self.model, texts, places, self.pad_id)

    def prepared(self) -> AbstractContextManager[None]:
        """Return the context in which the model is to read: with our attention and products, or its own."""
        return _prepare(self.model, self.name)


def _prepare(model: PreTrainedModel, name: str) -> AbstractContextManager[None]:
    return nullcontext() if name == "alone" else as_filling(model)


def _read_probe(name: str, mask_id: int, pad_id: int, model: PreTrainedModel) -> torch.Tensor:
    """Return the logits at the masks of two short texts, and at the last token of each."""
    texts = probe_texts(model, mask_id, pad_id)
    places = [[2, len(text) - 2, len(text) - 1] for text in texts]
    for text in texts:
        text[2] = text[-2] = mask_id
    with _prepare(model, name):
        return READS[name](model, texts, places, pad_id)


def stack(texts: Texts, pad_id: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return padded ids (batch, length), and a mask that is false at padding (None: there is none)."""
    longest = max(map(len, texts))
    ids = torch.tensor([text + [pad_id] * (longest - len(text)) for text in texts], device=device)
    lengths = torch.tensor([len(text) for text in texts], device=device)
    seen = torch.arange(longest, device=device) < lengths[:, None]
    return ids, None if all(len(text) == longest for text in texts) else seen
