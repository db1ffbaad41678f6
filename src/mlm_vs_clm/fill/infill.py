"""How a causal model fills with both sides in sight: it reads the text with marks, then writes the answers."""

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..errors import StudyError
from ..models import count_parameters, hidden_states, output_layer, position_limit
from ..objectives import OPENING, lay_out_answers
from .blanks import BlankedText, FilledText, Row, put_together, to_rows
from .causal import make_cache
from .ledger import Ledger, forward_flops
from .sampling import Sampling
from .vocabulary import Speller, slot_bias


@dataclass
class Answers:
    """A document whose blanks are marked, and what is read after it, one a step; see `lay_out_answers`."""

    row: Row
    sources: list[int]
    positions: list[int]

    @property
    def n_steps(self) -> int:
        """Return how many sub-words are read; the last one is written and never read."""
        return len(self.sources) - 1

    def read(self, step: int, opening_id: int) -> int:
        """Return the sub-word to read at a step; a document that is done reads on, to no effect."""
        source = self.sources[min(step, self.n_steps)]
        return opening_id if source == OPENING else self.row.ids[source]

    def target(self, step: int) -> int:
        """Return the place to write after a step, OPENING if there is none."""
        return self.sources[step + 1]


def fill_infill(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    sampling: Sampling | None = None,
    seed: int = 0,
    batch_tokens: int = 32768,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks with a causal model trained as objective `infill`, which sees both sides of each blank.

    A blank is marked by as many masks as its original has sub-words, and filled with as many; answers are
    written from left to right, each in sight of those before. Raises StudyError for a model or tokenizer that
    cannot do this, and for a text that does not fit the model.
    """
    check_infill(model, tokenizer)
    rows = to_rows(blanked, tokenizer, position_limit(model))
    ledger = Ledger(documents=len(rows), blanks=sum(len(text.blanks) for text in blanked))
    bias = slot_bias(tokenizer, model.config.vocab_size).to(model.device)
    sampling, sizes = sampling or Sampling(seed=seed), count_parameters(model)
    work = [mark_blanks(row, tokenizer.mask_token_id) for row in rows if row.slots]
    for batch in _batches(work, batch_tokens):
        _fill_batch(model, batch, tokenizer, bias, sampling)
        filled = sum(len(one.row.slots) for one in batch)
        tokens = sum(len(one.row.ids) + one.n_steps for one in batch)
        ledger.passes += sum(1 + one.n_steps for one in batch)
        ledger.token_forwards += tokens
        ledger.tokens_filled += filled
        ledger.flops += forward_flops(sizes, tokens, filled)
    spell = Speller(tokenizer)
    return [
        put_together(text, spell.fills(row, len(text.blanks)))
        for text, row in zip(blanked, rows, strict=True)
    ], ledger


def check_infill(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise StudyError for a model or a tokenizer that cannot carry the layout of objective `infill`."""
    if tokenizer.mask_token_id is None or tokenizer.sep_token_id is None:
        raise StudyError(
            "infilling needs a tokenizer with a mask and a separator: train a model with objective=infill, or fill "
            "from the left context"
        )
    if "position_ids" not in signature(model.forward).parameters:
        raise StudyError(
            f"infilling says at which position a sub-word stands, and {model.config.model_type} models do not ask: "
            "fill from the left context"
        )


def mark_blanks(row: Row, mark_id: int) -> Answers:
    """Hide every slot of a row under a mark and plan its answers; the last sub-word is written but never read."""
    for place in row.slots:
        row.ids[place] = mark_id
    sources, positions = lay_out_answers(row.slots, [not inside for inside in row.inside])
    return Answers(row, sources.tolist(), positions.tolist())


@torch.inference_mode()
def _fill_batch(
    model: PreTrainedModel,
    batch: list[Answers],
    tokenizer: PreTrainedTokenizerBase,
    bias: torch.Tensor,
    sampling: Sampling,
) -> None:
    """Read the texts at once, then the answers a sub-word a step; the padding behind short texts is never seen."""
    reader = _Reader(model, batch, tokenizer)
    reader.read_texts()
    number_of = [{place: n for n, place in enumerate(work.row.slots)} for work in batch]
    for step in range(max(work.n_steps for work in batch)):
        hidden = reader.read_answers(step)
        here = [i for i, work in enumerate(batch) if step < work.n_steps and work.target(step) != OPENING]
        if not here:
            continue
        places = [batch[i].target(step) for i in here]
        numbers = [number_of[i][place] for i, place in zip(here, places, strict=True)]
        kinds = [batch[i].row.kinds[n] for i, n in zip(here, numbers, strict=True)]
        logits = output_layer(model)(hidden[here]).float() + bias[kinds]
        keys = [(batch[i].row.id, n) for i, n in zip(here, numbers, strict=True)]
        for i, place, token in zip(here, places, sampling(logits, keys), strict=True):
            batch[i].row.ids[place] = token


class _Reader:
    """A model with the cache of one batch, and which of its places hold something."""

    def __init__(self, model: PreTrainedModel, batch: list[Answers], tokenizer: PreTrainedTokenizerBase):
        self.model, self.batch, self.tokenizer = model, batch, tokenizer
        self.n_read = max(len(work.row.ids) for work in batch)
        room = self.n_read + max(work.n_steps for work in batch)
        self.cache = make_cache(room)
        self.seen = torch.ones(len(batch), room, dtype=torch.long, device=model.device)
        for i, work in enumerate(batch):
            self.seen[i, len(work.row.ids) : self.n_read] = 0

    def read_texts(self) -> None:
        """Read the texts with their marks; padding stands behind the shorter ones."""
        pad = [self.tokenizer.pad_token_id] * self.n_read
        ids = torch.tensor([(work.row.ids + pad)[: self.n_read] for work in self.batch])
        self._read(ids, torch.arange(self.n_read).expand(ids.shape), self.n_read)

    def read_answers(self, step: int) -> torch.Tensor:
        """Read one sub-word more of every document's answers; return the hidden states (batch, width)."""
        ids = [[work.read(step, self.tokenizer.sep_token_id)] for work in self.batch]
        positions = [[work.positions[min(step, work.n_steps - 1)]] for work in self.batch]
        self.n_read += 1
        return self._read(torch.tensor(ids), torch.tensor(positions), self.n_read)[:, -1]

    def _read(self, ids: torch.Tensor, positions: torch.Tensor, n_places: int) -> torch.Tensor:
        inputs = {
            "input_ids": ids.to(self.model.device),
            "position_ids": positions.to(self.model.device),
            "attention_mask": self.seen[:, :n_places],
            "past_key_values": self.cache,
            "use_cache": True,
        }
        return hidden_states(self.model, inputs)


def _batches(work: list[Answers], batch_tokens: int) -> Iterator[list[Answers]]:
    """Yield documents with answers of like length together, at most `batch_tokens` of them with padding."""
    batch: list[Answers] = []
    for one in sorted(work, key=lambda one: (one.n_steps, len(one.row.ids))):
        longest = max(len(one.row.ids), *(len(other.row.ids) for other in batch), 0)
        if batch and (len(batch) + 1) * (longest + one.n_steps) > batch_tokens:
            yield batch
            batch = []
        batch.append(one)
    if batch:
        yield batch
