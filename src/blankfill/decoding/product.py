"""How a masked and a causal model fill together, as a product of experts: from left to right, one token per pass."""

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..axes import check_values
from ..errors import BlankfillError
from ..networks.evaluation import in_evaluation_mode
from ..networks.sizes import position_limit, vocabulary_size
from ..slots.ledger import Ledger
from ..slots.rows import TokenRow
from ..slots.sampling import GREEDY, Sampling
from ..text import BlankedText, FilledText
from .batches import batch_by_size
from .causal import Procedure, fill_by_walking, read_kept
from .masked import MaskedPasses
from .walking import STEP
from .walks import Walk


@in_evaluation_mode
def fill_product(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    second: PreTrainedModel,
    weight: float = 0.5,
    length: str = "known",
    sampling: Sampling = GREEDY,
    batch_tokens: int | None = None,
) -> tuple[list[FilledText], Ledger]:
    """Fill each slot by (1 - weight) log p_masked + weight log p_causal, normalised over the vocabulary.

    The masked `model` reads both sides, with earlier fills written and later slots masked. The causal `second` reads the
    text before, with its fills. weight 0 is `fill_masked` in order left_to_right, weight 1 `fill_causal`. length is
    that of `fill_causal`, without `free`. The ledger adds up both models. batch_tokens is that of `fill_causal`; the masked
    model reads a 16th of it in a pass (None: 32,768 and 4,096).

    Raises BlankfillError for models that do not share a vocabulary and a number of positions, and what those two
    functions raise.
    """
    check_values("product", {"length": length, "weight": weight})
    product = Product(model, second, tokenizer, weight, batch_tokens)
    with product.passes.reading.prepared():
        procedure = Procedure(product.plan, length, 1, sampling, product.batch_tokens, product.mix)
        filled, ledger = fill_by_walking(second, tokenizer, blanked, procedure)
    return filled, ledger + product.ledger


class Product:
    """The masked model of a product with a causal one, whose share is `weight`; `ledger` counts its passes.

    `batch_tokens` are those of the causal model's walks (see `fill_product`).
    """

    def __init__(
        self,
        masked: PreTrainedModel,
        causal: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        weight: float = 0.5,
        batch_tokens: int | None = None,
    ):
        sizes = [(vocabulary_size(network), position_limit(network)) for network in (masked, causal)]
        if sizes[0] != sizes[1]:
            raise BlankfillError(
                f"a product needs models of one vocabulary and one number of positions, not {sizes[0]} and {sizes[1]}"
            )
        self.ledger, self.causal, self.weight = Ledger(), causal, weight
        self.batch_tokens = batch_tokens or 32768
        of_masked = max(1, batch_tokens // STEP) if batch_tokens else 4096
        self.passes = MaskedPasses(masked, tokenizer, GREEDY, self.ledger, of_masked)

    def plan(self, row: TokenRow) -> Walk:
        """Mask a row and plan how the causal model reads it."""
        row.mask(self.passes.mask_id)
        return read_kept(row)

    def mix(self, here: list[Walk], logits: torch.Tensor) -> torch.Tensor:
        """Return the product's logits from those of the causal model (n, vocabulary) at the next slot of each document."""
        return self.logits(here).lerp(logits, self.weight)

    def logits(self, here: list[Walk]) -> torch.Tensor:
        """Return the masked model's logits (n, vocabulary) at the next slot of each document."""
        rows = [document.row for document in here]
        answers = torch.empty(len(rows), vocabulary_size(self.passes.model), device=self.passes.model.device)
        for batch in batch_by_size(range(len(rows)), lambda i: len(rows[i].ids), self.passes.batch_tokens):
            slots = [(n, here[i].n_written) for n, i in enumerate(batch)]
            members = [rows[i] for i in batch]
            answers[batch] = self.passes.logits(members, [row.ids for row in members], slots)
        return answers
