"""Pseudo-log-likelihood under a masked model: each token is masked alone, and the rest of the text is in sight."""

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .decoding.batches import batch_by_size
from .decoding.masked import MaskedPasses
from .likelihood import Likelihood, Truth
from .memory import MEMORY
from .networks.evaluation import in_evaluation_mode
from .networks.sizes import position_limit
from .slots.ledger import Ledger
from .slots.rows import to_rows
from .slots.sampling import GREEDY
from .text import BlankedText


@in_evaluation_mode
@torch.inference_mode()
def measure_pseudo_likelihood(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, blanked: list[BlankedText], batch_tokens: int
) -> list[Likelihood]:
    """Return minus the pseudo-log-likelihood (nats) of the originals of each text (Salazar et al. 2020).

    One pass of a document for each of its tokens, `batch_tokens` tokens at a time, so that memory does not grow with
    the texts. It is no likelihood: it sums to no probability over texts. Raises BlankfillError for a tokenizer without
    a mask, and DocumentError for a text that does not fit the model.
    """
    passes = MaskedPasses(model, tokenizer, GREEDY, Ledger.of(blanked), batch_tokens)
    rows = to_rows(blanked, tokenizer, position_limit(model))
    truth = Truth(rows)
    pairs = [(i, slot) for i, row in enumerate(rows) for slot in range(len(row.slots))]
    with passes.reading.prepared():
        for batch in batch_by_size(pairs, lambda pair: len(rows[pair[0]].ids), batch_tokens):
            members, slots = [rows[i] for i, _ in batch], [slot for _, slot in batch]
            views = [[*row.ids] for row in members]
            for view, row, slot in zip(views, members, slots, strict=True):
                view[row.slots[slot]] = passes.mask_id
            truth.look(members, slots, passes.logits(members, views, [*enumerate(slots)]))
            MEMORY.release_if_grown()
    return truth.likelihoods(blanked)
