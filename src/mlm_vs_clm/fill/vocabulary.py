"""Which sub-words may stand where: the part of a known length that both kinds of model share."""

import torch
from transformers import PreTrainedTokenizerBase

from .blanks import Row


def slot_bias(tokenizer: PreTrainedTokenizerBase, n_vocabulary: int) -> torch.Tensor:
    """Return what to add to logits (2, vocabulary): row 0 for the first slot of a blank, row 1 for the others.

    Marks such as [CLS] are never a fill. A blank starts with a sub-word that can start a word and goes on with
    ones that go on (`##`), wherever the vocabulary tells them apart.
    """
    pieces = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    goes_on = torch.tensor([piece.startswith("##") for piece in pieces])
    marks = torch.zeros(len(pieces), dtype=torch.bool)
    marks[tokenizer.all_special_ids] = True
    marks |= torch.tensor([piece.startswith("[unused") for piece in pieces])
    barred = torch.ones(2, n_vocabulary, dtype=torch.bool)
    barred[0, : len(pieces)] = marks | goes_on
    barred[1, : len(pieces)] = marks | ~goes_on if goes_on.any() else marks
    return torch.zeros(barred.shape).masked_fill(barred, float("-inf"))


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
