"""Which tokens may fill which slot: what all models that fill slots share."""

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce

import torch
from transformers import PreTrainedTokenizerBase

from ..errors import StudyError
from .rows import SlotKind, TokenRow, special_ids
from .utf8 import BETWEEN, WHOLE, States, find_utf8

# How a vocabulary tells the start of a word from its middle: by a prefix on one or the other.
CONTINUATION_PREFIX = "##"
WORD_START_PREFIXES = ("Ġ", "▁")


def slot_bias(tokenizer: PreTrainedTokenizerBase, n_vocabulary: int) -> torch.Tensor:
    """Return what to add to logits (4, vocabulary), one row per SlotKind, 0 or -inf.

    Special tokens such as [CLS], and tokens of nothing but space, never fill a slot. A blank starts with a token that
    can start a word and continues with tokens that can continue one, wherever the vocabulary distinguishes them
    (`##`, `Ġ`, `▁`). Raises StudyError if the tokenizer has more tokens than the model.
    """
    if len(tokenizer) > n_vocabulary:
        raise StudyError(
            f"the tokenizer has {len(tokenizer)} tokens and the model {n_vocabulary}: they do not belong together"
        )
    barred = torch.ones(len(SlotKind), n_vocabulary, dtype=torch.bool)
    barred[:, : len(tokenizer)] = _barred(tokenizer, len(tokenizer))
    return torch.zeros(barred.shape).masked_fill(barred, float("-inf"))


class Legal:
    """Which tokens may fill which slot: by its kind (`slot_bias`), and so that a blank is valid UTF-8.

    `table` (n, vocabulary) has what to add to logits, 0 or -inf: its first rows by SlotKind, others as they are needed.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, n_vocabulary: int, device: torch.device):
        self.table = slot_bias(tokenizer, n_vocabulary).to(device)
        self.utf8 = find_utf8(tokenizer)
        self._numbers: dict[tuple[int, States, States], int] = {}

    def number(
        self, row: TokenRow, slot: int, is_filled: Callable[[int], bool], is_shared: bool = False
    ) -> int:
        """Return the row of `table` for a slot, by what the slots of its blank are filled with (slot number -> bool).

        `is_shared`: another slot of the blank is filled in the same pass, so each token is to end a character.
        """
        if self.utf8 is None:
            return row.kinds[slot]
        slots = row.neighbours(slot)
        known = [n for n in slots if n != slot and not (is_shared and not is_filled(n))]
        tokens = {n: row.ids[row.slots[n]] if is_filled(n) else None for n in known}
        before, after = ([tokens[n] for n in known if (n < slot) == side] for side in (True, False))
        return self.number_between(row.kinds[slot], before, after)

    def number_between(self, kind: int, before: Sequence[int | None], after: Sequence[int | None]) -> int:
        """Return the row of `table` for a slot with these tokens of its blank before and after it (None: any)."""
        if self.utf8 is None:
            return kind
        starts = reduce(self.utf8.after, before, BETWEEN)
        return self._number(kind, starts, reduce(self.utf8.before, reversed(after), BETWEEN))

    def number_open(self, kind: int, before: Sequence[int], n_more: int) -> int:
        """Return the row of `table` for the next token of a blank that may get `n_more` others after it."""
        if self.utf8 is None:
            return kind
        return self._number(kind, reduce(self.utf8.after, before, BETWEEN), self.utf8.ends(n_more))

    def is_within_character(self, tokens: Sequence[int]) -> bool:
        """Return whether these tokens of a blank end in half a character."""
        return self.utf8 is not None and WHOLE not in reduce(self.utf8.after, tokens, BETWEEN)

    def _number(self, kind: int, starts: States, ends: States) -> int:
        key = (kind, starts, ends)
        if key not in self._numbers and self.utf8 is not None:
            self._numbers[key] = len(self.table)
            self.table = torch.cat([self.table, self._bar(kind, self.utf8.is_allowed(starts, ends))[None]])
        return self._numbers[key]

    def _bar(self, kind: int, is_allowed: torch.Tensor) -> torch.Tensor:
        """Return the row of a kind without the tokens that are not allowed; as it is if none would be left."""
        bar = self.table[kind].clone()
        bar[: len(is_allowed)].masked_fill_(~is_allowed.to(bar.device), float("-inf"))
        return bar if bar.isfinite().any() else self.table[kind]


def all_tokens(tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Return the tokens of a vocabulary in the order of their ids."""
    return [*tokenizer.convert_ids_to_tokens([*range(len(tokenizer))])]


@lru_cache(maxsize=8)
def _barred(tokenizer: PreTrainedTokenizerBase, n_tokens: int) -> torch.Tensor:
    """Return which tokens are barred (4, n_tokens); a rule that would bar all of them is dropped."""
    tokens = all_tokens(tokenizer)
    prefix = word_prefix(tokens)
    prefixed = torch.tensor([bool(prefix) and token.startswith(prefix) for token in tokens])
    never = _special(tokenizer, tokens)
    if prefix in WORD_START_PREFIXES:
        silent = torch.tensor([not tokenizer.convert_tokens_to_string([token]).strip() for token in tokens])
        lone = torch.tensor([token == prefix for token in tokens])
        rules = [silent | ~prefixed, silent | prefixed, silent | prefixed, (silent | ~prefixed) & ~lone]
    else:
        rules = [prefixed, ~prefixed if prefix else prefixed, prefixed, prefixed]
    return torch.stack([never if (never | rule).all() else never | rule for rule in rules])


def word_prefix(tokens: list[str]) -> str:
    """Return the prefix that a vocabulary uses most: `##`, `Ġ`, `▁`, or "" if it has none of them."""
    prefixes = (CONTINUATION_PREFIX, *WORD_START_PREFIXES)
    counts = {prefix: sum(token.startswith(prefix) for token in tokens) for prefix in prefixes}
    prefix = max(prefixes, key=lambda prefix: counts[prefix])
    return prefix if counts[prefix] else ""


def special_tokens(tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Return the special tokens as they would be typed, but the unknown token, which stands for any text."""
    return [all_tokens(tokenizer)[number] for number in special_ids(tokenizer)]


def check_finite(logits: torch.Tensor, names: Sequence[str] = ()) -> torch.Tensor:
    """Return logits (n, vocabulary); StudyError for a row with a NaN or no finite number, by the name of its document."""
    is_wrong = ~logits.amax(-1).isfinite()  # a NaN is the largest
    if is_wrong.any():
        at = f" in document {names[int(is_wrong.nonzero()[0])]}" if names else ""
        raise StudyError(
            f"the model gives no finite numbers{at}: its weights are damaged, its training diverged, or its precision "
            "is too low"
        )
    return logits


def _special(tokenizer: PreTrainedTokenizerBase, tokens: list[str]) -> torch.Tensor:
    found = torch.zeros(len(tokens), dtype=torch.bool)
    found[[*tokenizer.all_special_ids, *special_ids(tokenizer)]] = True
    return found | torch.tensor([token.startswith(("[unused", "<extra_id_")) for token in tokens])


class Speller:
    """Turns the tokens of a fill into the characters to insert."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        self.tokenizer = tokenizer
        self._known: dict[tuple[int, ...], str] = {}

    def __call__(self, ids: list[int]) -> str:
        """Return the text of a fill, without the space around it."""
        key = tuple(ids)
        if key not in self._known:
            text = str(self.tokenizer.decode(ids, clean_up_tokenization_spaces=False))
            self._known[key] = text.strip().removeprefix(CONTINUATION_PREFIX)
        return self._known[key]

    def fills(self, row: TokenRow, n_blanks: int) -> list[str]:
        """Return the text that now stands in each blank of a row."""
        ids: list[list[int]] = [[] for _ in range(n_blanks)]
        for place, blank in zip(row.slots, row.blank_of, strict=True):
            ids[blank].append(row.ids[place])
        return [self(fill) for fill in ids]
