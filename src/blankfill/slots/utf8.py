"""Which tokens are whole characters: a byte-level vocabulary also has tokens of a part of one."""

import re
from codecs import getincrementaldecoder
from functools import cache

from transformers import PreTrainedTokenizerBase

FALLBACK = re.compile("<0x([0-9A-F]{2})>")  # how a SentencePiece vocabulary writes a byte
HALF = "\ufffd"  # what a decoder writes for bytes that are no character
N_SIGNS = 128  # single signs of GPT-2's table from which a vocabulary counts as byte-level


@cache
def byte_of_sign() -> dict[str, int]:
    """Return the byte that each sign of a byte-level vocabulary stands for (GPT-2's table)."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    shifted = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + n): byte for n, byte in enumerate(shifted)}


def spell_bytes(tokenizer: PreTrainedTokenizerBase, tokens: list[str]) -> list[bytes | None]:
    """Return the bytes of each token of a byte-level vocabulary; None for a token that is text."""
    vocabulary, signs = {*tokens}, byte_of_sign()
    if any(map(FALLBACK.fullmatch, tokens)):
        matches = [FALLBACK.fullmatch(token) for token in tokens]
        return [bytes([int(match[1], 16)]) if match else None for match in matches]
    if len(vocabulary & signs.keys()) < N_SIGNS or "Ġ" not in vocabulary:
        return [None] * len(tokens)
    added = {token.content for token in tokenizer.added_tokens_decoder.values()}
    are_bytes = [token not in added and signs.keys() >= {*token} for token in tokens]
    pairs = zip(tokens, are_bytes, strict=True)
    return [bytes(signs[sign] for sign in token) if is_bytes else None for token, is_bytes in pairs]


def starts_character(spelt: bytes | None) -> bool:
    """Return whether a text can begin with a token: with up to three bytes after it, it is valid UTF-8."""
    try:
        getincrementaldecoder("utf-8")().decode(spelt or b"")
    except UnicodeDecodeError:
        return False
    return True


def ends_character(spelt: bytes | None) -> bool:
    """Return whether a text can end with a token: with up to three bytes before it, it is valid UTF-8."""
    whole = spelt or b""
    stripped = whole.lstrip(bytes(range(0x80, 0xC0)))
    return len(whole) - len(stripped) <= 3 and is_whole(stripped)


def is_whole(spelt: bytes | None) -> bool:
    """Return whether a token alone is valid UTF-8."""
    try:
        (spelt or b"").decode()
    except UnicodeDecodeError:
        return False
    return True
