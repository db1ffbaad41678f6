"""From logits to one token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..draws import keyed_uniform
from ..errors import StudyError

if TYPE_CHECKING:
    import torch

Key = tuple[str | int, ...]  # document id, slot and, after the first time, which time it is


class Sampling:
    """Greedy at temperature 0; otherwise a draw keyed by (seed, document, slot, visit), independent of the batch.

    Raises StudyError for a temperature or top_k below 0, a top_p outside (0, 1], and top_k or top_p without
    temperature.
    """

    def __init__(self, temperature: float = 0.0, top_k: int = 0, top_p: float = 1.0, seed: int = 0):
        if temperature < 0 or top_k < 0 or not 0 < top_p <= 1:
            raise StudyError(
                f"sampling: temperature={temperature}, top_k={top_k}, top_p={top_p}; temperature and top_k are "
                "0 or more (0: greedy, all), top_p is in (0, 1]"
            )
        if not temperature and (top_k or top_p < 1):
            raise StudyError(f"sampling: top_k={top_k} and top_p={top_p} need temperature > 0")
        self.temperature, self.top_k, self.top_p, self.seed = temperature, top_k, top_p, seed

    def __call__(self, logits: torch.Tensor, keys: Sequence[Key]) -> list[int]:
        """Return a token for each row of logits (n, vocabulary)."""
        if self.temperature == 0:
            return logits.argmax(-1).tolist()
        return self._draw(logits.double() / self.temperature, keys)

    def _draw(self, logits: torch.Tensor, keys: Sequence[Key]) -> list[int]:
        """Draw by the inverse of the cumulative distribution, in float64, most likely tokens first."""
        import torch

        ranked, ids = logits.sort(dim=-1, descending=True, stable=True)
        if self.top_k:
            ranked[:, self.top_k :] = float("-inf")
        probabilities = ranked.softmax(-1)
        before = probabilities.cumsum(-1) - probabilities
        total = probabilities.masked_fill(before >= self.top_p, 0.0).cumsum(-1)
        draws = torch.tensor([keyed_uniform(self.seed, "sample", *key) for key in keys], dtype=torch.float64)
        target = draws.to(total.device)[:, None] * total[:, -1:]
        places = (total <= target).sum(-1, keepdim=True).clamp(max=total.shape[-1] - 1)
        return ids.gather(-1, places).squeeze(-1).tolist()


GREEDY = Sampling()
