"""From logits to one token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..draws import keyed_uniform
from ..errors import BlankfillError
from ..ranges import Range, check_number
from .ranges import LOWEST_TEMPERATURE, RANGES

if TYPE_CHECKING:
    import torch


RANKED = 4096  # tokens: at temperature 1 they hold nearly all probability
Key = tuple[str | int, ...]  # document id, slot and, after the first time, which time it is


class Sampling:
    """Greedy at temperature 0; otherwise a draw keyed by (seed, document, slot, visit), independent of the batch.

    Raises BlankfillError for a number outside its range (see `RANGES`), and for top_k or top_p without temperature.
    """

    def __init__(self, temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0, seed: int = 0):
        for name, value in (("temperature", temperature), ("top_k", top_k), ("top_p", top_p)):
            check_number(f"sampling: {name}", value, RANGES[name])
        check_number("sampling: seed", seed, Range(whole=True))
        if 0 < temperature < LOWEST_TEMPERATURE:
            raise BlankfillError(
                f"sampling: temperature={temperature} is too close to 0: give {LOWEST_TEMPERATURE:f} or more, or 0 for "
                "the likeliest token"
            )
        if not temperature and (top_k or top_p < 1):
            raise BlankfillError(f"sampling: top_k={top_k} and top_p={top_p} need temperature > 0")
        self.temperature, self.top_k, self.top_p, self.seed = temperature, top_k, top_p, seed

    def __call__(self, logits: torch.Tensor, keys: Sequence[Key]) -> list[int]:
        """Return a token for each row of logits (n, vocabulary)."""
        if self.temperature == 0:
            return logits.argmax(-1).tolist()
        return self._draw(logits.double() / self.temperature, keys)

    def _draw(self, logits: torch.Tensor, keys: Sequence[Key]) -> list[int]:
        """Draw by the inverse of the cumulative distribution, in float64, most likely tokens first.

        Only the likeliest tokens are ranked, as ranking takes most of the time; where others could change the draw, all.
        """
        import torch

        draws = torch.tensor([keyed_uniform(self.seed, "sample", *key) for key in keys], dtype=torch.float64)
        draws, n_ranked = draws.to(logits.device)[:, None], max(RANKED, self.top_k + 1)
        if n_ranked >= logits.shape[-1]:
            return self._choose(logits, draws)[0].tolist()
        ids = logits.topk(n_ranked, sorted=False).indices.sort(-1).values
        places, is_certain = self._choose(logits, draws, ids)
        tokens = ids.gather(-1, places[:, None])[:, 0]
        if not is_certain.all():
            tokens[~is_certain] = self._choose(logits[~is_certain], draws[~is_certain])[0]
        return tokens.tolist()

    def _choose(
        self, logits: torch.Tensor, draws: torch.Tensor, ids: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the place of the drawn token of each row among `ids` (all), and whether no other token could be drawn.

        Of equally likely tokens the first comes first.
        """
        import torch

        some, probabilities = logits, logits.softmax(-1)
        if ids is not None:
            some, probabilities = logits.gather(-1, ids), probabilities.gather(-1, ids)
        ranked, order = some.sort(dim=-1, descending=True, stable=True)
        probabilities = probabilities.gather(-1, order)
        if self.top_k:
            probabilities[:, self.top_k :] = 0.0
            probabilities /= probabilities.sum(-1, keepdim=True)
        reached = probabilities.cumsum(-1)
        kept = probabilities.masked_fill(reached - probabilities >= self.top_p, 0.0).cumsum(-1)
        is_closed = reached[:, -1:] >= self.top_p  # no token beyond is kept
        mass = torch.where(is_closed, kept[:, -1:], 1.0)
        target = draws * mass
        places = (kept <= target).sum(-1, keepdim=True).clamp(max=kept.shape[-1] - 1)
        is_certain = (is_closed | (self.top_p == 1)) & (kept[:, -1:] > target)
        is_certain &= ranked.gather(-1, places) > ranked[:, -1:]  # a tie with the last may leave one out
        return order.gather(-1, places)[:, 0], is_certain[:, 0]


GREEDY = Sampling()
