"""What is read of a document, token by token, and where its slots are written."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ..slots.rows import TokenRow

Write = Callable[[list[Any], torch.Tensor], None]  # takes the walks that are at a slot, and their logits
Part = tuple[list[int], list[int]]  # tokens and their positions


@dataclass
class Walk:
    """What is read of a document, in order, and where a slot is written.

    `positions` has the position of each token, None: consecutive. `writes` has for each slot, in order, how many
    tokens are read before it is written; the written token is then the next to be read, if any is left.
    The first `prefix` tokens see each other, at most those that are read before the first slot. Without `reads_fills`
    what stands in `ids` at a slot is read, whatever is written there.
    """

    row: TokenRow
    ids: list[int]
    positions: list[int] | None
    writes: list[int]
    n_read: int = 0
    n_written: int = 0
    prefix: int = 0
    reads_fills: bool = True

    @property
    def n_passes(self) -> int:
        """Return how many passes the document took alone: the number (from 0) of the one that writes next."""
        return self.n_written

    @property
    def n_scored(self) -> int:
        """Return how often the output layer was used."""
        return self.n_passes

    @property
    def n_filled(self) -> int:
        """Return how many tokens were written."""
        return self.n_written

    def most(self) -> int:
        """Return how many tokens are read at most."""
        return self.writes[-1]

    def n_ahead(self) -> int:
        """Return how many tokens are read before the next slot; 0 when finished."""
        return self.writes[self.n_written] - self.n_read if self.n_written < len(self.writes) else 0

    def take(self, n: int) -> Part:
        """Return the next n tokens and their positions; those up to the next slot count as read."""
        span = slice(self.n_read, self.n_read + n)
        self.n_read += min(n, self.n_ahead())
        return self.ids[span], self.positions[span] if self.positions else list(range(span.start, span.stop))

    def write(self, token: int) -> None:
        """Put a token into the next slot, and where it is read."""
        self.row.write(self.n_written, token, self.n_passes)
        if self.reads_fills and self.n_read < len(self.ids):
            self.ids[self.n_read] = token
        self.n_written += 1
