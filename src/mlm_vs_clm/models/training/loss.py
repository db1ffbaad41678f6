"""The loss of every objective: cross-entropy at the predicted positions, and nowhere else."""

import torch
from torch import nn
from transformers import PreTrainedModel

from ..objectives import IGNORE
from ..sizes import HEAD_ROWS, hidden_states, output_layer


class PredictedLoss(nn.Module):
    """A model and its loss at the predicted positions only: the output layer never sees the others."""

    def __init__(self, model: PreTrainedModel):
        super().__init__()
        self.model = model

    def learn(self, labels: torch.Tensor, share: float, **inputs: torch.Tensor) -> float:
        """Add the gradients of `share` times the loss, and return that; logits exist for HEAD_ROWS positions at a time."""
        states, wanted = self._select(labels, inputs)
        cut, loss = states.detach().requires_grad_(), 0.0
        for part, labels_of_part in zip(cut.split(HEAD_ROWS), wanted.split(HEAD_ROWS), strict=True):
            logits = output_layer(self.model)(part)
            loss_of_part, gradient = differentiate(logits.detach(), labels_of_part)
            logits.backward(gradient.mul_(share / len(wanted)).to(logits.dtype))
            loss += loss_of_part * share / len(wanted)
        states.backward(cut.grad)
        return loss

    def forward(self, labels: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        """Return the mean cross-entropy (nats) over positions whose label is not -100."""
        states, wanted = self._select(labels, inputs)
        losses = [
            nn.functional.cross_entropy(output_layer(self.model)(part).float(), some, reduction="sum")
            for part, some in zip(states.split(HEAD_ROWS), wanted.split(HEAD_ROWS), strict=True)
        ]
        return sum(losses[1:], losses[0]) / len(wanted)

    def _select(
        self, labels: torch.Tensor, inputs: dict[str, torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the hidden states (n, width) and the labels (n,) of the predicted positions."""
        predicted = labels != IGNORE
        return hidden_states(self.model, inputs)[predicted], labels[predicted]


def differentiate(logits: torch.Tensor, labels: torch.Tensor) -> tuple[float, torch.Tensor]:
    """Return the summed cross-entropy (nats) of logits (n, vocabulary), and its gradient in them, in float32.

    The gradient overwrites the probabilities, where autograd would hold four copies of them. The loss is computed from
    the largest probability, as that of the label may be too small for float32.
    """
    probabilities, at = logits.softmax(-1, dtype=torch.float32), labels[:, None]
    total = logits.amax(-1).float() - probabilities.amax(-1).log()
    loss = (total - logits.gather(1, at)[:, 0]).sum().item()
    probabilities.scatter_add_(1, at, probabilities.new_full(at.shape, -1.0))
    return loss, probabilities


def count_predicted(part: dict[str, torch.Tensor]) -> int:
    """Return how many positions of a batch, or of a part of one, have a label."""
    return int((part["labels"] != IGNORE).sum())
