"""Training's arrays that are as large as the vocabulary: gradients are summed in place, without autograd.

They are kept from step to step: the system clears the pages of new ones, which would take a fifth of a step.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import torch
from torch import nn

from blankfill.networks.sizes import HEAD_ROWS

SLOPES_MB = 64  # of the gradient of logits, summed into that of the weights at once


class KeptArrays:
    """Arrays by what they are for, each allocated once for all steps."""

    def __init__(self):
        self.arrays: dict[tuple, torch.Tensor] = {}

    def take(self, purpose: str, weight: torch.Tensor, dtype: torch.dtype, rows: int = 0) -> torch.Tensor:
        """Return an array with whatever it held: shaped as a weight, or as so many rows of its logits."""
        key = (purpose, id(weight), dtype, weight.device)
        if key not in self.arrays:
            shape = (rows, len(weight)) if rows else weight.shape
            self.arrays[key] = torch.empty(shape, dtype=dtype, device=weight.device)
        return self.arrays[key]

    def gradient(self, weight: torch.Tensor) -> torch.Tensor:
        """Return the array of a weight's gradient."""
        return self.take("gradient", weight, weight.dtype)


class OutputProduct:
    """The product of rows (n, width) with the output layer's weights, in the precision of training."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, dtype: torch.dtype, kept: KeptArrays):
        self.weight, self.bias, self.kept = weight, bias, kept
        self.table = weight.detach()
        if weight.dtype != dtype:
            self.table = kept.take("table", weight, dtype).copy_(self.table)
        most = SLOPES_MB * 2**20 // (len(weight) * self.table.element_size())
        self.slopes = kept.take("slopes", weight, dtype, max(HEAD_ROWS, most))
        self.rows: list[torch.Tensor] = []
        self.added = self.table.new_zeros(len(self.table)) if bias is None else bias.detach()
        self.bias_slope = torch.zeros_like(self.added)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the logits of rows."""
        return torch.addmm(self.added.to(rows.dtype), rows, self.table.T)

    def learn(self, rows: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
        """Keep the gradients of logits (n, vocabulary) for those of the weights; return those of the rows."""
        start = sum(map(len, self.rows))
        if start + len(rows) > len(self.slopes):
            self._add_weight_gradient()
            start = 0
        low = self.slopes[start : start + len(rows)].copy_(slopes)
        self.rows.append(rows)
        self.bias_slope += slopes.sum(0)
        return low @ self.table

    def add_gradients(self) -> None:
        """Add what was learned to the gradients of the parameters."""
        self._add_weight_gradient()
        if self.bias is not None and self.bias.requires_grad:
            self.bias.grad = self.bias_slope if self.bias.grad is None else self.bias.grad + self.bias_slope

    def _add_weight_gradient(self) -> None:
        rows, self.rows = torch.cat(self.rows), []
        weight, slopes = self.weight, self.slopes[: len(rows)].T
        if not weight.requires_grad:
            return
        if slopes.dtype != weight.dtype:
            product = torch.mm(slopes, rows, out=self.kept.take("product", weight, slopes.dtype))
            weight.grad = (
                self.kept.gradient(weight).copy_(product)
                if weight.grad is None
                else weight.grad.add_(product)
            )
        elif weight.grad is None:
            weight.grad = torch.mm(slopes, rows, out=self.kept.gradient(weight))
        else:
            weight.grad.addmm_(slopes, rows)


class Lookup(torch.autograd.Function):
    """Rows of a table by their ids, whose gradient adds to the table's own."""

    @staticmethod
    def forward(ctx, ids, weight, padding, kept):
        ctx.ids, ctx.weight, ctx.padding, ctx.kept = ids, weight, padding, kept
        return nn.functional.embedding(ids, weight)

    @staticmethod
    def backward(ctx, slopes):
        ids, weight = ctx.ids.flatten(), ctx.weight
        slopes = slopes.reshape(len(ids), -1).to(weight.dtype)
        if ctx.padding is not None:
            slopes = slopes.masked_fill((ids == ctx.padding)[:, None], 0.0)
        if weight.grad is None:
            weight.grad = ctx.kept.gradient(weight).zero_()
        weight.grad.index_add_(0, ids, slopes)
        return None, None, None, None


@contextmanager
def adding_in_place(model: nn.Module, kept: KeptArrays) -> Iterator[None]:
    """Let the embeddings of a model on the CPU add to their gradients the rows that were read, in place of whole tables."""
    tables = [module for module in model.modules() if isinstance(module, nn.Embedding) and _is_plain(module)]
    for table in tables:
        vars(table)["forward"] = partial(_look_up, table, kept)
    try:
        yield
    finally:
        for table in tables:
            del vars(table)["forward"]


def _is_plain(table: nn.Embedding) -> bool:
    is_learned = type(table) is nn.Embedding and table.weight.requires_grad and table.weight.is_cpu
    return is_learned and table.max_norm is None and not (table.scale_grad_by_freq or table.sparse)


def _look_up(table: nn.Embedding, kept: KeptArrays, ids: torch.Tensor) -> torch.Tensor:
    return Lookup.apply(ids, table.weight, table.padding_idx, kept)
