"""The loss of every objective: cross-entropy on what is predicted, and on nothing else."""

import torch
from torch import nn
from transformers import PreTrainedModel

from .models import hidden_states, output_layer
from .objectives import IGNORE

HEAD_ROWS = 512  # positions through the output layer at a time: their logits are most of a step's memory


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
            logits = output_layer(self.model)(part).float()
            loss_of_part = nn.functional.cross_entropy(logits, labels_of_part, reduction="sum")
            loss_of_part = loss_of_part * (share / len(wanted))
            loss_of_part.backward()
            loss += loss_of_part.item()
        states.backward(cut.grad)
        return loss

    def forward(self, labels: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        """Return the mean cross-entropy (nats) over positions whose label is not -100."""
        predicted = labels != IGNORE
        logits = output_layer(self.model)(hidden_states(self.model, inputs)[predicted])
        return nn.functional.cross_entropy(logits.float(), labels[predicted])


def count_predicted(part: dict[str, torch.Tensor]) -> int:
    """Return how many positions of a batch, or of a part of one, have a label."""
    return int((part["labels"] != IGNORE).sum())
