"""Pieces of a text: what stands in its blanks and between them, each encoded as it stands inside the text."""

import json
import re
from typing import NamedTuple

from tokenizers import Encoding, Tokenizer
from tokenizers.models import WordPiece
from transformers import PreTrainedTokenizerBase

from ..text import INSIDE_WORD, BlankedText
from .marks import once_per_vocabulary


class Piece(NamedTuple):
    """Characters of a text, the number of the blank in which they stand (None: kept), and whether they go on a word.

    `is_inside` is true only for a tokenizer that has other tokens there (`##`).
    """

    text: str
    blank: int | None
    is_inside: bool


class PieceEncoder:
    """Encodes pieces of a text one by one, each as it would be encoded inside the text.

    A special token that is typed in a text (`[MASK]`, `</s>`) is encoded as the characters that it is.

    Some tokenizers put a space before whatever they encode (`▁` of T5 and Llama, `Ġ` with add_prefix_space).
    That is right at the start of a text and wrong at the border of a blank. `adds_space` is true for a tokenizer
    that does so. WordPiece starts a word with whatever it encodes, so the rest of a word is encoded by its tokens
    with `##` alone. A tokenizer without a Rust backend is used as it is.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        self.tokenizer = tokenizer
        self._added: set[int] = set()
        self._bare = _without_added_space(tokenizer)
        self._inside = _inside_words(tokenizer)
        self.adds_space = self._bare is not None and self._encode_whole(["a"]) != self(["a"])
        added = tokenizer.added_tokens_decoder.items() if self.adds_space else ()
        self._added = {number for number, token in added if not token.special}
        self._space: dict[str, bool] = {"": False, " ": True}
        # Metaspace adds none before a text that begins with one
        self.doubles_space = self.adds_space and self._encode_whole([" a"]) == self(["  a"])

    def __call__(self, pieces: list[str]) -> list[list[int]]:
        """Return the token ids of each piece, without special tokens around it."""
        if self._bare is None:
            return self._encode_whole(pieces)
        encoded = self._bare.encode_batch(pieces, add_special_tokens=False)
        return [self._encode_sections(*pair) for pair in zip(pieces, encoded, strict=True)]

    def _encode_sections(self, piece: str, encoded: Encoding) -> list[int]:
        """Return the token ids of a piece; from its first added token on the tokenizer's own, as it may add spaces there."""
        place = next((n for n, token in enumerate(encoded.ids) if token in self._added), None)
        if place is None:
            return encoded.ids
        start, _ = encoded.offsets[place]
        return encoded.ids[:place] + self._encode_whole([piece[start:]])[0]

    def encode(self, pieces: list[Piece]) -> list[list[int]]:
        """Return the token ids of each piece, where it stands; one inside a word begins with the rest of it."""
        pairs = zip(pieces, self([piece.text for piece in pieces]), strict=True)
        return [self._encode_rest(piece.text) if piece.is_inside else ids for piece, ids in pairs]

    def _encode_rest(self, piece: str) -> list[int]:
        assert self._inside is not None  # else no piece stands inside a word
        if self._inside.normalizer:
            piece = self._inside.normalizer.normalize_str(piece)
        words = self._inside.pre_tokenizer.pre_tokenize_str(piece)
        end = words[0][1][1] if words else 0
        rest = self._inside.encode(piece[:end], add_special_tokens=False).ids
        return rest + self([piece[end:]])[0]

    def cut(self, blanked: BlankedText) -> list[Piece]:
        """Return the pieces of a text; the space before a blank goes with the blank.

        A tokenizer that adds a space to every text gets one before the first piece.
        """
        pieces: list[Piece] = []
        adds = self.adds_space and (self.doubles_space or not blanked.text.startswith(" "))
        adds = adds and not self._starts_added(blanked.text)
        cursor, opening, is_inside = 0, " " * adds, False
        for number, word in enumerate(blanked.blanks):
            start, end = blanked.words[word]
            before = opening + blanked.text[cursor:start]
            after_space = self.is_space(before[-1:])
            pieces.append(Piece(before[:-1] if after_space else before, None, is_inside))
            written = " " * after_space + blanked.text[start:end]
            pieces.append(Piece(written, number, self._is_inside(blanked.text, start)))
            cursor, opening, is_inside = end, "", self._is_inside(blanked.text, end)
        pieces.append(Piece(opening + blanked.text[cursor:], None, is_inside))
        return [piece for piece in pieces if piece.text]

    def _starts_added(self, text: str) -> bool:
        """Return whether a text starts with an added token, before which no space is added."""
        return bool(self._added) and not self._added.isdisjoint(self([text])[0][:1])

    def _is_inside(self, text: str, place: int) -> bool:
        return self._inside is not None and bool(INSIDE_WORD.match(text, place))

    def is_space(self, character: str) -> bool:
        """Return whether a character before a word is encoded as a space is (a line break may not be)."""
        if character not in self._space:
            pair = self([f"{character}a", " a"]) if character.isspace() else [[0], [1]]
            self._space[character] = pair[0] == pair[1]
        return self._space[character]

    def _encode_whole(self, pieces: list[str]) -> list[list[int]]:
        if not pieces:
            return []
        encoded = self.tokenizer(pieces, add_special_tokens=False, split_special_tokens=True, verbose=False)
        return encoded["input_ids"]


COLLAPSE = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
LAST_SPACE = {"type": "Split", "pattern": {"Regex": r"\s$"}, "behavior": "Removed", "invert": False}


@once_per_vocabulary
def _without_added_space(tokenizer: PreTrainedTokenizerBase) -> Tokenizer | None:
    """Return the tokenizer's backend set not to add a space, or None where it never does.

    A splitter that removes spaces goes too; what it did to runs of spaces and to a last one is done beforehand.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return None
    described = backend.to_str()
    if not re.search(r'"(Metaspace|Prepend|ByteLevel)"', described):
        return None
    settings = json.loads(described)
    bare = {step: [_bare_part(settings[step])] for step in ("normalizer", "pre_tokenizer")}
    if '"WhitespaceSplit"' in described:
        bare["normalizer"].append(COLLAPSE)
        bare["pre_tokenizer"].insert(0, LAST_SPACE)
    for step, parts in bare.items():
        inner = [part for part in parts if part]
        settings[step] = {"type": "Sequence", f"{step}s".replace("_", ""): inner} if inner else None
    return _load(settings)


@once_per_vocabulary
def _inside_words(tokenizer: PreTrainedTokenizerBase) -> Tokenizer | None:
    """Return a backend whose words begin with the tokens that go on a word (`##`); None where there are none."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or not isinstance(backend.model, WordPiece) or backend.pre_tokenizer is None:
        return None
    settings = json.loads(backend.to_str())
    known, mark = settings["model"]["vocab"], settings["model"]["continuing_subword_prefix"]
    later = {token: number for token, number in known.items() if mark and token.startswith(mark)}
    if not later:
        return None
    unknown = settings["model"]["unk_token"]
    first = {token.removeprefix(mark): number for token, number in later.items() if token != mark}
    settings["model"]["vocab"] = {unknown: known[unknown]} | first | later
    return _load(settings | {"added_tokens": [], "post_processor": None})


def _load(settings: dict) -> Tokenizer:
    backend = Tokenizer.from_str(json.dumps(settings))
    backend.encode_special_tokens = True
    backend.no_truncation()
    backend.no_padding()
    return backend


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
