"""What a text cost: passes, token-forwards and FLOPs, counted the same way for every arm."""

from dataclasses import dataclass


@dataclass
class Ledger:
    """Work done by one arm; a token-forward is one sub-word going once through the network (padding excluded)."""

    documents: int = 0
    blanks: int = 0
    tokens_filled: int = 0
    passes: int = 0
    token_forwards: int = 0
    flops: int = 0
