"""Sub-words of a stretch of text that stands inside a longer one: no space is invented before it."""

import json
import re
from functools import lru_cache

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

COLLAPSE = [
    {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
    {"type": "Replace", "pattern": {"Regex": r"\s$"}, "content": ""},
]


class Pieces:
    """Encodes stretches of a text one by one, each as it would be encoded where it stands.

    Some tokenizers write a space before whatever they are given (`▁` of T5 and Llama, `Ġ` with add_prefix_space).
    That is right at the start of a text and wrong at the border of a blank. `opens` tells whether the tokenizer
    does so; a tokenizer without a Rust backend is used as it is.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase):
        self.tokenizer = tokenizer
        self._bare = _without_invented_space(tokenizer, len(tokenizer))
        self.opens = self._bare is not None and self._whole(["a"]) != self(["a"])
        self._space: dict[str, bool] = {"": False, " ": True}

    def __call__(self, pieces: list[str]) -> list[list[int]]:
        """Return the ids of each stretch, without marks around it."""
        if self._bare is None:
            return self._whole(pieces)
        return [made.ids for made in self._bare.encode_batch(pieces, add_special_tokens=False)]

    def is_space(self, character: str) -> bool:
        """Tell whether a character before a word is encoded as a space is (a line break may not be)."""
        if character not in self._space:
            with_it, with_space = self([f"{character}a", " a"]) if character.isspace() else (0, 1)
            self._space[character] = with_it == with_space
        return self._space[character]

    def _whole(self, pieces: list[str]) -> list[list[int]]:
        return self.tokenizer(pieces, add_special_tokens=False)["input_ids"] if pieces else []


@lru_cache(maxsize=8)
def _without_invented_space(tokenizer: PreTrainedTokenizerBase, n_pieces: int) -> Tokenizer | None:
    """Return the tokenizer's backend told not to write a space of its own, or None where it never does.

    A splitter that swallows spaces goes too; what it did to runs of spaces is done to the text beforehand.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return None
    described = backend.to_str()
    if not re.search(r'"(Metaspace|Prepend|ByteLevel)"', described):
        return None
    parts = json.loads(described)
    swallows = '"WhitespaceSplit"' in described
    parts["pre_tokenizer"] = _bare_part(parts["pre_tokenizer"])
    before = [_bare_part(parts["normalizer"]), *(COLLAPSE if swallows else [])]
    before = [part for part in before if part]
    parts["normalizer"] = {"type": "Sequence", "normalizers": before} if before else None
    bare = Tokenizer.from_str(json.dumps(parts))
    bare.no_truncation()
    bare.no_padding()
    return bare


def _bare_part(part: dict | None) -> dict | None:
    """Return a normalizer or splitter without what writes or swallows a space; None if nothing is left."""
    if part is None or part["type"] in ("Prepend", "WhitespaceSplit"):
        return None
    changed = {"Metaspace": {"prepend_scheme": "never"}, "ByteLevel": {"add_prefix_space": False}}
    for inner in ("normalizers", "pretokenizers"):
        if inner in part:
            part = part | {inner: [kept for p in part[inner] if (kept := _bare_part(p))]}
    return part | changed.get(part["type"], {})
