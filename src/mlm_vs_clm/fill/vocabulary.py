"""Which sub-words may stand where: the part of a known length that both kinds of model share."""

from functools import lru_cache

import torch
from transformers import PreTrainedTokenizerBase

from ..errors import StudyError
from .rows import Row

# How a vocabulary tells the start of a word from its middle: by a sign on what goes on, or on what has a space.
GOES_ON = "##"
AFTER_SPACE = ("Ġ", "▁")


def slot_bias(tokenizer: PreTrainedTokenizerBase, n_vocabulary: int) -> torch.Tensor:
    """Return what to add to logits (4, vocabulary), a row for each of `Row.kinds`, 0 or -inf.

    Marks such as [CLS], and sub-words that are nothing but space, are never a fill. A blank starts with a sub-word
    that can start a word and goes on with ones that go on, wherever the vocabulary tells them apart (`##`, `Ġ`,
    `▁`). Raises StudyError if the tokenizer has more sub-words than the model.
    """
    if len(tokenizer) > n_vocabulary:
        raise StudyError(
            f"the tokenizer has {len(tokenizer)} sub-words and the model {n_vocabulary}: they do not belong together"
        )
    barred = torch.ones(4, n_vocabulary, dtype=torch.bool)
    barred[:, : len(tokenizer)] = _barred(tokenizer, len(tokenizer))
    return torch.zeros(barred.shape).masked_fill(barred, float("-inf"))


@lru_cache(maxsize=8)
def _barred(tokenizer: PreTrainedTokenizerBase, n_pieces: int) -> torch.Tensor:
    """Return which sub-words are barred (4, n_pieces); a rule that leaves nothing to choose from is dropped."""
    pieces = tokenizer.convert_ids_to_tokens(range(n_pieces))
    sign = word_sign(pieces)
    signed = torch.tensor([bool(sign) and piece.startswith(sign) for piece in pieces])
    never = _marks(tokenizer, pieces)
    if sign in AFTER_SPACE:
        silent = torch.tensor([not tokenizer.convert_tokens_to_string([piece]).strip() for piece in pieces])
        lone = torch.tensor([piece == sign for piece in pieces])
        rules = [silent | ~signed, silent | signed, silent | signed, (silent | ~signed) & ~lone]
    else:
        goes_on = ~signed if sign else signed
        rules = [signed, goes_on, signed, signed]
    return torch.stack([never if (never | rule).all() else never | rule for rule in rules])


def word_sign(pieces: list[str]) -> str:
    """Return the sign that a vocabulary uses most: `##`, `Ġ`, `▁`, or nothing if it has none of them."""
    counts = {sign: sum(piece.startswith(sign) for piece in pieces) for sign in (GOES_ON, *AFTER_SPACE)}
    sign = max(counts, key=counts.get)
    return sign if counts[sign] else ""


def _marks(tokenizer: PreTrainedTokenizerBase, pieces: list[str]) -> torch.Tensor:
    special = [number for number, added in tokenizer.added_tokens_decoder.items() if added.special]
    marks = torch.zeros(len(pieces), dtype=torch.bool)
    marks[[*tokenizer.all_special_ids, *special]] = True
    return marks | torch.tensor([piece.startswith(("[unused", "<extra_id_")) for piece in pieces])


class Speller:
    """Turns the sub-words of one fill into the characters to insert."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        self.tokenizer, self._known = tokenizer, {}

    def __call__(self, ids: list[int]) -> str:
        """Return the text of a fill, without the space around it."""
        key = tuple(ids)
        if key not in self._known:
            self._known[key] = (
                self.tokenizer.decode(ids, clean_up_tokenization_spaces=False).strip().removeprefix("##")
            )
        return self._known[key]

    def fills(self, row: Row, n_blanks: int) -> list[str]:
        """Return the text that now stands in each blank of a row."""
        ids: list[list[int]] = [[] for _ in range(n_blanks)]
        for place, blank in zip(row.slots, row.blank_of, strict=True):
            ids[blank].append(row.ids[place])
        return [self(fill) for fill in ids]
