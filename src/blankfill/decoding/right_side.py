"""What a masked model sees to the right of the blank that it fills, where it sees some words alone."""

from dataclasses import replace

from transformers import PreTrainedTokenizerBase

from ..networks.checkpoints import edge_tokens
from ..slots.rows import TokenRow, to_rows
from ..text import BlankedText

RightSides = list[list[int]]  # for each blank, the tokens that are seen behind it


def list_right_sides(
    blanked: BlankedText, row: TokenRow, tokenizer: PreTrainedTokenizerBase, n_words: int
) -> RightSides:
    """Return for each blank the tokens of the `n_words` words behind it, with masks for the blanks among them.

    They are the tokens of the text as it stands, cut off after the last of these words; none where no word follows, or
    with `n_words` 0.
    `row` is the text as tokens, from which each blank has its number of slots.
    """
    sides: RightSides = [[] for _ in {*row.blank_of}]
    if not n_words or not sides:
        return sides
    counted = replace(blanked, counts=[len(row.slots_of(blank)) for blank in range(len(sides))])
    texts = [cut_after(counted, word + n_words) for word in blanked.blanks]
    n_closing = len(edge_tokens(tokenizer)[1])
    for blank, cut in enumerate(to_rows(texts, tokenizer, None)):
        cut.mask(tokenizer.mask_token_id)
        behind = cut.slots[cut.slots_of(blank)[-1]] + 1
        sides[blank] = cut.ids[behind : len(cut.ids) - n_closing]
    return sides


def cut_after(blanked: BlankedText, word: int) -> BlankedText:
    """Return the text up to the end of a word (its number), or of its last word."""
    blanks = [blank for blank in blanked.blanks if blank <= word]
    words = blanked.words[: word + 1]
    counts = blanked.counts and blanked.counts[: len(blanks)]
    return replace(blanked, text=blanked.text[: words[-1][1]], words=words, blanks=blanks, counts=counts)
