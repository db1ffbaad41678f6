"""Which tokens may fill which slot: what all models that fill slots share."""

from collections.abc import Sequence
from functools import lru_cache

import torch
from transformers import PreTrainedTokenizerBase

from ..errors import BlankfillError
from ..text import BETWEEN_CHARACTERS, BlankedText, FilledText, assemble_text
from .marks import GOES_ON, INSIDE, STARTS, all_tokens, count_ids, has_mark, word_mark
from .rows import SlotKind, TokenRow, special_ids
from .utf8 import ends_character, is_whole, spell_bytes, starts_character


def slot_bias(tokenizer: PreTrainedTokenizerBase, n_vocabulary: int) -> torch.Tensor:
    """Return what to add to logits (kinds, vocabulary), one row per SlotKind, 0 or -inf.

    Special tokens such as [CLS], and tokens of nothing but space, never fill a slot. A word starts with a token that
    can start one and continues with tokens that can continue one, wherever the vocabulary distinguishes them
    (`##`, `Ġ`, `▁`, `@@`). A byte-level token that is a part of a character does not stand where no slot is left for the rest
    of it. Raises BlankfillError if the tokenizer has ids that the model has not.
    """
    if (n_ids := count_ids(tokenizer)) > n_vocabulary:
        raise BlankfillError(
            f"the tokenizer has {n_ids} tokens and the model {n_vocabulary}: they do not belong together"
        )
    barred = torch.ones(len(SlotKind), n_vocabulary, dtype=torch.bool)
    barred[:, :n_ids] = _barred(tokenizer, len(tokenizer), (*special_ids(tokenizer), tokenizer.unk_token_id))
    return torch.zeros(barred.shape).masked_fill(barred, float("-inf"))


@lru_cache(maxsize=8)
def _barred(
    tokenizer: PreTrainedTokenizerBase, n_tokens: int, special: tuple[int | None, ...]
) -> torch.Tensor:
    """Return which ids are barred (kinds, ids); a rule that would bar all of them is dropped.

    Special tokens can be named at any time, so they are part of what is remembered.
    """
    tokens, mark = all_tokens(tokenizer), word_mark(tokenizer)
    marked = torch.tensor([has_mark(token, mark) for token in tokens])
    never = _special(tokenizer, tokens)
    silent = torch.tensor([not tokenizer.convert_tokens_to_string([token]).strip() for token in tokens])
    spelt = spell_bytes(tokenizer, tokens)
    starts, ends, whole = (
        torch.tensor([*map(is_right, spelt)]) for is_right in (starts_character, ends_character, is_whole)
    )
    alone = first = with_space = later = silent
    middle = torch.ones_like(silent)
    if mark in STARTS:
        lone = torch.tensor([token == mark for token in tokens])
        alone, first, later = silent | ~marked, silent | marked, silent | marked
        with_space = alone & ~lone
    elif mark == GOES_ON:
        starts, middle, ends, whole = marked, marked, ~marked, ~marked
    elif mark:
        alone = first = with_space = silent | marked
        later = silent | ~marked
    rules = {
        SlotKind.AFTER_SPACE: alone | ~whole,
        SlotKind.CONTINUATION: later | ~middle,
        SlotKind.NO_SPACE: first | ~starts,
        SlotKind.SPACE_AND_MORE: with_space | ~starts,
        SlotKind.ONLY: first | ~whole,
        SlotKind.LAST: later | ~ends,
    }
    rules[SlotKind.ANY_LAST] = rules[SlotKind.LAST] & rules[SlotKind.AFTER_SPACE]
    rules[SlotKind.ANY] = (
        rules[SlotKind.ANY_LAST] & rules[SlotKind.CONTINUATION] & rules[SlotKind.SPACE_AND_MORE]
    )
    bars = [never | rules[kind] for kind in SlotKind]
    return torch.stack([never if bar.all() else bar for bar in bars])


def special_tokens(tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Return the special tokens as they would be typed, but the unknown token, which stands for any text."""
    marks = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id)
    ids = sorted({*special_ids(tokenizer), *({tokenizer.unk_token_id} & {*marks} - {None})})
    tokens = all_tokens(tokenizer)
    return [tokens[number] for number in ids]


def check_finite(logits: torch.Tensor, names: Sequence[str] = ()) -> torch.Tensor:
    """Return logits (n, vocabulary); BlankfillError for a row with a NaN or no finite number, by the name of its document."""
    is_wrong = ~logits.amax(-1).isfinite()  # a NaN is the largest
    if is_wrong.any():
        at = f" in document {names[int(is_wrong.nonzero()[0])]}" if names else ""
        raise BlankfillError(
            f"the model gives no finite numbers{at}: its weights are damaged, its training diverged, or its precision "
            "is too low"
        )
    return logits


def _special(tokenizer: PreTrainedTokenizerBase, tokens: list[str]) -> torch.Tensor:
    is_special = torch.zeros(len(tokens), dtype=torch.bool)
    is_special[[*tokenizer.all_special_ids, *special_ids(tokenizer)]] = True
    return is_special | torch.tensor([token.startswith(("[unused", "<extra_id_")) for token in tokens])


class Speller:
    """Turns the tokens of a fill into the characters to insert.

    A `##` vocabulary does not say where spaces are: there is none before . , ? and !, nor between Chinese characters.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        self.tokenizer = tokenizer
        self._is_spaced = word_mark(tokenizer) == INSIDE
        self._known: dict[tuple[int, ...], str] = {}

    def __call__(self, ids: list[int]) -> str:
        """Return the text of a fill, without the space around it."""
        key = tuple(ids)
        if key not in self._known:
            text = str(self.tokenizer.decode(ids, clean_up_tokenization_spaces=self._is_spaced)).strip()
            self._known[key] = (
                BETWEEN_CHARACTERS.sub("", text.removeprefix(INSIDE)) if self._is_spaced else text
            )
        return self._known[key]

    def fills(self, row: TokenRow, n_blanks: int) -> list[str]:
        """Return the text that now stands in each blank of a row."""
        ids: list[list[int]] = [[] for _ in range(n_blanks)]
        for place, blank in zip(row.slots, row.blank_of, strict=True):
            ids[blank].append(row.ids[place])
        return [self(fill) for fill in ids]

    def assemble(self, blanked: Sequence[BlankedText], rows: Sequence[TokenRow]) -> list[FilledText]:
        """Return the texts with what now stands in the slots of their rows."""
        pairs = zip(blanked, rows, strict=True)
        return [assemble_text(text, self.fills(row, len(text.blanks)), row.written) for text, row in pairs]
