"""How a causal model writes: forced through the kept words, choosing at the blanks, left context alone."""

from collections.abc import Callable

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..blanks import BlankedText, DocumentError, FilledText, put_together
from ..models.sizes import count_parameters, forward_flops, position_limit
from .axes import check_values
from .free_length import OpenWalk, leave_open, write_freely
from .ledger import Ledger
from .rows import Row, to_rows, unknown_id
from .sampling import Sampling
from .vocabulary import Speller, slot_bias
from .walking import Walk, Write, walk

Plan = Callable[[Row], Walk]


def fill_causal(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    *,
    length: str = "known",
    max_length: int = 4,
    sampling: Sampling | None = None,
    seed: int = 0,
    batch_tokens: int = 32768,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks from left to right with a causal model and a key-value cache: each sub-word goes through once.

    What stands to the right of a blank is never seen. length `known`: a blank takes as many sub-words as its original
    has; `one`: one; `free`: after each sub-word, the likeliest of all sub-words (or the one drawn) is looked at: if
    it goes on the word (`##`; a letter or digit without a space before it) it is written, else the blank ends there,
    and at `max_length` in any case. Raises StudyError for another length, and DocumentError for a text that does not fit or
    starts with a blank where the tokenizer has no mark to open it.
    """
    sampling = sampling or Sampling(seed=seed)
    return fill_by_walking(model, tokenizer, blanked, read_kept, length, max_length, sampling, batch_tokens)


def read_kept(row: Row) -> Walk:
    """Plan to read a row up to its last slot, writing at each slot what comes next."""
    return Walk(row, row.ids[: row.slots[-1]], None, row.slots, len(row.slots))


def fill_by_walking(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    blanked: list[BlankedText],
    plan: Plan,
    length: str,
    max_length: int,
    sampling: Sampling,
    batch_tokens: int,
) -> tuple[list[FilledText], Ledger]:
    """Fill the blanks of every document in one walk through what `plan` says is read of it."""
    check_values("causal", {"length": length, "max_length": max_length})
    limit = position_limit(model)
    lengths = None if length == "known" else [[1] * len(text.blanks) for text in blanked]
    rows = to_rows(blanked, tokenizer, limit, lengths)
    for row in rows:
        _hide(row, unknown_id(tokenizer))
    walks = {i: plan(row) for i, row in enumerate(rows) if row.slots}
    _check_openings(list(walks.values()))
    bias = slot_bias(tokenizer, model.config.vocab_size).to(model.device)
    write = _write_slots(bias, sampling)
    if length == "free":
        room = {i: limit and limit - len(row.ids) for i, row in enumerate(rows)}
        walks = {i: leave_open(one, max_length, room[i]) for i, one in walks.items()}
        write = write_freely(tokenizer, bias, sampling)
    walk(model, list(walks.values()), write, tokenizer.pad_token_id, batch_tokens)
    spell = Speller(tokenizer)
    filled = [
        put_together(text, _fills(spell, rows[i], len(text.blanks), walks.get(i)))
        for i, text in enumerate(blanked)
    ]
    return filled, _count(count_parameters(model), blanked, list(walks.values()))


def _hide(row: Row, hidden_as: int) -> None:
    """Take the originals out of the slots, so that none can come back as a fill."""
    for place in row.slots:
        row.ids[place] = hidden_as


def _check_openings(walks: list[Walk]) -> None:
    """Raise DocumentError for a document with nothing to go on from before its first slot."""
    for one in walks:
        if one.writes[0] == 0:
            raise DocumentError(
                one.row.id,
                "it starts with a blank, and this tokenizer has no mark to open a text (cls, bos or eos): name one in "
                "the tokenizer (model.opening=<a mark that it has>), or keep the first word",
            )


def _write_slots(bias: torch.Tensor, sampling: Sampling) -> Write:
    def write(here: list[Walk], logits: torch.Tensor) -> None:
        logits += bias[[one.row.kinds[one.n_written] for one in here]]
        keys = [(one.row.id, one.n_written) for one in here]
        for one, token in zip(here, sampling(logits, keys), strict=True):
            one.write(token)

    return write


def _fills(spell: Speller, row: Row, n_blanks: int, walked: Walk | None) -> list[str]:
    if isinstance(walked, OpenWalk):
        return [spell(answer) for answer in walked.answers]
    return spell.fills(row, n_blanks)


def _count(sizes: dict[str, int], blanked: list[BlankedText], walks: list[Walk]) -> Ledger:
    """Return what the documents cost: every sub-word read once, the output layer where something is decided alone."""
    n_read, n_scored = sum(one.n_read for one in walks), sum(one.n_scored for one in walks)
    return Ledger(
        documents=len(blanked),
        blanks=sum(len(text.blanks) for text in blanked),
        tokens_filled=sum(one.n_filled for one in walks),
        passes=sum(one.n_passes for one in walks),
        token_forwards=n_read,
        flops=forward_flops(sizes, n_read, n_scored),
    )
