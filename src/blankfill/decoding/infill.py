"""How a causal model fills with both sides visible: it reads the text with masks, then answers at masks behind it."""

from functools import partial

import numpy as np
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..errors import BlankfillError
from ..networks.evaluation import in_evaluation_mode
from ..networks.layouts import lay_out_answers
from ..slots.ledger import Ledger
from ..slots.rows import TokenRow
from ..slots.sampling import GREEDY, Sampling
from ..text import BlankedText, FilledText
from .causal import Plan, Procedure, check_positions, fill_by_walking
from .walks import Walk


@in_evaluation_mode
def fill_infill(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    length: str = "known",
    max_length: int = 4,
    sampling: Sampling = GREEDY,
    batch_tokens: int = 32768,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks with a causal model trained with objective `infill`, which sees both sides of each blank.

    A blank is marked by as many masks as its original has tokens. Behind the text, each token is predicted at one more
    mask, at its own position, and then read there, so it sees the answers before. length `one` and `free` are those of
    `fill_causal`, with one mask per blank; a longer answer is asked for at more masks, at the positions of the text that
    follows, and the one at which a blank ended stays.

    Raises BlankfillError for a model or tokenizer that cannot do this, and for a text that does not fit the model.
    """
    plan = plan_infill(model, tokenizer)
    procedure = Procedure(plan, length, max_length, sampling, batch_tokens)
    return fill_by_walking(model, tokenizer, blanked, procedure)


def plan_infill(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> Plan:
    """Return how to read a row as laid out by objective `infill`; BlankfillError for a model or tokenizer that cannot."""
    if tokenizer.mask_token_id is None:
        raise BlankfillError(
            "infilling needs a tokenizer with a mask: train a model with objective=infill, or fill from the left context"
        )
    check_positions(model, "infilling")
    return partial(read_answers, mask_id=tokenizer.mask_token_id)


def read_answers(row: TokenRow, mask_id: int) -> Walk:
    """Plan to read a masked text, and then each slot as a mask and as what was written (see `lay_out_answers`)."""
    row.mask(mask_id)
    sources, is_mask = (numbers[:-1] for numbers in lay_out_answers(row.slots))
    writes = [len(row.ids) + place + 1 for place in np.flatnonzero(is_mask).tolist()]
    positions = [*range(len(row.ids)), *sources.tolist()]
    return Walk(row, row.ids + [mask_id] * len(sources), positions, writes)
