"""How a causal model writes: forced through the kept words, choosing at the blanks, left context alone."""

from collections.abc import Iterator
from functools import partial

import torch
from transformers import Cache, DynamicLayer, PreTrainedModel, PreTrainedTokenizerBase

from ..models import count_parameters, hidden_states, output_layer, position_limit
from .blanks import BlankedText, FilledText, Row, put_together, to_rows
from .ledger import Ledger, forward_flops
from .sampling import Sampling
from .vocabulary import Speller, slot_bias


def fill_causal(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    sampling: Sampling | None = None,
    seed: int = 0,
    batch_tokens: int = 32768,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks from left to right with a causal model and a key-value cache: each sub-word goes through once.

    A blank takes as many sub-words as its original has; what stands to its right is never seen.
    """
    rows = to_rows(blanked, tokenizer, position_limit(model))
    ledger = Ledger(documents=len(rows), blanks=sum(len(text.blanks) for text in blanked))
    bias = slot_bias(tokenizer, model.config.vocab_size).to(model.device)
    sampling = sampling or Sampling(seed=seed)
    sizes = count_parameters(model)
    for batch in _batches([row for row in rows if row.slots], batch_tokens):
        _fill_batch(model, batch, tokenizer.pad_token_id, bias, sampling)
        tokens, filled = sum(row.slots[-1] for row in batch), sum(len(row.slots) for row in batch)
        ledger.passes += filled
        ledger.token_forwards += tokens
        ledger.tokens_filled += filled
        ledger.flops += forward_flops(sizes, tokens, filled)
    spell = Speller(tokenizer)
    return [
        put_together(text, spell.fills(row, len(text.blanks)))
        for text, row in zip(blanked, rows, strict=True)
    ], ledger


@torch.inference_mode()
def _fill_batch(
    model: PreTrainedModel, rows: list[Row], pad_id: int, bias: torch.Tensor, sampling: Sampling
) -> None:
    """Go through the batch once; a stretch in which nobody has a blank is read in one step."""
    numbers = [{place: number for number, place in enumerate(row.slots)} for row in rows]
    length = max(row.slots[-1] for row in rows)
    ids = torch.tensor([(row.ids + [pad_id] * length)[: length + 1] for row in rows])
    stops = sorted({place for row in rows for place in row.slots})
    cache, done = make_cache(length), 0
    for stop in stops:
        chunk = ids[:, done:stop].to(model.device)
        hidden = hidden_states(model, {"input_ids": chunk, "past_key_values": cache, "use_cache": True})[
            :, -1
        ]
        here = [i for i, row in enumerate(rows) if stop in numbers[i]]
        kinds = [rows[i].kinds[numbers[i][stop]] for i in here]
        logits = output_layer(model)(hidden[here]).float() + bias[kinds]
        keys = [(rows[i].id, numbers[i][stop]) for i in here]
        for i, token in zip(here, sampling(logits, keys), strict=True):
            rows[i].ids[stop] = token
            ids[i, stop] = token
        done = stop


class _RoomyLayer(DynamicLayer):
    """Keys and values of one layer in room taken once; the library's own layer copies all it has at each step."""

    def __init__(self, n_places: int):
        super().__init__()
        self.n_places = n_places

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args, **kwargs):
        """Write the new states (batch, heads, new places, width) behind the old; return views of all of them."""
        done = self.get_seq_length()
        if not done:
            self.lazy_initialization(key_states, value_states)
            self.room = [
                s.new_empty(*s.shape[:2], self.n_places, s.shape[3]) for s in (key_states, value_states)
            ]
        end = done + key_states.shape[2]
        for room, states in zip(self.room, (key_states, value_states), strict=True):
            room[:, :, done:end] = states
        self.keys, self.values = (room[:, :, :end] for room in self.room)
        return self.keys, self.values


def make_cache(n_places: int) -> Cache:
    """Return a key-value cache with room for `n_places` sub-words a document, so that cost grows linearly."""
    return Cache(layer_class_to_replicate=partial(_RoomyLayer, n_places))


def _batches(rows: list[Row], batch_tokens: int) -> Iterator[list[Row]]:
    """Yield rows of like length together, at most `batch_tokens` of them with padding."""
    batch: list[Row] = []
    for row in sorted(rows, key=lambda row: row.slots[-1]):
        if batch and (len(batch) + 1) * row.slots[-1] > batch_tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
