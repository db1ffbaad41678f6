"""A text with blanks as tokens: pieces are encoded as they stand inside the text, and each blank gets its slots."""

from dataclasses import dataclass, field
from enum import IntEnum

from transformers import PreTrainedTokenizerBase

from ..networks.checkpoints import edge_tokens
from ..text import BlankedText, DocumentError, Written, find_words
from .marks import word_mark, word_sizes
from .pieces import Piece, PieceEncoder

Lengths = list[list[int]]  # for each text, the number of tokens of each blank


class SlotKind(IntEnum):
    """Which tokens may fill a slot: that of the first token of a word, or of a later one."""

    AFTER_SPACE = 0  # the only token of a word
    CONTINUATION = 1  # inside a word, with more to come
    NO_SPACE = 2  # the first without a space before it, with more to come
    SPACE_AND_MORE = 3  # the first after a space, with more to come
    ONLY = 4  # the only one, without a space before it
    LAST = 5  # the last of several
    ANY = 6  # behind the first of a blank whose words are not known, with more to come
    ANY_LAST = 7  # the last of such a blank


@dataclass
class TokenRow:
    """A blanked text as tokens `[CLS] ... [SEP]`, with the slots of its blanks.

    For each slot: its place in `ids`, its blank and its kind.
    `written` has what was put into slots, in order.
    """

    id: str
    ids: list[int]
    slots: list[int] = field(default_factory=list)
    blank_of: list[int] = field(default_factory=list)
    kinds: list[SlotKind] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)

    def write(self, slot: int, token: int, pass_number: int) -> None:
        """Put a token into a slot (its number), in a pass over the document (from 0)."""
        self.ids[self.slots[slot]] = token
        if self.blank_of:
            blank, first = self.blank_of[slot], slot
            while first and self.blank_of[first - 1] == blank:
                first -= 1
            self.written.append(Written(pass_number, blank, slot - first, token))

    def slots_of(self, blank: int) -> list[int]:
        """Return the slot numbers (not places) of one blank."""
        return [number for number, owner in enumerate(self.blank_of) if owner == blank]

    def mask(self, mask_id: int, slots: list[int] | None = None) -> None:
        """Put the mask token into these slots (numbers), by default into all."""
        for place in self.slots if slots is None else [self.slots[slot] for slot in slots]:
            self.ids[place] = mask_id

    def append_blank(self, blank: int, ids: list[int], kinds: list[SlotKind]) -> None:
        """Append the slots of a blank, filled with `ids`."""
        self.slots += range(len(self.ids), len(self.ids) + len(ids))
        self.blank_of += [blank] * len(ids)
        self.kinds += kinds
        self.ids += ids


def to_rows(
    blanked: list[BlankedText],
    tokenizer: PreTrainedTokenizerBase,
    max_tokens: int | None,
    lengths: Lengths | None = None,
) -> list[TokenRow]:
    """Tokenize texts piece by piece, so that no token crosses the border of a blank.

    A blank gets as many slots as `lengths` says, for one word, else as its text's `counts` say, for any words, else as
    its original has tokens (`length: known`), at least one, for as many words. If that is the original's number, its
    tokens are in the slots, else unknown tokens; the caller masks them. Raises DocumentError for a text of more than
    `max_tokens` (None: no limit).
    """
    encode = PieceEncoder(tokenizer)
    pieces = [encode.cut(text) for text in blanked]
    encoded = iter(encode.encode([piece for row in pieces for piece in row]))
    unknown = unknown_id(tokenizer)
    opening, closing = edge_tokens(tokenizer)
    special, rows = {*special_ids(tokenizer)}, []
    for number, (text, cut) in enumerate(zip(blanked, pieces, strict=True)):
        row, counts = TokenRow(text.id, [*opening]), lengths[number] if lengths else text.counts
        for piece, ids in zip(cut, encoded, strict=False):
            is_read = piece.blank is None or not counts
            if is_read and (typed := special & {*ids}):
                raise DocumentError(
                    text.id,
                    f"it contains {tokenizer.convert_ids_to_tokens(min(typed))}, which this tokenizer can only read "
                    "as a special token: take it out",
                )
            if piece.blank is None:
                row.ids += ids
                continue
            n_slots = counts[piece.blank] if counts else max(1, len(ids))
            sizes = [n_slots] if counts else _word_sizes(piece, ids, tokenizer)
            kinds = _kinds_of_words(piece, sizes)
            if text.counts and not lengths and n_slots > 1:
                kinds = [kinds[0], *[SlotKind.ANY] * (n_slots - 2), SlotKind.ANY_LAST]
            row.append_blank(piece.blank, ids if len(ids) == n_slots else [unknown] * n_slots, kinds)
        row.ids += closing
        if max_tokens and len(row.ids) > max_tokens:
            raise DocumentError(
                text.id,
                f"{len(row.ids)} tokens do not fit the model's {max_tokens}; cut the text shorter",
            )
        rows.append(row)
    return rows


def _word_sizes(piece: Piece, ids: list[int], tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Return how many tokens each word of an original has; what `find_words` calls one word is one."""
    if len(ids) > 1 and len(find_words(piece.text)) > 1:
        return word_sizes([*map(str, tokenizer.convert_ids_to_tokens(ids))], word_mark(tokenizer))
    return [max(1, len(ids))]


def _kinds_of_words(piece: Piece, sizes: list[int]) -> list[SlotKind]:
    """Return the kinds of the slots of a blank from how many tokens each of its words has."""
    kinds: list[SlotKind] = []
    for size in sizes:
        if piece.is_inside and not kinds:
            kinds += [SlotKind.CONTINUATION] * (size - 1) + [SlotKind.LAST]
            continue
        after_space = bool(kinds) or piece.text.startswith(" ")
        if size == 1:
            kinds.append(SlotKind.AFTER_SPACE if after_space else SlotKind.ONLY)
        else:
            first = SlotKind.SPACE_AND_MORE if after_space else SlotKind.NO_SPACE
            kinds += [first, *[SlotKind.CONTINUATION] * (size - 2), SlotKind.LAST]
    return kinds


def special_ids(tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Return the ids of the special tokens but the unknown one, which stands for any text."""
    special = {number for number, added in tokenizer.added_tokens_decoder.items() if added.special}
    return sorted({*tokenizer.all_special_ids, *special} - {tokenizer.unk_token_id})


def unknown_id(tokenizer: PreTrainedTokenizerBase) -> int:
    """Return what stands in a slot before it is masked; a byte-level vocabulary may have no unknown token."""
    return tokenizer.unk_token_id if tokenizer.unk_token_id is not None else 0
