"""A text with blanks as tokens: pieces are encoded as they stand inside the text, and each blank gets its slots."""

import json
import re
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from ..networks.checkpoints import edge_tokens
from ..text import BlankedText, DocumentError, Written

Lengths = list[list[int]]  # for each text, the number of tokens of each blank


class SlotKind(IntEnum):
    """Which tokens may fill a slot: that of the first token of a word, or of a later one."""

    AFTER_SPACE = 0  # the only slot
    CONTINUATION = 1  # with more slots to come
    NO_SPACE = 2  # a first slot without a space before it, with more slots to come
    SPACE_AND_MORE = 3  # a first slot after a space, with more slots to come
    ONLY = 4  # the only slot, without a space before it
    LAST = 5  # the last of several


@dataclass
class TokenRow:
    """A blanked text as tokens `[CLS] ... [SEP]`, with the slots of its blanks.

    For each slot: its place in `ids`, its blank, whether it is inside the blank (not its first slot), and its kind.
    `written` has what was put into slots, in order.
    """

    id: str
    ids: list[int]
    slots: list[int] = field(default_factory=list)
    blank_of: list[int] = field(default_factory=list)
    inside: list[bool] = field(default_factory=list)
    kinds: list[SlotKind] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)

    def write(self, slot: int, token: int, pass_number: int) -> None:
        """Put a token into a slot (its number), in a pass over the document (from 0)."""
        self.ids[self.slots[slot]] = token
        if self.blank_of:
            position = 0
            while self.inside[slot - position]:
                position += 1
            self.written.append(Written(pass_number, self.blank_of[slot], position, token))

    def slots_of(self, blank: int) -> list[int]:
        """Return the slot numbers (not places) of one blank."""
        return [number for number, owner in enumerate(self.blank_of) if owner == blank]

    def mask(self, mask_id: int, slots: list[int] | None = None) -> None:
        """Put the mask token into these slots (numbers), by default into all."""
        for place in self.slots if slots is None else [self.slots[slot] for slot in slots]:
            self.ids[place] = mask_id

    def append_blank(self, blank: int, ids: list[int], after_space: bool) -> None:
        """Append the slots of a blank, filled with `ids`."""
        kinds = [SlotKind.AFTER_SPACE if after_space else SlotKind.ONLY]
        if len(ids) > 1:
            first = SlotKind.SPACE_AND_MORE if after_space else SlotKind.NO_SPACE
            kinds = [first, *[SlotKind.CONTINUATION] * (len(ids) - 2), SlotKind.LAST]
        self.slots += range(len(self.ids), len(self.ids) + len(ids))
        self.blank_of += [blank] * len(ids)
        self.inside += [place > 0 for place in range(len(ids))]
        self.kinds += kinds
        self.ids += ids


def to_rows(
    blanked: list[BlankedText],
    tokenizer: PreTrainedTokenizerBase,
    max_tokens: int | None,
    lengths: Lengths | None = None,
) -> list[TokenRow]:
    """Tokenize texts piece by piece, so that no token crosses the border of a blank.

    A blank gets as many slots as `lengths` says, else as its text's `counts` say, else as its original has tokens
    (`length: known`), at least one. If that is the original's number, its tokens are in the slots, else unknown
    tokens; the caller masks them. Raises DocumentError for a text of more than `max_tokens` (None: no limit).
    """
    encode = PieceEncoder(tokenizer)
    pieces = [_cut(text, encode) for text in blanked]
    encoded = iter(encode([piece for row in pieces for piece, _ in row]))
    unknown = unknown_id(tokenizer)
    opening, closing = edge_tokens(tokenizer)
    special, rows = {*special_ids(tokenizer)}, []
    for number, (text, cut) in enumerate(zip(blanked, pieces, strict=True)):
        row, counts = TokenRow(text.id, [*opening]), lengths[number] if lengths else text.counts
        for (piece, blank), ids in zip(cut, encoded, strict=False):
            is_read = blank is None or not counts
            if is_read and (typed := special & {*ids}):
                raise DocumentError(
                    text.id,
                    f"it contains {tokenizer.convert_ids_to_tokens(min(typed))}, which this tokenizer can only read "
                    "as a special token: take it out",
                )
            if blank is None:
                row.ids += ids
            else:
                n_slots = counts[blank] if counts else max(1, len(ids))
                row.append_blank(
                    blank, ids if len(ids) == n_slots else [unknown] * n_slots, piece.startswith(" ")
                )
        row.ids += closing
        if max_tokens and len(row.ids) > max_tokens:
            raise DocumentError(
                text.id,
                f"{len(row.ids)} tokens do not fit the model's {max_tokens}; cut the text shorter",
            )
        rows.append(row)
    return rows


def special_ids(tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """Return the ids of the special tokens but the unknown one, which stands for any text."""
    special = {number for number, added in tokenizer.added_tokens_decoder.items() if added.special}
    return sorted({*tokenizer.all_special_ids, *special} - {tokenizer.unk_token_id})


def unknown_id(tokenizer: PreTrainedTokenizerBase) -> int:
    """Return what stands in a slot before it is masked; a byte-level vocabulary may have no unknown token."""
    return tokenizer.unk_token_id if tokenizer.unk_token_id is not None else 0


class PieceEncoder:
    """Encodes pieces of a text one by one, each as it would be encoded inside the text.

    A special token that is typed in a text (`[MASK]`, `</s>`) is encoded as the characters that it is.

    Some tokenizers put a space before whatever they encode (`▁` of T5 and Llama, `Ġ` with add_prefix_space).
    That is right at the start of a text and wrong at the border of a blank. `adds_space` is true for a tokenizer
    that does so; a tokenizer without a Rust backend is used as it is.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        self.tokenizer = tokenizer
        self._bare = _without_added_space(tokenizer, len(tokenizer))
        self.adds_space = self._bare is not None and self._encode_whole(["a"]) != self(["a"])
        self._space: dict[str, bool] = {"": False, " ": True}
        # Metaspace adds none before a text that begins with one
        self.doubles_space = self.adds_space and self._encode_whole([" a"]) == self(["  a"])

    def __call__(self, pieces: list[str]) -> list[list[int]]:
        """Return the token ids of each piece, without special tokens around it."""
        if self._bare is None:
            return self._encode_whole(pieces)
        return [encoded.ids for encoded in self._bare.encode_batch(pieces, add_special_tokens=False)]

    def is_space(self, character: str) -> bool:
        """Return whether a character before a word is encoded as a space is (a line break may not be)."""
        if character not in self._space:
            pair = self([f"{character}a", " a"]) if character.isspace() else [[0], [1]]
            self._space[character] = pair[0] == pair[1]
        return self._space[character]

    def _encode_whole(self, pieces: list[str]) -> list[list[int]]:
        if not pieces:
            return []
        encoded = self.tokenizer(pieces, add_special_tokens=False, split_special_tokens=True)
        return encoded["input_ids"]


def _cut(blanked: BlankedText, encode: PieceEncoder) -> list[tuple[str, int | None]]:
    """Return pieces (text, number of the blank or None); the space before a blank goes with the blank.

    A tokenizer that adds a space to every text gets one before the first piece.
    """
    pieces: list[tuple[str, int | None]] = []
    adds = encode.adds_space and (encode.doubles_space or not blanked.text.startswith(" "))
    cursor, opening = 0, " " * adds
    for number, word in enumerate(blanked.blanks):
        start, end = blanked.words[word]
        before = opening + blanked.text[cursor:start]
        after_space = encode.is_space(before[-1:])
        pieces.append((before[:-1] if after_space else before, None))
        pieces.append((" " * after_space + blanked.text[start:end], number))
        cursor, opening = end, ""
    pieces.append((opening + blanked.text[cursor:], None))
    return [(piece, number) for piece, number in pieces if piece]


COLLAPSE = [
    {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
    {"type": "Replace", "pattern": {"Regex": r"\s$"}, "content": ""},
]


@lru_cache(maxsize=8)
def _without_added_space(tokenizer: PreTrainedTokenizerBase, n_tokens: int) -> Tokenizer | None:
    """Return the tokenizer's backend set not to add a space, or None where it never does.

    A splitter that removes spaces goes too; what it did to runs of spaces is done to the text beforehand.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return None
    described = backend.to_str()
    if not re.search(r'"(Metaspace|Prepend|ByteLevel)"', described):
        return None
    settings = json.loads(described)
    settings["pre_tokenizer"] = _bare_part(settings["pre_tokenizer"])
    before = [_bare_part(settings["normalizer"]), *(COLLAPSE if '"WhitespaceSplit"' in described else [])]
    before = [normalizer for normalizer in before if normalizer]
    settings["normalizer"] = {"type": "Sequence", "normalizers": before} if before else None
    bare = Tokenizer.from_str(json.dumps(settings))
    bare.encode_special_tokens = True
    bare.no_truncation()
    bare.no_padding()
    return bare


def _bare_part(step: dict | None) -> dict | None:
    """Return a normalizer or splitter without what adds or removes a space; None if nothing is left."""
    if step is None or step["type"] in ("Prepend", "WhitespaceSplit"):
        return None
    changed: dict[str, dict] = {
        "Metaspace": {"prepend_scheme": "never"},
        "ByteLevel": {"add_prefix_space": False},
        "Strip": {"strip_left": False},  # of a text; a piece keeps the space that it begins with
    }
    for inner in ("normalizers", "pretokenizers"):
        if inner in step:
            step = step | {inner: [bare for p in step[inner] if (bare := _bare_part(p))]}
    return step | changed.get(step["type"], {})
