"""How a causal model writes: forced through the kept words, choosing at the blanks, left context alone."""

from collections.abc import Callable

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..models import count_parameters, position_limit
from .blanks import BlankedText, FilledText, Row, put_together, to_rows
from .ledger import Ledger, forward_flops
from .sampling import Sampling
from .vocabulary import Speller, slot_bias
from .walking import Walk, walk


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
    sampling = sampling or Sampling(seed=seed)
    return fill_by_walking(model, tokenizer, blanked, read_kept, sampling, batch_tokens)


def read_kept(row: Row) -> Walk:
    """Plan to read a row up to its last slot, writing at each slot what comes next."""
    return Walk(row, row.ids[: row.slots[-1]], None, row.slots, len(row.slots))


def fill_by_walking(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    plan: Callable[[Row], Walk],
    sampling: Sampling,
    batch_tokens: int,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks of every document in one walk through what `plan` says is read of it."""
    rows = to_rows(blanked, tokenizer, position_limit(model))
    walks = [plan(row) for row in rows if row.slots]
    bias = slot_bias(tokenizer, model.config.vocab_size).to(model.device)

    def write(here: list[Walk], logits: torch.Tensor) -> None:
        logits += bias[[one.row.kinds[one.n_written] for one in here]]
        keys = [(one.row.id, one.n_written) for one in here]
        for one, token in zip(here, sampling(logits, keys), strict=True):
            one.write(token)

    walk(model, walks, write, tokenizer.pad_token_id, batch_tokens)
    spell = Speller(tokenizer)
    filled = [
        put_together(text, spell.fills(row, len(text.blanks)))
        for text, row in zip(blanked, rows, strict=True)
    ]
    return filled, _count(count_parameters(model), blanked, walks)


def _count(sizes: dict[str, int], blanked: list[BlankedText], walks: list[Walk]) -> Ledger:
    """Return what the documents cost: every sub-word read once, the output layer at the slots alone."""
    n_read, n_slots = sum(len(one.ids) for one in walks), sum(len(one.writes) for one in walks)
    return Ledger(
        documents=len(blanked),
        blanks=sum(len(text.blanks) for text in blanked),
        tokens_filled=n_slots,
        passes=sum(one.n_passes for one in walks),
        token_forwards=n_read,
        flops=forward_flops(sizes, n_read, n_slots),
    )
