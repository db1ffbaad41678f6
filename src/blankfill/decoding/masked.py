"""How a masked model fills blanks: in passes over the text, some slots in each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..axes import check_together, check_values
from ..draws import keyed_rng
from ..errors import BlankfillError
from ..memory import MEMORY
from ..networks.evaluation import in_evaluation_mode
from ..networks.layouts import RUNWAY
from ..networks.reading import Reading
from ..networks.sizes import HEAD_ROWS, count_parameters, forward_flops, position_limit, vocabulary_size
from ..networks.trimming import trim_sizes
from ..slots.ledger import Ledger
from ..slots.orders import PLANS, Order, Pace, Planned, make_order
from ..slots.rows import Lengths, TokenRow, to_rows
from ..slots.sampling import GREEDY, Key, Sampling
from ..slots.vocabulary import Speller, check_finite, slot_bias
from ..text import BlankedText, FilledText
from .batches import batch_by_size
from .right_side import RightSides, list_right_sides

Slots = list[tuple[int, int]]  # (document of the batch, slot)


@dataclass
class Work:
    """A document being filled: its tokens, its order, and how often each slot was filled before."""

    row: TokenRow
    order: Order
    right_sides: RightSides | None = None  # None: all of the text is seen
    visits: dict[int, int] = field(default_factory=dict)
    n_passes: int = 0

    def key(self, slot: int) -> Key:
        """Return the key of the next draw for a slot: the document, the slot, and the visit after the first."""
        visit = self.visits.get(slot, 0)
        self.visits[slot] = visit + 1
        return (self.row.id, slot, visit) if visit else (self.row.id, slot)


@in_evaluation_mode
def fill_masked(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    context: str = "both",
    length: str = "known",
    order: str = "random",
    per_pass: int = 1,
    passes: int = 0,
    threshold: float = 0.0,
    entropy_bound: float = 0.0,
    sweeps: int = 1,
    schedule: str = "equal",
    max_length: int = 4,
    right_words: int = -1,
    sampling: Sampling = GREEDY,
    batch_tokens: int = 4096,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks with a masked model.

    - context `both`: every blank is masked before the first pass, and `per_pass` tokens are filled in each.
    - context `leaky`: `per_pass` whole words are masked at a time while the originals still to be replaced stay visible,
      which is the published procedure at 1.
    - context `left`: from left to right, one token per pass; the text is cut off after the slot, whatever followed it,
      and ends in eight masks, the same for every document.
    - right_words: with context `both`, from left to right, one token per pass, the text is cut off so many words behind
      the blank and ends in eight masks; 0 is context `left`, -1 is all of the text.
    - length: `known`, `one`, or `free`, which tries 1 to `max_length` tokens per blank.
    - order, and its pace from `per_pass` to `schedule`: see `FillConfig`. Order random is drawn by the seed of the sampling.

    Raises BlankfillError for settings that do not go together and for a text that does not fit the model.
    """
    pace = Pace(per_pass, passes, threshold, entropy_bound, sweeps, schedule)
    axes = {"context": context, "order": order, "length": length, "max_length": max_length}
    axes |= {"right_words": right_words, **vars(pace)}
    check_values("masked", axes)
    check_together("masked", axes, sampling.temperature)
    ledger = Ledger.of(blanked)
    filler = MaskedPasses(model, tokenizer, sampling, ledger, batch_tokens)
    with filler.reading.prepared():
        rows = filler.tokenize(blanked, filler.choose_lengths(length, blanked, max_length))
        filler.fill(filler.plan(rows, blanked, axes, sampling.seed))
    return Speller(tokenizer).assemble(blanked, rows), ledger


def plan_slots(row: TokenRow, order: str, pace: Pace, seed: int) -> Order:
    """Return the order of the slots, one token at a time."""
    return make_order(order, len(row.slots), pace, keyed_rng(seed, "order", row.id))


def plan_words(row: TokenRow, order: str, pace: Pace, seed: int) -> Order:
    """Return the order of the slots, one word at a time."""
    n_blanks = row.blank_of[-1] + 1 if row.blank_of else 0
    plan = PLANS[order](n_blanks, pace, keyed_rng(seed, "order", row.id))
    return Planned([[slot for blank in blanks for slot in row.slots_of(blank)] for blanks in plan])


class MaskedPasses:
    """The model, which tokens may fill which slots, and the ledger; BlankfillError for a tokenizer without a mask."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        sampling: Callable[[torch.Tensor, Sequence[Key]], list[int]],
        ledger: Ledger,
        batch_tokens: int,
    ):
        if tokenizer.mask_token_id is None:
            raise BlankfillError("this tokenizer has no mask token, which a masked model reads in each blank")
        self.model, self.tokenizer, self.sampling, self.ledger = model, tokenizer, sampling, ledger
        self.mask_id = tokenizer.mask_token_id
        self.reading = Reading(model, self.mask_id, tokenizer.pad_token_id)
        self.max_positions, self.batch_tokens = position_limit(model), batch_tokens
        self.sizes_for = cache(partial(trim_sizes, model, count_parameters(model)))
        self.bias = slot_bias(tokenizer, vocabulary_size(model)).to(model.device)

    def tokenize(self, blanked: list[BlankedText], lengths: Lengths | None) -> list[TokenRow]:
        """Return the texts as tokens, with slots for their blanks."""
        return to_rows(blanked, self.tokenizer, self.max_positions, lengths)

    def choose_lengths(self, length: str, blanked: list[BlankedText], max_length: int) -> Lengths | None:
        """Return the number of tokens of each blank; None for `known`, as tokenization counts the original's.

        `free` gives each blank the length, from 1 to `max_length`, whose best tokens have the highest mean
        log-probability. Every length costs one pass in which all blanks of a document have it; ties go to the shorter.
        A length at which the document would exceed the model's positions is not tried.
        """
        if length == "known":
            return None
        lengths = [[1] * len(text.blanks) for text in blanked]
        if length == "one":
            return lengths
        shortest = [len(row.ids) for row in self.tokenize(blanked, lengths)]
        best = [np.full(len(text.blanks), -np.inf) for text in blanked]
        for tried in range(1, max_length + 1):
            fits = [
                i
                for i, text in enumerate(blanked)
                if text.blanks
                and shortest[i] + (tried - 1) * len(text.blanks) <= (self.max_positions or np.inf)
            ]
            rows = self.tokenize([blanked[i] for i in fits], [[tried] * len(blanked[i].blanks) for i in fits])
            for i, values in zip(fits, self.best_log_probabilities(rows), strict=True):
                means = np.reshape(values, (len(blanked[i].blanks), tried)).mean(1).round(6)
                is_better = means > best[i]
                lengths[i] = np.where(is_better, tried, lengths[i]).tolist()
                best[i] = np.maximum(means, best[i])
        return lengths

    def plan(
        self, rows: list[TokenRow], blanked: list[BlankedText], settings: Mapping[str, Any], seed: int
    ) -> list[Work]:
        """Return the documents to be filled under settings by name; every blank is masked unless the context is `leaky`."""
        context, order = settings.get("context", "both"), settings.get("order", "random")
        right_words = settings.get("right_words", -1)
        sees_all = context != "left" and right_words < 0
        n_words = 0 if context == "left" else right_words
        pace, plan_order = Pace.of(settings), plan_words if context == "leaky" else plan_slots
        work = []
        for row, text in zip(rows, blanked, strict=True):
            if context != "leaky":
                row.mask(self.mask_id)
            sides = None if sees_all else list_right_sides(text, row, self.tokenizer, n_words)
            work.append(Work(row, plan_order(row, order, pace, seed), sides))
        return work

    def view(self, work: Work) -> list[int]:
        """Return the tokens of a document that the model reads in the next pass."""
        row = work.row
        if work.right_sides is None:
            return row.ids
        slot = work.order.candidates()[0]
        blank = row.blank_of[slot]
        behind = work.right_sides[blank]
        end = row.slots[row.slots_of(blank)[-1] if behind else slot] + 1
        return (row.ids[:end] + behind + [self.mask_id] * RUNWAY)[: self.max_positions]

    def fill(self, work: list[Work]) -> None:
        """Fill the documents in rounds of one pass each, until none has a slot left."""
        while work := [document for document in work if document.order.candidates()]:
            sizes = [len(self.view(document)) for document in work]
            for batch in batch_by_size(range(len(work)), sizes.__getitem__, self.batch_tokens):
                self._fill_one_pass([work[i] for i in batch])
                MEMORY.release_if_grown()

    @torch.inference_mode()
    def _fill_one_pass(self, batch: list[Work]) -> None:
        """Fill the next slots of every document of the batch."""
        candidates = [(i, slot) for i, work in enumerate(batch) for slot in work.order.candidates()]
        for i, slot in candidates:
            batch[i].row.mask(self.mask_id, [slot])
        views = [self.view(work) for work in batch]
        rows = [work.row for work in batch]
        logits = self.logits(rows, views, candidates)
        for chunk, bias in self._legal(rows, candidates, logits):
            chunk += bias  # changes `logits`, of which it is a view
        check_finite(logits, [rows[i].id for i, _ in candidates])
        accepted = self._accept(batch, logits)
        if len(accepted) < len(candidates):
            logits = logits[accepted]
        filled = [candidates[n] for n in accepted]
        tokens = self.sampling(logits, [batch[i].key(slot) for i, slot in filled])
        for (i, slot), token in zip(filled, tokens, strict=True):
            batch[i].row.write(slot, token, batch[i].n_passes)
        for work in batch:
            work.n_passes += 1
        self._record(batch, filled, logits, tokens)
        self.ledger.tokens_filled += len(filled)

    def logits(self, rows: list[TokenRow], views: list[list[int]], slots: Slots) -> torch.Tensor:
        """Return float32 logits (n, vocabulary) of n slots in one pass over what each document shows."""
        places: list[list[int]] = [[] for _ in rows]
        for i, slot in slots:
            places[i].append(rows[i].slots[slot])
        self._count(views, places)
        return self.reading(views, places)

    def _legal(
        self, rows: list[TokenRow], slots: Slots, logits: torch.Tensor
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield parts of the logits, views of them, each with the bias that bars the tokens which may not fill its slots."""
        kinds = torch.tensor([rows[i].kinds[slot] for i, slot in slots], device=logits.device)
        for chunk, kind in zip(logits.split(HEAD_ROWS), kinds.split(HEAD_ROWS), strict=True):
            yield chunk, self.bias[kind]

    def _accept(self, batch: list[Work], logits: torch.Tensor) -> list[int]:
        """Return which candidates, listed document by document, are filled now (indices)."""
        score_slots, scores = batch[0].order.score_slots, []  # one kind of order serves all documents
        if score_slots:
            scores = torch.cat([score_slots(chunk) for chunk in logits.split(HEAD_ROWS)]).tolist()
        accepted, start = [], 0
        for work in batch:
            slots = work.order.candidates()
            index_of = {slot: index for index, slot in enumerate(slots, start)}
            accepted += [index_of[slot] for slot in work.order.accept(scores[start : start + len(slots)])]
            start += len(slots)
        return accepted

    def _record(self, batch: list[Work], filled: Slots, logits: torch.Tensor, tokens: list[int]) -> None:
        """Record for an order that masks slots again how likely each token was."""
        if not batch[0].order.needs_probabilities:  # one kind of order serves all documents
            return
        chosen = torch.tensor(tokens, device=logits.device)[:, None]
        chunks = zip(logits.split(HEAD_ROWS), chosen.split(HEAD_ROWS), strict=True)
        probabilities = torch.cat([chunk.softmax(-1).gather(1, ids) for chunk, ids in chunks])[:, 0].tolist()
        for (i, slot), probability in zip(filled, probabilities, strict=True):
            batch[i].order.record(slot, probability)

    @torch.inference_mode()
    def best_log_probabilities(self, rows: list[TokenRow]) -> list[list[float]]:
        """Return for every slot, with all slots masked, the log-probability of the best token that may fill it."""
        for row in rows:
            row.mask(self.mask_id)
        scores: list[list[float]] = [[] for _ in rows]
        for batch in batch_by_size(range(len(rows)), lambda i: len(rows[i].ids), self.batch_tokens):
            members = [rows[i] for i in batch]
            slots = [(i, slot) for i, row in enumerate(members) for slot in range(len(row.slots))]
            logits = self.logits(members, [row.ids for row in members], slots)
            check_finite(logits, [members[i].id for i, _ in slots])
            legal = self._legal(members, slots, logits)
            best = torch.cat([(chunk.log_softmax(-1) + bias).amax(-1) for chunk, bias in legal]).tolist()
            for (i, _), value in zip(slots, best, strict=True):
                scores[batch[i]].append(value)
        return scores

    def _count(self, views: list[list[int]], places: list[list[int]]) -> None:
        """Count one pass of each document as if it were alone, independently of the batch."""
        for view, slots in zip(views, places, strict=True):
            self.ledger.passes += 1
            self.ledger.token_forwards += len(view)
            self.ledger.flops += forward_flops(self.sizes_for(len(slots)), len(view), len(slots))
