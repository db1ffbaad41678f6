"""Which tokens may fill a slot so that a blank is valid UTF-8: a byte-level vocabulary has tokens of half a character."""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache, reduce

import torch
from transformers import PreTrainedTokenizerBase

# The states of a reader of UTF-8: between characters, or with so many bytes to come, of which the first may be limited.
WHOLE, ONE, TWO, THREE, AFTER_E0, AFTER_ED, AFTER_F0, AFTER_F4, INVALID = range(9)
STATES = range(INVALID)
CONTINUATION = {ONE: WHOLE, TWO: ONE, THREE: TWO, AFTER_E0: ONE, AFTER_ED: ONE, AFTER_F0: TWO, AFTER_F4: TWO}
RANGES = {AFTER_E0: (0xA0, 0xBF), AFTER_ED: (0x80, 0x9F), AFTER_F0: (0x90, 0xBF), AFTER_F4: (0x80, 0x8F)}
SPECIAL_LEADS = {0xE0: AFTER_E0, 0xED: AFTER_ED, 0xF0: AFTER_F0, 0xF4: AFTER_F4}
Bytes = bytes | None
States = frozenset[int]
BETWEEN: States = frozenset([WHOLE])


def read_byte(state: int, byte: int) -> int:
    """Return the state after one more byte."""
    if state == INVALID:
        return INVALID
    if state != WHOLE:
        low, high = RANGES.get(state, (0x80, 0xBF))
        return CONTINUATION[state] if low <= byte <= high else INVALID
    if byte < 0x80:
        return WHOLE
    if byte in SPECIAL_LEADS:
        return SPECIAL_LEADS[byte]
    for first, last, then in ((0xC2, 0xDF, ONE), (0xE1, 0xEF, TWO), (0xF1, 0xF3, THREE)):
        if first <= byte <= last:
            return then
    return INVALID


@cache
def byte_of_sign() -> dict[str, int]:
    """Return the byte that each sign of a byte-level vocabulary stands for (GPT-2's table)."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + n): byte for n, byte in enumerate(others)}


def _byte_level(token: str) -> Bytes:
    known = byte_of_sign()
    return bytes(known[sign] for sign in token) if all(sign in known for sign in token) else None


def _byte_fallback(token: str) -> Bytes:
    return bytes([int(token[3:5], 16)]) if len(token) == 6 and token.startswith("<0x") else None


class Utf8:
    """The tokens of a vocabulary as moves between states of UTF-8; `moves` has (states, tokens)."""

    def __init__(self, spelt: Sequence[Bytes]):
        by_bytes = {
            some: [reduce(read_byte, some, state) for state in STATES]
            for some in {*spelt}
            if some is not None
        }
        text = [WHOLE] + [INVALID] * (INVALID - 1)  # a token that is text stands between characters
        self.moves = torch.tensor([by_bytes[some] if some is not None else text for some in spelt]).T
        self.rows: list[list[int]] = self.moves.tolist()
        self.steps = [{*row} - {INVALID} for row in self.rows]

    def after(self, states: Iterable[int], token: int | None) -> States:
        """Return the states that may follow, after a token or after any (None)."""
        if token is None:
            return frozenset(step for state in states for step in self.steps[state])
        return frozenset(self.rows[state][token] for state in states) - {INVALID}

    def before(self, states: Iterable[int], token: int | None) -> States:
        """Return the states from which one of these is reached, with a token or with any (None)."""
        goal = {*states}
        return frozenset(state for state in STATES if goal & self.after([state], token))

    def ends(self, n: int) -> States:
        """Return the states from which at most n more tokens end between characters."""
        states = BETWEEN
        for _ in range(n):
            states |= self.before(states, None)
        return states

    def is_allowed(self, starts: States, ends: States) -> torch.Tensor:
        """Return which tokens (bool) lead from one of the starts to one of the ends."""
        goal = torch.tensor([*ends], dtype=self.moves.dtype)
        allowed = [torch.isin(self.moves[state], goal) for state in starts]
        return torch.stack(allowed).any(0) if allowed else torch.zeros(self.moves.shape[1], dtype=torch.bool)


@lru_cache(maxsize=8)
def _utf8(tokenizer: PreTrainedTokenizerBase, n_tokens: int) -> Utf8 | None:
    tokens = tokenizer.convert_ids_to_tokens([*range(n_tokens)])
    added = {token.content for token in tokenizer.added_tokens_decoder.values()}
    known = {*tokens}
    if known.issuperset(f"<0x{byte:02X}>" for byte in range(256)):
        spell = _byte_fallback
    elif len(known & byte_of_sign().keys()) >= 128 and "Ġ" in known:
        spell = _byte_level
    else:
        return None
    return Utf8([None if token in added and spell is _byte_level else spell(token) for token in tokens])


def find_utf8(tokenizer: PreTrainedTokenizerBase) -> Utf8 | None:
    """Return how the tokens of a vocabulary of bytes make characters; None where every token is text."""
    return _utf8(tokenizer, len(tokenizer))
