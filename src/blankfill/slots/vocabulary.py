"""Which tokens may fill which slot: what all models that fill slots share."""

from collections.abc import Sequence
from functools import lru_cache

import torch
from transformers import PreTrainedTokenizerBase

from ..errors import BlankfillError
from .rows import SlotKind, TokenRow, special_ids
from .utf8 import ends_character, is_whole, spell_bytes, starts_character

# How a vocabulary tells the start of a word from its middle: by a prefix on one or the other.
CONTINUATION_PREFIX = "##"
WORD_START_PREFIXES = ("Ġ", "▁")


def slot_bias(tokenizer: PreTrainedTokenizerBase, n_vocabulary: int) -> torch.Tensor:
    """Return what to add to logits (kinds, vocabulary), one row per SlotKind, 0 or -inf.

    Special tokens such as [CLS], and tokens of nothing but space, never fill a slot. A blank starts with a token that
    can start a word and continues with tokens that can continue one, wherever the vocabulary distinguishes them
    (`##`, `Ġ`, `▁`). A byte-level token that is a part of a character does not stand where no slot is left for the rest
    of it. Raises BlankfillError if the tokenizer has more tokens than the model.
    """
    if len(tokenizer) > n_vocabulary:
        raise BlankfillError(
            f"the tokenizer has {len(tokenizer)} tokens and the model {n_vocabulary}: they do not belong together"
        )
    barred = torch.ones(len(SlotKind), n_vocabulary, dtype=torch.bool)
    barred[:, : len(tokenizer)] = _barred(tokenizer, len(tokenizer))
    return torch.zeros(barred.shape).masked_fill(barred, float("-inf"))


def all_tokens(tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Return the tokens of a vocabulary in the order of their ids."""
    named = tokenizer.convert_ids_to_tokens([*range(len(tokenizer))])
    return ["[unused]" if token is None else token for token in named]  # an id without a token


@lru_cache(maxsize=8)
def _barred(tokenizer: PreTrainedTokenizerBase, n_tokens: int) -> torch.Tensor:
    """Return which tokens are barred (kinds, n_tokens); a rule that would bar all of them is dropped."""
    tokens = all_tokens(tokenizer)
    prefix = word_prefix(tokens)
    prefixed = torch.tensor([bool(prefix) and token.startswith(prefix) for token in tokens])
    never = _special(tokenizer, tokens)
    silent = torch.tensor([not tokenizer.convert_tokens_to_string([token]).strip() for token in tokens])
    if prefix in WORD_START_PREFIXES:
        lone = torch.tensor([token == prefix for token in tokens])
        alone, later, first, with_space = (
            silent | ~prefixed,
            silent | prefixed,
            silent | prefixed,
            (silent | ~prefixed) & ~lone,
        )
    else:
        alone = first = with_space = prefixed | silent
        later = (~prefixed if prefix else prefixed) | silent
    spelt = spell_bytes(tokenizer, tokens)
    starts, ends, whole = (
        torch.tensor([*map(is_right, spelt)]) for is_right in (starts_character, ends_character, is_whole)
    )
    rules = {
        SlotKind.AFTER_SPACE: alone | ~whole,
        SlotKind.CONTINUATION: later,
        SlotKind.NO_SPACE: first | ~starts,
        SlotKind.SPACE_AND_MORE: with_space | ~starts,
        SlotKind.ONLY: first | ~whole,
        SlotKind.LAST: later | ~ends,
    }
    bars = [never | rules[kind] for kind in SlotKind]
    return torch.stack([never if bar.all() else bar for bar in bars])


def word_prefix(tokens: list[str]) -> str:
    """Return the prefix that a vocabulary uses most: `##`, `Ġ`, `▁`, or "" if it has none of them."""
    prefixes = (CONTINUATION_PREFIX, *WORD_START_PREFIXES)
    counts = {prefix: sum(token.startswith(prefix) for token in tokens) for prefix in prefixes}
    prefix = max(prefixes, key=lambda prefix: counts[prefix])
    return prefix if counts[prefix] else ""


def special_tokens(tokenizer: PreTrainedTokenizerBase) -> list[str]:
    """Return the special tokens as they would be typed, but the unknown token, which stands for any text."""
    marks = (tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id)
    ids = sorted({*special_ids(tokenizer), *({tokenizer.unk_token_id} & {*marks} - {None})})
    return [all_tokens(tokenizer)[number] for number in ids]


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
    """Turns the tokens of a fill into the characters to insert."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        self.tokenizer = tokenizer
        has_prefix = word_prefix(all_tokens(tokenizer)) == CONTINUATION_PREFIX
        self._prefix = CONTINUATION_PREFIX if has_prefix else ""
        self._known: dict[tuple[int, ...], str] = {}

    def __call__(self, ids: list[int]) -> str:
        """Return the text of a fill, without the space around it."""
        key = tuple(ids)
        if key not in self._known:
            text = str(self.tokenizer.decode(ids, clean_up_tokenization_spaces=False))
            self._known[key] = text.strip().removeprefix(self._prefix)
        return self._known[key]

    def fills(self, row: TokenRow, n_blanks: int) -> list[str]:
        """Return the text that now stands in each blank of a row."""
        ids: list[list[int]] = [[] for _ in range(n_blanks)]
        for place, blank in zip(row.slots, row.blank_of, strict=True):
            ids[blank].append(row.ids[place])
        return [self(fill) for fill in ids]
