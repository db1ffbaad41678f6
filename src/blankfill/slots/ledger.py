"""What filling cost: passes, token-forwards and FLOPs, counted the same way for every arm."""

from __future__ import annotations

from dataclasses import astuple, dataclass

from ..text import BlankedText


@dataclass
class Ledger:
    """What filling cost; a token-forward is a token that the network reads in a pass, each time counted, without padding."""

    documents: int = 0
    blanks: int = 0
    tokens_filled: int = 0
    passes: int = 0
    token_forwards: int = 0
    flops: int = 0

    @classmethod
    def of(cls, blanked: list[BlankedText]) -> Ledger:
        """Return a ledger of these texts, before any work."""
        return cls(documents=len(blanked), blanks=sum(len(text.blanks) for text in blanked))

    def __add__(self, other: Ledger) -> Ledger:
        return Ledger(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))
