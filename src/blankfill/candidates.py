"""The likeliest fills of several blanks together: a beam search in the order of filling, with exact log-probabilities."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from .decoding.batches import batch_by_size
from .decoding.causal import to_open_rows
from .decoding.masked import MaskedPasses, Work
from .decoding.product import Product
from .decoding.walking import walk
from .decoding.walks import Walk
from .errors import BlankfillError
from .likelihood import choose_plan
from .networks.sizes import HEAD_ROWS, position_limit, vocabulary_size
from .slots.ledger import Ledger
from .slots.orders import Order
from .slots.ranges import RANGES
from .slots.rows import TokenRow, to_rows
from .slots.sampling import GREEDY, in_reach_of_float64
from .slots.utf8 import HALF
from .slots.vocabulary import Speller, check_finite, slot_bias
from .text import BlankedText, assemble_text
from .windows import Windows
from .writers import Way

FACTOR = 4  # a beam is by default so many times wider than the candidates that are asked for
NARROWEST = 16


@dataclass(frozen=True)
class Candidate:
    """One way to fill all blanks of a text.

    words: the fill of each blank; tokens: its tokens. log_probability: of all tokens together, natural logarithm, by a
    softmax over the whole vocabulary in the order of filling; it is what `score` says of the same tokens, with the
    sign turned.
    """

    text: str
    words: list[str]
    tokens: list[list[str]]
    log_probability: float


@dataclass(frozen=True)
class Branch:
    """Tokens that were chosen for some slots (by number), their log-probability together, and the branch before."""

    chosen: dict[int, int]
    log_probability: float = 0.0
    parent: frozenset = frozenset()


class MaskedSteps:
    """What a search asks of a masked model, in any order that fills a slot once."""

    def __init__(self, passes: MaskedPasses, row: TokenRow, text: BlankedText, way: Way):
        if way.settings.get("context") == "leaky":
            raise BlankfillError(
                "context=leaky reads the originals, so fills have no candidates: choose both or left"
            )
        if way.settings.get("right_words", -1) >= 0:
            raise BlankfillError("right_words is not supported for candidates: leave it at -1")
        self.passes, self.row = passes, row
        self.first = passes.plan([row], [text], way.settings, way.sampling.seed)[0]
        self.works: dict[frozenset, Work] = {}

    def ask(self, branches: Sequence[Branch]) -> list[tuple[list[int], torch.Tensor]]:
        """Return the slots that each branch fills together next, and their log-probabilities (slots, vocabulary)."""
        works = [self._resume(branch) for branch in branches]
        sizes = [len(self.passes.view(work)) for work in works]
        answers: dict[int, tuple[list[int], torch.Tensor]] = {}
        for batch in batch_by_size(range(len(works)), sizes.__getitem__, self.passes.batch_tokens):
            answers |= zip(batch, self._read([works[i] for i in batch]), strict=True)
        self.works = {key_of(branch): work for branch, work in zip(branches, works, strict=True)}
        return [answers[i] for i in range(len(works))]

    def _resume(self, branch: Branch) -> Work:
        """Return the state of a branch: a copy of its parent's, with the tokens of the last pass."""
        parent = self.works.get(branch.parent, self.first)
        row = replace(parent.row, ids=[*parent.row.ids])
        for slot, token in branch.chosen.items():
            row.ids[row.slots[slot]] = token
        return Work(row, deepcopy(parent.order), parent.right_sides)

    def _read(self, works: list[Work]) -> list[tuple[list[int], torch.Tensor]]:
        open_slots = [[*work.order.candidates()] for work in works]
        slots = [(i, slot) for i, numbers in enumerate(open_slots) for slot in numbers]
        views = [self.passes.view(work) for work in works]
        logits = self.passes.logits([work.row for work in works], views, slots)
        answers = []
        for work, numbers, rows in zip(works, open_slots, logits.split([*map(len, open_slots)]), strict=True):
            accepted = work.order.accept(self._scores(work.order, numbers, rows))
            answers.append((accepted, rows[[numbers.index(slot) for slot in accepted]].log_softmax(-1)))
        return answers

    def _scores(self, order: Order, slots: list[int], logits: torch.Tensor) -> list[float]:
        """Return how sure the model is of each slot, over the tokens that may stand there."""
        if not order.score_slots:
            return []
        bias = self.passes.bias[[self.row.kinds[slot] for slot in slots]]
        pairs = zip(logits.split(HEAD_ROWS), bias.split(HEAD_ROWS), strict=True)
        return torch.cat([order.score_slots(rows + barred) for rows, barred in pairs]).tolist()


class WalkingSteps:
    """The same of a model that reads on: each branch is read up to its next slot."""

    def __init__(self, model: Any, plan, mix, row: TokenRow, batch_tokens: int):
        self.model, self.plan, self.mix = model, plan, mix
        self.row, self.batch_tokens = row, batch_tokens

    def ask(self, branches: Sequence[Branch]) -> list[tuple[list[int], torch.Tensor]]:
        """Return the next slot of each branch, and its log-probabilities."""
        n = len(branches[0].chosen)
        walks = [
            self.plan(replace(self.row, id=str(i), ids=[*self.row.ids], written=[]))
            for i in range(len(branches))
        ]
        answers: dict[str, torch.Tensor] = {}

        def write(here: list[Walk], logits: torch.Tensor) -> None:
            logits = self.mix(here, logits) if self.mix else logits
            for document, row in zip(here, logits, strict=True):
                if document.n_written == n:
                    answers[document.row.id] = row.log_softmax(-1)
                document.write(branches[int(document.row.id)].chosen.get(document.n_written, 0))

        for document in walks:
            document.writes = document.writes[: n + 1]
        walk(self.model, walks, write, self.batch_tokens)
        return [([n], answers[str(i)][None]) for i in range(len(branches))]


def key_of(branch: Branch) -> frozenset:
    """Return what tells a branch from others: its tokens by slot."""
    return frozenset(branch.chosen.items())


def search(steps: MaskedSteps | WalkingSteps, row: TokenRow, bias: torch.Tensor, width: int) -> list[Branch]:
    """Return the likeliest branches that fill every slot, likeliest first, at most `width` of them.

    After each pass the `width` likeliest branches go on; it is exact where that is as many as there are.
    """
    finished: list[Branch] = []
    branches, n_slots = [Branch({})], len(row.slots)
    while branches:
        grown: list[Branch] = []
        for branch, (slots, log_probabilities) in zip(branches, steps.ask(branches), strict=True):
            check_finite(log_probabilities, [row.id] * len(slots))
            grown += _grow(
                branch, slots, log_probabilities + bias[[row.kinds[slot] for slot in slots]], width
            )
        finished = _keep(finished + [branch for branch in grown if len(branch.chosen) == n_slots], width)
        branches = _keep([branch for branch in grown if len(branch.chosen) < n_slots], width)
    return finished


def _grow(branch: Branch, slots: list[int], legal: torch.Tensor, width: int) -> list[Branch]:
    """Return the likeliest ways to fill these slots together, which do not depend on each other."""
    n = min(width, legal.shape[-1])
    grown, parent = [branch], key_of(branch)
    for slot, row in zip(slots, legal, strict=True):
        values, tokens = in_reach_of_float64(row).double().topk(n)
        pairs = [(v, t) for v, t in zip(values.tolist(), tokens.tolist(), strict=True) if v > -torch.inf]
        grown = _keep(
            [
                Branch({**way.chosen, slot: t}, way.log_probability + v, parent)
                for way in grown
                for v, t in pairs
            ],
            width,
        )
    return grown


def _keep(branches: list[Branch], width: int) -> list[Branch]:
    """Return the likeliest, of equally likely ones those with the first tokens."""
    ranked = sorted(branches, key=lambda branch: (-branch.log_probability, sorted(branch.chosen.items())))
    return ranked[:width]


def choose_width(k: int, beam: int | None) -> int:
    """Return how many branches are followed; BlankfillError for fewer than the candidates that are asked for."""
    for name, number in (("k", k), ("beam", beam)):
        if (number is not None or name == "k") and number not in RANGES["candidates"]:
            raise BlankfillError(f"{name}={number}: give {RANGES['candidates']}")
    if beam is not None and beam < k:
        raise BlankfillError(f"beam={beam} is narrower than k={k}: give {k} or more")
    return beam or max(NARROWEST, FACTOR * k)


@torch.inference_mode()
def find_candidates(
    way: Way,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    text: BlankedText,
    k: int,
    width: int,
) -> list[Candidate]:
    """Return the k likeliest ways to fill all blanks of a text, likeliest first; see `Filler.candidates`.

    Of a text that does not fit the model a window is read that has all its blanks. Tokens of bytes that make half of a
    character together are no way to fill a blank. The model is in evaluation mode. Raises what filling raises.
    """
    if not text.blanks:
        return [Candidate(text.text, [], [], 0.0)]
    make, windows = _masked if way.writer == "masked" else _walking, Windows(model, tokenizer, way.tokens)
    window = text if windows.fits(text) else windows.cut(text, 1, is_whole=True).text
    row, branches = make(way, model, tokenizer, window, width)
    spell, names = Speller(tokenizer), tokenizer.convert_ids_to_tokens
    answers: list[Candidate] = []
    for branch in branches:
        for slot, token in branch.chosen.items():
            row.ids[row.slots[slot]] = token
        words = spell.fills(row, len(text.blanks))
        if any(HALF in word for word in words):
            continue
        tokens = [
            [str(names(branch.chosen[slot])) for slot in row.slots_of(blank)]
            for blank in range(len(text.blanks))
        ]
        answers.append(Candidate(assemble_text(text, words).text, words, tokens, branch.log_probability))
        if len(answers) == k:
            break
    return answers


def _masked(way: Way, model, tokenizer, text: BlankedText, width: int) -> tuple[TokenRow, list[Branch]]:
    passes = MaskedPasses(model, tokenizer, GREEDY, Ledger(), way.batch_tokens)
    length, most = way.settings.get("length", "known"), way.settings.get("max_length", 4)
    with passes.reading.prepared():
        row = passes.tokenize([text], passes.choose_lengths(length, [text], most))[0]
        steps = MaskedSteps(passes, row, text, way)
        return row, search(steps, row, passes.bias, width)


def _walking(way: Way, model, tokenizer, text: BlankedText, width: int) -> tuple[TokenRow, list[Branch]]:
    length = way.settings.get("length", "known")
    if length == "free":
        raise BlankfillError(
            "candidates have blanks of a fixed number of tokens: set length to one or known, or give counts"
        )
    bias = slot_bias(tokenizer, vocabulary_size(model)).to(model.device)
    if way.settings.get("context") == "true_left":
        row = to_rows([text], tokenizer, position_limit(model))[0]
    else:
        row = to_open_rows(model, tokenizer, [text], length)[0]
    if way.writer == "product":
        second = way.settings["second"]
        product = Product(model, second, tokenizer, way.settings.get("weight", 0.5), way.batch_tokens)
        with product.passes.reading.prepared():
            steps = WalkingSteps(second, product.plan, product.mix, row, way.batch_tokens)
            return row, search(steps, row, bias, width)
    plan = choose_plan(way.writer, model, tokenizer, way.settings)
    return row, search(WalkingSteps(model, plan, None, row, way.batch_tokens), row, bias, width)
