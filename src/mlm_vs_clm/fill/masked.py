"""How a masked model writes: passes over the whole text, some slots filled in each."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..draws import keyed_rng
from ..models import count_parameters, hidden_states, output_layer
from .blanks import BlankedText, FilledText, Row, put_together, to_rows
from .ledger import Ledger, forward_flops
from .orders import ORDERS, Plan
from .sampling import Sampling
from .vocabulary import Speller, slot_bias


@dataclass
class Work:
    """A document on its way: its sub-words, and the slots of each pass that is still to come."""

    place: int
    row: Row
    plan: Plan
    written: dict[int, int] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """Return the number of sub-words."""
        return len(self.row.ids)


def fill_masked(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    context: str = "both",
    order: str = "random",
    per_pass: int = 1,
    sampling: Sampling | None = None,
    seed: int = 0,
    batch_tokens: int = 4096,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks with a masked model, as many sub-words in a blank as its original has.

    context `both`: every blank is hidden before the first pass and `per_pass` sub-words are filled in each.
    context `leaky`: `per_pass` whole words are hidden at a time while the originals still to be replaced stay
    in sight, which is the published procedure at 1.
    """
    rows = to_rows(blanked, tokenizer, model.config.max_position_embeddings)
    work = [Work(i, row, PLANNERS[context](row, order, per_pass, seed)) for i, row in enumerate(rows)]
    if context == "both":
        for row in rows:
            _hide(row, range(len(row.slots)), tokenizer.mask_token_id)
    ledger = Ledger(documents=len(rows), blanks=sum(len(text.blanks) for text in blanked))
    filler = _Filler(model, tokenizer, sampling or Sampling(seed=seed), ledger)
    for batch in _pool(work, batch_tokens):
        filler.fill_one_pass(batch)
    spell = Speller(tokenizer)
    return [
        put_together(text, spell.fills(row, len(text.blanks)))
        for text, row in zip(blanked, rows, strict=True)
    ], ledger


def plan_slots(row: Row, order: str, per_pass: int, seed: int) -> Plan:
    """Return the slots of each pass, ordered one sub-word at a time."""
    return ORDERS[order](len(row.slots), per_pass, keyed_rng(seed, "order", row.id))


def plan_words(row: Row, order: str, per_pass: int, seed: int) -> Plan:
    """Return the slots of each pass, ordered one word at a time."""
    n_blanks = row.blank_of[-1] + 1 if row.blank_of else 0
    passes = ORDERS[order](n_blanks, per_pass, keyed_rng(seed, "order", row.id))
    return [[slot for blank in blanks for slot in row.slots_of(blank)] for blanks in passes]


PLANNERS = {"both": plan_slots, "leaky": plan_words}


class _Filler:
    """The model, what may stand where, and the account of what was spent."""

    def __init__(
        self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, sampling: Sampling, ledger: Ledger
    ):
        self.model, self.sampling, self.ledger = model, sampling, ledger
        self.mask_id, self.pad_id = tokenizer.mask_token_id, tokenizer.pad_token_id
        self.sizes = count_parameters(model)
        self.bias = slot_bias(tokenizer, model.config.vocab_size).to(model.device)

    @torch.inference_mode()
    def fill_one_pass(self, batch: list[Work]) -> None:
        """Fill the next slots of every document of the batch."""
        slots = [work.plan.pop(0) for work in batch]
        for work, numbers in zip(batch, slots, strict=True):
            _hide(work.row, numbers, self.mask_id)
        hidden = hidden_states(self.model, self._stack(batch))
        rows = [i for i, numbers in enumerate(slots) for _ in numbers]
        places = [work.row.slots[n] for work, numbers in zip(batch, slots, strict=True) for n in numbers]
        inside = [
            int(work.row.inside[n]) for work, numbers in zip(batch, slots, strict=True) for n in numbers
        ]
        logits = output_layer(self.model)(hidden[rows, places]).float() + self.bias[inside]
        keys = [(work.row.id, n) for work, numbers in zip(batch, slots, strict=True) for n in numbers]
        for (row, place), token in zip(
            zip(rows, places, strict=True), self.sampling(logits, keys), strict=True
        ):
            batch[row].row.ids[place] = token
        self._count(batch, len(places))

    def _stack(self, batch: list[Work]) -> dict[str, torch.Tensor]:
        length = max(work.length for work in batch)
        ids = [work.row.ids + [self.pad_id] * (length - work.length) for work in batch]
        inputs = {"input_ids": torch.tensor(ids, device=self.model.device)}
        lengths = torch.tensor([work.length for work in batch])
        seen = torch.arange(length) < lengths[:, None]
        if not seen.all():
            inputs["attention_mask"] = seen.long().to(self.model.device)
        return inputs

    def _count(self, batch: list[Work], n_filled: int) -> None:
        tokens = sum(work.length for work in batch)
        self.ledger.passes += len(batch)
        self.ledger.token_forwards += tokens
        self.ledger.tokens_filled += n_filled
        self.ledger.flops += forward_flops(self.sizes, tokens, n_filled)


def _pool(work: list[Work], batch_tokens: int) -> Iterator[list[Work]]:
    """Yield batches of documents of like length; one that is finished leaves and the next takes its place."""
    waiting = sorted((w for w in work if w.plan), key=lambda w: (w.length, len(w.plan)))
    active: list[Work] = []
    while waiting or active:
        active = [w for w in active if w.plan]
        while (
            waiting
            and (len(active) + 1) * max([waiting[-1].length, *(w.length for w in active)]) <= batch_tokens
        ):
            active.append(waiting.pop())
        if waiting and not active:
            active.append(waiting.pop())
        if active:
            yield active


def _hide(row: Row, numbers, mask_id: int) -> None:
    for number in numbers:
        row.ids[row.slots[number]] = mask_id
