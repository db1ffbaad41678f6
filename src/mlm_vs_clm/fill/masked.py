"""How a masked model writes: passes over the text, some slots filled in each."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, partial

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..blanks import BlankedText, FilledText, put_together
from ..draws import keyed_rng
from ..errors import StudyError
from ..hardware import MEMORY
from ..models.kernels.attention import as_filling
from ..models.kernels.trimming import states_at, trim_sizes
from ..models.sizes import count_parameters, forward_flops, output_layer, position_limit
from .axes import check_masked, check_values
from .ledger import Ledger
from .lengths import LENGTHS
from .orders import ORDERS, PLANS, Order, Pace, Planned
from .rows import Row, to_rows
from .sampling import Sampling
from .vocabulary import Speller, slot_bias

RUNWAY = (
    8  # masks after the slot of context `left`: a text that ends at once looks like the end of a sentence
)
HEAD_ROWS = 256  # positions through the output layer at a time


@dataclass
class Work:
    """A document on its way: its sub-words, what is filled next, and how often each slot was filled before."""

    row: Row
    order: Order
    context: str = "both"
    visits: dict[int, int] = field(default_factory=dict)

    def view(self, mask_id: int, room: int | None) -> list[int]:
        """Return the sub-words that the model sees in the next pass."""
        if self.context != "left":
            return self.row.ids
        end = self.row.slots[self.order.look()[0]] + 1
        return (self.row.ids[:end] + [mask_id] * RUNWAY)[:room]

    def key(self, slot: int) -> tuple:
        """Return the name of the next draw for a slot: the document, the slot, and which time it is after the first."""
        visit = self.visits.get(slot, 0)
        self.visits[slot] = visit + 1
        return (self.row.id, slot, visit) if visit else (self.row.id, slot)


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
    sampling: Sampling | None = None,
    seed: int = 0,
    batch_tokens: int = 4096,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks with a masked model; orders and their pace (`per_pass` to `schedule`) are those of `orders`.

    context `both`: every blank is hidden before the first pass and `per_pass` sub-words are filled in each.
    context `leaky`: `per_pass` whole words are hidden at a time while the originals still to be replaced stay
    in sight, which is the published procedure at 1.
    context `left`: from left to right, one sub-word a pass; the text is cut off after the slot, whatever stood
    there, and ends in eight masks in place of it, the same for every document.
    length: see `lengths`; `free` tries 1 to `max_length` sub-words a blank.
    Raises StudyError for settings that do not go together and for a text that does not fit the model.
    """
    pace = Pace(per_pass, passes, threshold, entropy_bound, sweeps, schedule)
    sampling = sampling or Sampling(seed=seed)
    check_values("masked", {"context": context, "order": order, "length": length, "max_length": max_length})
    check_masked(context, order, length, pace, sampling.temperature)
    if tokenizer.mask_token_id is None:
        raise StudyError("this tokenizer has no mask token: a masked arm needs a masked checkpoint")
    ledger = Ledger(documents=len(blanked), blanks=sum(len(text.blanks) for text in blanked))
    filler = _Filler(model, tokenizer, sampling, ledger, batch_tokens)
    with as_filling(model):
        rows = filler.tokenize(blanked, filler.choose_lengths(blanked, length, max_length))
        if context != "leaky":
            for row in rows:
                _hide(row, range(len(row.slots)), tokenizer.mask_token_id)
        filler.fill([Work(row, PLANNERS[context](row, order, pace, seed), context) for row in rows])
    spell = Speller(tokenizer)
    return [
        put_together(text, spell.fills(row, len(text.blanks)))
        for text, row in zip(blanked, rows, strict=True)
    ], ledger


def plan_slots(row: Row, order: str, pace: Pace, seed: int) -> Order:
    """Return the order of the slots, one sub-word at a time."""
    return ORDERS[order](len(row.slots), pace, keyed_rng(seed, "order", row.id))


def plan_words(row: Row, order: str, pace: Pace, seed: int) -> Order:
    """Return the order of the slots, one word at a time."""
    n_blanks = row.blank_of[-1] + 1 if row.blank_of else 0
    plan = PLANS[order](n_blanks, pace, keyed_rng(seed, "order", row.id))
    return Planned([[slot for blank in blanks for slot in row.slots_of(blank)] for blanks in plan])


PLANNERS = {"both": plan_slots, "leaky": plan_words, "left": plan_slots}


class _Filler:
    """The model, what may stand where, and the account of what was spent."""

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        sampling: Sampling,
        ledger: Ledger,
        batch_tokens: int,
    ):
        self.model, self.tokenizer, self.sampling, self.ledger = model, tokenizer, sampling, ledger
        self.mask_id, self.pad_id = tokenizer.mask_token_id, tokenizer.pad_token_id
        self.room, self.batch_tokens = position_limit(model), batch_tokens
        self.sizes_for = cache(partial(trim_sizes, model, count_parameters(model)))
        self.bias = slot_bias(tokenizer, model.config.vocab_size).to(model.device)

    def tokenize(self, blanked: list[BlankedText], lengths: list[list[int]] | None) -> list[Row]:
        """Return the texts as sub-words, with slots for their blanks."""
        return to_rows(blanked, self.tokenizer, self.room, lengths)

    def choose_lengths(self, blanked: list[BlankedText], length: str, most: int) -> list[list[int]] | None:
        """Return how many sub-words each blank gets."""
        return LENGTHS[length](blanked, self.tokenize, self._best_chances, self.room, most)

    def fill(self, work: list[Work]) -> None:
        """Go through the documents in rounds of one pass each, until none has anything to fill."""
        while work := [one for one in work if one.order.look()]:
            views = [one.view(self.mask_id, self.room) for one in work]
            for batch in _batches([len(view) for view in views], self.batch_tokens):
                self._fill_one_pass([work[i] for i in batch])
                MEMORY.look()

    @torch.inference_mode()
    def _fill_one_pass(self, batch: list[Work]) -> None:
        """Fill the next slots of every document of the batch."""
        looked = [(i, slot) for i, work in enumerate(batch) for slot in work.order.look()]
        for i, slot in looked:
            _hide(batch[i].row, [slot], self.mask_id)
        views = [work.view(self.mask_id, self.room) for work in batch]
        rows = [work.row for work in batch]
        logits = self._logits(rows, views, looked)
        for part, bias in self._legal(rows, looked, logits):
            part += bias
        kept = self._keep(batch, looked, logits)
        if len(kept) < len(looked):
            logits = logits[kept]
        filled = [looked[n] for n in kept]
        tokens = self.sampling(logits, [batch[i].key(slot) for i, slot in filled])
        for (i, slot), token in zip(filled, tokens, strict=True):
            batch[i].row.ids[batch[i].row.slots[slot]] = token
        self._note(batch, filled, logits, tokens)
        self.ledger.tokens_filled += len(filled)

    def _logits(self, rows: list[Row], views: list[list[int]], looked: list[tuple[int, int]]) -> torch.Tensor:
        """Return float32 logits (n, vocabulary) of slots (row, slot) in one pass over what each row shows."""
        ids, seen = self._stack(views)
        places: list[list[int]] = [[] for _ in rows]
        for i, slot in looked:
            places[i].append(rows[i].slots[slot])
        states = states_at(self.model, ids, seen, places)
        self._count(views, places)
        head = output_layer(self.model)
        logits = torch.empty(len(states), self.model.config.vocab_size, device=states.device)
        for room, part in zip(logits.split(HEAD_ROWS), states.split(HEAD_ROWS), strict=True):
            room.copy_(head(part))
        return logits

    def _legal(self, rows: list[Row], looked: list[tuple[int, int]], logits: torch.Tensor):
        """Yield stretches of the logits, each with what bars the sub-words that may not stand in its slots."""
        kinds = torch.tensor([rows[i].kinds[slot] for i, slot in looked], device=logits.device)
        for part, kind in zip(logits.split(HEAD_ROWS), kinds.split(HEAD_ROWS), strict=True):
            yield part, self.bias[kind]

    def _stack(self, views: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return padded ids (batch, length), and where they are no padding (None: everywhere)."""
        longest = max(len(view) for view in views)
        padded = [view + [self.pad_id] * (longest - len(view)) for view in views]
        ids = torch.tensor(padded, device=self.model.device)
        lengths = torch.tensor([len(view) for view in views], device=self.model.device)
        seen = torch.arange(longest, device=self.model.device) < lengths[:, None]
        return ids, None if all(len(view) == longest for view in views) else seen

    def _keep(self, batch: list[Work], looked: list[tuple[int, int]], logits: torch.Tensor) -> list[int]:
        """Return which of the slots looked at are filled now (places in `looked`)."""
        judge, values = batch[0].order.judge, []
        if judge:
            values = torch.cat([judge(part) for part in logits.split(HEAD_ROWS)]).tolist()
        number = {pair: n for n, pair in enumerate(looked)}
        kept, done = [], 0
        for i, work in enumerate(batch):
            n = len(work.order.look())
            kept += [number[i, slot] for slot in work.order.keep(values[done : done + n])]
            done += n
        return kept

    def _note(
        self, batch: list[Work], filled: list[tuple[int, int]], logits: torch.Tensor, tokens: list[int]
    ):
        """Tell an order that re-masks how likely each sub-word was."""
        if not batch[0].order.needs_chances:
            return
        chosen = torch.tensor(tokens, device=logits.device)[:, None]
        parts = zip(logits.split(HEAD_ROWS), chosen.split(HEAD_ROWS), strict=True)
        chances = torch.cat([part.softmax(-1).gather(1, ids) for part, ids in parts])[:, 0].tolist()
        for (i, slot), chance in zip(filled, chances, strict=True):
            batch[i].order.note([slot], [chance])

    @torch.inference_mode()
    def _best_chances(self, rows: list[Row]) -> list[list[float]]:
        """Return, for every slot of every row with all slots hidden, the log-probability of the best legal sub-word."""
        for row in rows:
            _hide(row, range(len(row.slots)), self.mask_id)
        found: list[list[float]] = [[] for _ in rows]
        for batch in _batches([len(row.ids) for row in rows], self.batch_tokens):
            members = [rows[i] for i in batch]
            looked = [(i, slot) for i, row in enumerate(members) for slot in range(len(row.slots))]
            logits = self._logits(members, [row.ids for row in members], looked)
            legal = self._legal(members, looked, logits)
            best = torch.cat([(part.log_softmax(-1) + bias).amax(-1) for part, bias in legal]).tolist()
            for (i, _), value in zip(looked, best, strict=True):
                found[batch[i]].append(value)
        return found

    def _count(self, views: list[list[int]], places: list[list[int]]) -> None:
        """Count one pass of each document, as if it were alone, so that the batch has no say in it."""
        for view, slots in zip(views, places, strict=True):
            self.ledger.passes += 1
            self.ledger.token_forwards += len(view)
            self.ledger.flops += forward_flops(self.sizes_for(len(slots)), len(view), len(slots))


def _batches(lengths: list[int], batch_tokens: int) -> Iterator[list[int]]:
    """Yield the numbers of texts of like length together, longest first, at most `batch_tokens` with padding."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if batch and (len(batch) + 1) * lengths[batch[0]] > batch_tokens:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _hide(row: Row, numbers, mask_id: int) -> None:
    for number in numbers:
        row.ids[row.slots[number]] = mask_id
