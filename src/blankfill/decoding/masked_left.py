"""How a model trained with objective `mlm_left` fills: at a mask in the place of each token, from the left side alone."""

from functools import partial

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..axes import check_values
from ..errors import BlankfillError
from ..networks.evaluation import in_evaluation_mode
from ..networks.layouts import lay_out_masks
from ..slots.ledger import Ledger
from ..slots.rows import TokenRow
from ..slots.sampling import GREEDY, Sampling
from ..text import BlankedText, FilledText
from .causal import Plan, Procedure, check_positions, fill_by_walking
from .walks import Walk


@in_evaluation_mode
def fill_masked_left(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    length: str = "known",
    sampling: Sampling = GREEDY,
    batch_tokens: int = 32768,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks from left to right with a model trained with objective `mlm_left`, with a key-value cache.

    Each token of a blank is predicted at a mask, from what stands to the left of it, and is then read in its place.
    length `known`: a blank gets as many tokens as its original; `one`: one. Raises BlankfillError for another length, a
    model without position_ids, a tokenizer without a mask, and a text that does not fit the model.
    """
    check_values("masked_left", {"length": length})
    plan = plan_masked_left(model, tokenizer)
    return fill_by_walking(model, tokenizer, blanked, Procedure(plan, length, 1, sampling, batch_tokens))


def plan_masked_left(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Plan:
    """Return how to read a row as laid out by objective `mlm_left`; BlankfillError for a model or tokenizer that cannot."""
    if tokenizer.mask_token_id is None:
        raise BlankfillError(
            "context masked_left needs a tokenizer with a mask token: train a model with objective=mlm_left, "
            "or fill with context left"
        )
    check_positions(model, "context masked_left")
    return partial(read_with_masks, mask_id=tokenizer.mask_token_id)


def read_with_masks(row: TokenRow, mask_id: int) -> Walk:
    """Plan to read a text up to its last slot, with a mask before each slot (see `lay_out_masks`)."""
    is_slot = np.isin(np.arange(row.slots[-1] + 1), row.slots)
    sources, is_mask = (numbers[:-1].tolist() for numbers in lay_out_masks(is_slot))
    ids = [mask_id if hidden else row.ids[source] for source, hidden in zip(sources, is_mask, strict=True)]
    writes = [place + 1 for place, hidden in enumerate(is_mask) if hidden]
    return Walk(row, ids, sources, writes)
