"""Fast matrix products for inference on CPU: weights are packed once, activations are computed in the same call.

torch's own product uses half of an AVX-512 processor in float32 where MKL does not recognise its maker, and packs the
weights again at each call in bf16; oneDNN, which comes with torch, does neither. docs/performance.md has the gain.
"""

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import nn
from torch.nn import functional

ROWS = 1024  # rows that the packing is optimised for; any number can be multiplied
WORTH = 128  # rows that take about as long to multiply as the weights to pack
_AFTER: ContextVar[int] = ContextVar("after", default=0)  # rows of each layer before its weights are packed
LARGEST = 4 << 30  # bytes of weights that are packed at most, as that makes a second copy


class Prepacked:
    """A linear layer with weights packed for oneDNN; equal to the layer's own product up to rounding.

    Weights are packed once more than `after` rows were asked for, over all calls. bf16 weights, which torch packs at each call, are packed at once.
    """

    def __init__(self, linear: nn.Linear, after: int = 0):
        self.dtype, self.width = linear.weight.dtype, linear.out_features
        self.weight = linear.weight.detach()
        self.bias = None if linear.bias is None else linear.bias.detach()
        self.rows_left = after if self.dtype == torch.float32 else 0
        self.packed = None if self.rows_left else self._pack()

    def _pack(self) -> torch.Tensor:
        return torch.ops.mkldnn._reorder_linear_weight(self.weight, ROWS)

    def _count(self, rows: torch.Tensor) -> None:
        """Pack the weights once enough rows were multiplied."""
        if self.packed is None:
            self.rows_left -= rows.numel() // rows.shape[-1]
            self.packed = None if self.rows_left >= 0 else self._pack()

    def __call__(self, rows: torch.Tensor, then: str = "none") -> torch.Tensor:
        """Return the product of rows (..., in) as (..., out); `then` is `none` or `gelu`."""
        if not rows.numel():
            return rows.new_empty(*rows.shape[:-1], self.width, dtype=self.dtype)
        rows, is_gelu = rows.to(self.dtype), then == "gelu"
        self._count(rows)
        if self.packed is None:
            product = functional.linear(rows, self.weight, self.bias)
            return functional.gelu(product) if is_gelu else product
        kind = "none" if is_gelu else ""
        return torch.ops.mkldnn._linear_pointwise.default(rows, self.packed, self.bias, then, [], kind)

    def added(self, rows: torch.Tensor, addend: torch.Tensor) -> torch.Tensor:
        """Return the product of rows (..., in) plus `addend` (..., out)."""
        rows = rows.to(self.dtype)
        self._count(rows)
        if self.packed is None:
            return functional.linear(rows, self.weight, self.bias) + addend
        multiply = torch.ops.mkldnn._linear_pointwise.binary
        return multiply(rows, addend, self.packed, self.bias, "add")


def can_prepack(linear: nn.Module) -> bool:
    """Return whether a module is a plain linear layer that oneDNN multiplies on this processor.

    A hook before its pass may set its weights (pruning), so such a layer is none.
    """
    is_plain = type(linear) is nn.Linear and "forward" not in vars(linear) and not linear._forward_pre_hooks
    if not is_plain or linear.weight.device.type != "cpu":
        return False
    if platform.machine() not in ("x86_64", "AMD64") or not torch.backends.mkldnn.is_available():
        return False
    low = linear.weight.dtype == torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return low or linear.weight.dtype == torch.float32


def prepack(model: nn.Module) -> nn.Module:
    """Return the model with linear layers that use packed weights from now on; it can no longer be trained.

    The packed copies double the memory of the weights; a model of more than LARGEST bytes keeps its own products.
    """
    _replace(_choose(model))
    return model


def _replace(linears: list[nn.Linear], after: int = 0) -> None:
    for linear in linears:
        vars(linear)["forward"] = Prepacked(linear, after)


def _choose(model: nn.Module) -> list[nn.Linear]:
    linears = [module for module in model.modules() if isinstance(module, nn.Linear) and can_prepack(module)]
    return linears if sum(linear.weight.nbytes for linear in linears) <= LARGEST else []


@contextmanager
def prepacked_products(model: nn.Module) -> Iterator[None]:
    """Use packed weights in the linear layers of a model within the `with` (see `prepack`)."""
    linears = _choose(model)
    try:
        _replace(linears, _AFTER.get())
        yield
    finally:
        for linear in linears:
            vars(linear).pop("forward", None)


@contextmanager
def packing_if_worth(is_short: bool) -> Iterator[None]:
    """Within the `with`, let `prepacked_products` pack the weights of a layer only for more than WORTH rows, if so."""
    token = _AFTER.set(WORTH if is_short else 0)
    try:
        yield
    finally:
        _AFTER.reset(token)


def packs_late() -> bool:
    """Return whether a layer may pack its weights after some rows: which rows come first then decides the last bits."""
    return _AFTER.get() > 0


def multiply_add(linear: nn.Linear, rows: torch.Tensor, addend: torch.Tensor) -> torch.Tensor:
    """Return the layer's product of rows plus `addend`, in one call where its weights are packed."""
    ready = vars(linear).get("forward")
    return ready.added(rows, addend) if isinstance(ready, Prepacked) else linear(rows) + addend


def multiply_gelu(linear: nn.Linear, rows: torch.Tensor) -> torch.Tensor:
    """Return GELU (exact) of the layer's product of rows, in one call where its weights are packed."""
    ready = vars(linear).get("forward")
    return ready(rows, "gelu") if isinstance(ready, Prepacked) else functional.gelu(linear(rows))
