"""From logits to one token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..draws import keyed_uniform
from ..errors import BlankfillError
from ..ranges import Range, check_number
from .ranges import LOWEST_TEMPERATURE, RANGES

if TYPE_CHECKING:
    import torch


RANKED = 4096  # tokens: at temperature 1 they hold nearly all probability
ROWS = 16  # drawn at a time on a CPU, so that their probabilities stay in its cache
Key = tuple[str | int, ...]  # document id, slot and, after the first time, which time it is


class Sampling:
    """Greedy at temperature 0; otherwise a draw keyed by (seed, document, slot, visit), independent of the batch.

    Raises BlankfillError for a number outside its range (see `RANGES`), and for top_k or top_p without temperature.
    """

    def __init__(self, temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0, seed: int = 0):
        for name, value in (("temperature", temperature), ("top_k", top_k), ("top_p", top_p)):
            check_number(name, value, RANGES[name])
        check_number("seed", seed, Range(whole=True))
        if 0 < temperature < LOWEST_TEMPERATURE:
            raise BlankfillError(
                f"temperature={temperature} is too close to 0: give {LOWEST_TEMPERATURE:f} or more, or 0 for "
                "the likeliest token"
            )
        if not temperature and (top_k or top_p < 1):
            raise BlankfillError(f"top_k={top_k} and top_p={top_p} need temperature > 0")
        self.temperature, self.top_k, self.top_p = temperature, top_k, top_p
        self.seed = int(seed)  # a key of draws spells it

    def __call__(self, logits: torch.Tensor, keys: Sequence[Key]) -> list[int]:
        """Return a token for each row of logits (n, vocabulary)."""
        if not self.temperature:
            return logits.argmax(-1).tolist()
        logits = in_reach_of_float64(logits)
        n_rows = ROWS if logits.device.type == "cpu" else max(len(keys), 1)
        starts = range(0, len(keys), n_rows)
        return [token for a in starts for token in self._draw(logits[a : a + n_rows], keys[a : a + n_rows])]

    def _draw(self, logits: torch.Tensor, keys: Sequence[Key]) -> list[int]:
        """Draw by the inverse of the cumulative distribution, in float64, most likely tokens first.

        Only the likeliest tokens are ranked; where others could change the draw, all.
        """
        import torch

        draws = torch.tensor([keyed_uniform(self.seed, "sample", *key) for key in keys], dtype=torch.float64)
        draws, n_tokens = draws.to(logits.device)[:, None], logits.shape[-1]
        probabilities = logits.to(torch.float64, copy=True).div_(self.temperature).softmax(-1)
        n_ranked = min(max(RANKED, self.top_k + 1), n_tokens)
        tokens, is_certain = self._choose(_rank(logits, n_ranked), probabilities, draws)
        if not is_certain.all():
            undecided = ~is_certain
            tokens[undecided] = self._choose(
                _rank(logits[undecided], n_tokens), probabilities[undecided], draws[undecided]
            )[0]
        return tokens.tolist()

    def _choose(
        self, ranked: torch.Tensor, probabilities: torch.Tensor, draws: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the drawn token of each row of ranked ones, and whether no token beyond these could be drawn."""
        import torch

        probabilities = probabilities.gather(-1, ranked)
        if self.top_k:
            probabilities[:, self.top_k :] = 0.0
            probabilities /= probabilities.sum(-1, keepdim=True)
        reached = probabilities.cumsum(-1)
        cumulated = probabilities.masked_fill(reached - probabilities >= self.top_p, 0.0).cumsum(-1)
        is_closed = reached[:, -1:] >= self.top_p  # no token beyond is kept
        mass = torch.where(is_closed, cumulated[:, -1:], 1.0)
        target = draws * mass
        places = (cumulated <= target).sum(-1, keepdim=True).clamp(max=cumulated.shape[-1] - 1)
        is_certain = (is_closed | (self.top_p == 1)) & (cumulated[:, -1:] > target)
        return ranked.gather(-1, places)[:, 0], is_certain[:, 0]


def in_reach_of_float64(values: torch.Tensor) -> torch.Tensor:
    """Return numbers on a device that computes in float64: Apple's GPU does not."""
    return values.cpu() if values.device.type == "mps" else values


def _rank(logits: torch.Tensor, n_ranked: int) -> torch.Tensor:
    """Return the ids of the likeliest tokens of each row, likeliest first; of equally likely tokens the first comes first.

    numpy sorts integers many times faster than torch sorts float64, so on a CPU a row is sorted as such.
    """
    import torch

    if logits.device.type != "cpu" or logits.dtype == torch.float64:
        return logits.sort(dim=-1, descending=True, stable=True).indices[:, :n_ranked]
    rows = (logits.float() + 0.0).numpy()  # -0.0 becomes 0.0, which is as likely
    ranked = [_rank_row(row, n_ranked) for row in rows]
    return torch.from_numpy(np.stack(ranked) if ranked else np.empty((0, n_ranked), dtype=np.int64))


def _rank_row(logits: np.ndarray, n_ranked: int) -> np.ndarray:
    least = np.partition(logits, -n_ranked)[-n_ranked]
    ids = np.flatnonzero(logits >= least)
    bits = logits[ids].view(np.int32)
    # Integers in the order of the floats that they are the bits of.
    ascending = bits ^ (bits >> 31 & 0x7FFFFFFF)
    keys = ~ascending.astype(np.int64) << 32 | ids
    keys.sort()
    return keys[:n_ranked] & 0xFFFFFFFF


GREEDY = Sampling()
