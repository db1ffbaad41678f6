"""A text with blanks in it, as pieces to tokenize and to put together again."""

from dataclasses import dataclass, field

from transformers import PreTrainedTokenizerBase

from ..blanks import BlankedText, DocumentError
from .pieces import Pieces

AFTER_SPACE, GOES_ON, NO_SPACE, SPACE_AND_MORE = range(4)


@dataclass
class Row:
    """A blanked text as sub-words `[CLS] ... [SEP]`, with the slots that its blanks take.

    For each slot: its place in `ids`, its blank, whether it is inside the blank (not its first slot), and its kind:
    AFTER_SPACE, GOES_ON, NO_SPACE (a first slot without a space before it), SPACE_AND_MORE (a first slot after a
    space with more slots to come).
    """

    id: str
    ids: list[int]
    slots: list[int]
    blank_of: list[int]
    inside: list[bool]
    kinds: list[int] = field(default_factory=list)

    def slots_of(self, blank: int) -> list[int]:
        """Return the slot numbers (not places) that belong to one blank."""
        return [number for number, owner in enumerate(self.blank_of) if owner == blank]


def to_rows(
    blanked: list[BlankedText],
    tokenizer: PreTrainedTokenizerBase,
    max_subwords: int | None,
    lengths: list[list[int]] | None = None,
) -> list[Row]:
    """Tokenize texts piece by piece, so that no sub-word reaches across the border of a blank.

    A blank takes as many slots as `lengths` says (a count for each blank of each text), else as its text's `counts`
    say, else as many as its original has sub-words (`length: known`), at least one. Where the count is the original's, its sub-words stand
    in the slots, else unknown marks; the caller hides them. Raises DocumentError if a text takes more than
    `max_subwords` (None: any number fits).
    """
    encode = Pieces(tokenizer)
    pieces = [_cut(text, encode) for text in blanked]
    encoded = iter(encode([piece for row in pieces for piece, _ in row]))
    unknown = unknown_id(tokenizer)
    opening, closing = _around(tokenizer)
    rows = []
    for number, (text, row) in enumerate(zip(blanked, pieces, strict=True)):
        made, counts = Row(text.id, [*opening], [], [], []), lengths[number] if lengths else text.counts
        for (piece, blank), ids in zip(row, encoded, strict=False):
            if blank is None:
                made.ids += ids
            else:
                n_slots = counts[blank] if counts else max(1, len(ids))
                ids = ids if len(ids) == n_slots else [unknown] * n_slots
                _append_blank(made, blank, ids, piece.startswith(" "))
        made.ids += closing
        if max_subwords and len(made.ids) > max_subwords:
            raise DocumentError(
                text.id,
                f"{len(made.ids)} sub-words do not fit the model's {max_subwords}; "
                "cut the text shorter (corpus.window_words)",
            )
        rows.append(made)
    return rows


def _around(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], list[int]]:
    """Return the marks that open and close a text: [CLS] and [SEP], else the start and the end if there are any.

    A causal model needs something to go on from before the first word, so the end stands in for a missing start.
    """
    opening = (tokenizer.cls_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id)
    closing = (tokenizer.sep_token_id, tokenizer.eos_token_id)
    return tuple([mark for mark in marks if mark is not None][:1] for marks in (opening, closing))


def unknown_id(tokenizer: PreTrainedTokenizerBase) -> int:
    """Return what stands in a slot before it is hidden; a byte-level vocabulary may have no unknown mark."""
    return tokenizer.unk_token_id if tokenizer.unk_token_id is not None else 0


def _append_blank(row: Row, blank: int, ids: list[int], spaced: bool) -> None:
    row.slots += range(len(row.ids), len(row.ids) + len(ids))
    row.blank_of += [blank] * len(ids)
    row.inside += [place > 0 for place in range(len(ids))]
    first = (SPACE_AND_MORE if len(ids) > 1 else AFTER_SPACE) if spaced else NO_SPACE
    row.kinds += [GOES_ON if place else first for place in range(len(ids))]
    row.ids += ids


def _cut(blanked: BlankedText, encode: Pieces) -> list[tuple[str, int | None]]:
    """Return pieces (text, number of the blank or None); the space before a blank goes with it.

    A tokenizer that opens every text with a space gets one before the first piece.
    """
    pieces, cursor, opening = [], 0, " " * encode.opens
    for number, word in enumerate(blanked.blanks):
        start, end = blanked.words[word]
        before = opening + blanked.text[cursor:start]
        spaced = encode.is_space(before[-1:])
        pieces.append((before[:-1] if spaced else before, None))
        pieces.append((" " * spaced + blanked.text[start:end], number))
        cursor, opening = end, ""
    pieces.append((opening + blanked.text[cursor:], None))
    return [(piece, number) for piece, number in pieces if piece]
