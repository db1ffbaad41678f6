"""How likely a model finds the original fills: exactly, in the order in which it fills, or each token masked alone."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .axes import check_together, check_values, why_no_likelihood
from .decoding.at_once import read_at_once
from .decoding.batches import batch_by_size
from .decoding.causal import CONTEXTS, Plan
from .decoding.infill import plan_infill
from .decoding.masked import MaskedPasses
from .decoding.masked_left import plan_masked_left
from .decoding.product import Product
from .decoding.walking import walk
from .decoding.walks import Walk
from .errors import BlankfillError
from .memory import MEMORY
from .networks.evaluation import evaluating, in_evaluation_mode
from .networks.sizes import HEAD_ROWS, position_limit
from .slots.ledger import Ledger
from .slots.rows import TokenRow, to_rows
from .slots.sampling import GREEDY, Key
from .slots.vocabulary import check_finite
from .text import BlankedText, DocumentError

BATCH_TOKENS = {"masked": 4096, "causal": 32768, "infill": 32768, "masked_left": 32768}
WEIGHTS = tuple(n / 10 for n in range(11))  # of the causal model, from which `measure_weights` chooses


@dataclass(frozen=True)
class Likelihood:
    """Minus the log-likelihood (nats) of the original fills of a document, and their characters and tokens."""

    id: str
    nats: float
    characters: int
    tokens: int

    @property
    def nats_per_character(self) -> float:
        """Return the nats over the characters, which models of one case share whatever their tokenizer; not-a-number where there are none."""
        return self.nats / self.characters if self.characters else math.nan


def measure_likelihood(
    writer: str,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    axes: Mapping[str, Any],
    seed: int,
    blanked: list[BlankedText],
    batch_tokens: int | None = None,
) -> list[Likelihood]:
    """Return the likelihood of the originals of each text, for a writer (a key of FILLERS) with these axes; see `score`."""
    refuse_no_likelihood(writer, axes)
    check_values(writer, axes)
    check_together(writer, axes, temperature=0.0)
    second = axes.get("second")
    with evaluating(model, second):
        if writer == "product":
            product = Product(model, axes["second"], tokenizer, batch_tokens=batch_tokens)
            return _follow_product(product, blanked, [axes.get("weight", 0.5)])[0]
        rows = to_rows(blanked, tokenizer, position_limit(model))
        truth, n = Truth(rows), batch_tokens or BATCH_TOKENS[writer]
        if writer == "masked":
            follower = _Follower(model, tokenizer, truth, Ledger.of(blanked), n)
            with follower.reading.prepared():
                follower.fill(follower.plan(rows, blanked, axes, seed))
        else:
            plan = choose_plan(writer, model, tokenizer, axes)
            walks = [plan(row) for row in rows if row.slots]
            read_at_once(model, walks, truth.tokens, truth.look, n)
    return truth.likelihoods(blanked)


def choose_plan(
    writer: str, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, axes: Mapping[str, Any]
) -> Plan:
    """Return how a causal model reads a row under a writer; BlankfillError for a model or tokenizer that cannot."""
    own = {"infill": plan_infill, "masked_left": plan_masked_left}
    return own[writer](model, tokenizer) if writer in own else CONTEXTS[axes.get("context", "left")]


def refuse_no_likelihood(writer: str, axes: Mapping[str, Any]) -> None:
    """Raise BlankfillError for a way of filling whose fills have no probability that can be computed."""
    if reason := why_no_likelihood({"writer": writer, **axes}):
        raise BlankfillError(f"no likelihood: {reason}")


@in_evaluation_mode
def measure_weights(
    model: PreTrainedModel,
    second: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
) -> dict[float, float]:
    """Return the nats per character of the originals by the weight of a product (`fill_product`), for each of WEIGHTS.

    Both models read the texts once. Raises BlankfillError where the texts have no blanks.
    """
    by_weight = _follow_product(Product(model, second, tokenizer), blanked, WEIGHTS)
    characters = sum(likelihood.characters for likelihood in by_weight[0])
    if not characters:
        raise BlankfillError("no document has a blank, so no weight can be chosen: give a number from 0 to 1")
    return {
        weight: sum(likelihood.nats for likelihood in likelihoods) / characters
        for weight, likelihoods in zip(WEIGHTS, by_weight, strict=True)
    }


def _follow_product(
    product: Product, blanked: list[BlankedText], weights: Sequence[float]
) -> list[list[Likelihood]]:
    """Return the likelihood of the originals of each text, for each weight of a product."""
    passes = product.passes
    rows = to_rows(blanked, passes.tokenizer, passes.max_positions)
    truths = [Truth(rows) for _ in weights]

    def write(here: list[Walk], logits: torch.Tensor) -> None:
        masked = product.logits(here)
        for weight, truth in zip(weights, truths, strict=True):
            truth.look_at(here, masked.lerp(logits, weight))
        truths[0].follow(here)

    with product.passes.reading.prepared():
        walks = [product.plan(row) for row in rows if row.slots]
        walk(product.causal, walks, write, product.batch_tokens)
    return [truth.likelihoods(blanked) for truth in truths]


class Truth:
    """The original tokens of the slots by document, and the log-probability `found` for each."""

    def __init__(self, rows: list[TokenRow]):
        self.tokens = {row.id: [row.ids[place] for place in row.slots] for row in rows}
        self.found = {row.id: [0.0] * len(row.slots) for row in rows}

    def look(self, rows: list[TokenRow], slots: list[int], logits: torch.Tensor) -> None:
        """Note how likely the original token of each row's slot is by its logits (n, vocabulary)."""
        check_finite(logits, [row.id for row in rows])
        tokens = [self.tokens[row.id][slot] for row, slot in zip(rows, slots, strict=True)]
        ids = torch.tensor(tokens, device=logits.device)
        chunks = zip(logits.split(HEAD_ROWS), ids.split(HEAD_ROWS), strict=True)
        values = [-cross_entropy(chunk, of, reduction="none") for chunk, of in chunks]
        for row, slot, value in zip(rows, slots, torch.cat(values).tolist(), strict=True):
            self.found[row.id][slot] = value

    def choose(self, logits: torch.Tensor, keys: Sequence[Key]) -> list[int]:
        """Return the original token for each key (document, slot) of a masked model."""
        return [self.tokens[str(id)][int(slot)] for id, slot in keys]

    def look_at(self, here: list[Walk], logits: torch.Tensor) -> None:
        """Note how likely the original token of each walk's next slot is by its logits (n, vocabulary)."""
        self.look([document.row for document in here], [document.n_written for document in here], logits)

    def follow(self, here: list[Walk]) -> None:
        """Write the original where a causal model would choose."""
        for document in here:
            document.write(self.tokens[document.row.id][document.n_written])

    def likelihoods(self, blanked: list[BlankedText]) -> list[Likelihood]:
        """Return the likelihood of the originals of each text, from what was noted."""
        nats = {id: -sum(values) for id, values in self.found.items()}
        for id, value in nats.items():
            if not math.isfinite(value):
                raise DocumentError(
                    id, "the likelihood of its originals is not finite: the weights of the model are damaged"
                )
        sizes = [sum(map(len, text.originals())) for text in blanked]
        return [
            Likelihood(text.id, nats[text.id], size, len(self.tokens[text.id]))
            for text, size in zip(blanked, sizes, strict=True)
        ]


class _Follower(MaskedPasses):
    """Fills with the original tokens, and notes the logits of each slot; the last ones are those it is filled by."""

    def __init__(self, model, tokenizer, truth: Truth, ledger: Ledger, batch_tokens: int):
        super().__init__(model, tokenizer, truth.choose, ledger, batch_tokens)
        self.truth = truth

    def logits(self, rows, views, slots):
        logits = super().logits(rows, views, slots)
        self.truth.look([rows[i] for i, _ in slots], [slot for _, slot in slots], logits)
        return logits


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
