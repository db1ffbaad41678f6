"""The last product of an output layer in training: its gradients are summed in place, without autograd."""

import torch


class OutputProduct:
    """The product of rows (n, width) with the output layer's weights, in the precision of training."""

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None, dtype: torch.dtype):
        self.parameters = (weight, bias)
        self.table = weight.detach().to(dtype)
        self.bias = self.table.new_zeros(len(self.table)) if bias is None else bias.detach()
        self.slope, self.bias_slope = torch.zeros_like(weight), torch.zeros_like(self.bias)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """Return the logits of rows."""
        return torch.addmm(self.bias.to(rows.dtype), rows, self.table.T)

    def learn(self, rows: torch.Tensor, slopes: torch.Tensor) -> torch.Tensor:
        """Add the gradients of logits (n, vocabulary) to those of the weights; return those of the rows."""
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
            if parameter is not None and parameter.requires_grad:
                parameter.grad = slope if parameter.grad is None else parameter.grad + slope
