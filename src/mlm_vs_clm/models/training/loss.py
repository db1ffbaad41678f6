"""The loss of every objective: cross-entropy on what is predicted, and on nothing else."""

import torch
from torch import nn
from transformers import PreTrainedModel

from ..objectives import IGNORE
from ..sizes import hidden_states, output_layer

HEAD_ROWS = 256  # positions through the output layer at a time: their logits stay in a CPU's cache


class PredictedLoss(nn.Module):
    """A model and its loss on the predicted positions only: the output layer never sees the others."""

    def __init__(self, model: PreTrainedModel):
        super().__init__()
        self.model = model

    def learn(self, labels: torch.Tensor, share: float, **inputs: torch.Tensor) -> float:
        """Add the gradients of `share` times the loss, and return it; logits live for HEAD_ROWS positions at a time."""
        predicted = labels != IGNORE
        states, wanted = hidden_states(self.model, inputs)[predicted], labels[predicted]
        cut, loss = states.detach().requires_grad_(), 0.0
        for part, labels_of_part in zip(cut.split(HEAD_ROWS), wanted.split(HEAD_ROWS), strict=True):
            logits = output_layer(self.model)(part)
            loss_of_part, slope = differentiate(logits.detach(), labels_of_part)
            logits.backward(slope.mul_(share / len(wanted)).to(logits.dtype))
            loss += loss_of_part * share / len(wanted)
        states.backward(cut.grad)
        return loss

    def forward(self, labels: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        """Return the mean cross-entropy (nats) over positions whose label is not -100."""
        predicted = labels != IGNORE
        states, wanted = hidden_states(self.model, inputs)[predicted], labels[predicted]
        total = sum(
            nn.functional.cross_entropy(output_layer(self.model)(part).float(), some, reduction="sum")
            for part, some in zip(states.split(HEAD_ROWS), wanted.split(HEAD_ROWS), strict=True)
        )
        return total / len(wanted)


def differentiate(logits: torch.Tensor, labels: torch.Tensor) -> tuple[float, torch.Tensor]:
    """Return the summed cross-entropy (nats) of logits (n, vocabulary), and its gradient in them, in float32.

    The gradient is written over the chances, where autograd would hold four copies of them. The loss is told by the
    largest chance, as that of the label may be too small for float32.
    """
    chances, at = logits.softmax(-1, dtype=torch.float32), labels[:, None]
    total = logits.amax(-1).float() - chances.amax(-1).log()
    loss = (total - logits.gather(1, at)[:, 0]).sum().item()
    chances.scatter_add_(1, at, chances.new_full(at.shape, -1.0))
    return loss, chances


def count_predicted(part: dict[str, torch.Tensor]) -> int:
    """Return how many positions of a batch, or of a part of one, have a label."""
    return int((part["labels"] != IGNORE).sum())
