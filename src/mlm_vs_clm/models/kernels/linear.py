"""Matrix products as a CPU computes them fastest when nothing is learned: weights laid out once, activations within.

torch's own product leaves half of an AVX-512 processor unused in float32 where MKL takes it for another maker's, and
lays the weights out anew at each call in bf16; oneDNN, which comes with torch, does neither. docs/performance.md has what it
gains.
"""

import platform
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn
from torch.nn import functional

ROWS = 1024  # how many rows the layout is made for; any number can be multiplied
LARGEST = 4 << 30  # bytes of weights of which a second copy is made


class Prepacked:
    """A linear layer whose weights lie as oneDNN reads them; equal to the layer's own product up to rounding."""

    def __init__(self, linear: nn.Linear):
        self.dtype, self.width = linear.weight.dtype, linear.out_features
        self.weight = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), ROWS)
        self.bias = None if linear.bias is None else linear.bias.detach()

    def __call__(self, rows: torch.Tensor, then: str = "none") -> torch.Tensor:
        """Return the product of rows (..., in) as (..., out); `then` is `none` or `gelu`."""
        if not rows.numel():
            return rows.new_empty(*rows.shape[:-1], self.width, dtype=self.dtype)
        kind = "none" if then == "gelu" else ""
        rows = rows.to(self.dtype)
        return torch.ops.mkldnn._linear_pointwise.default(rows, self.weight, self.bias, then, [], kind)

    def added(self, rows: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        """Return the product of rows (..., in) plus `other` (..., out)."""
        multiply = torch.ops.mkldnn._linear_pointwise.binary
        return multiply(rows.to(self.dtype), other, self.weight, self.bias, "add")


def can_prepack(linear: nn.Module) -> bool:
    """Tell whether a module is a plain linear layer that oneDNN multiplies on this processor."""
    if type(linear) is not nn.Linear or "forward" in vars(linear) or linear.weight.device.type != "cpu":
        return False
    if platform.machine() not in ("x86_64", "AMD64") or not torch.backends.mkldnn.is_available():
        return False
    low = linear.weight.dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return low or linear.weight.dtype == torch.float32


def prepack(model: nn.Module) -> nn.Module:
    """Return the model, whose linear layers multiply with packed weights from now on: nothing can be learned any more.

    The packed copies take the memory of the weights once more; a model of more than LARGEST bytes keeps its own product.
    """
    for linear in _choose(model):
        linear.forward = Prepacked(linear)
    return model


def _choose(model: nn.Module) -> list[nn.Linear]:
    linears = [part for part in model.modules() if can_prepack(part)]
    return linears if sum(linear.weight.nbytes for linear in linears) <= LARGEST else []


@contextmanager
def prepacked_products(model: nn.Module) -> Iterator[None]:
    """Let the linear layers of a model multiply with packed weights until the end of the `with` (see `prepack`)."""
    linears = _choose(model)
    try:
        prepack(model)
        yield
    finally:
        for linear in linears:
            vars(linear).pop("forward", None)


def multiply_add(linear: nn.Linear, rows: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return the layer's product of rows plus `other`, in one go where its weights are packed."""
    ready = vars(linear).get("forward")
    return ready.added(rows, other) if isinstance(ready, Prepacked) else linear(rows) + other


def multiply_gelu(linear: nn.Linear, rows: torch.Tensor) -> torch.Tensor:
    """Return GELU (exact) of the layer's product of rows, in one go where its weights are packed."""
    ready = vars(linear).get("forward")
    return ready(rows, "gelu") if isinstance(ready, Prepacked) else functional.gelu(linear(rows))
