"""How a causal model fills blanks: it reads the kept words and generates at the blanks, left context only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..axes import check_together, check_values
from ..errors import BlankfillError
from ..networks.evaluation import in_evaluation_mode
from ..networks.sizes import count_parameters, forward_flops, position_limit, vocabulary_size
from ..slots.ledger import Ledger
from ..slots.rows import TokenRow, to_rows, unknown_id
from ..slots.sampling import GREEDY, Sampling
from ..slots.vocabulary import Speller, check_finite, slot_bias
from ..text import BlankedText, DocumentError, FilledText, assemble_text
from .free_length import OpenWalk, leave_open, write_freely
from .walking import walk
from .walks import Walk, Write

Plan = Callable[[TokenRow], Walk]
Mix = Callable[[list[Walk], torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Procedure:
    """How blanks are filled while texts are read, `batch_tokens` tokens at a time.

    `plan` returns how a row is read, and finds the originals in its slots unless that `is_hidden`. `mix` takes the walks
    that are at a slot and their logits, and returns those to fill by; None: as they are.
    """

    plan: Plan
    length: str
    max_length: int
    sampling: Sampling
    batch_tokens: int
    mix: Mix | None = None
    is_hidden: bool = True


@in_evaluation_mode
def fill_causal(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    context: str = "left",
    length: str = "known",
    max_length: int = 4,
    sampling: Sampling = GREEDY,
    batch_tokens: int = 32768,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks from left to right with a causal model and a key-value cache: each token is read once.

    The text to the right of a blank is never seen.

    - length `known`: a blank gets as many tokens as its original; `one`: one.
    - length `free`: a token is written as long as the most likely of all tokens (or the drawn one) continues the word
      (`##`; a letter or digit without a space before it), at most `max_length` tokens.
    - context `true_left`: of a blank its original is read, not its fill, so the original to the left of each later blank
      leaks. It needs length `known`.
    - context `prefix`, for a model trained as a prefix LM: the tokens before the first blank see each other.

    Raises BlankfillError for another length, and for a network that reads no prefix; DocumentError for a text that does
    not fit, or that starts with a blank where the tokenizer has no token to open a text.
    """
    check_values("causal", {"context": context})
    check_together("causal", {"context": context, "length": length}, sampling.temperature)
    procedure = Procedure(
        CONTEXTS[context], length, max_length, sampling, batch_tokens, is_hidden=context != "true_left"
    )
    return fill_by_walking(model, tokenizer, blanked, procedure)


def read_kept(row: TokenRow) -> Walk:
    """Plan to read a row up to its last slot, writing the next token at each slot; see `check_opening`."""
    check_opening(row)
    return Walk(row, row.ids[: row.slots[-1]], None, row.slots)


def read_originals(row: TokenRow) -> Walk:
    """Plan to read a row as `read_kept` does, with the originals that stand in its slots."""
    return replace(read_kept(row), reads_fills=False)


def read_prefix(row: TokenRow) -> Walk:
    """Plan to read a row as `read_kept` does, what stands before its first slot from both sides."""
    return replace(read_kept(row), prefix=row.slots[0])


CONTEXTS: dict[str, Plan] = {"left": read_kept, "true_left": read_originals, "prefix": read_prefix}


def fill_by_walking(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    procedure: Procedure,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks of every document while reading what the plan of the procedure returns for it."""
    length, max_length, sampling = procedure.length, procedure.max_length, procedure.sampling
    check_values("causal", {"length": length, "max_length": max_length})
    limit = position_limit(model)
    rows = (
        to_open_rows(model, tokenizer, blanked, length)
        if procedure.is_hidden
        else to_rows(blanked, tokenizer, limit)
    )
    walks = {i: procedure.plan(row) for i, row in enumerate(rows) if row.slots}
    bias = slot_bias(tokenizer, vocabulary_size(model)).to(model.device)
    write = _write_slots(bias, sampling, procedure.mix)
    if length == "free":
        spare = {i: limit and limit - len(row.ids) for i, row in enumerate(rows)}
        walks = {i: leave_open(document, max_length, spare[i]) for i, document in walks.items()}
        write = write_freely(tokenizer, bias, sampling)
    walk(model, [*walks.values()], write, procedure.batch_tokens)
    spell = Speller(tokenizer)
    filled = [
        assemble_text(text, _fills(spell, rows[i], len(text.blanks), walks.get(i)), rows[i].written)
        for i, text in enumerate(blanked)
    ]
    return filled, count_walks(model, blanked, [*walks.values()])


def to_open_rows(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, blanked: list[BlankedText], length: str
) -> list[TokenRow]:
    """Return the texts as tokens, without the originals in their slots; one slot per blank unless length is `known`."""
    lengths = None if length == "known" else [[1] * len(text.blanks) for text in blanked]
    rows = to_rows(blanked, tokenizer, position_limit(model), lengths)
    for row in rows:
        row.mask(unknown_id(tokenizer))
    return rows


def check_positions(model: PreTrainedModel, way: str) -> None:
    """Raise BlankfillError for a model that cannot be told the positions of its tokens, which a way of filling needs."""
    if "position_ids" not in signature(model.forward).parameters:
        raise BlankfillError(
            f"{way} needs position_ids, which {model.config.model_type} models do not accept: "
            "fill from the left context"
        )


def check_opening(row: TokenRow) -> None:
    """Raise DocumentError for a document with no context before its first slot."""
    if row.slots[:1] == [0]:
        raise DocumentError(
            row.id,
            "it starts with a blank and the tokenizer has no CLS, BOS or EOS token to open a text: name one "
            "(tokenizer.bos_token = <a token that it has>), or keep the first word",
        )


def _write_slots(bias: torch.Tensor, sampling: Sampling, mix: Mix | None) -> Write:
    def write(here: list[Walk], logits: torch.Tensor) -> None:
        logits = mix(here, logits) if mix else logits
        logits += bias[[document.row.kinds[document.n_written] for document in here]]
        check_finite(logits, [document.row.id for document in here])
        keys = [(document.row.id, document.n_written) for document in here]
        for document, token in zip(here, sampling(logits, keys), strict=True):
            document.write(token)

    return write


def _fills(spell: Speller, row: TokenRow, n_blanks: int, walked: Walk | None) -> list[str]:
    if isinstance(walked, OpenWalk):
        return [spell(answer) for answer in walked.answers]
    return spell.fills(row, n_blanks)


def count_walks(model: PreTrainedModel, blanked: list[BlankedText], walks: Sequence[Any]) -> Ledger:
    """Return the cost of what was read of each document: its tokens, and the output layer where something is decided."""
    ledger = Ledger.of(blanked)
    ledger.tokens_filled = sum(document.n_filled for document in walks)
    ledger.passes = sum(document.n_passes for document in walks)
    ledger.token_forwards = sum(document.n_read for document in walks)
    n_scored = sum(document.n_scored for document in walks)
    ledger.flops = forward_flops(count_parameters(model), ledger.token_forwards, n_scored)
    return ledger
