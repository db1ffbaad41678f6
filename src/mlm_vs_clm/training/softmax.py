"""The last product of an output layer in training: gradients in place, and a softmax over some of the vocabulary.

The softmax is over the most frequent tokens and the targets of the batch. Every other token is there with an equal chance,
for as many as there are for each that is drawn, so that the sum over the vocabulary is estimated without bias.
"""

from dataclasses import dataclass

import numpy as np
import torch

DRAWN = 1024  # tokens that stand for all that are neither frequent nor targets


@dataclass(frozen=True)
class SoftmaxTokens:
    """The tokens of a step's softmax: ids (n,), the log of how many each stands for (n,), the place of each id (vocabulary,)."""

    ids: torch.Tensor
    bias: torch.Tensor
    places: torch.Tensor


def choose_tokens(
    frequent: np.ndarray, targets: np.ndarray, n_vocabulary: int, rng: np.random.Generator
) -> SoftmaxTokens:
    """Return the frequent tokens, the targets, and DRAWN of the others at random, each for as many as there are per draw."""
    certain = np.union1d(frequent, targets)
    others = np.setdiff1d(np.arange(n_vocabulary), certain, assume_unique=True)
    drawn = rng.choice(others, size=min(DRAWN, len(others)), replace=False)
    ids = np.concatenate([certain, drawn])
    bias, places = np.zeros(len(ids), dtype=np.float32), np.zeros(n_vocabulary, dtype=int)
    bias[len(certain) :] = np.log(len(others) / max(len(drawn), 1))
    places[ids] = np.arange(len(ids))
    return SoftmaxTokens(*map(torch.from_numpy, (ids, bias, places)))


class OutputProduct:
    """The product of rows (n, width) with the output layer's weights, in the precision of training."""

    def __init__(
        self,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        tokens: SoftmaxTokens | None,
        dtype: torch.dtype,
    ):
        self.parameters, self.tokens = (weight, bias), tokens
        table = weight.detach() if tokens is None else weight.detach()[tokens.ids]
        self.table = table.to(dtype)
        self.bias = table.new_zeros(len(table)) if bias is None else bias.detach()
        if tokens is not None:
            self.bias = tokens.bias if bias is None else bias.detach()[tokens.ids] + tokens.bias
        self.slope, self.bias_slope = torch.zeros_like(table), torch.zeros_like(self.bias)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the logits of rows."""
        return torch.addmm(self.bias.to(rows.dtype), rows, self.table.T)

    def learn(self, rows: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
        """Add the gradients of logits (n, tokens) to those of the weights; return those of the rows."""
        low = slopes.to(self.table.dtype)
        if low.dtype == self.slope.dtype:
            self.slope.addmm_(low.T, rows)
        else:
            self.slope += low.T @ rows
        self.bias_slope += slopes.sum(0)
        return low @ self.table

    def add_gradients(self) -> None:
        """Add what was learned to the gradients of the parameters."""
        for parameter, slope in zip(self.parameters, (self.slope, self.bias_slope), strict=True):
            if parameter is None or not parameter.requires_grad:
                continue
            if self.tokens is None and parameter.grad is None:
                parameter.grad = slope
                continue
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            if self.tokens is None:
                parameter.grad += slope
            else:
                parameter.grad.index_add_(0, self.tokens.ids, slope)
